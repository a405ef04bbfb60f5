r"""Measured data as text files: columns of numbers in whatever form a logger or a spreadsheet writes them.

:func:`read_delimited` splits a file into columns of texts: it finds the separator (``,`` ``;`` tab or runs of blanks)
and distinguishes a header from a first sample. :meth:`Delimited.numbers` reads columns; missing values become NaN, and
anything else that is no finite number is refused by line and column. Row ``i``, counted from 0, stands in line
``first_line + i``. Tables of the project itself are read by :mod:`narxbench._io.csv`, which allows one form only.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._io.csv import number, rows_of
from narxbench._io.errors import FieldError, FileError, printable, show
from narxbench._io.files import StrPath, read_bytes
from narxbench._io.formats import text_of

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
    """The separator of fields; a blank stands for runs of blanks and tabs."""
    decimal: str | None = None
    """The decimal mark, ``.`` or ``,``, if the caller gave it."""
    guesses: tuple[str, ...] = ()
    """Sentences on what was guessed of the form."""

    def place(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        return f"line {self.first_line + row}"

    def decimal_mark(self, columns: Sequence[int]) -> str:
        """Return the decimal mark of some columns, ``.`` or ``,``: the given one, or what their texts show.

        A comma is one where no number has a point, and some number of the file shows that it does not group
        thousands. Between commas as separators it can only do that, which :meth:`numbers` refuses. Where three digits
        follow each comma, as in 5,123, it may be either, which raises a FieldError.
        """
        if self.decimal is not None:
            return self.decimal
        texts = list(chain.from_iterable(self.columns[column] for column in columns))
        with_comma = [text.strip() for text in texts if "," in text]
        if self.separator == "," or not with_comma or any("." in text for text in texts):
            return "."
        if all(map(_GROUPED.fullmatch, with_comma)) and not any(map(_has_decimal_commas, self.columns)):
            raise self._ambiguous_comma(columns)
        return ","

    def _ambiguous_comma(self, columns: Sequence[int]) -> FieldError:
        """Return the error of commas that may be decimal marks or group thousands, with the place of the first."""
        places = []
        for column in columns:
            places += [(row, column) for row, text in enumerate(self.columns[column]) if "," in text]
        row, column = min(places)
        text = self.columns[column][row].strip()
        decimal, whole = text.replace(",", "."), text.replace(",", "")
        problem = f"{self._where(row, column)}: found {show(text, kind=False)}, which is {decimal} with a decimal comma"
        problem += f" or {whole} with commas between thousands"
        needed = "',' if that is the decimal mark, else a file without such groups"
        return FieldError("decimal", f"{problem}; needed: {needed}", self.path)

    def numbers(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return columns, counted from 0, as an array of shape (rows, columns); missing values are NaN.

        Missing are fields that are empty, ``nan``, ``NA``, ``N/A``, ``null`` or ``-``, in any case of the letters. Any
        other field that is no finite number raises NarxbenchError, with its line and column.
        """
        decimal = self.decimal_mark(columns)
        return np.column_stack([self._column_numbers(column, decimal) for column in columns])

    def _column_numbers(self, column: int, decimal: str) -> NDArray[np.float64]:
        texts = list(map(str.strip, self.columns[column]))
        is_present = [text.lower() not in _MISSING for text in texts]
        fields = list(compress(texts, is_present))
        if decimal == ",":  # an apostrophe in place of a point is no part of a number
            fields = [text.replace(".", "'").replace(",", ".") for text in fields]
        numbers = np.full(len(texts), np.nan)
        try:
            numbers[is_present] = _finite_numbers(fields)
        except ValueError:
            rows = np.flatnonzero(is_present).tolist()
            self._refuse_wrong_number(dict(zip(rows, fields, strict=True)), column, decimal)
        return numbers

    def _refuse_wrong_number(self, fields: dict[int, str], column: int, decimal: str) -> None:
        """Raise NarxbenchError for the first field, by its row, that is no finite number."""
        for row, field in fields.items():
            try:
                number(field)
            except ValueError:
                hint = ""
                if decimal == "." and "," in field and is_numeric(field):
                    hint = ' (a decimal comma is read if no number has a point, or by decimal=",")'
                text = self.columns[column][row].strip()
                message = f"found {show(text, kind=False)}; allowed: {_ALLOWED}{hint}"
                raise FileError(f"{self.path}: {self._where(row, column)}: {message}") from None

    def _where(self, row: int, column: int) -> str:
        title = (self.names and self.names[column]) or str(column + 1)
        return f"{self.place(row)}, column {printable(title)}"


def _finite_numbers(fields: list[str]) -> NDArray[np.float64]:
    """Return the numbers that all fields are, or raise ValueError."""
    if not _NUMBER_LETTERS.issuperset("".join(fields)):  # float would take 1_000, inf and other digits
        raise ValueError
    numbers = np.fromiter(map(float, fields), float, len(fields))
    if np.isinf(numbers).any():
        raise ValueError
    return numbers


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


def _is_value(text: str) -> bool:
    """Return whether a field can stand in a column of numbers."""
    return is_missing(text) or is_numeric(text)


def _has_decimal_commas(texts: Sequence[str]) -> bool:
    """Return whether a column has numbers with a comma that cannot group thousands."""
    fields = [text.strip() for text in texts if "," in text and "." not in text]
    return any(is_numeric(field) and not _GROUPED.fullmatch(field) for field in fields)


def read_delimited(
    path: StrPath,
    number_columns: Sequence[int] | None,
    *,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Delimited:
    """Return the fields of a text file.

    Comments (``#`` or ``%``) and empty lines at the top and empty lines at the end are left out. A line without
    fields between samples is a row of missing values.

    ``number_columns``, counted from 0, have to hold numbers, which a header does not. None means that columns are
    chosen by name, so that there has to be a header: the first line, or the comment above it. With ``header`` None, the
    first line is a header unless all its fields of these columns are numbers. With ``separator`` None, the separator is
    the one that makes numbers of most fields of the first lines.
    """
    lines, first = _lines_of_data(path)
    beginning = lines[first : first + _SAMPLE_LINES]
    is_guessed = separator is None
    separator = separator or _guessed_separator(beginning, decimal)
    _refuse_without_numbers(path, beginning, separator)
    prepared_lines = [_prepared(line, separator) for line in lines[first:]]
    rows = rows_of(path, prepared_lines, first, delimiter=separator, skipinitialspace=True)
    guesses = []
    if is_guessed and separator != "," and len(rows[0]) > 1:
        guesses.append(f"the separator was taken to be {_NAMES[separator]}.")
    head = _header(path, rows[0], lines[:first], separator, header, number_columns)
    if head.guess:
        guesses.append(head.guess)
    first_line = first + 1
    if head.is_first_row:
        first_line += 1
        rows.pop(0)
    if not rows:
        raise FileError(f"{path}: found no samples below the header; needed: columns of numbers")
    width = len(head.names or rows[0])
    rows = [_row_of_width(path, row, width, line) for line, row in enumerate(rows, first_line)]
    columns = tuple(zip(*rows, strict=True))
    names = tuple(map(str.strip, head.names)) or None
    return Delimited(str(path), names, columns, first_line, separator, decimal, tuple(guesses))


def _lines_of_data(path: StrPath) -> tuple[list[str], int]:
    """Return the lines of a file without the empty ones at its end, and the index of the first that is no comment."""
    lines = _lines(path)
    while lines and not lines[-1].strip():
        lines.pop()
    for index, line in enumerate(lines):
        if line.strip() and line.lstrip()[0] not in "#%":
            return lines, index
    raise FileError(f"{path}: found no samples; needed: columns of numbers")


def _lines(path: StrPath) -> list[str]:
    text = text_of(path, read_bytes(path))
    # Not str.splitlines: lines are counted as an editor counts them.
    if "\r" in text:
        text = re.sub(r"\r+\n|\r", "\n", text)
    lines = text.split("\n")
    for line_number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            allowed = f"up to {_LONGEST_LINE}; needed: a text file such as CSV"
            raise FileError(f"{path}: line {line_number}: found {len(line)} characters; allowed: {allowed}")
    return lines


def _guessed_separator(lines: list[str], decimal: str | None) -> str:
    """Return the separator that makes numbers of most fields; where there is none, one that does not occur."""
    best, largest_share = ";", -1.0
    for separator in SEPARATORS:
        rows = [_split(line, separator) for line in lines]
        samples = rows[1:] or rows
        usual_width = Counter(map(len, samples)).most_common(1)[0][0]
        if separator == decimal or len(rows[0]) < 2 or usual_width < 2:
            continue
        fields = list(chain.from_iterable(samples))
        share = sum(map(_is_value, fields)) / len(fields)
        # Decimal commas split into whole numbers: "1,5 2,5" is "1", "5 2", "5".
        if share > largest_share:
            best, largest_share = separator, share
    return best


def _refuse_without_numbers(path: StrPath, beginning: list[str], separator: str) -> None:
    """Raise NarxbenchError for a beginning without a number, so that no large file of something else is read."""
    fields = chain.from_iterable(_split(line, separator) for line in beginning)
    if len(beginning) == _SAMPLE_LINES and not any(map(_is_value, fields)):
        raise FileError(f"{path}: found no number in {_SAMPLE_LINES} lines; needed: columns of numbers")


def _prepared(line: str, separator: str) -> str:
    """Return a line in which only the separator separates: where it is a blank, tabs become blanks."""
    if separator != " ":
        return line
    return line.replace("\t", " ").strip()


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of one line, none where they cannot be read."""
    try:
        return next(csv.reader([_prepared(line, separator)], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


class _Header(NamedTuple):
    names: list[str]  # empty if there are none
    is_first_row: bool
    guess: str = ""


def _header(
    path: StrPath,
    row: list[str],
    lines_above: list[str],
    separator: str,
    has_header: bool | None,
    number_columns: Sequence[int] | None,
) -> _Header:
    """Return the names of the columns, from the first row or from the comment above it."""
    if has_header:
        return _Header(row, is_first_row=True)
    if has_header is None and _looks_like_header(path, row, len(lines_above) + 1, number_columns):
        guess = "" if number_columns is None else "the first line was taken as the header, for it is no numbers."
        return _Header(row, True, guess)
    names = _names_in_comment(lines_above, separator, len(row))
    if names:
        return _Header(names, False, "the comment above the first sample was taken as the header.")
    guess = "no header was found: the first line is the first sample." if has_header is None else ""
    return _Header([], False, guess)


def _looks_like_header(path: StrPath, row: list[str], line_number: int, number_columns: Sequence[int] | None) -> bool:
    """Return whether the first row is a header; one that may be either raises FieldError."""
    if number_columns is None or max(number_columns, default=0) >= len(row):
        return not all(map(is_numeric, row))
    fields = [row[i] for i in number_columns if not is_missing(row[i])]
    texts = [field for field in fields if not is_numeric(field)]
    if texts and len(texts) < len(fields):
        problem = f"found {show(texts[0], kind=False)} among numbers, so that it may be a header or a wrong sample"
        raise FieldError("header", f"line {line_number}: {problem}; needed: true or false", str(path))
    return bool(texts)


def _names_in_comment(lines_above: list[str], separator: str, n_columns: int) -> list[str]:
    """Return the names in the comment above the first sample, where NumPy and others write the header, or none."""
    comments = [line for line in lines_above if line.strip()]
    if not comments:
        return []
    names = _split(comments[-1].lstrip(" #%"), separator)
    if len(names) != n_columns or any(map(is_numeric, names)):
        return []
    return names


def _row_of_width(path: StrPath, row: list[str], width: int, line_number: int) -> list[str]:
    """Return a row with ``width`` fields: an empty one in place of an empty line, and no empty fields at the end."""
    if len(row) == width:
        return row
    surplus = row if len(row) < width else row[width:]
    if any(map(str.strip, surplus)):
        allowed = f"{width}, as in the first line"
        raise FileError(f"{path}: line {line_number}: found {len(row)} fields; allowed: {allowed}")
    return (row + [""] * width)[:width]
