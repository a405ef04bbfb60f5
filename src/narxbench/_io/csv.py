r"""Tables as CSV files: strict reading by a schema of columns, and canonical writing.

A schema gives the kind of each column, by name and in order:

>>> schema = {"system": NAME, "snr_db": NUMBER, "nu": list_of(INTEGER), "fitness": optional(NUMBER)}

:func:`read_table` returns a frame of exactly these columns, or reports the first mistake by file, line and column.
:func:`write_table` writes such a frame, and reading returns the same frame. pandas is imported by the first
table that is read: signals (:mod:`narxbench._model.dataset`) use this module's rows and numbers without frames.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from narxbench._io.errors import FileError, did_you_mean, printable, show
from narxbench._io.files import StrPath, read_text

if TYPE_CHECKING:
    import pandas as pd

_SEPARATOR = ";"
_LINE_BREAK = re.compile("[\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
# A spreadsheet takes a field with this beginning for a formula, and runs it.
_FORMULA = re.compile(r"'*[=+@\t\r\n-]")


@dataclass(frozen=True)
class Kind:
    """The texts that fields of a column may hold, and their values."""

    allowed: str
    """The description of the allowed texts in messages."""
    parse: Callable[[str], Any]
    """Returns the value of a field's text; raises ValueError or LookupError for a text that is not allowed."""
    words: tuple[str, ...] = ()
    """The allowed words, if there are few of them: a message proposes the closest one."""


def number(text: str) -> float:
    """Return the finite number that a text is, or raise ValueError.

    ``float`` would also take 1_000, nan, blanks and digits of other scripts.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def guarded(text: str) -> str:
    """Return a text for a field of CSV, with an apostrophe in front if a spreadsheet would take it for a formula."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def unguarded(text: str) -> str:
    """Return a text without the apostrophe that :func:`guarded` put in front of it."""
    if _FORMULA.match(text):
        return text.removeprefix("'")
    return text


def matching(pattern: str, allowed: str, parse: Callable[[str], Any] = str) -> Kind:
    """Return the kind of texts that match a regular expression as a whole, and that ``parse`` turns into values."""
    expression = re.compile(pattern, re.ASCII)

    def parse_match(text: str) -> Any:
        if not expression.fullmatch(text):
            raise ValueError(text)
        return parse(text)

    return Kind(allowed, parse_match)


def one_of(*words: str) -> Kind:
    """Return the kind of texts that are one of these words."""
    values = dict(zip(words, words, strict=True))
    return Kind(f"one of {printable(', '.join(words))}", values.__getitem__, words)


def optional(kind: Kind) -> Kind:
    """Return a kind whose values may also be missing: an empty field is NaN."""

    def parse_optional(text: str) -> Any:
        if text == "":
            return math.nan
        return kind.parse(text)

    return Kind(f"{kind.allowed}, or nothing", parse_optional, kind.words)


def list_of(kind: Kind) -> Kind:
    """Return the kind of tuples, written with ``;`` between the entries. An empty field is the empty tuple."""

    def parse_list(text: str) -> tuple[Any, ...]:
        if text == "":
            return ()
        return tuple(map(kind.parse, text.split(_SEPARATOR)))

    return Kind(f"a list joined by {_SEPARATOR}, each {kind.allowed}", parse_list)


TEXT = Kind("text", unguarded)
NAME = matching(r"(?s:.+)", "text that is not empty", unguarded)
INTEGER = matching("[+-]?[0-9]{1,18}", "a whole number", int)
NUMBER = Kind("a finite number", number)
FLAG = Kind("true or false", {"true": True, "false": False}.__getitem__, ("true", "false"))


def rows_of(path: StrPath, lines: Iterable[str], above: int = 0, **form: Any) -> list[list[str]]:
    """Return the fields of each line.

    A mistake raises NarxbenchError with the number of its line in the file, where ``above`` lines precede these.
    """
    reader = csv.reader(lines, strict=True, **form)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if reader.line_num != len(rows):
                raise csv.Error("found a line break between quotes; allowed: one line for each row")
    except csv.Error as error:
        line = above + min(max(reader.line_num, 1), len(rows) + 1)
        raise FileError(f"{path}: line {line}: not CSV: {printable(str(error))}") from None
    return rows


def read_rows(path: StrPath) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file as texts.

    Every row is as long as the header and is on one line: row ``i``, counted from 0, in line ``i + 2``. Empty lines
    at the end are left out.
    """
    header, *rows = rows_of(path, io.StringIO(read_text(path), newline="")) or [[]]
    while rows and not rows[-1]:
        rows.pop()
    for index, row in enumerate(rows):
        if len(row) != len(header):
            raise FileError(f"{path}: line {index + 2}: found {len(row)} fields; allowed: {len(header)}")
    return header, rows


def read_table(path: StrPath, columns: Mapping[str, Kind], *, may_be_empty: bool = False) -> "pd.DataFrame":
    """Return a CSV file with exactly these columns in this order as a frame: missing numbers are NaN, lists tuples.

    A mistake raises NarxbenchError in one line with file, line, column, the text there and the allowed ones. A file
    without rows is a mistake, unless it ``may_be_empty``.
    """
    import pandas as pd

    header, rows = read_rows(path)
    if header != list(columns):
        raise _wrong_header(path, header, list(columns))
    if not rows and not may_be_empty:
        raise FileError(f"{path}: found no rows below the header; allowed: at least one")
    values = {}
    for place, (name, kind) in enumerate(columns.items()):
        texts = [row[place] for row in rows]
        values[name] = _parse_column(path, name, texts, kind)
    return pd.DataFrame(values)


def _wrong_header(path: StrPath, header: list[str], columns: list[str]) -> FileError:
    """Return the error of a header, with a proposal for the first column that is missing."""
    hint = ""
    for name in columns:
        if name not in header:
            hint = did_you_mean(name, header)
            break
    names = printable(",".join(header)) or "none"
    return FileError(f"{path}: line 1: found columns {names}; allowed: {','.join(columns)}{hint}")


def _parse_column(path: StrPath, name: str, texts: list[str], kind: Kind) -> list[Any]:
    """Return the values of a column, and parse each distinct text once."""
    values = {}
    for text in dict.fromkeys(texts):
        try:
            values[text] = kind.parse(text)
        except (ValueError, LookupError):
            raise wrong(path, texts.index(text), name, text, kind.allowed, kind.words) from None
    return [values[text] for text in texts]


def wrong(path: StrPath, row: int, column: str, found: object, allowed: str, words: Iterable[str] = ()) -> FileError:
    """Return the error of a field, which proposes the closest of some ``words``, if one is close."""
    where = f"{path}: line {row + 2}, column {printable(column)}"
    return FileError(f"{where}: found {show(found, kind=False)}; allowed: {allowed}{did_you_mean(found, words)}")


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
    columns = []
    for name in frame.columns:
        # As objects, so that every mark of a missing value becomes None: NaN, NaT, pandas' own.
        values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        columns.append(_column_texts(values))
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue()


def _column_texts(values: list[Any]) -> list[str]:
    """Return the texts of a column, with floats as whole numbers if all of them are whole."""
    floats = [value for value in values if isinstance(value, float)]
    if not all(map(_is_whole, floats)):
        return list(map(_field_text, values))
    return [_field_text(int(value) if isinstance(value, float) else value) for value in values]


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < 2**53


def _field_text(value: Any) -> str:
    """Return the text of a value, or raise ValueError if it could not be read back."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if value is None or value != value:
        return ""
    if isinstance(value, tuple | list):
        return _SEPARATOR.join(map(_field_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if isinstance(value, float):
        text = repr(value + 0.0)
    elif isinstance(value, str):
        text = guarded(value)
    if value in (math.inf, -math.inf) or _LINE_BREAK.search(text):
        raise ValueError(f"found {show(value, kind=False)} in a table; allowed: finite numbers, and text of one line")
    return text
