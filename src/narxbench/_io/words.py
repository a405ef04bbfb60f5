"""Numbers and names in sentences, for messages and for readers."""

from collections.abc import Iterable, Sequence

# A list in a message or a sentence has at most this many entries.
SHOWN = 5


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> listed(["S1", "S2", "S3"]), listed(["S1"])
    ('S1, S2 and S3', 'S1')
    """
    *first, last = names
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def some(names: Sequence[str], what: str) -> str:
    """Return names as a list in a sentence: of many names the first ones, and the number of the others.

    Examples
    --------
    >>> some(["a", "b", "c", "d", "e", "f", "g"], "files")
    'a, b, c, d, e and 2 other files'
    """
    shown = list(names[:SHOWN])
    if len(names) > SHOWN:
        shown.append(f"{len(names) - SHOWN} other {what}")
    return listed(shown)


def duration(seconds: float) -> str:
    """Return a time in the largest unit in which it is at least 1.

    Examples
    --------
    >>> duration(0.02), duration(90.0), duration(86_400.0), duration(1e-12)
    ('20 ms', '1.5 min', '1 d', '0.001 ns')
    """
    sizes = {"d": 86_400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    unit = next((unit for unit, size in sizes.items() if seconds >= size), "ns")
    return f"{seconds / sizes[unit]:.6g} {unit}"


def counted(count: int, singular: str, plural: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "record is", "records are"), counted(2, "record is", "records are")
    ('1 record is', '2 records are')
    """
    return f"{count} {singular if count == 1 else plural}"


def probability(value: float) -> str:
    """Return a probability with two digits behind the point, never as 0 or 1.

    Examples
    --------
    >>> probability(0.334), probability(0.0004), probability(1.0)
    ('0.33', '< 0.01', '> 0.99')
    """
    if value < 0.005:
        return "< 0.01"
    return "> 0.99" if value >= 0.995 else f"{value:.2f}"


def probability_words(value: float) -> str:
    """Return a probability as a sentence has it: ``0.33``, ``below 0.01``, ``above 0.99``."""
    return probability(value).replace("<", "below").replace(">", "above")


def ordinal(number: int) -> str:
    """Return a number as an ordinal.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10, 'th')}"
