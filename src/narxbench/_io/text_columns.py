"""Columns of texts that hold numbers, in whatever form a logger or a spreadsheet writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from narxbench._io.decimals import (
    TRUTH_VALUES,
    canonical,
    group_name,
    is_grouped,
    is_truth_value,
    marks_of,
    settled_mark,
)
from narxbench._io.errors import FieldError, FileError, printable, show
from narxbench._io.fields import MISSING

_NUMBER_LETTERS = frozenset("0123456789+-.eE")
# Letters of numbers under a decimal mark that have no groups of thousands.
_PLAIN_LETTERS = {".": _NUMBER_LETTERS, ",": _NUMBER_LETTERS - {"."} | {","}}
_ALLOWED = "a finite number, or nothing where it is missing"


@dataclass(frozen=True)
class TextColumns:
    """The fields of a file, in columns."""

    path: str
    names: tuple[str, ...] | None
    """Names of the columns, without units and blanks around them; None in a file without a header."""
    columns: tuple[tuple[str, ...], ...]
    """The texts below the header."""
    lines: Sequence[int]
    """Line of each sample, counted from 1."""
    separator: str
    """The separator of fields; a blank stands for runs of blanks and tabs."""
    decimal: str | None = None
    """The decimal mark, ``.`` or ``,``, if the caller gave it."""
    guesses: tuple[str, ...] = ()
    """Sentences on what was guessed of the form."""
    full_names: tuple[str, ...] | None = None
    """Names of the columns as they stand in the header, with their units."""
    units: tuple[str, ...] | None = None
    """Units of the columns, from their names or from the row below; "" where there is none."""
    noun: str = "line"
    """The word for a line: a spreadsheet has rows."""

    def place(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        return f"{self.noun} {self.lines[row]}"

    def at_rows(self, rows: Sequence[int]) -> "TextColumns":
        """Return the columns with some of their rows alone."""
        columns = tuple(tuple(texts[row] for row in rows) for texts in self.columns)
        return replace(self, columns=columns, lines=[self.lines[row] for row in rows])

    def empty_rows(self) -> list[int]:
        """Return the rows without any field, such as those of empty lines."""
        rows = list(range(len(self.lines)))
        for texts in self.columns:
            rows = [row for row in rows if not texts[row].strip()]
        return rows

    def decimal_mark(self, columns: Sequence[int]) -> str:
        """Return the decimal mark of some columns, ``.`` or ``,``: the given one, or what their texts show.

        The first text that can be read under one mark only decides, of these columns or else of all. Where there is
        none and all commas have three digits after them, as in 5,123, it may be either, which raises a FieldError.
        """
        if self.decimal is not None:
            return self.decimal
        columns_of_texts = [self.columns[column] for column in columns]
        mark = settled_mark(chain.from_iterable(columns_of_texts))
        if mark is None and self.separator != ",":
            mark = settled_mark(chain.from_iterable(self.columns))
        if mark is not None:
            return mark
        if any("," in text and marks_of(text.strip()) for text in chain.from_iterable(columns_of_texts)):
            raise self._ambiguous_comma(columns)
        return "."

    def _ambiguous_comma(self, columns: Sequence[int]) -> FieldError:
        """Return the error of commas that may be decimal marks or group thousands, with the place of the first."""
        places = []
        for column in columns:
            texts = self.columns[column]
            places += [(row, column) for row, text in enumerate(texts) if "," in text and marks_of(text.strip())]
        row, column = min(places)
        text = self.columns[column][row].strip()
        decimal, whole = text.replace(",", "."), text.replace(",", "")
        problem = f"{self._where(row, column)}: found {show(text, kind=False)}, which is {decimal} with a decimal comma"
        problem += f" or {whole} with commas between thousands"
        return FieldError("decimal", f"{problem}; needed: ',' or '.', the decimal mark", self.path)

    def numbers(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return columns, counted from 0, as an array of shape (rows, columns); missing values are NaN.

        Missing are fields that are empty, ``nan``, ``NA``, ``N/A``, ``null`` or ``-``, in any case of the letters. Any
        other field that is no finite number raises NarxbenchError, with its line and column.
        """
        decimal = self.decimal_mark(columns)
        return np.column_stack([self._column_numbers(column, decimal) for column in columns])

    def number_notes(self, columns: Sequence[int]) -> list[str]:
        """Return sentences on how the numbers of some columns were read: decimal commas, thousands, truth values."""
        notes = []
        mark = self.decimal_mark(columns)
        groups: dict[str, str] = {}
        truth_columns = []
        has_comma = False
        for column in columns:
            texts = self.columns[column]
            letters = set().union(*texts)
            has_comma |= "," in letters
            if not letters <= _PLAIN_LETTERS[mark]:
                groups = _groups_of_thousands(texts, mark) | groups
            if not letters <= _PLAIN_LETTERS[mark] and any(map(is_truth_value, texts)):
                truth_columns.append(self._title(column))
        if self.decimal is None and mark == "," and has_comma:
            notes.append("the commas in numbers were read as decimal marks.")
        for name, text in groups.items():
            notes.append(f"{name} between groups of three digits, as in {text}, were left out of the numbers.")
        if truth_columns:
            notes.append(f"true and false were read as 1 and 0: column {printable(', '.join(truth_columns))}.")
        return notes

    def _column_numbers(self, column: int, decimal: str) -> NDArray[np.float64]:
        texts = list(map(str.strip, self.columns[column]))
        is_present = [text.lower() not in MISSING for text in texts]
        fields = list(compress(texts, is_present))
        numbers = np.full(len(texts), np.nan)
        try:
            numbers[is_present] = _finite_numbers(fields, decimal)
        except ValueError:
            rows = np.flatnonzero(is_present).tolist()
            numbers[is_present] = self._unusual_numbers(dict(zip(rows, fields, strict=True)), column, decimal)
        return numbers

    def _unusual_numbers(self, fields: dict[int, str], column: int, decimal: str) -> list[float]:
        """Return the numbers of fields, by row, with groups of thousands or truth values; others are refused."""
        has_truth_values = any(map(is_truth_value, fields.values()))
        numbers = []
        for row, field in fields.items():
            if has_truth_values:
                field = TRUTH_VALUES.get(field.lower(), field)
            try:
                numbers.append(float(canonical(field, decimal)))
            except ValueError:
                raise self._wrong_number(row, column, decimal) from None
            if has_truth_values and numbers[-1] not in (0, 1):
                truth_values = list(map(is_truth_value, fields.values()))
                row = list(fields)[truth_values.index(True)]
                raise self._wrong_number(row, column, decimal)
        return numbers

    def _wrong_number(self, row: int, column: int, decimal: str) -> FileError:
        """Return the error of a field that is no finite number."""
        text = self.columns[column][row].strip()
        hint = ""
        other_mark = "." if decimal == "," else ","
        if marks_of(text) == (other_mark,):
            hint = f" (under decimal={other_mark!r} it is a number)"
        message = f"found {show(text, kind=False)}; allowed: {_ALLOWED}{hint}"
        return FileError(f"{self.path}: {self._where(row, column)}: {message}")

    def _where(self, row: int, column: int) -> str:
        return f"{self.place(row)}, column {printable(self._title(column))}"

    def _title(self, column: int) -> str:
        return (self.names and self.names[column]) or str(column + 1)


def _groups_of_thousands(texts: Sequence[str], mark: str) -> dict[str, str]:
    """Return the first number with groups of thousands by the name of what stands between the groups."""
    examples: dict[str, str] = {}
    for text in map(str.strip, texts):
        if is_grouped(text, mark):
            examples.setdefault(group_name(text), text)
    return examples


def _finite_numbers(fields: list[str], decimal: str) -> NDArray[np.float64]:
    """Return the numbers that all fields are, without groups of thousands, or raise ValueError."""
    if decimal == ",":
        # An apostrophe in place of a point is no part of a number here.
        fields = [text.replace(".", "'").replace(",", ".") for text in fields]
    if not _NUMBER_LETTERS.issuperset("".join(fields)):  # float would take 1_000, inf and other digits
        raise ValueError
    numbers = np.fromiter(map(float, fields), float, len(fields))
    if np.isinf(numbers).any():
        raise ValueError
    return numbers
