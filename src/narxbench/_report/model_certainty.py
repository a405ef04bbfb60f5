"""Exchangeable terms of a model in words."""

from narxbench._algorithms.certainty import ExchangeableTerms
from narxbench._report.formats import listed, probability

# Terms of which one is a term of the system with this probability.
PROBABLY = 0.5


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
