"""The one error that a user's mistake raises, and the wording that all such messages share."""

import errno
import math
import traceback
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

_VALUE_WIDTH = 60
_KINDS: dict[type, str] = {str: "text", list: "list", tuple: "list", dict: "mapping"}


class NarxbenchError(ValueError):
    """A mistake in settings, data or arguments, reported in one line that names place, finding and remedy.

    Programs can catch these subclasses: :class:`FileError`, :class:`narxbench.SettingsError`,
    :class:`narxbench.DivergedError`, :class:`narxbench.AlgorithmFailedError`,
    :class:`narxbench.AlgorithmUnavailableError` and :class:`narxbench.MissingExtraError`.

    Examples
    --------
    >>> import narxbench
    >>> try:
    ...     narxbench.model_size(n_y=-1, n_u=1, degree=2)
    ... except narxbench.NarxbenchError as error:
    ...     print(error)
    n_y: found -1; allowed: a whole number from 0 to 9999
    """


class FileError(NarxbenchError):
    """A file that cannot be read or written, or is not in the expected format.

    Examples
    --------
    >>> import narxbench
    >>> try:
    ...     narxbench.read_signals("missing.csv")
    ... except narxbench.FileError as error:
    ...     print(error)
    missing.csv: cannot be read: No such file or directory
    """


class FieldError(NarxbenchError):
    """A mistake in one argument or setting: ``SOURCE: FIELD: text``.

    Code that passes the error on may replace the field by the name that the user knows. ``source`` is the file with the
    mistake, or "".
    """

    def __init__(self, field: str, text: str, source: str = "") -> None:
        self.field, self.text, self.source = field, text, source
        super().__init__(": ".join(filter(None, (source, field, text))))


# A message lists at most this many names.
MOST_NAMES = 40


def listed(names: Sequence[str]) -> str:
    """Return names in one line, the first ones if there are many."""
    line = ", ".join(names[:MOST_NAMES])
    return f"{line} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else line


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """Return the proposal of the closest allowed word, or an empty string if none is close."""
    by_lower_case = {name.lower(): name for name in allowed}
    close = get_close_matches(str(word).lower(), by_lower_case, n=1, cutoff=0.6)
    if not close:
        return ""
    return f" (did you mean {by_lower_case[close[0]]!r}?)"


def is_whole_number(value: object, least: int, most: float = math.inf) -> bool:
    """Return whether a value is a whole number in these bounds, which true, false and 3.0 are not."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def printable(text: str, width: int = 200) -> str:
    """Return a user's text for a line of a message: shortened, and escaped if it would break the line."""
    if len(text) > width:
        text = f"{text[: width - 10]}…{text[-9:]}"
    if not text.isprintable():
        text = repr(text)[1:-1]
    return text


def show(value: object, kind: bool = True) -> str:
    """Return a value as a message shows it: shortened, and with its kind unless that is obvious.

    Examples
    --------
    >>> show("50"), show("50", kind=False), show(None), show([1, 2])
    ("'50' (text)", "'50'", 'null', '[1, 2] (list)')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes no whole number of more than 4300 digits
        text = "a value too long to show"
    return printable(text, _VALUE_WIDTH) + (_kind_in_brackets(value) if kind else "")


def _kind_in_brackets(value: object) -> str:
    for type_, name in _KINDS.items():
        if isinstance(value, type_):
            return f" ({name})"
    return ""


def lacks_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it came from, says that memory is missing.

    A compiled library that does not fit raises an ImportError or OSError with the words of the system.
    """
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        if "failed to map segment" in str(error) or "cannot allocate memory" in str(error).lower():
            return True
        error = error.__cause__ or error.__context__
    return False


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
