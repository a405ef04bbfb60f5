r"""Tables as CSV files: strict reading by a schema of columns, and canonical writing.

A schema gives the kind of each column, by name and in order:

>>> schema = {"system": NAME, "snr_db": NUMBER, "nu": list_of(INTEGER), "fitness": optional(NUMBER)}

:func:`read_table` returns a frame of exactly these columns, or reports the first mistake by file, line and column;
:func:`write_table` writes such a frame, so that it reads back the same. pandas is imported by the first table that is
read: signals (:mod:`narxbench.model.dataset`) share this module's rows and numbers in a process that needs no frames.
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from narxbench.io.errors import NarxbenchError, did_you_mean, printable, show
from narxbench.io.files import MOST_FOUND, StrPath, read_text

if TYPE_CHECKING:
    import pandas as pd

_SEPARATOR = ";"
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# A spreadsheet takes a field that begins so for a formula, and runs it.
_FORMULA = re.compile(r"'*[=+@\t\r\n-]")


@dataclass(frozen=True)
class Kind:
    """What the fields of a column hold."""

    allowed: str
    """What may stand there, as messages say it."""
    read: Callable[[str], Any]
    """Returns the value of a field's text; raises ValueError or LookupError for a text that is not allowed."""
    words: tuple[str, ...] = ()
    """The allowed words, if there are few: the closest is proposed."""


def number(text: str) -> float:
    """Return the finite number that a text is, or raise ValueError.

    ``float`` would also take 1_000, nan, blanks and digits of other scripts.
    """
    if not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


def guarded(text: str) -> str:
    """Return a text for a field of CSV: with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def matching(pattern: str, allowed: str, read: Callable[[str], Any] = str) -> Kind:
    """Return the kind of texts that match a regular expression as a whole, turned into values by ``read``."""
    expression = re.compile(pattern, re.ASCII)

    def read_match(text: str) -> Any:
        if not expression.fullmatch(text):
            raise ValueError(text)
        return read(text)

    return Kind(allowed, read_match)


def one_of(*words: str) -> Kind:
    """Return the kind of texts that are one of these words."""
    return Kind(f"one of {printable(', '.join(words))}", {word: word for word in words}.__getitem__, words)


def optional(kind: Kind) -> Kind:
    """Return a kind that may also be missing: an empty field is NaN."""
    return Kind(f"{kind.allowed}, or nothing", lambda text: kind.read(text) if text else math.nan, kind.words)


def list_of(kind: Kind) -> Kind:
    """Return the kind of tuples, written with ``;`` between the entries; an empty field is the empty tuple."""

    def read_list(text: str) -> tuple[Any, ...]:
        return tuple(map(kind.read, text.split(_SEPARATOR))) if text else ()

    return Kind(f"a list joined by {_SEPARATOR}, each {kind.allowed}", read_list)


TEXT = Kind("text", unguarded)
NAME = matching(r"(?s:.+)", "text that is not empty", unguarded)
INTEGER = matching("[+-]?[0-9]{1,18}", "a whole number", int)
NUMBER = Kind("a finite number", number)
FLAG = Kind("true or false", {"true": True, "false": False}.__getitem__, ("true", "false"))


def rows_of(path: StrPath, lines: Iterable[str], above: int = 0, **form: Any) -> list[list[str]]:
    """Return the fields of each line; a mistake is told with its line, ``above`` of which stand before these."""
    reader = csv.reader(lines, strict=True, **form)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if reader.line_num != len(rows):
                raise csv.Error("found a line break between quotes; allowed: one line for each row")
    except csv.Error as error:
        line = above + min(max(reader.line_num, 1), len(rows) + 1)
        raise NarxbenchError(f"{path}: line {line}: not CSV: {error}") from None
    return rows


def read_rows(path: StrPath) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a CSV file as texts; every row is as long as the header and stands on one line.

    Row ``i``, counted from 0, stands in line ``i + 2``; empty lines at the end are left out.
    """
    header, *rows = rows_of(path, io.StringIO(read_text(path, MOST_FOUND), newline="")) or [[]]
    while rows and not rows[-1]:
        rows.pop()
    for index, row in enumerate(rows):
        if len(row) != len(header):
            raise NarxbenchError(f"{path}: line {index + 2}: found {len(row)} fields; allowed: {len(header)}")
    return header, rows


def read_table(path: StrPath, columns: Mapping[str, Kind], *, may_be_empty: bool = False) -> "pd.DataFrame":
    """Return a CSV file with exactly these columns in this order as a frame: missing numbers are NaN, lists tuples.

    A mistake is told in one line with file, line, column, what was found and what is allowed. A file without rows is
    one, unless it ``may_be_empty``.
    """
    import pandas as pd

    header, rows = read_rows(path)
    if header != list(columns):
        hints = (did_you_mean(name, header) for name in columns if name not in header)
        found = f"found columns {printable(','.join(header)) or 'none'}; allowed: {','.join(columns)}{next(hints, '')}"
        raise NarxbenchError(f"{path}: line 1: {found}")
    if not rows and not may_be_empty:
        raise NarxbenchError(f"{path}: found no rows below the header; allowed: at least one")
    texts = zip(*rows, strict=True) if rows else ((),) * len(columns)
    named = zip(columns.items(), texts, strict=True)
    return pd.DataFrame({name: _column(path, name, column, kind) for (name, kind), column in named})


def _column(path: StrPath, name: str, texts: tuple[str, ...], kind: Kind) -> list[Any]:
    """Return the values of a column; each distinct text is read once."""
    values = {}
    for text in dict.fromkeys(texts):
        try:
            values[text] = kind.read(text)
        except (ValueError, LookupError):
            raise wrong(path, texts.index(text), name, text, kind.allowed, kind.words) from None
    return [values[text] for text in texts]


def wrong(
    path: StrPath, row: int, column: str, found: object, allowed: str, words: Iterable[str] = ()
) -> NarxbenchError:
    """Return the error of a field, to be raised; where one of ``words`` is close to what was found, it is proposed."""
    where = f"{path}: line {row + 2}, column {printable(column)}"
    return NarxbenchError(f"{where}: found {show(found, kind=False)}; allowed: {allowed}{did_you_mean(found, words)}")


def write_table(frame: "pd.DataFrame") -> str:
    r"""Return a frame as canonical CSV text: equal values give equal bytes, and they read back to the last bit.

    Floats are written with all their digits and without a negative zero, but as whole numbers where all of a column
    are whole. Missing values (NaN, None, NA) are empty fields, truth values ``true`` and ``false``, and the entries of
    tuples are joined by ``;``. Texts are :func:`guarded`. The index is not written. What cannot be read back raises
    ValueError: infinities, and text with line breaks.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(frame.columns)
    # As objects, so that every mark of a missing value becomes None: NaN, NaT, pandas' own.
    columns = (frame[name].astype(object).where(frame[name].notna(), None) for name in frame.columns)
    writer.writerows(zip(*(_texts(column.tolist()) for column in columns), strict=True))
    return stream.getvalue()


def _texts(values: list[Any]) -> list[str]:
    floats = [isinstance(value, float) for value in values]
    whole = all(value.is_integer() and abs(value) < 2**53 for value in itertools.compress(values, floats))
    return [_text(int(value) if whole and is_float else value) for value, is_float in zip(values, floats, strict=True)]


def _text(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value  # a NumPy scalar
    if value is None or value != value:
        return ""
    if isinstance(value, tuple | list):
        return _SEPARATOR.join(map(_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value + 0.0) if isinstance(value, float) else str(value)
    if value in (math.inf, -math.inf) or "\n" in text or "\r" in text:
        raise ValueError(f"found {show(value, kind=False)} in a table; allowed: finite numbers, and text of one line")
    return guarded(text) if isinstance(value, str) else text
