r"""Measured data as text files: columns of numbers in whatever form a logger or a spreadsheet writes them.

:func:`read_delimited` splits a file into columns of texts: it finds the separator (``,`` ``;`` tab or runs of blanks)
and distinguishes a header from a first sample. :meth:`Delimited.numbers` reads columns; missing values become NaN, and
anything else that is no finite number is refused by line and column. Row ``i``, counted from 0, stands in line
``first_line + i``. Tables of the project itself are read by :mod:`narxbench.io.csv`, which allows one form only.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from narxbench.io.csv import number, rows_of
from narxbench.io.errors import FieldError, NarxbenchError, printable, show
from narxbench.io.files import StrPath, read_bytes
from narxbench.io.formats import text_of

# In the order in which they are preferred where two fit equally well.
_NAMES = {";": "a semicolon", "\t": "a tab", ",": "a comma", " ": "blanks"}
SEPARATORS = tuple(_NAMES)
_MISSING = frozenset(("", "nan", "na", "n/a", "null", "-"))
_NUMBER_LETTERS = frozenset("0123456789+-.eE")
_ALLOWED = "a finite number without thousands separators, or nothing where it is missing"
# A whole number with a comma that may group thousands.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_SAMPLE_LINES = 30
_LONGEST_LINE = 10_000_000


@dataclass(frozen=True)
class Delimited:
    """The fields of a file."""

    path: str
    names: tuple[str, ...] | None
    """Names of the columns, without blanks around them; None in a file without a header."""
    columns: tuple[tuple[str, ...], ...]
    """The texts below the header."""
    first_line: int
    """Line of the first sample, counted from 1."""
    separator: str
    """What stands between fields; a blank means runs of blanks and tabs."""
    decimal: str | None = None
    """The decimal mark, ``.`` or ``,``, where it was given."""
    guesses: tuple[str, ...] = ()
    """What was found out about the form, and not given: sentences."""

    def place(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        return f"line {self.first_line + row}"

    def decimal_mark(self, columns: Sequence[int]) -> str:
        """Return the decimal mark of some columns, ``.`` or ``,``: the given one, or what their texts show.

        A comma is one where no number has a point, and some number of the file shows that it does not group
        thousands. Between commas as separators it can only do that, which :meth:`numbers` refuses. Where three digits
        follow each comma, as in 5,123, it may be either, which raises a FieldError.
        """
        texts = [text.strip() for column in columns for text in self.columns[column] if "," in text or "." in text]
        if self.decimal or self.separator == "," or not texts or any("." in text for text in texts):
            return self.decimal or "."
        if all(map(_GROUPED.fullmatch, texts)) and not any(map(self._has_decimal_commas, range(len(self.columns)))):
            numbered = ((row, column) for column in columns for row in range(len(self.columns[column])))
            row, column = min(at for at in numbered if "," in self.columns[at[1]][at[0]])
            text = self.columns[column][row].strip()
            found = f"found {show(text, kind=False)}, which is {text.replace(',', '.')} with a decimal comma or "
            found += f"{text.replace(',', '')} with commas between thousands"
            needed = "',' if that is the decimal mark, else a file without such groups"
            raise FieldError("decimal", f"{self._where(row, column)}: {found}; needed: {needed}", self.path)
        return ","

    def _has_decimal_commas(self, column: int) -> bool:
        """Return whether a column has numbers with a comma that cannot group thousands."""
        fields = (text.strip() for text in self.columns[column] if "," in text and "." not in text)
        return any(is_numeric(field) and not _GROUPED.fullmatch(field) for field in fields)

    def numbers(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return columns, counted from 0, as an array of shape (rows, columns); missing values are NaN.

        Missing are fields that are empty, ``nan``, ``NA``, ``N/A``, ``null`` or ``-``, in any case of the letters. Any
        other field that is no finite number raises NarxbenchError, with its line and column.
        """
        decimal = self.decimal_mark(columns)
        return np.column_stack([self._numbers(column, decimal) for column in columns])

    def _numbers(self, column: int, decimal: str) -> NDArray[np.float64]:
        texts = [text.strip() for text in self.columns[column]]
        present = [text.lower() not in _MISSING for text in texts]
        fields = list(compress(texts, present))
        if decimal == ",":  # a point makes it no number
            fields = [text.replace(".", "'").replace(",", ".") for text in fields]
        values = np.full(len(texts), np.nan)
        try:
            if not _NUMBER_LETTERS.issuperset("".join(fields)):  # float would take 1_000, inf and other digits
                raise ValueError
            values[present] = np.fromiter(map(float, fields), float, len(fields))
            if np.isinf(values).any():
                raise ValueError
        except ValueError:
            for row, field in zip(np.flatnonzero(present).tolist(), fields, strict=True):
                try:
                    number(field)
                except ValueError:
                    hint = ""
                    if decimal == "." and "," in field and is_numeric(field):
                        hint = ' (a decimal comma is read if no number has a point, or by decimal=",")'
                    found = f"found {show(texts[row], kind=False)}; allowed: {_ALLOWED}{hint}"
                    raise NarxbenchError(f"{self.path}: {self._where(row, column)}: {found}") from None
        return values

    def _where(self, row: int, column: int) -> str:
        title = (self.names[column] if self.names else "") or str(column + 1)
        return f"{self.place(row)}, column {printable(title)}"


def is_missing(text: str) -> bool:
    """Return whether a field means that there is no value."""
    return text.strip().lower() in _MISSING


def is_numeric(text: str) -> bool:
    """Return whether a field is some number, be it infinite or with a decimal comma."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def read_delimited(
    path: StrPath,
    wanted: Sequence[int] | None,
    *,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Delimited:
    """Return the fields of a text file.

    Comments (``#`` or ``%``) and empty lines at the top and empty lines at the end are left out. A line without
    fields between samples is a row of missing values.

    ``wanted`` are the columns, counted from 0, that have to be numbers, as a header is not; None where they are wanted
    by name, so that there has to be a header: the first line, or the comment above it. With ``header`` None, the first
    line is one unless all wanted fields of it are numbers; with ``separator`` None, it is what makes numbers of most
    fields of the first lines.
    """
    lines = _lines(path)
    first = next((i for i, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#%"), len(lines))
    while len(lines) > first and not lines[-1].strip():
        lines.pop()
    if first == len(lines):
        raise NarxbenchError(f"{path}: found no samples; needed: columns of numbers")
    beginning = lines[first : first + _SAMPLE_LINES]
    sep = separator or _separator(beginning, decimal)
    # A large file of something else is not looked through to its end.
    fields = (field for line in beginning for field in _split(line, sep))
    if len(beginning) == _SAMPLE_LINES and not any(is_missing(field) or is_numeric(field) for field in fields):
        raise NarxbenchError(f"{path}: found no number in {_SAMPLE_LINES} lines; needed: columns of numbers")
    samples = (_prepared(line, sep) for line in lines[first:])
    rows = rows_of(path, samples, first, delimiter=sep, skipinitialspace=True)
    guesses = []
    if separator is None and sep != "," and len(rows[0]) > 1:
        guesses.append(f"the separator was taken to be {_NAMES[sep]}.")
    if header if header is not None else _has_header(path, rows[0], first + 1, wanted):
        names = rows.pop(0)
        first += 1
        if header is None and wanted is not None:
            guesses.append("the first line was taken as the header, for it is no numbers.")
    else:  # NumPy and others write the header as a comment
        comment = next((line.lstrip(" #%") for line in reversed(lines[:first]) if line.strip()), "")
        names = _split(comment, sep)
        names = names if len(names) == len(rows[0]) and not any(map(is_numeric, names)) else []
        if names:
            guesses.append("the comment above the first sample was taken as the header.")
        elif header is None:
            guesses.append("no header was found: the first line is the first sample.")
    width = len(names or rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            if any(field.strip() for field in (row if len(row) < width else row[width:])):
                allowed = f"{width}, as in the first line"
                raise NarxbenchError(f"{path}: line {first + i + 1}: found {len(row)} fields; allowed: {allowed}")
            rows[i] = (row + [""] * width)[:width]
    columns = tuple(zip(*rows, strict=True))
    if not columns:
        raise NarxbenchError(f"{path}: found no samples below the header; needed: columns of numbers")
    stripped = tuple(name.strip() for name in names) or None
    return Delimited(str(path), stripped, columns, first + 1, sep, decimal, tuple(guesses))


def _lines(path: StrPath) -> list[str]:
    text = text_of(path, read_bytes(path))
    # Not str.splitlines: lines are counted as an editor counts them.
    lines = re.sub(r"\r+\n|\r", "\n", text).split("\n") if "\r" in text else text.split("\n")
    for i, each in enumerate(lines):
        if len(each) > _LONGEST_LINE:
            allowed = f"up to {_LONGEST_LINE}; needed: a text file such as CSV"
            raise NarxbenchError(f"{path}: line {i + 1}: found {len(each)} characters; allowed: {allowed}")
    return lines


def _separator(lines: list[str], decimal: str | None) -> str:
    """Return the separator that makes numbers of most fields; where there is none, one that does not occur."""
    best, most = ";", -1.0
    for separator in SEPARATORS:
        rows = [_split(line, separator) for line in lines]
        samples = rows[1:] or rows
        several = len(rows[0]) > 1 and Counter(map(len, samples)).most_common(1)[0][0] > 1
        if not several or separator == decimal:
            continue
        fields = [field for row in samples for field in row]
        share = sum(is_missing(field) or is_numeric(field) for field in fields) / len(fields)
        # Decimal commas split into whole numbers: "1,5 2,5" is "1", "5 2", "5".
        if share > most:
            best, most = separator, share
    return best


def _prepared(line: str, separator: str) -> str:
    return line.replace("\t", " ").strip() if separator == " " else line


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of one line, none where they cannot be read."""
    try:
        return next(csv.reader([_prepared(line, separator)], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def _has_header(path: StrPath, row: list[str], line: int, wanted: Sequence[int] | None) -> bool:
    if wanted is None or max(wanted, default=0) >= len(row):
        return not all(map(is_numeric, row))
    fields = [row[i] for i in wanted if not is_missing(row[i])]
    texts = [field for field in fields if not is_numeric(field)]
    if texts and len(texts) < len(fields):
        found = f"found {show(texts[0], kind=False)} among numbers, so that it may be a header or a wrong sample"
        raise FieldError("header", f"line {line}: {found}; needed: true or false", str(path))
    return bool(texts)
