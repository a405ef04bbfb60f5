"""The three answers in words: may one predict with a model, read its terms, and control with it."""

import math
from collections.abc import Sequence

from narxbench._algorithms.certainty import ExchangeableTerms
from narxbench._identification.finding import TITLES, Finding
from narxbench._identification.trust.answers import LIKELY, PROMISE
from narxbench._identification.trust.probabilities import EXACT
from narxbench._io.errors import printable
from narxbench._io.words import listed
from narxbench._report.formats import probability, probability_words
from narxbench._report.model_certainty import group_sentence
from narxbench._report.phrases import (
    OTHER_UNIT,
    Phrase,
    Setting,
    Values,
    capital,
    count_samples,
    count_terms,
    first_of,
    how_predicted,
    percent,
    plural_s,
    unit_of,
)

# Reasons to doubt a structure that say more than its probability.
_DOUBTS = {
    "coloured_innovations": "the innovations are not white",
    "heavy_tails": "the innovations have heavy tails",
    "changing_variance": "the innovations change their variance",
    "common_factor": "the terms share a factor, as lagged copies do",
    "noise_models_disagree": "another noise model with other terms is almost as likely",
    "likelier_noise": "another noise model is more likely",
}
# Data that a model predicts, by their role.
_DATA = {"test": "the test data", "selection": "data that chose the model, but not its weights,"}


def _to_predict(finding: Finding, setting: Setting) -> tuple[str, str]:
    values = finding.values
    texts = []
    if values["noise"]:
        texts.append(
            f"{_subject(values, 'The output')} looks like noise: neither this model nor a simpler one predicts it."
        )
    if values["diverged"]:
        texts.append(f"{_diverging(values)} on {listed(values['diverged'])}.")
    if values["rmse"] is not None:
        texts += [_errors(values), f"That holds for {_ranges(values)}."]
    if values["other_unit"]:
        name = printable(values["other_unit"])
        texts.append(f"In the test {name} has the level and the spread of another unit, which would explain this.")
    if finding.status == "fine":
        unit = unit_of(values["units"], values["output"])
        texts.append(f"On further data of this kind expect at most {PROMISE * values['rmse']:.3g}{unit}.")
    if values["rests"]:
        texts.append(f"{_subject(values, 'The output')} rests in the test, which shows little.")
    if values["unavoidable"]:
        share = percent(values["avoidable"])
        texts.append(
            f"Of the squared error {share} could be foreseen from what is known in time: the rest looks like noise."
        )
    if values["because"]:
        titles = [TITLES[name] for name in values["because"]]
        texts.append(f"Look at: {'; '.join(title[:1].lower() + title[1:] for title in titles)}.")
    tried, advice = _attempts(values["attempts"], setting)
    return " ".join([*texts, *tried]), OTHER_UNIT if values["other_unit"] else advice


def _attempts(attempts: Values | None, setting: Setting) -> tuple[list[str], str]:
    """Return what other settings gain, in a sentence, and which of them to take."""
    if attempts is None:
        return [], ""
    texts = []
    for row in attempts["rows"]:
        name = listed([setting(name, row["value"]) for name in row["settings"]])
        texts.append(f"{name} nothing that holds" if row["rrse"] is None else f"{name} {row['rrse']:.3g}")
    tried = f"Tried, with their RRSE on unseen parts, in place of {attempts['error']:.3g}: {'; '.join(texts)}."
    better = attempts["better"]
    if better is None:
        return [tried], ""
    names = listed([setting(name, better["value"]) for name in better["settings"]])
    return [tried], f"Take {names}: the error falls from {attempts['error']:.3g} to {better['rrse']:.3g}."


def _subject(values: Values, only_one: str = "the output") -> str:
    """Return what a sentence calls the output: its name where it is not the only one."""
    return printable(values["output"]) if "others" in values else only_one


def _diverging(values: Values) -> str:
    """Return the beginning of a sentence on a free run that diverges."""
    kind = "joint free run" if values.get("others") == "simulated" else "free run"
    name = f" of {_subject(values)}" if "others" in values else ""
    return f"The {kind}{name} diverges"


def _how(values: Values) -> str:
    """Return the kind of prediction, and what it has of other outputs."""
    if values.get("others") == "simulated":
        return "In joint free run"
    how = capital(how_predicted(values))
    return f"{how} with the others as measured" if "others" in values else how


def _errors(values: Values) -> str:
    """Return how far predictions are off, in the unit of the output."""
    unit = unit_of(values["units"], values["output"])
    data = _DATA.get(values["role"], "the data it was estimated from")
    text = f"{_how(values)} on {data} {_subject(values)} is {values['rmse']:.3g}{unit} off (rms), "
    text += f"at worst {values['max_error']:.3g}{unit}"
    if values["rrse"] is None:
        return f"{text}."
    return f"{text}; the rms is {percent(values['rrse'])} of its standard deviation."


def _ranges(values: Values) -> str:
    """Return the ranges of the signals that a model was made for."""
    ranges = []
    for name, (low, high) in values["ranges"].items():
        ranges.append(f"{name} from {low:.3g} to {high:.3g}{unit_of(values['units'], name)}")
    return listed(ranges)


def _to_read(finding: Finding, __: Setting) -> tuple[str, str]:
    values = finding.values
    texts = ["There is nothing to read in noise."] if values["noise"] else []
    texts.append(_structure(values))
    if values["missing"] and values["alike"]:
        pairs = [f"{first} with {second} (r {r:.3f})" for first, second, r in values["alike"]]
        texts.append(f"Nearly the same on these data: {first_of(pairs)}.")
    number = values["near_pairs"]["number"]
    if number:
        first, second, _ = values["near_pairs"]["worst"]
        alike = f"{number} pair{plural_s(number)} of candidates {'are' if number > 1 else 'is'} nearly the same"
        texts.append(f"{alike}, most of all {first} and {second}.")
    texts += [group_sentence(ExchangeableTerms(**group)) for group in values["groups"]]
    if values["superfluous"]:
        texts.append(f"Without any effect: {first_of(values['superfluous'])}.")
    if values["weak"]:
        texts.append(f"Less than two standard errors from zero: {first_of(values['weak'])}.")
    doubts = [_DOUBTS[kind] for kind in values["doubts"] if kind in _DOUBTS]
    if doubts:
        texts.append(f"Reasons for doubt: {listed(doubts)}.")
    return " ".join(texts), ""


def _structure(values: Values) -> str:
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
        text += f"{first_of(improbable)}."
    else:
        text += "All of its terms are more probable than not."
    if values["outside"]:
        outside = [f"{term} {probability(value)}" for term, value in values["outside"].items()]
        text += f" Probable, but not in the model: {first_of(outside)}."
    return text


def _to_control(finding: Finding, _: Setting) -> tuple[str, str]:
    values, inputs = finding.values, finding.values["inputs"]
    texts = []
    if values["predicts"] == "bad":
        texts.append("It does not predict well enough for that.")
    texts += [*_control_doubts(values), _rest(values), _static_curve(values)]
    for name, about in inputs.items():
        texts.append(_delay(values, name, about["delay"]))
    if not values["rests"]:
        texts.append("The data never rest long enough to check that.")
    return " ".join(texts), ""


def _rest(values: Values) -> str:
    """Return where a model rests in the middle of the data, and how it answers there."""
    units, output = values["units"], unit_of(values["units"], values["output"])
    levels, gains = [], []
    for name, about in values["inputs"].items():
        levels.append(f"{name} {about['at']:.3g}{unit_of(units, name)}")
        if about["gain"]:
            per = f"{output} per{unit_of(units, name) or ' unit'} of {name}"
            gains.append(f"{about['gain']:.3g}{per}{_interval(_gain_interval(values, name))}")
    if values["y"] is None:
        return f"At {listed(levels)}, the middle of the data, the model has no stable rest."
    text = f"About {listed(levels)} the model rests at {values['y']:.3g}{output}"
    if gains:
        text += f", with a static gain of {first_of(gains)}"
    samples = count_samples(math.ceil(values["settling_steps"] * values["decimation"]), values["period"])
    dynamics = values["dynamics"]
    pole = _interval(dynamics["pole"]) if dynamics else ""
    text += f"; largest pole {values['eigenvalue']:.3g}{pole}, settled (2 %) after {samples}"
    if dynamics is None:
        return f"{text}. Intervals are not known."
    n_models = dynamics["models"]
    models = f"{n_models} structures that are about as good" if n_models > 1 else "this structure"
    text += f"{_interval(dynamics['settling'])}. In brackets: {percent(dynamics['confidence'])} intervals, "
    return f"{text}by {models}. {_where_intervals_hold(dynamics['lacking'], dynamics['unexplained'])}".rstrip()


def _where_intervals_hold(lacking: Sequence[str] | None, unexplained: Sequence[str]) -> str:
    """Return why intervals may not hold: terms that a model lacks, and what is left unexplained; "" if they do."""
    if unexplained:
        return f"They may not hold: the true system is not among the candidates ({first_of(unexplained)})."
    if lacking:
        return f"A model with {first_of(lacking)}, for which the residuals call, widens them."
    if lacking is None:
        return "They hold for a system among the candidates; that was not tested."
    return ""


def _gain_interval(values: Values, name: str) -> Values | None:
    """Return the interval of the gain of an input; None where it is not known."""
    if values["dynamics"] is None:
        return None
    interval: Values | None = values["dynamics"]["gains"].get(name)
    return interval


def _interval(interval: Values | None) -> str:
    """Return the ends of an interval in brackets behind a blank; "" where it is not known."""
    if interval is None:
        return ""
    low = "-∞" if interval["low"] is None else f"{interval['low']:.3g}"
    high = "∞" if interval["high"] is None else f"{interval['high']:.3g}"
    return f" [{low} to {high}]"


def _delay(values: Values, name: str, delay: int | None) -> str:
    """Return how old the earliest term of an input is, and how old in models that are about as good."""
    if delay is None:
        return f"It has no term of {name}."
    text = f"Its earliest term of {name} is {count_samples(delay, values['period'])} old"
    delays = values["dynamics"]["delays"].get(name) if values["dynamics"] else None
    if delays and delays[0] < delays[1]:
        text += f" ({delays[0]} to {delays[1]} in structures that are about as good)"
    return f"{text}."


def _control_doubts(values: Values) -> list[str]:
    """Return a sentence that names what is too uncertain for control; none where nothing is."""
    doubts = []
    for doubt in values["doubts"]:
        doubts.append(_control_doubt(doubt, values["period"]))
    return [f"Too uncertain for control: {listed(doubts)}."] if doubts else []


def _control_doubt(doubt: Values, period: float | None) -> str:
    name, signal, factor = doubt["name"], doubt["signal"], doubt["value"]
    if name == "sign":
        return f"the sign of the gain of {signal}"
    if name == "gain":
        return f"the gain of {signal}, known to a factor of {factor:.3g} (fine: up to {doubt['limit']:g})"
    if name == "stability":
        return f"whether it is stable there, as {percent(factor)} of the drawn models are"
    if name == "candidates":
        return "whether the intervals hold"
    if name == "record":
        return f"how it settles, which takes longer than the longest record, {count_samples(int(factor), period)}"
    if factor is None:
        return "the settling time, whose interval has no end"
    return f"the settling time, known to a factor of {factor:.3g} (fine: up to {doubt['limit']:g})"


def _static_curve(values: Values) -> str:
    """Return at how many inputs the static curve is single and stable, and where the gain changes its sign."""
    text = "The static curve is single and stable within the measured outputs"
    n_single = values["at_rest"] - values["several"]
    if n_single < values["cases"]:
        text += f" at {n_single} of {values['cases']} inputs"
    turning = [name for name, about in values["inputs"].items() if about["turns"]]
    if turning:
        text += f"; the gain changes its sign with {first_of(turning)}"
    return f"{text}."


# Words by the name of the finding.
ANSWER_WORDS: dict[str, Phrase] = {
    "to_predict": _to_predict,
    "to_read": _to_read,
    "to_control": _to_control,
}
