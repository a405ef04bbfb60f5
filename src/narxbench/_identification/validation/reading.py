"""Whether the terms of a model tell something about the process."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from narxbench._identification.finding import Finding, Status, look_if
from narxbench._identification.phrases import Values, count_terms, first_of, plural_s
from narxbench._identification.validation.probabilities import EXACT
from narxbench._io.words import listed, probability, probability_words

if TYPE_CHECKING:
    from narxbench._identification.result import Identification

# A term of this probability is more probable than not.
LIKELY = 0.5
# Reasons to doubt a structure that say more than its probability.
_DOUBTS = {
    "coloured_innovations": "the innovations are not white",
    "heavy_tails": "the innovations have heavy tails",
    "changing_variance": "the innovations change their variance",
    "common_factor": "the terms share a factor, as lagged copies do",
    "noise_models_disagree": "another noise model with other terms is almost as likely",
    "likelier_noise": "another noise model is more likely",
}


def reading_answer(identification: "Identification", errors: Finding, is_noise: bool) -> Finding:
    """Return whether the terms of a model tell something about the process.

    Fine if there are no doubts about the structure and no exchangeable terms, or for an exact model if none of its
    terms is rounding and none could be another. Bad if less than half of the terms are more probable than not, and for
    noise.
    """
    certainty = identification.certainty
    superfluous = errors.values["superfluous"]
    inside, outside = _probabilities(identification, superfluous)
    groups = [group._asdict() for group in certainty.groups if sum(group.probabilities) >= LIKELY]
    n_likely = sum(probability >= LIKELY for probability in inside.values())
    values = {
        "missing": certainty.missing,
        "samples": certainty.samples,
        "probability": certainty.probability,
        "probabilities": inside,
        "likely": n_likely,
        "outside": outside,
        "groups": groups,
        "doubts": [doubt.kind for doubt in certainty.doubts],
        "likelier_noise": _likelier_noise(identification),
        "alike": [list(pair) for pair in identification.alike],
        "near_pairs": identification.configuration["near_pairs"],
        "left_out": len(identification.configuration["dropped"]),
        "superfluous": superfluous,
        "noise": is_noise,
        "weak": _weak_terms(identification),
    }
    status: Status = look_if(bool(superfluous) or _is_doubtful(values))
    if is_noise or 2 * n_likely < len(inside):
        status = "bad"
    return Finding("to_read", status, values, to_read_text(values))


def to_read_text(values: Values) -> str:
    """Return the sentences of :func:`reading_answer`."""
    texts = ["The output looks like noise, so the terms mean nothing."] if values["noise"] else []
    texts.append(_structure(values))
    if values["missing"] and values["alike"]:
        pairs = [f"{first} with {second} (r {r:.3f})" for first, second, r in values["alike"]]
        texts.append(f"Nearly the same on these data: {first_of(pairs)}.")
    number = values["near_pairs"]["number"]
    if number:
        first, second, _ = values["near_pairs"]["worst"]
        alike = f"{number} pair{plural_s(number)} of candidates {'are' if number > 1 else 'is'} nearly the same"
        texts.append(f"{alike}, most of all {first} and {second}.")
    texts += [group_sentence(**group) for group in values["groups"]]
    if values["superfluous"]:
        texts.append(f"No effect: {first_of(values['superfluous'])}.")
    if values["weak"]:
        texts.append(f"Less than two standard errors from zero: {first_of(values['weak'])}.")
    doubts = [_DOUBTS[kind] for kind in values["doubts"] if kind in _DOUBTS]
    if doubts:
        texts.append(f"Reasons for doubt: {listed(doubts)}.")
    return " ".join(texts)


def _structure(values: Values) -> str:
    """Return how probable a structure and its terms are."""
    if values["missing"] == EXACT:
        return f"The structure is exact: {EXACT}."
    if values["missing"]:
        return f"The probabilities of the terms are unknown: {values['missing']}."
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


def group_sentence(terms: Sequence[str], probabilities: Sequence[float]) -> str:
    """Return which terms are exchangeable, with their probabilities.

    Examples
    --------
    >>> group_sentence(["u(k-1)", "u(k-2)", "u(k-3)"], [0.33, 0.32, 0.24])
    'One of these three is probably a term: u(k-1) (0.33), u(k-2) (0.32) and u(k-3) (0.24).'
    """
    words = ("two", "three", "four", "five", "six")
    number = words[len(terms) - 2] if len(terms) - 2 < len(words) else str(len(terms))
    pairs = zip(terms, probabilities, strict=True)
    terms_in_words = listed(f"{term} ({probability(value)})" for term, value in pairs)
    return f"One of these {number} is probably a term: {terms_in_words}."


def _is_doubtful(values: Mapping[str, Any]) -> bool:
    """Return whether anything makes doubt of a structure."""
    if values["missing"] == EXACT:
        return bool(values["alike"])
    if values["missing"] or values["likely"] < len(values["probabilities"]):
        return True
    return bool(values["doubts"] or values["groups"] or values["outside"])


def _probabilities(
    identification: "Identification", superfluous: Sequence[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the probabilities of the terms of a model that are more than rounding, and of probable ones outside."""
    inside, outside = {}, {}
    for term, value in identification.probabilities.items():
        if term in identification.model.terms:
            inside[term] = value
        elif value >= LIKELY:
            outside[term] = value
    for term in superfluous:
        inside.pop(term, None)
    return inside, outside


def _weak_terms(identification: "Identification") -> list[str]:
    """Return the terms whose weights are less than two standard errors from zero."""
    weak = []
    for row in identification.weights:
        if row["t"] is not None and abs(row["t"]) < 2:
            weak.append(row["term"])
    return weak


def _likelier_noise(identification: "Identification") -> str | None:
    """Return the name of a noise model of another kind than the model's that is clearly more likely."""
    for doubt in identification.certainty.doubts:
        if doubt.kind == "likelier_noise" and doubt.values["noise_model"] != identification.model.noise_model:
            return str(doubt.values["noise_model"])
    return None
