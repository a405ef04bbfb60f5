"""Where the samples of a table begin: below a header block of an instrument, the names and the units of the columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from narxbench._io.errors import printable
from narxbench._io.fields import is_missing, is_numeric, is_time, is_value
from narxbench._io.units import are_units

Row = Sequence[str]

# Rows from which the form of the samples is taken, and the share of them that has it.
MOST_SAMPLES, LEAST_SHARE = 20, 0.8


class SampleForm(NamedTuple):
    """What the samples of a table have in common."""

    width: int
    number_columns: frozenset[int]
    time_columns: frozenset[int]
    numeric_share: float  # of all fields

    def fits(self, row: Row) -> bool:
        """Return whether a row is a sample of this width."""
        fields = _without_empty_end(row, self.width)
        return len(fields) == self.width and self.resembles(fields)

    def resembles(self, row: Row) -> bool:
        """Return whether a row has numbers and times where all samples have them, and some number."""
        numbers = [row[column] for column in self.number_columns if column < len(row)]
        times = [row[column] for column in self.time_columns if column < len(row)]
        if not all(map(is_value, numbers)) or not all(is_time(field) or is_missing(field) for field in times):
            return False
        return self.has_number(row)

    def has_number(self, row: Row) -> bool:
        """Return whether a row has a number where all samples have one."""
        fields = [row[column] for column in self.number_columns if column < len(row)]
        return any(is_numeric(field) and not is_missing(field) for field in fields)

    def may_name(self, row: Row) -> bool:
        """Return whether a row may have the names of the columns, or their units."""
        if len(row) < self.width or self.has_number(row):
            return False
        return all(row[column].strip() for column in self.number_columns)

    def may_be_units(self, row: Row) -> bool:
        """Return whether a row may have the units of the columns."""
        return len(row) >= min(self.width, 1 + max(self.number_columns)) and are_units(row[: self.width])


@dataclass(frozen=True)
class Header:
    """The rows above the samples, by their places in the table, counted from 0."""

    first_sample: int
    names_row: int | None = None
    units_row: int | None = None
    skipped_row: int | None = None  # texts between the names and the samples that are no units


def sample_form(rows: Sequence[Row]) -> SampleForm | None:
    """Return what the last of some rows have in common, or None if they are no samples."""
    # A short file may have as many lines of a header as samples.
    n_rows = min(MOST_SAMPLES, (len(rows) + 2) // 3)
    last_rows = rows[len(rows) - n_rows :]
    if not last_rows:
        return None
    width = Counter(map(len, last_rows)).most_common(1)[0][0]
    samples = [_without_empty_end(row, width) for row in last_rows]
    samples = [row for row in samples if len(row) == width]
    if len(samples) < LEAST_SHARE * n_rows or not width:
        return None
    number_columns, time_columns = set(), set()
    n_numeric = 0
    for column in range(width):
        fields = [row[column] for row in samples]
        n_values, n_missing = sum(map(is_value, fields)), sum(map(is_missing, fields))
        n_numeric += n_values
        if n_values >= LEAST_SHARE * len(samples) and n_missing < len(samples):
            number_columns.add(column)
        elif sum(map(is_time, fields)) >= LEAST_SHARE * (len(samples) - n_missing) and n_missing < len(samples):
            time_columns.add(column)
    if not number_columns:
        return None
    share = n_numeric / (width * len(samples))
    return SampleForm(width, frozenset(number_columns), frozenset(time_columns), share)


def find_header(rows: Sequence[Row], form: SampleForm) -> Header | None:
    """Return the header above the first sample; None if there is no sample, or a wrong one above it."""
    first_sample = next((place for place, row in enumerate(rows) if form.fits(row)), None)
    if first_sample is None:
        return None
    while first_sample and _is_sample_of_missing_values(rows[first_sample - 1], form.width):
        first_sample -= 1
    if any(map(form.resembles, rows[:first_sample])):
        return None
    candidates: list[int] = []
    for place in range(first_sample - 1, -1, -1):
        row = rows[place]
        if not any(map(str.strip, row)) and len(candidates) < 2:
            continue
        if not candidates and form.has_number(row):
            return None
        if not form.may_name(row) and (candidates or not form.may_be_units(row)):
            break
        candidates.insert(0, place)
    return _header(rows, candidates, first_sample)


def _header(rows: Sequence[Row], candidates: Sequence[int], first_sample: int) -> Header:
    """Return which of the rows above the samples that may name the columns does."""
    if not candidates:
        return Header(first_sample)
    last = candidates[-1]
    if len(candidates) == 1:
        return Header(first_sample, last)
    if are_units(rows[last]):
        return Header(first_sample, candidates[-2], last)
    is_all_above = not any(any(map(str.strip, row)) for row in rows[: candidates[0]])
    if is_all_above and len(candidates) == 2:
        return Header(first_sample, candidates[0], skipped_row=last)
    return Header(first_sample, last)


def header_notes(header: Header, rows: Sequence[Row], first_line: int, noun: str) -> list[str]:
    """Return sentences on what was taken as the header; ``first_line`` is the number of the first row."""
    notes = []
    rows_above = [header.names_row, header.units_row, header.skipped_row]
    top = min((place for place in rows_above if place is not None), default=header.first_sample)
    if any(any(map(str.strip, row)) for row in rows[:top]):
        lines = f"{noun} {first_line} was" if top == 1 else f"{noun}s {first_line} to {first_line + top - 1} were"
        notes.append(f"{lines} taken as a header block and left out (skip_rows says another number of {noun}s).")
    if header.names_row is not None and top:
        notes.append(f"{noun} {first_line + header.names_row} was taken as the header.")
    if header.units_row is not None:
        units = printable(", ".join(map(str.strip, rows[header.units_row])))
        notes.append(f"{noun} {first_line + header.units_row} was taken as the units: {units}.")
    if header.skipped_row is not None:
        texts = printable(", ".join(map(str.strip, rows[header.skipped_row])))
        notes.append(f"{noun} {first_line + header.skipped_row} was left out, for it has no numbers: {texts}.")
    return notes


def _without_empty_end(row: Row, width: int) -> Row:
    """Return a row without empty fields beyond a width."""
    if len(row) > width and not any(map(str.strip, row[width:])):
        return row[:width]
    return row


def _is_sample_of_missing_values(row: Row, width: int) -> bool:
    """Return whether a row has as many fields as the samples, none of them a value; at least one says so."""
    return len(row) == width and all(map(is_missing, row)) and any(map(str.strip, row))
