"""How sure the structure of a model is, in words: its probability, exchangeable terms, rivals and doubts."""

from collections.abc import Sequence

from narxbench._algorithms.certainty import ExchangeableTerms, NamedStructure
from narxbench._identification.trust.probabilities import EXACT, StructureCertainty
from narxbench._report.formats import listed, probability, probability_words

# Terms of which one is a term of the system with this probability.
PROBABLY = 0.5


def structure_sentence(certainty: StructureCertainty) -> str:
    """Return how probable the structure is, and on what evidence; or why that is not known."""
    if certainty.missing == EXACT:
        return f"The structure is exact: {EXACT}."
    if certainty.probability is None:
        return f"It is not known how probable the structure is: {certainty.missing}."
    rival = certainty.rivals[0] if certainty.rivals else None
    text = f"The probability of the structure is {probability_words(certainty.probability)}"
    if rival is not None:
        text += f", that of the most probable other one {probability_words(rival.probability)}"
    return f"{text}, by {certainty.samples} independent samples."


def group_sentence(group: ExchangeableTerms) -> str:
    """Return which terms are exchangeable, with their probabilities.

    Examples
    --------
    >>> group_sentence(ExchangeableTerms(["u(k-1)", "u(k-2)", "u(k-3)"], [0.33, 0.32, 0.24]))
    'One of these three is probably a term: u(k-1) (0.33), u(k-2) (0.32) and u(k-3) (0.24).'
    """
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
    number = words.get(len(group.terms), str(len(group.terms)))
    likely = "probably" if sum(group.probabilities) >= PROBABLY else "perhaps"
    pairs = zip(group.terms, group.probabilities, strict=True)
    terms = listed(f"{term} ({probability(value)})" for term, value in pairs)
    return f"One of these {number} is {likely} a term: {terms}."


def change_of(rival: NamedStructure, terms: Sequence[str]) -> str:
    """Return which terms a rival has that a structure has not, and which it lacks.

    Examples
    --------
    >>> change_of(NamedStructure(["u(k-1)", "u(k-3)"], 0.2, 1.5, "NARX"), ["u(k-1)", "u(k-2)"])
    'with u(k-3), without u(k-2)'
    """
    added = [term for term in rival.terms if term not in terms]
    dropped = [term for term in terms if term not in rival.terms]
    changes = [f"with {listed(added)}"] if added else []
    return ", ".join([*changes, f"without {listed(dropped)}"] if dropped else changes)


def doubt_sentences(certainty: StructureCertainty) -> list[str]:
    """Return one sentence for each reason to doubt the structure."""
    return [f"{doubt.message[:1].upper()}{doubt.message[1:]}." for doubt in certainty.doubts]
