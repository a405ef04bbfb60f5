"""Checks of the data in words."""

from collections.abc import Sequence

from narxbench._identification.data.sampling import FEWEST_STEPS, MOST_STEPS, STEPS
from narxbench._identification.finding import Finding
from narxbench._io.errors import printable
from narxbench._io.words import listed, ordinal
from narxbench._report.phrases import (
    OTHER_UNIT,
    REST,
    Phrase,
    Setting,
    Values,
    capital,
    count_samples,
    percent,
    plural_s,
    signal_title,
    unless_fine,
)

# Findings that are named before they are only counted, and outliers.
_MOST_DRIFTS, _MOST_DROPPED, _MOST_OUTLIERS = 3, 3, 8


def _sampling(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    first_minimum = values["first_minimum"]
    if first_minimum is None:
        return "The output does not change.", "Look at the data."
    dip = {"minimum": "first dips", "decay": "has decayed"}.get(values["seen_as"], "has no dip, but is first zero")
    where = f"its correlation {dip} after {count_samples(first_minimum, values['period'])}, where"
    enough, usual = f"10 to {STEPS} samples are enough.", f"{FEWEST_STEPS} to {MOST_STEPS} samples are usual."
    advice = ""
    if values["wanted"] > 1:
        text = f"The output is sampled about {values['wanted']} times faster than needed: {where} {enough}"
        text += _limit_of_stride(values)
    elif first_minimum < FEWEST_STEPS:
        text = f"The output is sampled coarsely, or is mostly noise: {where} {usual}"
        advice = "If it can be measured again, sample faster."
    elif first_minimum > MOST_STEPS:
        text = f"The output is sampled a little faster than needed: {where} {enough}"
    else:
        text = f"The output is sampled as a model needs it: {where} {usual}"
    if "compared" in values:
        compared = ", ".join(map(str, values["compared"]))
        text += f" The model takes {values['taken']} of the compared decimations {compared}."
    return text, advice


def _limit_of_stride(values: Values) -> str:
    """Return why a smaller stride is advised than the output alone would allow; "" where nothing limits it."""
    if not values["limit"]:
        return ""
    reasons = {"input": "the input changes too fast for so large a stride", "length": "too few samples would stay"}
    text = f" But {reasons[values['limit']]}."
    return text if values["advised"] == 1 else f"{text} Every {ordinal(values['advised'])} is advised."


def _evidence(finding: Finding, setting: Setting) -> tuple[str, str]:
    values, texts, advice = finding.values, [], []
    if values["constant"]:
        names = listed(list(map(printable, values["constant"])))
        texts.append(f"Never changed: {names}. The record cannot show what {_it_does(values['constant'])}.")
        advice.append(f"Leave {names} out, or record {names} at several values.")
    if values["idle"]:
        names = listed(list(map(printable, values["idle"])))
        texts.append(f"No effect of {names} is seen by correlation.")
    if values["degree"] == 1:
        texts.append(
            f"The inputs make a single change: only degree 1 is searched, unless you set {setting('degree', 2)}."
        )
        advice.append("Record steps of several sizes, up and down, to see whether the process is nonlinear.")
    if values["under_feedback"]:
        names = listed(list(map(printable, values["under_feedback"])))
        texts.append(f"Past outputs foretell {names}, as in a closed loop: noise and the effect of inputs mix there.")
        advice.append(f"Move the reference of the loop, or add a signal of your own to {names}.")
    if values["exchanged"]:
        names = listed(list(map(printable, values["exchanged"])))
        texts.append(f"The past of {names} does not foretell the output: perhaps the two are exchanged.")
        advice.append("If what you set was given as the output, give it as the input.")
    if not values["inputs"]:
        texts.append("There is no input: the output is foretold from its own past.")
    elif not texts:
        texts.append(f"The inputs show enough: {_moves(values['inputs'])}.")
    texts += _delays(values["inputs"])
    if values["terms"] is not None and values["rows"] < values["terms"]:
        texts.append(f"There are only {values['rows']} rows to estimate {values['terms']} candidate terms from.")
        advice.append("Longer records leave less to chance.")
    return " ".join(texts), " ".join(advice)


def _delays(evidence: Values) -> list[str]:
    """Return after how many samples the output is seen to follow inputs."""
    delays = []
    for column, about in evidence.items():
        if about.get("delay") is None:
            continue
        name = signal_title(column, about["term"])
        if about["power"] != 1 or about["shown"] != about["delay"]:
            name = f"the square of {name}"
        after = "at once" if about["delay"] == 0 else f"after {count_samples(about['delay'], None)}"
        delays.append(f"{name} {after}")
    return [f"The output is seen to follow {listed(delays)}."] if delays else []


def _it_does(names: Sequence[str]) -> str:
    return "it does" if len(names) == 1 else "they do"


def _moves(evidence: Values) -> str:
    """Return how often each input moves."""
    moves = []
    for name, about in evidence.items():
        count = about["changes"]
        how = "moves all the time" if count is None else f"makes {count} different changes"
        moves.append(f"{printable(name)} {how}")
    return listed(moves)


def _saturation(finding: Finding, _: Setting) -> tuple[str, str]:
    texts = []
    for name, side in finding.values.items():
        if side["limited"]:
            texts.append(
                f"{percent(side['share'])} of the output's samples are at its {name} value, {side['value']:.4g}, up to "
                f"{side['longest']} in a row, as at a limit."
            )
    if not texts:
        return "The output does not stay at its largest or smallest value as if it were cut off.", ""
    advice = "A polynomial cannot follow a limit: measure with a smaller input, or a sensor of a larger range."
    return " ".join(texts), advice


def _excitation(finding: Finding, _: Setting) -> tuple[str, str]:
    texts, advice = [], []
    for column, signal in finding.values["inputs"].items():
        name, (low, high) = signal_title(column, signal["term"]), signal["range"]
        order, lags = signal["order"], finding.values["lags"]
        if order == 0:
            texts.append(f"{capital(name)} is constant, {low:.4g}: no model can tell its effect.")
            continue
        text = f"{capital(name)} covers {low:.4g} to {high:.4g}"
        if order < lags:
            text += f", but changes in {order} way{plural_s(order)} only: that tells no more than {order} lags."
            # A model may well have more, if other terms tell them apart.
            advice.append(f"Excite {name} at more frequencies.")
        else:
            text += f" and tells {lags} lags apart."
        texts.append(text)
    share_at_rest = finding.values["at_rest"]
    if share_at_rest > 0.5:
        texts.append(f"All signals rest in {percent(share_at_rest)} of the time, which tells little of the dynamics.")
    return " ".join(texts) or "There is no input, and the output does not rest.", " ".join(advice)


def _drift(finding: Finding, _: Setting) -> tuple[str, str]:
    texts = []
    for trend in finding.values["trends"]:
        times = "far more than the deviation"
        if trend["deviation"] > 0.0:
            times = f"{abs(trend['change']) / trend['deviation']:.2g} standard deviations"
        drifts = f"drifts by {trend['change']:.3g}, {times} of the rest, without a cause in the inputs."
        texts.append(f"The output of {trend['record']} {drifts}")
    for offset in finding.values["offsets"]:
        lies = f"lies {offset['offset']:+.3g} off the middle of the records, for equal inputs."
        texts.append(f"The output of {offset['record']} {lies}")
    if not texts:
        return "The output neither drifts nor differs between records without a cause in the inputs.", ""
    if len(texts) > _MOST_DRIFTS:
        texts[_MOST_DRIFTS:] = [f"{len(texts) - _MOST_DRIFTS} more such findings ({REST})."]
    return " ".join(texts), "Add the cause of it as an input, or measure without it."


def _outliers(finding: Finding, _: Setting) -> tuple[str, str]:
    values, count, resolution = finding.values, finding.values["count"], finding.values["resolution"]
    texts, advice = [], []
    if resolution["coarse"]:
        low, high = resolution["range"]
        step = f"{resolution['step']:.3g}, {percent(resolution['step'] / (high - low))} of its range"
        texts.append(f"There are only {resolution['levels']} levels of the output, with steps of {step}.")
        advice.append("No model can be more precise than that: measure with a finer resolution.")
    if not count:
        return " ".join(texts) or "No sample of the output sticks out, and it is finely resolved.", " ".join(advice)
    places = []
    for name, number, _deviation in values["samples"][:_MOST_OUTLIERS]:
        places.append(f"{number} of {name}" if values["records"] > 1 else str(number))
    text = f"{count} of {values['total']} samples of the output stick out by more than "
    text += f"{values['limit']:.3g}: sample{plural_s(count)} {', '.join(places)}"
    text += f" and {count - _MOST_OUTLIERS} more ({REST})." if count > _MOST_OUTLIERS else "."
    advice.append("See whether samples that stick out are mistakes of the measurement.")
    return " ".join([*texts, text]), " ".join(advice)


def _test_range(finding: Finding, _: Setting) -> tuple[str, str]:
    if not finding.values:
        return "There is no test record to compare ranges with.", ""
    texts, advice = [], "A polynomial extrapolates badly: estimate from data that cover this range."
    for column, signal in finding.values.items():
        if not signal["used"]:
            continue
        if signal["unit"]:
            texts.append(_other_unit(signal_title(column, signal["term"]), signal["unit"]))
            advice = OTHER_UNIT
        if signal["share"]:
            low, high = signal["known"]
            texts.append(
                f"{percent(signal['share'])} of the test samples of {signal_title(column, signal['term'])} lie outside "
                f"{low:.4g} to {high:.4g}, the range seen before, by up to {signal['beyond']:.3g}."
            )
    text = " ".join(texts) or "The test records stay within the range that the model is estimated from."
    return text, unless_fine(finding, advice)


def _other_unit(title: str, unit: Values) -> str:
    """Return how a signal of the test differs from the known ones as if it had another unit."""
    conversion = []
    if unit["scale"] != 1.0:
        conversion.append(f"times {unit['scale']:.4g}")
    if unit["shift"]:
        conversion.append(f"{unit['shift']:+.6g}")
    text = f"In the test {title} has the level and the spread of another unit: what was seen before "
    return f"{text}{' '.join(conversion)}, as between {unit['units']}."


# Words by the name of the finding.
DATA_WORDS: dict[str, Phrase] = {
    "sampling": _sampling,
    "evidence": _evidence,
    "saturation": _saturation,
    "excitation": _excitation,
    "drift": _drift,
    "outliers": _outliers,
    "test-range": _test_range,
}
