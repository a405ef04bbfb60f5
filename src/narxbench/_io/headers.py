"""Where the samples of a table begin: below a header block of an instrument, the names and the units of the columns."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import NamedTuple

from narxbench._io.errors import printable
from narxbench._io.fields import is_missing, is_numeric, is_time, is_value
from narxbench._io.units import are_units, split_names

Row = Sequence[str]

# Rows from which the form of the samples is taken, and the share of them that has it: loggers omit some fields.
SAMPLE_ROWS, LEAST_SHARE = 30, 0.8


class SampleForm(NamedTuple):
    """The form that the samples of a table have in common."""

    width: int
    number_columns: Collection[int]
    time_columns: Collection[int]
    numeric_share: float  # of all fields

    def fits(self, row: Row) -> bool:
        """Return whether a row is a sample of this width."""
        fields = _without_empty_end(row, self.width)
        return len(fields) == self.width and self.resembles(fields)

    def resembles(self, row: Row) -> bool:
        """Return whether a row has numbers and times where all samples have them, and some number."""
        are_numbers = all(map(is_value, _fields(row, self.number_columns)))
        return are_numbers and all(map(_may_be_time, _fields(row, self.time_columns))) and self.has_number(row)

    def has_number(self, row: Row) -> bool:
        """Return whether a row has a number where all samples have one."""
        return any(map(_is_number, _fields(row, self.number_columns)))

    def may_name(self, row: Row) -> bool:
        """Return whether a row may have the names of the columns, or their units."""
        if len(row) < self.width or self.has_number(row):
            return False
        return all(map(str.strip, _fields(row, self.number_columns)))

    def may_be_units(self, row: Row) -> bool:
        """Return whether a row may have the units of the columns."""
        return len(row) >= min(self.width, 1 + max(self.number_columns)) and are_units(row[: self.width])


@dataclass(frozen=True)
class Header:
    """The rows above the samples, by their places in the table, counted from 0."""

    first_sample: int
    names_row: int | None = None
    units_row: int | None = None
    skipped_row: int | None = None  # texts between the names and the samples that are not units


def sample_form(rows: Sequence[Row]) -> SampleForm | None:
    """Return the form that the last of some rows have in common, or None if they are not samples."""
    # A short file may have as many lines of a header as samples.
    n_rows = min(SAMPLE_ROWS, (len(rows) + 2) // 3)
    last_rows = rows[len(rows) - n_rows :]
    if not last_rows:
        return None
    width = Counter(map(len, last_rows)).most_common(1)[0][0]
    samples = []
    for row in last_rows:
        sample = _without_empty_end(row, width)
        if len(sample) == width:
            samples.append(sample)
    if len(samples) < LEAST_SHARE * n_rows or not width:
        return None
    columns = list(zip(*samples, strict=True))
    columns_of_kind: dict[str, set[int]] = {"number": set(), "time": set(), "text": set()}
    n_values = 0
    for column, fields in enumerate(columns):
        columns_of_kind[_kind_of_fields(fields)].add(column)
        n_values += sum(map(is_value, fields))
    number_columns, time_columns = columns_of_kind["number"], columns_of_kind["time"]
    if not number_columns:
        return None
    return SampleForm(width, number_columns, time_columns, n_values / (width * len(samples)))


def _kind_of_fields(fields: Sequence[str]) -> str:
    """Return what most fields of a column are: number, time or text."""
    present_fields = list(filterfalse(is_missing, fields))
    if not present_fields:
        return "text"
    if sum(map(is_value, fields)) >= LEAST_SHARE * len(fields):
        return "number"
    if sum(map(is_time, present_fields)) >= LEAST_SHARE * len(present_fields):
        return "time"
    return "text"


def find_header(rows: Sequence[Row], form: SampleForm, column_names: Collection[str]) -> Header | None:
    """Return the header above the first sample, or None if there is no sample, or a wrong one above it.

    A row with some of the ``column_names`` is the row of the names.
    """
    first_sample = next((place for place, row in enumerate(rows) if form.fits(row)), None)
    if first_sample is None:
        return None
    while first_sample and _is_sample_of_missing_values(rows[first_sample - 1], form.width):
        first_sample -= 1
    if any(map(form.resembles, rows[:first_sample])):
        return None
    places = [place for place in range(first_sample) if has_fields(rows[place])]
    if places and form.has_number(rows[places[-1]]):
        return None
    return _header(rows, _rows_of_names(rows, places, form), first_sample, column_names)


def _rows_of_names(rows: Sequence[Row], places: Sequence[int], form: SampleForm) -> list[int]:
    """Return the last places whose rows may have names or units, one below the other."""
    candidates: list[int] = []
    for place in reversed(places):
        row = rows[place]
        is_row_of_units = not candidates and form.may_be_units(row)
        # Channels may be called 1, 2, 3 above their units.
        is_above_units = len(candidates) == 1 and are_units(rows[candidates[0]]) and len(row) == form.width
        is_apart = bool(candidates) and place < candidates[0] - 1
        if is_apart or not (form.may_name(row) or is_row_of_units or is_above_units):
            break
        candidates.insert(0, place)
    return candidates


def _header(rows: Sequence[Row], candidates: Sequence[int], first_sample: int, column_names: Collection[str]) -> Header:
    """Return which of the rows above the samples that may name the columns does."""
    if not candidates:
        return Header(first_sample)
    names_row = candidates[-1]
    is_all_above = not any(map(has_fields, rows[: candidates[0]]))
    if len(candidates) > 1 and (are_units(rows[names_row]) or (is_all_above and len(candidates) == 2)):
        names_row = candidates[-2]
    for place in candidates:
        if _has_name(rows[place], column_names):
            names_row = place
    units_row, skipped_row = None, None
    for place in candidates[candidates.index(names_row) + 1 :]:
        if units_row is None and are_units(rows[place]):
            units_row = place
        else:
            skipped_row = place
    return Header(first_sample, names_row, units_row, skipped_row)


def _has_name(row: Row, column_names: Collection[str]) -> bool:
    """Return whether a row has one of some names, with its unit or without."""
    names = set(map(str.strip, row))
    short_names, _ = split_names(list(names))
    return not names.union(short_names).isdisjoint(column_names)


def header_notes(header: Header, rows: Sequence[Row], first_line: int, noun: str) -> list[str]:
    """Return sentences on the rows that were left out, where ``first_line`` is the number of the first row."""
    notes = []
    rows_above = [header.names_row, header.units_row, header.skipped_row]
    top = min((place for place in rows_above if place is not None), default=header.first_sample)
    if any(map(has_fields, rows[:top])):
        lines = f"{noun} {first_line} was" if top == 1 else f"{noun}s {first_line} to {first_line + top - 1} were"
        notes.append(f"{lines} taken as a header block and left out (read skiprows says another number of {noun}s).")
    if header.skipped_row is not None:
        texts = printable(", ".join(map(str.strip, rows[header.skipped_row])))
        notes.append(f"{noun} {first_line + header.skipped_row} was left out, for it has no numbers: {texts}.")
    return notes


def has_fields(row: Row) -> bool:
    """Return whether a row has a field that is not empty."""
    return any(map(str.strip, row))


def _fields(row: Row, columns: Collection[int]) -> list[str]:
    """Return the fields of a row in some columns, as far as it reaches."""
    return [row[column] for column in columns if column < len(row)]


def _is_number(field: str) -> bool:
    return is_numeric(field) and not is_missing(field)


def _may_be_time(field: str) -> bool:
    return is_time(field) or is_missing(field)


def _without_empty_end(row: Row, width: int) -> Row:
    """Return a row without empty fields beyond a width."""
    if len(row) > width and not any(map(str.strip, row[width:])):
        return row[:width]
    return row


def _is_sample_of_missing_values(row: Row, width: int) -> bool:
    """Return whether a row has as many fields as the samples, all missing, and one of them in words."""
    return len(row) == width and all(map(is_missing, row)) and any(map(str.strip, row))
