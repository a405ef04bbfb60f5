"""Findings of an identification in words: a title, what was found with its figures, and what to do about it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from narxbench.identification.data.collinear import NEARLY, sum_of
from narxbench.identification.data.sampling import FEWEST_STEPS, MOST_STEPS, STEPS
from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.search.scan import CLEARLY_BETTER, STANDS_IN
from narxbench.identification.trust.probabilities import EXACT, ExchangeableTerms
from narxbench.identification.trust.validation import FREE_RUN
from narxbench.identification.trust.verdicts import ANSWERS, CORRELATION_SMALL, LIKELY
from narxbench.io.errors import printable
from narxbench.io.words import listed, ordinal
from narxbench.model.noise_models import noise_family
from narxbench.report.model_certainty import MOST_NAMES, group_sentence, probability, probability_words

# Reasons to doubt a structure that say more than its probability, in words.
_DOUBTS = {
    "coloured_innovations": "the innovations are not white",
    "heavy_tails": "the innovations have heavy tails",
    "changing_variance": "the innovations change their variance",
    "common_factor": "the terms share a factor, as lagged copies do",
    "noise_models_disagree": "another noise model with other terms is almost as likely",
    "likelier_noise": "another noise model is more likely",
}
_WEAK = "Less than two standard errors from zero"

Values = Mapping[str, Any]
Setting = Callable[..., str]
# Returns text and advice.
Phrase = Callable[[Finding, Setting], tuple[str, str]]


class Words(NamedTuple):
    """A finding in words; the advice is empty where there is nothing to do."""

    title: str
    text: str
    advice: str = ""


def as_argument(name: str, value: object = None) -> str:
    """Return a setting as an argument in Python: ``degree=1``, or its name."""
    return f"{name}={value!r}".replace("'", '"') if value is not None else name if "lags" in name else f"{name}="


def as_option(name: str, value: object = None) -> str:
    """Return a setting as an option of the command: ``--degree 1``, or its flag."""
    return f"--{name.replace('_', '-')}" + ("" if value is None else f" {value}")


def in_words(finding: Finding, setting: Setting = as_argument) -> Words:
    """Return a finding in words.

    Parameters
    ----------
    finding : Finding
        One of ``checks``, ``summary`` or ``notes`` of an identification.
    setting : callable
        How an advice writes a setting: :func:`as_argument` or :func:`as_option`.
    """
    title, words = _WORDS[finding.name]
    text, advice = words(finding, setting)
    if finding.name == "prediction" and finding.values["role"] == "test":
        title = "Predictions of unseen data"
    return Words(title, text, advice)


def warnings(found: Identification) -> list[str]:
    """Return what a reader must know, whole sentences: of the data, of the search, and every bad finding."""
    bad = [in_words(finding) for finding in found.summary if finding.status == "bad"]
    return [*before_all(found), *(f"{words.title}: {words.text}" for words in bad)]


def before_all(found: Identification) -> list[str]:
    """Return what stands above all else: what was done to the data, and what went otherwise in the search."""
    notes = (in_words(note).text for note in found.notes if note.status != "fine")
    return [*dict.fromkeys([*found.recording.notes, *notes])]


def as_json(found: Identification) -> dict[str, Any]:
    """Return what ``narxbench identify --json`` prints: :meth:`Identification.to_dict` with findings in words."""
    summary: list[dict[str, Any]] = []
    for of in found.summary:
        _, text, advice = in_words(of)
        values = {"values": of.values} if of.name in ANSWERS else {}
        summary.append({"name": of.name, "status": of.status, "text": text, "advice": advice, **values})
    return {**found.to_dict(), "warnings": warnings(found), "summary": summary}


def _sampling(found: Finding, _: Setting) -> tuple[str, str]:
    values = found.values
    tau, stride = values["first_minimum"], values["advised"]
    if tau is None:
        return "The output does not change.", "Look at the data."
    dip = {"minimum": "first dips", "decay": "has decayed"}.get(values["seen_as"], "has no dip, but is first zero")
    seen = f"its correlation {dip} after {_samples(tau, values['period'])}, where"
    enough, usual = f"10 to {STEPS} samples are enough.", f"{FEWEST_STEPS} to {MOST_STEPS} samples are usual."
    advice = ""
    if values["wanted"] > 1:
        text = f"The output is sampled about {values['wanted']} times faster than needed: {seen} {enough}"
        if values["limit"]:
            too = {"input": "the input changes too fast for so large a stride", "length": "too few samples would stay"}
            text += f" But {too[values['limit']]}." + ("" if stride == 1 else f" Every {ordinal(stride)} is advised.")
        if stride > 1:
            advice = f"Use every {ordinal(stride)} sample, or compare {listed(map(str, values['candidates']))}."
    elif tau < FEWEST_STEPS:
        text = f"The output is sampled coarsely, or is mostly noise: {seen} {usual}"
        advice = "If it can be measured again, sample faster."
    elif tau > MOST_STEPS:
        text = f"The output is sampled a little faster than needed: {seen} {enough}"
    else:
        text = f"The output is sampled as a model needs it: {seen} {usual}"
    if "compared" in values:
        compared = ", ".join(map(str, values["compared"]))
        advice = f"The model takes {values['taken']} of the compared decimations {compared}."
    return text, advice


def _resolution(found: Finding, _: Setting) -> tuple[str, str]:
    texts, advice = [], ""
    for column, of in found.values.items():
        name, term, (low, high) = _signal(column, of["term"]), of["term"], of["range"]
        if of["seen"] == "few":
            power, lower = of["levels"], "the lower ones and the constant"
            if power == 2:
                lower = sum_of([(w, t) for w, t in ((low + high, term), (-low * high, "1")) if w])
            texts.append(f"{_capital(name)} has only {power} levels: {term}^{power} is {lower}.")
        elif of["seen"] == "coarse":
            step = f"one step of {of['step']:.3g} is {_percent(of['step'] / (high - low))} of its range"
            texts.append(f"{_capital(name)} has only {of['levels']} levels: {step}.")
            advice = advice or "No model can be more precise than the resolution of the output." * (term == "y")
    counts = ", ".join(f"{column} {of['levels']}" for column, of in found.values.items())
    return " ".join(texts) or f"The signals are finely resolved; their levels: {counts}.", advice


def _saturation(found: Finding, _: Setting) -> tuple[str, str]:
    texts = [
        f"{_percent(of['share'])} of the output's samples are at its {side} value, {of['value']:.4g}, up to "
        f"{of['longest']} in a row, as at a limit."
        for side, of in found.values.items()
        if of["limited"]
    ]
    if not texts:
        return "The output does not stay at its largest or smallest value as if it were cut off.", ""
    advice = "A polynomial cannot follow a limit: leave these parts out, or measure with a smaller input."
    return " ".join(texts), advice


def _delay(found: Finding, _: Setting) -> tuple[str, str]:
    texts, advice = [], []
    stride, period = found.values["decimation"], found.values["period"]
    for column, of in found.values["inputs"].items():
        name, delay = _signal(column, of["term"]), of["delay"]
        if of["seldom"]:
            texts.append(f"{_capital(name)} changes too seldom to tell after how many samples the output follows.")
        elif delay is None:
            texts.append(f"No effect of {name} on the output is seen within {len(of['correlations']) - 1} samples.")
            if of.get("used"):
                texts[-1] = f"By correlation {texts[-1][0].lower()}{texts[-1][1:-1]}; the model uses it."
            else:
                advice.append(f"See whether {name} belongs to the model.")
        elif delay == 0:
            texts.append(f"The output follows {name} within the same sample.")
            if 0 not in of.get("lags", ()):
                advice.append(f"Allow the current input, {of['term']}(k).")
        else:
            steps = f", {delay / stride:.2g} steps of {stride}" if stride > 1 else ""
            after, square = f"after {_samples(delay, period)}{steps}", f"the square of {name}"
            if of["power"] == 1 and of["shown"] > delay:
                after += f", and {name} itself after {_samples(of['shown'], period)}"
            cause = name if of["power"] == 1 and of["shown"] == delay else square
            texts.append(f"The output is seen to follow {cause} {after}.")
            if delay // stride >= 3 and delay // stride not in of.get("lags", ()):
                advice.append(f"Begin the lags of {name} at {delay // stride}.")
    return " ".join(texts) or "There is no input whose dead time could be found.", " ".join(dict.fromkeys(advice))


def _excitation(found: Finding, _: Setting) -> tuple[str, str]:
    texts, advice, lags, rest = [], [], found.values["lags"], found.values["at_rest"]
    for column, of in found.values["inputs"].items():
        name, order, (low, high) = _signal(column, of["term"]), of["order"], of["range"]
        if order == 0:
            texts.append(f"{_capital(name)} is constant, {low:.4g}: no model can tell its effect.")
            advice.append(f"Leave {name} out.")
            continue
        text = f"{_capital(name)} covers {low:.4g} to {high:.4g}"
        if order < lags:
            text += f", but changes in {order} way{plural_s(order)} only: that tells no more than {order} lags."
            # A model that was found may well have more, if other terms tell them apart.
            fewer = f"Use at most {order} lags of {name}, or excite it" if "lags" not in of else f"Excite {name}"
            advice.append(f"{fewer} at more frequencies.")
        else:
            text += f" and tells {lags} lags apart."
        texts.append(text)
    if rest > 0.5:
        texts.append(f"All signals rest in {_percent(rest)} of the time, which tells little of the dynamics.")
        advice.append("Leave out long rests.")
    return " ".join(texts) or "There is no input, and the output does not rest.", " ".join(advice)


def _drift(found: Finding, _: Setting) -> tuple[str, str]:
    texts = []
    for of in found.values["trends"]:
        change, unit = of["change"], of["deviation"]
        times = f"{abs(change) / unit:.2g} standard deviations" if unit > 0.0 else "far more than the deviation"
        drifts = f"drifts by {change:.3g}, {times} of the rest, without a cause in the inputs."
        texts.append(f"The output of {of['record']} {drifts}")
    for of in found.values["offsets"]:
        off = f"{of['offset']:+.3g} off the middle of the records, for equal inputs."
        texts.append(f"The output of {of['record']} lies {off}")
    if not texts:
        return "The output neither drifts nor differs between records without a cause in the inputs.", ""
    more = [f"{len(texts) - 3} more such findings."] if len(texts) > 3 else []
    return " ".join(texts[:3] + more), "Subtract the drift or offset, or add its cause as an input."


def _outliers(found: Finding, _: Setting) -> tuple[str, str]:
    values, count = found.values, found.values["count"]
    if not count:
        return "No sample of the output sticks out.", ""
    places = [f"{number} of {name}" if values["records"] > 1 else str(number) for name, number, _ in values["samples"]]
    more = f" and {count - 8} more" if count > 8 else ""
    text = f"{count} of {values['total']} samples of the output stick out of their neighbours by more than "
    text += f"{values['limit']:.3g}: sample{plural_s(count)} {', '.join(places[:8])}{more}."
    return text, "See whether they are mistakes of the measurement."


def _test_range(found: Finding, _: Setting) -> tuple[str, str]:
    if not found.values:
        return "There is no test record to compare ranges with.", ""
    texts = [
        f"{_percent(of['share'])} of the test samples of {_signal(column, of['term'])} lie outside "
        f"{of['known'][0]:.4g} to {of['known'][1]:.4g}, the range seen before, by up to {of['beyond']:.3g}."
        for column, of in found.values.items()
        if of["share"]
    ]
    advice = "A polynomial extrapolates badly: estimate from data that cover this range."
    text = " ".join(texts) or "The test records stay within the range that the model is estimated from."
    return text, "" if found.status == "fine" else advice


def _collinear(found: Finding, _: Setting) -> tuple[str, str]:
    values, dropped, count = found.values, [*found.values["dropped"].values()], found.values["near_pairs"]
    texts, advice = [], ""
    if dropped:
        shown = "; ".join(dropped[:3]) + (f", and {len(dropped) - 3} more" if len(dropped) > 3 else "")
        said = f"{len(dropped)} of {values['candidates']} candidates say nothing new and are left out"
        texts.append(f"{said}: {shown}.")
    if count:
        said = f"{count} pair{plural_s(count)} of candidates {'are' if count > 1 else 'is'} nearly the same"
        first, second = values["worst"][:2]
        texts.append(f"{said} (correlation over {NEARLY}), most of all {first} and {second}.")
        advice = "Which one of a pair a model has is a matter of chance: a larger stride tells them apart."
    return " ".join(texts) or f"All {values['candidates']} candidates differ.", advice


def _size(found: Finding, _: Setting) -> tuple[str, str]:
    terms, rows = found.values["terms"], found.values["rows"]
    text = f"{terms} candidate terms and {rows} rows to estimate from, {rows / max(1, terms):.2g} for each."
    return text, "" if rows >= terms else "Fewer lags or a lower degree leave less to chance."


def _to_predict(found: Finding, setting: Setting) -> tuple[str, str]:
    values, units = found.values, found.values["units"]
    unseen = {"test": "the test data", "selection": "data that chose the model, but not its weights,"}
    data, unit = unseen.get(values["role"], "the data it was estimated from"), _unit(units, values["output"])
    text = "The output looks like noise: neither this model nor a simpler one predicts it. " if values["noise"] else ""
    text += f"The free run diverges on {listed(values['diverged'])}. " if values["diverged"] else ""
    if values["rmse"] is not None:
        text += f"{_ahead(values).capitalize()} on {data} the output is {values['rmse']:.3g}{unit} off (rms), at worst "
        text += f"{values['max_error']:.3g}{unit}"
        text += "." if values["rrse"] is None else f"; the rms is {_percent(values['rrse'])} of its standard deviation."
    ranges = values["ranges"].items()
    held = listed(f"{name} from {low:.3g} to {high:.3g}{_unit(units, name)}" for name, (low, high) in ranges)
    text += f" That holds for {held}." if values["rmse"] is not None else ""
    because = [title[:1].lower() + title[1:] for title in (_WORDS[name][0] for name in values["because"])]
    text += f" Look at: {'; '.join(because)}." if because else ""
    return text.strip(), "" if values["role"] == "test" else f"Keep data for a test ({setting('test')})."


def _to_read(finding: Finding, setting: Setting) -> tuple[str, str]:
    values = finding.values
    texts = ["There is nothing to read in noise."] if values["noise"] else []
    texts.append(_structure_in_words(values))
    if values["missing"] and values["alike"]:
        pairs = [f"{first} with {second} (r {r:.3f})" for first, second, r in values["alike"]]
        texts.append(f"Nearly the same on these data: {_first_of(pairs)}.")
    for group in values["groups"]:
        texts.append(group_sentence(ExchangeableTerms(**group)))
    for names, before in ((values["superfluous"], "Without any effect"), (values["weak"], _WEAK)):
        if names:
            texts.append(f"{before}: {_first_of(names)}.")
    doubts = [_DOUBTS[kind] for kind in values["doubts"] if kind in _DOUBTS]
    if doubts:
        texts.append(f"Reasons for doubt: {listed(doubts)}.")
    resampled = values["resampled"]
    if resampled:
        kept, often = f"{resampled['kept']} of {count_terms(resampled['terms'])}", _percent(resampled["threshold"])
        texts.append(f"Searches of resampled data found {kept} again in {often} or more of {resampled['searches']}.")
    return " ".join(texts), _advice_to_read(values, setting)


def _structure_in_words(values: Values) -> str:
    """Return how probable a structure and its terms are."""
    if values["missing"] == EXACT:
        return f"The structure is exact: {EXACT}."
    if values["missing"]:
        return f"It is not known how probable the terms are: {values['missing']}."
    improbable = []
    for term, value in values["probabilities"].items():
        if value < LIKELY:
            improbable.append(f"{term} {probability(value)}")
    text = f"The probability of the structure is {probability_words(values['probability'])}. "
    if improbable:
        text += f"Of its {count_terms(len(values['probabilities']))}, {values['likely']} "
        text += f"{'is' if values['likely'] == 1 else 'are'} more probable than not; less probable: "
        text += f"{_first_of(improbable)}."
    else:
        text += "All of its terms are more probable than not."
    if values["outside"]:
        outside = [f"{term} {probability(value)}" for term, value in values["outside"].items()]
        text += f" Probable, but not in the model: {_first_of(outside)}."
    return text


def _advice_to_read(values: Values, setting: Setting) -> str:
    if values["noise"]:
        return ""
    if values["likelier_noise"]:
        return f"Estimate the weights under the likelier noise ({setting('noise', values['likelier_noise'])})."
    if values["missing"]:
        return "" if values["missing"] == EXACT else f"Search resampled data ({setting('resamples', 40)})."
    is_unsure = values["likely"] < len(values["probabilities"]) or values["outside"] or values["groups"]
    return "Longer records, or more excitation, would tell such terms apart." if is_unsure else ""


def _to_control(found: Finding, _: Setting) -> tuple[str, str]:
    values, units, inputs = found.values, found.values["units"], found.values["inputs"]
    output, gains = _unit(units, values["output"]), {name: of["gain"] for name, of in inputs.items()}
    at = listed(f"{name} {of['at']:.3g}{_unit(units, name)}" for name, of in inputs.items())
    if values["y"] is None:
        text = f"At {at}, the middle of the data, the model has no stable rest."
    else:
        known = [f"{gain:.3g}{output} per{_unit(units, u) or ' unit'} of {u}" for u, gain in gains.items() if gain]
        text = f"About {at} the model rests at {values['y']:.3g}{output}{_first(known, ', with a static gain of ')}; "
        samples = math.ceil(values["settling_steps"] * values["decimation"])
        text += f"largest pole {values['eigenvalue']:.3g}, settled (2 %) after {_samples(samples, values['period'])}."
    single = values["at_rest"] - values["several"]
    text += " The static curve is single and stable within the measured outputs"
    text += f" at {single} of {values['cases']} inputs" if single < values["cases"] else ""
    text += _first([name for name, of in inputs.items() if of["turns"]], "; the gain changes its sign with ") + "."
    for name, of in inputs.items():
        delay = None if of["delay"] is None else _samples(of["delay"], values["period"])
        text += f" Its earliest term of {name} is {delay} old." if delay else f" It has no term of {name}."
    text += "" if values["rests"] else " The data never rest long enough to check the curve."
    return "It does not predict well enough for that. " * (values["predicts"] == "bad") + text, ""


def _unit(units: Mapping[str, str], name: str) -> str:
    return f" {printable(units[name])}" if units.get(name) else ""


def _first_of(names: Sequence[str]) -> str:
    """Return a list in a sentence of which the first ones are named."""
    return _first(names, "")


def _first(names: Sequence[str], before: str, after: str = "") -> str:
    """Return a list in a sentence of which the first ones are named, or "" for none."""
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return before + listed([*names[:MOST_NAMES], *more]) + after if names else ""


def _exact(found: Finding, _: Setting) -> tuple[str, str]:
    text = "The model is exact: what it leaves of the data one step ahead is rounding."
    names = _first(found.values["superfluous"], " Below rounding is also what these terms contribute: ", ".")
    return text + names, "Leave these terms out." if names else ""


def _free_run_residuals(found: Finding, _: Setting) -> tuple[str, str]:
    values, seen, unit = found.values, list[str](), _unit(found.values, "unit")
    for name in ("rising", "falling"):
        error = values[name]["error"]
        if values[name]["seen"]:
            side, where = "low" if error > 0 else "high", "rises" if name == "rising" else "falls"
            seen.append(f"The model is systematically {side} where the output {where}, by {abs(error):.3g}{unit}.")
    if values["drift"]["seen"]:
        seen.append(f"From beginning to end the error drifts by {values['drift']['error']:+.3g}{unit}.")
    data = f"on the {values['role']} data (error {values['rms']:.3g}{unit} rms)"
    if not seen:
        return f"No bias is seen where the output rises or falls, nor as time passes, {data}.", ""
    advice = "The dynamics differ by direction or drift: try other lags or a higher degree."
    return f"{' '.join(seen)} That is {data}.", advice


def _prediction(found: Finding, setting: Setting) -> tuple[str, str]:
    values, role, rrse = found.values, found.values["role"], found.values["rrse"]
    data = f"the {role} data" + ("" if role == "test" else ", which the model was made with")
    others = f"another decimation (now {values['decimation']}), other {setting('y_lags')} and {setting('u_lags')}"
    others += ", or another degree"
    diverged, decimated = values["diverged"], values["decimation"] > 1
    if diverged:
        text = f"The free run diverges on {len(diverged)} of the records of {data}: {', '.join(diverged)}"
        known = values["free_run"] is not None and decimated
        text += f" (only at the incoming sampling; at its own RRSE {values['free_run']:.3g})." if known else "."
        return text, f"Try fewer terms (a lower degree, fewer lags), {others}."
    if rrse is None:
        text = f"There is nothing to judge the model by: {data} are constant or shorter than the initial samples."
        return text, "Give longer records."
    how = _ahead(values).capitalize()
    text = f"{how} the model misses {100 * rrse:.3g} % of the standard deviation of {data}"
    text += f" (RRSE {rrse:.3g}, fit {values['fit_percent']:.3g} %"
    if decimated and values["incoming"] is not None:
        text += f"; at the incoming sampling RRSE {values['incoming']:.3g}"
    advice = "" if values["small"] else f"Try {others}."
    if role != "test":
        keep = f"Keep data for a test ({setting('test')}): nothing here tells how the model does on new data."
        advice = f"{keep} {advice}".strip()
    return f"{text}).", advice


def _against(simpler: str, advice: str) -> tuple[str, Phrase]:
    def words(found: Finding, setting: Setting) -> tuple[str, str]:
        own, simple = found.values["rrse"], found.values["baseline"]
        how = f"{_ahead(found.values)} on the {found.values['role']} data"
        if simple is None:
            return f"The model has RRSE {own:.3g} {how}; {simpler} diverges.", ""
        if own is None:
            text = f"The model diverges {how}; {simpler} has RRSE {simple:.3g}."
            return text, "Try a lower degree or fewer lags."
        text = f"RRSE {own:.3g} against {simple:.3g} of {simpler}, {how}."
        linear = found.values["degree"] == 1 and "{degree}" in advice
        return text, "" if found.status == "fine" or linear else advice.format(degree=setting("degree", 1))

    return f"Against {simpler}", words


def _gap(found: Finding, _: Setting) -> tuple[str, str]:
    values = found.values
    text = f"RRSE {values['test']:.3g} on the test data, {values['seen']:.3g} on the {values['role']} data"
    advice = "It fits its own data better than new ones: try fewer terms (a lower degree, fewer lags) or more data."
    return f"{text}, {_ahead(values)}.", "" if found.status == "fine" else advice


def _residuals(found: Finding, setting: Setting) -> tuple[str, str]:
    values, failed, limit = found.values, found.values["failed"], found.values["limit"]
    share = f"{values['outside']} of {values['coefficients']} coefficients lie beyond the 95 % band"
    if not failed:
        largest = f"the largest correlation is {values['largest']:.2g} (limit {limit:.2g})"
        return f"All {values['tests']} pass: {largest}; {share}.", ""
    shown = "; ".join(f"{test['title']}: {test['worst']:.2g} at lag {test['lag']}" for test in failed)
    text = f"{len(failed)} of {values['tests']} fail (limit {limit:.2g}): {shown}; {share}."
    lags = f"{setting('y_lags')} and {setting('u_lags')}"
    if found.status == "fine":
        most = f"{100 * CORRELATION_SMALL**2:.0f} %"
        return f"{text} That is at most {most} of their variance: only many samples show it.", ""
    if "free_run" in values:
        text += f" One step ahead they are correlated, but the free run is good (RRSE {values['free_run']:.3g})."
    if found.name == "residuals_nonlinear":
        return text, f"Terms are missing: try a higher degree, or lags in {lags} that were left out."
    tries = []
    if any(test["name"] == "phi_xixi" for test in failed):
        tries.append(f"Try more {setting('y_lags')}.")
    with_inputs = [test["lag"] for test in failed if test["name"] != "phi_xixi"]
    if any(lag >= 0 for lag in with_inputs):
        tries.append(f"Try {setting('u_lags')} that reach the lags of the input.")
    if any(lag < 0 for lag in with_inputs):
        tries.append("At a negative lag the input follows the residual: is there feedback from output to input?")
    return f"{text} Correlated residuals do not spoil a free run, but they bias the weights.", " ".join(tries)


def _fixed_points(found: Finding, _: Setting) -> tuple[str, str]:
    values, advice = found.values, []
    if values["points"] is not None:
        shown = ", ".join(f"{y:.3g} ({'stable' if stable else 'unstable'})" for y, stable in values["points"])
        return f"Fixed points of the model within the measured range: {shown or 'none'}.", ""
    where = f"{values['at_rest']} of {values['cases']} constant inputs over their range"
    text, slowest = f"At {where} the model rests within the measured outputs", values["settling_steps"]
    text += "." if slowest is None else f", after at most about {slowest:.3g} steps."
    if values["at_rest"] < values["cases"]:
        advice.append(
            "Elsewhere it leaves the data or does not settle: do not use it there unless the process does so too. "
            "Try a lower degree, or records that dwell at such inputs."
        )
    if values["several"]:
        text += (
            f" At {values['several']} of them it has several stable outputs: where it ends depends on where it starts."
        )
        advice.append("If the process has one output for each input, try a lower degree.")
    return text, " ".join(advice)


def _static(found: Finding, setting: Setting) -> tuple[str, str]:
    values = found.values
    text = f"The data rest {values['rests']} times at constant inputs."
    if values["largest"] is not None:
        text += f" The model's own rest is at most {100 * values['largest']:.2g} % of the output's range away."
    if values["without"]:
        text += f" At {values['without']} of them the model has no stable output."
    advice = "Try another degree, or records that dwell at more inputs."
    return text, "" if found.status == "fine" else advice


def _searches(found: Finding, _: Setting) -> tuple[str, str]:
    values = found.values
    method = values["method"] + (" on resampled data" if values["resampled"] else "")
    others = "the best one of a forward regression stands in" if values["note"] == STANDS_IN else "nor did others"
    text = f"In {values['count']} of {values['searches']} searches {method} found no structure with a finite J"
    return f"{text}: what it tried is singular or diverges; {others}.", ""


def _noise_model(found: Finding, _: Setting) -> tuple[str, str]:
    values = found.values
    best = ", ".join(
        f"{row['description']} {row['rrse']:.3g} ({count_terms(row['terms'])}, J {row['fitness']:.1f})"
        for row in values["best"]
    )
    family = noise_family(values["chosen"])
    text = f"The noise is taken to be {family.words}: {values['description']}. Relative error over parts of the data "
    text += f"that the weights do not know, of the best structure under each: {best}. "
    text += f"J of all but NARX has {CLEARLY_BETTER:g} more. "
    if values["tied"] > 1:
        text += f"{values['tied']} structures and noise models are equally good within the scatter over the parts; of "
        return f"{text}these the one of the lowest extended BIC on all data is taken.", ""
    return f"{text}The lowest J is taken.", ""


def _level(found: Finding, _: Setting) -> tuple[str, str]:
    parts = []
    for row in found.values["signals"]:
        name = printable(row["signal"])
        if row["offset"]:
            parts.append(f"{name} less {row['offset']:.15g}")
        if row["scale"] != 1.0:
            parts.append(f"{name} in units of {row['scale']:g}")
    text = "Terms are of these signals in another form, for numbers do not bear products of them as they are"
    return f"{text}: {listed(parts)}. Predictions and data stay in your own units.", ""


def _repeats(found: Finding, _: Setting) -> tuple[str, str]:
    values = found.values
    text = f"With {values['times']} sets of random draws "
    if values["least"] is not None:
        of = f"the relative error {_ahead(values)} on the {values['role']} data"
        text += f"{of} is {values['least']:.3g} to {values['most']:.3g}, and "
    text += f"{values['alike']} of {values['times']} models have these terms."
    if values["without"]:
        text += f" {values['without']} diverge{'s' if values['without'] == 1 else ''}."
    return text, ""


def _whole_records(found: Finding, setting: Setting) -> tuple[str, str]:
    count, worse = found.values["passed_over"], "much worse than over its parts, or diverges"
    if not found.values["holds"]:
        advice = f"Try a lower degree, fewer lags, or longer parts (fewer {setting('blocks')})."
        return f"Of no structure that was looked at the free run over whole records holds: it is {worse}.", advice
    were = "structure of a lower J was" if count == 1 else "structures of a lower J were"
    return f"{count} {were} passed over: the free run over whole records is {worse}.", ""


def _no_test(_: Finding, __: Setting) -> tuple[str, str]:
    helped = "the figures of the selection helped to choose the model"
    return f"No data are kept for a test: {helped}, so expect larger errors on new data.", ""


def _resamples(found: Finding, _: Setting) -> tuple[str, str]:
    counts = f"Only {found.values['searched']} of {found.values['wanted']} resampled data sets were searched"
    return f"{counts}: more would take longer than planned. A larger effort allows more.", ""


def _interrupted(found: Finding, _: Setting) -> tuple[str, str]:
    text = f"Stopped by Ctrl-C during the {found.values['step']}: this is the best model until then"
    return f"{text}, and another run finds another.", ""


_WORDS: dict[str, tuple[str, Phrase]] = {
    "sampling": ("Sampling", _sampling),
    "resolution": ("Resolution", _resolution),
    "saturation": ("Limits of the output", _saturation),
    "delay": ("Dead time", _delay),
    "excitation": ("Excitation", _excitation),
    "drift": ("Drift and offsets", _drift),
    "outliers": ("Outliers", _outliers),
    "test-range": ("Range of the test records", _test_range),
    "collinear": ("Candidates that are alike", _collinear),
    "size": ("Size of the search", _size),
    "to_predict": ("To predict", _to_predict),
    "to_read": ("To read its terms", _to_read),
    "to_control": ("For control", _to_control),
    "prediction": ("Predictions", _prediction),
    "exact": ("Exact", _exact),
    "free_run_residuals": ("Residuals of the free run", _free_run_residuals),
    "against_linear_arx": _against(
        "linear ARX of the same lags",
        "The nonlinear terms do not pay here: take a linear model ({degree}), or try other lags or decimation.",
    ),
    "against_last_value": _against(
        "repeating the last value", "Neighbouring samples are nearly equal: try a larger decimation."
    ),
    "gap": ("From known to new data", _gap),
    "residuals_linear": ("Residuals one step ahead, linear tests", _residuals),
    "residuals_nonlinear": ("Residuals one step ahead, nonlinear tests", _residuals),
    "fixed_points": ("Fixed points", _fixed_points),
    "static": ("Rests of data and model", _static),
    "searches": ("Searches", _searches),
    "no_test": ("Test data", _no_test),
    "resamples": ("Resampled data", _resamples),
    "noise_model": ("Noise", _noise_model),
    "level": ("Levels and units", _level),
    "repeats": ("Random draws", _repeats),
    "interrupted": ("Stopped", _interrupted),
    "whole_records": ("Whole records", _whole_records),
}


def _signal(column: str, term: str) -> str:
    return {"y": "the output", "u": "the input"}.get(term, f"input {column}")


def _ahead(values: Values) -> str:
    steps = values["steps"]
    return "in free run" if values["kind"] == FREE_RUN else f"{steps} step{plural_s(steps)} ahead"


def _samples(number: int, period: float | None) -> str:
    samples = f"{number} sample{plural_s(number)}"
    if period is None:
        return samples
    units = (("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 0.1), ("ms", 1e-3, 0.1), ("µs", 1e-6, 0.0))
    unit, size = next((unit, size) for unit, size, least in units if number * period >= least * size)
    return f"{samples} ({number * period / size:.3g} {unit})"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def count_terms(number: int) -> str:
    """Return a number of terms in words."""
    return f"{number} term{plural_s(number)}"


def plural_s(number: int) -> str:
    """Return the ending of a noun that so many are of."""
    return "" if number == 1 else "s"
