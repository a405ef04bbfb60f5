r"""Tables of measured data: text files and sheets of workbooks become columns of texts.

:func:`read_delimited` finds the separator (``,`` ``;`` tab or runs of blanks), leaves out the header block of an
instrument, and distinguishes names and units from a first sample. Tables of the project itself are read by
:mod:`narxbench._io.csv`, which allows one form only.
"""

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from narxbench._io.csv import rows_of
from narxbench._io.encodings import decoded
from narxbench._io.errors import FieldError, FileError, show
from narxbench._io.fields import is_missing, is_numeric, is_value
from narxbench._io.files import StrPath
from narxbench._io.formats import TABLES, DataFile, open_data_file
from narxbench._io.headers import Header, find_header, has_fields, header_notes, sample_form
from narxbench._io.text_columns import TextColumns
from narxbench._io.units import split_names
from narxbench._io.workbooks import rows_of_sheet

# In the order in which they are preferred where two fit equally well.
_NAMES = {";": "a semicolon", "\t": "a tab", ",": "a comma", " ": "blanks"}
SEPARATORS = tuple(_NAMES)
# The line above a table by which spreadsheets learn the separator.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
# No column is called so.
_TRUE_OR_FALSE = ("true", "false")
_SAMPLE_LINES, _HEADER_LINES = 30, 1000
_LONGEST_LINE = 10_000_000


class TableForm(NamedTuple):
    """The form of a table, as far as its user says it."""

    number_columns: Sequence[int] | None
    column_names: Collection[str]
    has_header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    skip_rows: int | None = None


@dataclass
class _Table:
    """The rows of a table below its names."""

    path: str
    rows: list[list[str]]
    first_line: int  # of these rows, counted from 1
    separator: str
    names: Sequence[str]  # none where there is no header
    units: Sequence[str] = ()
    noun: str = "line"
    guesses: list[str] = field(default_factory=list)
    lines: range = range(0)

    def columns(self, decimal: str | None) -> TextColumns:
        """Return the columns of the table, each row of the same width."""
        self._leave_out_empty_rows()
        if not self.rows:
            raise FileError(f"{self.path}: found no samples below the header; needed: columns of numbers")
        width = len(self.names or self.rows[0])
        rows = []
        for line, row in zip(self.lines, self.rows, strict=True):
            rows.append(row if len(row) == width else _row_of_width(self.path, row, width, f"{self.noun} {line}"))
        names, full_names, units = None, None, None
        if self.names:
            full_names = tuple(map(str.strip, self.names))
            names, units = split_names(full_names, self.units)
        return TextColumns(
            path=self.path,
            names=names,
            columns=tuple(zip(*rows, strict=True)),
            lines=self.lines,
            separator=self.separator,
            decimal=decimal,
            guesses=tuple(self.guesses),
            full_names=full_names,
            units=units,
            noun=self.noun,
        )

    def _leave_out_empty_rows(self) -> None:
        """Leave out the rows without fields below the header, and every second one if all of these are empty."""
        self.lines = range(self.first_line, self.first_line + len(self.rows))
        n_empty = 0
        while self.names and n_empty < len(self.rows) and not any(self.rows[n_empty]):
            n_empty += 1
        if _is_double_spaced(self.rows[n_empty:]):
            self.guesses.append(f"every second {self.noun} is empty: these were left out.")
            self.lines, self.rows = self.lines[n_empty::2], self.rows[n_empty::2]
        else:
            self.lines, self.rows = self.lines[n_empty:], self.rows[n_empty:]


def read_delimited(
    file: StrPath | DataFile,
    number_columns: Sequence[int] | None,
    *,
    column_names: Collection[str] = (),
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    skip_rows: int | None = None,
    encoding: str | None = None,
) -> TextColumns:
    """Return the fields of a text file, or of a sheet of a workbook.

    Comments (``#`` or ``%``) and empty lines at the top and empty lines at the end are left out. A line without
    fields between samples is a row of missing values, unless every second line is empty. Without ``skip_rows``, the
    number of lines above the header, the header block of an instrument is left out where numbers begin below it. A row
    of units below the names is recognised.

    ``number_columns``, counted from 0, have to hold numbers, which a header does not. None means that columns are
    chosen by name, so that there has to be a header: the first line, or the comment above it; ``column_names`` are some
    of these names. With ``header`` None, the
    first line is a header unless all its fields of these columns are numbers. With ``separator`` None, the separator is
    the one that makes numbers of most fields of the first lines.
    """
    if not isinstance(file, DataFile):
        file = open_data_file(file)
    if file.format not in TABLES:
        raise FileError(f"{file.path}: found the format {file.format}; needed: a text file such as CSV")
    form = TableForm(number_columns, column_names, header, separator, decimal, skip_rows)
    if file.format == "xlsx":
        sheet = rows_of_sheet(file)
        table = _table_of_rows(file.path, sheet.rows, form)
        guesses = sheet.guesses
    else:
        text, guess = decoded(file.path, file.content, encoding)
        table = _table_of_text(file.path, text, form)
        guesses = [guess] if guess else []
    table.guesses = [*file.guesses, *guesses, *table.guesses]
    return table.columns(decimal)


def _table_of_text(path: str, text: str, form: TableForm) -> _Table:
    """Return the table in a text."""
    lines = _lines(path, text)
    first, separator = _begin_of_table(path, lines, form)
    table_header = _header_of_lines(lines[first : first + _HEADER_LINES], form, separator)
    if table_header is not None:
        header, separator = table_header
        rows_above = _split_lines(lines[first : first + header.first_sample], separator)
        rows = _split_strictly(path, lines, first + header.first_sample, separator)
        table = _table_below(path, header, rows_above, first + 1, rows, "line")
    else:
        beginning = lines[first : first + _SAMPLE_LINES]
        separator = separator or _guessed_separator(beginning, form.decimal)
        _refuse_without_numbers(path, beginning, separator)
        rows = _split_strictly(path, lines, first, separator)
        lines_above = filter(str.strip, lines[form.skip_rows or 0 : first])
        comments = [_split(line.lstrip(" #%"), separator) for line in lines_above]
        table = _plain_table(path, rows, first + 1, comments, form, "line")
    table.separator = separator
    is_guessed = form.separator is None and separator != ","
    if is_guessed and max(len(table.names), len(table.rows[0]) if table.rows else 0) > 1:
        table.guesses.insert(0, f"the separator was taken to be {_NAMES[separator]}.")
    if form.has_header is False:
        table.names = ()
    return table


def _table_of_rows(path: str, rows: list[list[str]], form: TableForm) -> _Table:
    """Return the table in the rows of a sheet."""
    first = form.skip_rows or 0
    while first < len(rows) and not has_fields(rows[first]):
        first += 1
    if first >= len(rows):
        raise FileError(f"{path}: found no samples; needed: columns of numbers")
    header = _header_of_rows(rows[first : first + _HEADER_LINES], form)
    if header is None:
        table = _plain_table(path, rows[first:], first + 1, [], form, "row")
    else:
        begin = first + header.first_sample
        table = _table_below(path, header, rows[first:begin], first + 1, rows[begin:], "row")
    if form.has_header is False:
        table.names = ()
    return table


def _split_strictly(path: str, lines: list[str], begin: int, separator: str) -> list[list[str]]:
    """Return the fields of all lines from one on."""
    prepared_lines = [_prepared(line, separator) for line in lines[begin:]]
    return rows_of(path, prepared_lines, begin, delimiter=separator, skipinitialspace=True)


def _begin_of_table(path: str, lines: list[str], form: TableForm) -> tuple[int, str | None]:
    """Return the index of the first line that is no comment, and the separator as far as it is known.

    Empty lines at the end are taken off the list.
    """
    while lines and not lines[-1].strip():
        lines.pop()
    separator = form.separator
    for index in range(form.skip_rows or 0, len(lines)):
        line = lines[index]
        separator_line = _SEPARATOR_LINE.fullmatch(line)
        if separator_line and separator_line[1] in SEPARATORS:
            separator = separator or separator_line[1]
        elif line.strip() and line.lstrip()[0] not in "#%":
            return index, separator
    below = f" below line {form.skip_rows}" if form.skip_rows else ""
    raise FileError(f"{path}: found no samples{below}; needed: columns of numbers")


def _header_of_lines(lines: list[str], form: TableForm, separator: str | None) -> tuple[Header, str] | None:
    """Return the header of several lines and the separator below it; None where there is one line at most."""
    best_rank = (False, False, -1.0)
    best: tuple[Header, str] | None = None
    for candidate in SEPARATORS:
        if candidate == form.decimal or separator not in (None, candidate):
            continue
        rows = _split_lines(lines, candidate)
        if candidate == " " and _hold_separators(rows):
            continue
        if _has_numbers_only(rows):
            return None
        samples = sample_form(list(filter(has_fields, rows)))
        header = samples and find_header(rows, samples, form.column_names)
        if not samples or not header:
            continue
        rank = (header.names_row is not None, samples.width > 1, samples.numeric_share)
        if rank > best_rank:
            best_rank, best = rank, None
            if _is_long(header, rows, samples.width, form):
                best = header, candidate
    return best


def _has_numbers_only(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows have as many fields, several, and each of these is a number or missing."""
    rows = list(filter(has_fields, rows))
    return len(set(map(len, rows))) == 1 and len(rows[0]) > 1 and all(map(is_value, chain.from_iterable(rows)))


def _header_of_rows(rows: list[list[str]], form: TableForm) -> Header | None:
    """Return the header of several rows of a sheet; None where there is one row at most."""
    samples = sample_form(list(filter(has_fields, rows)))
    header = find_header(rows, samples, form.column_names) if samples else None
    if not samples or not header or not _is_long(header, rows, samples.width, form):
        return None
    return header


def _is_long(header: Header, rows: Sequence[Sequence[str]], width: int, form: TableForm) -> bool:
    """Return whether a header has several rows, or more names than the samples have fields.

    With ``skip_rows``, its first row has the names.
    """
    if form.skip_rows is not None and header.names_row != 0:
        return False
    return header.first_sample > 1 or (header.first_sample == 1 and header.names_row == 0 and _width(rows[0]) > width)


def _table_below(
    path: str, header: Header, rows_above: list[list[str]], first_line: int, rows: list[list[str]], noun: str
) -> _Table:
    """Return the table below a header of several rows."""
    width = max(map(_width, rows))
    names: list[str] = []
    units: list[str] = []
    if header.names_row is not None:
        names = rows_above[header.names_row][:width]
    if header.units_row is not None:
        units = rows_above[header.units_row]
    guesses = header_notes(header, rows_above, first_line, noun)
    return _Table(path, rows, first_line + header.first_sample, "", names, units, noun, guesses)


def _width(row: Sequence[str]) -> int:
    """Return the number of fields of a row without the empty ones at its end."""
    width = len(row)
    while width and not row[width - 1].strip():
        width -= 1
    return width


def _plain_table(
    path: str, rows: list[list[str]], first_line: int, comments: list[list[str]], form: TableForm, noun: str
) -> _Table:
    """Return a table whose first row has the names or is the first sample."""
    table = _Table(path, rows, first_line, "", (), noun=noun)
    is_header = form.has_header
    if is_header is None:
        is_header = _looks_like_header(path, rows[0], f"{noun} {first_line}", form.number_columns)
        if is_header and form.number_columns is not None:
            table.guesses.append(f"the first {noun} was taken as the header, for it is no numbers.")
    if is_header:
        table.names = rows.pop(0)
        table.first_line += 1
    elif comments and len(comments[-1]) == len(rows[0]) and not any(map(is_numeric, comments[-1])):
        # NumPy and others write the header so.
        table.names = comments[-1]
        table.guesses.append("the comment above the first sample was taken as the header.")
    elif form.has_header is None:
        table.guesses.append(f"no header was found: the first {noun} is the first sample.")
    return table


def _is_double_spaced(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether every second row is empty, and the others are not."""
    return len(rows) > 3 and not any(map(any, rows[1::2])) and all(map(any, rows[::2]))


def _lines(path: str, text: str) -> list[str]:
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
        if separator == " " and _hold_separators(samples):
            continue
        share = sum(map(is_value, fields)) / len(fields)
        # Decimal commas split into whole numbers: "1,5 2,5" is "1", "5 2", "5".
        if share > largest_share:
            best, largest_share = separator, share
    return best


def _hold_separators(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most rows have a field with another separator that is no number: blanks are inside dates then."""
    n_rows = 0
    for row in rows:
        n_rows += any(not is_value(field) and any(mark in field for mark in ",;") for field in row)
    return 2 * n_rows > len(rows)


def _refuse_without_numbers(path: str, beginning: list[str], separator: str) -> None:
    """Raise NarxbenchError for a beginning without a number, so that no large file of something else is read."""
    fields = chain.from_iterable(_split(line, separator) for line in beginning)
    if len(beginning) == _SAMPLE_LINES and not any(map(is_value, fields)):
        raise FileError(f"{path}: found no number in {_SAMPLE_LINES} lines; needed: columns of numbers")


def _prepared(line: str, separator: str) -> str:
    """Return a line in which only the separator separates: where it is a blank, tabs become blanks."""
    if separator != " ":
        return line
    return line.replace("\t", " ").strip()


def _split_lines(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of lines, none where they cannot be read."""
    return [_split(line, separator) for line in lines]


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of one line, none where they cannot be read."""
    try:
        return next(csv.reader([_prepared(line, separator)], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def _looks_like_header(path: str, row: Sequence[str], place: str, number_columns: Sequence[int] | None) -> bool:
    """Return whether the first row is a header; one that may be either raises FieldError."""
    if number_columns is None or max(number_columns, default=0) >= len(row):
        return not all(map(is_numeric, row))
    fields = [row[i] for i in number_columns if not is_missing(row[i]) and row[i].strip().lower() not in _TRUE_OR_FALSE]
    texts = [field for field in fields if not is_numeric(field)]
    if texts and len(texts) < len(fields):
        problem = f"found {show(texts[0], kind=False)} among numbers, so that it may be a header or a wrong sample"
        raise FieldError("header", f"{place}: {problem}; needed: true or false", path)
    return bool(texts)


def _row_of_width(path: str, row: list[str], width: int, place: str) -> list[str]:
    """Return a row with ``width`` fields: an empty one in place of an empty line, and no empty fields at the end."""
    surplus = row if len(row) < width else row[width:]
    if any(map(str.strip, surplus)):
        allowed = f"{width}, as in the first {place.split()[0]}"
        raise FileError(f"{path}: {place}: found {len(row)} fields; allowed: {allowed}")
    return (row + [""] * width)[:width]
