"""Numbers and names in sentences, for messages and for readers."""

from collections.abc import Iterable, Sequence

_SHOWN = 3


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> listed(["S1", "S2", "S3"]), listed(["S1"])
    ('S1, S2 and S3', 'S1')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def some(names: Sequence[str], what: str) -> str:
    """Return names as a list in a sentence; of many the first, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c", "d", "e"], "files")
    'a, b, c and 2 other files'
    """
    others = [f"{len(names) - _SHOWN} other {what}"] if len(names) > _SHOWN else []
    return listed([*names[:_SHOWN], *others])


def ordinal(number: int) -> str:
    """Return the place that a number counts.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
