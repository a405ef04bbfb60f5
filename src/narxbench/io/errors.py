"""The one error that a user's mistake raises, and the wording that all such messages share."""

import math
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_VALUE_WIDTH = 60
_KINDS: dict[type, str] = {str: "text", list: "list", tuple: "list", dict: "mapping"}


class NarxbenchError(ValueError):
    """A mistake in settings, data or arguments, reported in one line that names place, finding and remedy."""


class FieldError(NarxbenchError):
    """A mistake in one argument or setting: ``SOURCE: FIELD: text``.

    Whoever passes it on may call the field by the name that the user knows it by. ``source`` is the file that it was
    found with, or "".
    """

    def __init__(self, field: str, text: str, source: str = "") -> None:
        self.field, self.text, self.source = field, text, source
        super().__init__(": ".join(part for part in (source, field, text) if part))


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """Return the proposal of the closest allowed word, or an empty string where none is close."""
    by_lower_case = {name.lower(): name for name in allowed}
    close = get_close_matches(str(word).lower(), by_lower_case, n=1, cutoff=0.6)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""


def is_whole_number(value: object, least: int, most: float = math.inf) -> bool:
    """Return whether a value is a whole number in these bounds; true, false and 3.0 are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def printable(text: str, width: int = 200) -> str:
    """Return text of the user's for use in a line of a message: shortened, and escaped if it would break the line."""
    text = text if len(text) <= width else f"{text[: width - 10]}…{text[-9:]}"
    return text if text.isprintable() else repr(text)[1:-1]


def show(value: object, kind: bool = True) -> str:
    """Return a value as a message shows it: shortened, and with its kind where that is not obvious.

    Examples
    --------
    >>> show("50"), show("50", kind=False), show(None), show([1, 2])
    ("'50' (text)", "'50'", 'null', '[1, 2] (list)')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes no whole number of more than 4300 digits
        text = "a value too long to show"
    name = next((f" ({name})" for type_, name in _KINDS.items() if kind and isinstance(value, type_)), "")
    return printable(text, _VALUE_WIDTH) + name


def error_line(error: BaseException, package: str = "") -> str:
    """Return an error in one line: its type, its text, and the place that raised it, in ``package`` if that took part.

    An error of this package is its text.
    """
    if isinstance(error, NarxbenchError):
        return printable(str(error), 1000)
    frames = [(frame.f_globals.get("__name__"), frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    inside = [entry for entry in frames if f"{entry[0]}.".startswith(f"{package}.")]
    place = ""
    if frames:
        _, frame, line = (inside or frames)[-1]
        place = f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return f"{type(error).__name__}: {printable(str(error), 500)}{place}"
