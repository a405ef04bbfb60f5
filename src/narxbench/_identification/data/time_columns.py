"""Columns of times of a source: texts of dates and clock times, dates of NumPy, or numbers, as seconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from datetime import time as clock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.moments import continued, with_clock_changes
from narxbench._identification.data.signals import SMALL
from narxbench._identification.data.sources import Signal, Source, is_none, places_of
from narxbench._identification.data.stamps import (
    ORDERS,
    SECOND,
    Moments,
    is_clock_time,
    is_date,
    moments_of_texts,
)
from narxbench._identification.data.time_names import SECONDS, UNITS, unit_in_name
from narxbench._identification.data.time_numbers import (
    Times,
    dates_of_numbers,
    epoch_origin,
    last_digit,
    may_be_dates,
    times_in_unit,
    times_of_numbers,
)
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.fields import is_missing, is_numeric
from narxbench._io.words import counted

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
# Times as texts, None where one is missing.
Texts = list[str | None]

# The time may begin anew once in this many rows, as in a file of several experiments: a counter does so more often.
ROWS_OF_AN_EXPERIMENT = 100


@dataclass
class TimeReader:
    """A reader of columns of times of a source, with notes on the last one that it read."""

    source: Source
    time_format: str | None
    values: Array  # of the signals
    notes: list[str] = field(default_factory=list)

    def times(self, columns: Sequence[int]) -> Times:
        """Return the times of a column, or of two columns of date and clock time.

        NarxbenchError is raised if they do not increase. If the newest row is first, the rows are read upwards.
        """
        title = " and ".join(self.source.column_title(column) for column in columns)
        numeric = self._numeric_times(columns, title)
        self._refuse_without_values(numeric.seconds, title)
        if _are_newest_first(numeric.seconds):
            oldest_first = replace(self, source=self.source.newest_last(), values=self.values[::-1])
            times = oldest_first.times(columns)
            note = f"{self.source.label}: {times.title}: the newest row is first, so the rows were read upwards."
            self.notes = [note, *oldest_first.notes]
            return replace(times, is_newest_first=True)
        self.notes = [f"{self.source.label}: {title}: {note}" for note in numeric.notes]
        repeated_rows = self._repeated_rows(numeric.seconds, title)
        noun = "columns" if len(columns) > 1 else "column"
        return replace(numeric, columns=columns, title=f"{noun} {printable(title)}", repeated_rows=repeated_rows)

    def date_and_clock_time(self, columns: Sequence[int]) -> list[int] | None:
        """Return the first of some columns with dates alone and the first with clock times alone, None without both."""
        dates, clock_times = [], []
        for column in columns:
            text = str(_first_time(self.source, column))
            if is_date(text):
                dates.append(column)
            elif is_clock_time(text):
                clock_times.append(column)
        if dates and clock_times:
            return [dates[0], clock_times[0]]
        return None

    def _numeric_times(self, columns: Sequence[int], title: str) -> Times:
        """Return the times of some columns in seconds, whatever they hold."""
        source = self.source
        texts = _joined_texts(source, columns)
        if texts is not None:
            if not _first_text(texts):
                raise _no_value(source, title)
            return _seconds_of_moments(moments_of_texts(texts, self.time_format, source, title), source)
        if len(columns) > 1:
            allowed = "the texts of a date and a clock time, or one column"
            raise argument_error("time", printable(title), allowed, source.name)
        (column,) = columns
        if source.columns[column].dtype.kind in "Mm":
            times = _seconds_of_moments(_moments_of_ticks(source.columns[column], source.has_zone), source)
            is_date = source.columns[column].dtype.kind == "M"
            return times if is_date else replace(times, origin=None)
        return self._times_of_numbers(column, title)

    def _times_of_numbers(self, column: int, title: str) -> Times:
        """Return the times of a column of numbers: in its unit, as dates without marks, or as what they show."""
        source = self.source
        numbers = source.floats(column)
        self._refuse_without_values(numbers, title)
        whole_numbers = _whole_numbers(source.columns[column], numbers)
        if self.time_format in ORDERS:
            what = f"{self.time_format}, but {printable(title)} has numbers"
            raise argument_error("time_format", what, f"a unit, {', '.join(UNITS)}", source.name)
        unit = self.time_format or self._unit(column)
        if unit is not None and "%" in unit:
            texts = _texts_of_numbers(numbers, whole_numbers)
            return _seconds_of_moments(moments_of_texts(texts, unit, source, title), source)
        differences = _differences(numbers, whole_numbers)
        if unit is not None:
            if np.nanmax(np.abs(numbers)) <= 1.0 / np.finfo(float).eps:
                return times_in_unit(numbers, unit, SECONDS)
            origin = epoch_origin(float(numbers[np.isfinite(numbers)][0]) * SECONDS.get(unit, 1.0))
            return replace(times_in_unit(differences, unit, SECONDS), origin=origin)
        if whole_numbers is not None and may_be_dates(numbers):
            dates = dates_of_numbers(_texts_of_numbers(numbers, whole_numbers), source, title)
            if dates is not None:
                return _seconds_of_moments(dates, source)
        return times_of_numbers(numbers, differences, title, source.name)

    def _unit(self, column: int) -> str | None:
        """Return the unit of a column of times, or None if it is unknown."""
        source = self.source
        unit = source.unit(Signal(column))
        if source.full_names:
            unit = unit_in_name(source.full_names[column]) or unit
        return unit.strip().lower() or None

    def _refuse_without_values(self, seconds: Array, title: str) -> None:
        if not np.isfinite(seconds).any():
            raise _no_value(self.source, title)

    def _repeated_rows(self, seconds: Array, title: str) -> list[int]:
        """Return the rows that repeat time and values of the row before.

        Other times that do not increase are refused, and times that go back more often than experiments begin.
        """
        source = self.source
        rows = np.flatnonzero(np.isfinite(seconds))
        steps = np.diff(seconds[rows])
        goes_back = steps < 0
        if ROWS_OF_AN_EXPERIMENT * goes_back.sum() <= len(rows):
            # Experiments begin there, and the data are cut.
            goes_back[:] = False
        repeated_rows = []
        for index in np.flatnonzero(goes_back | (steps == 0)).tolist():
            before, row = rows[index : index + 2].tolist()
            if goes_back[index] or not np.array_equal(self.values[row], self.values[before], equal_nan=True):
                relation = "an earlier time than" if goes_back[index] else "the same time as"
                raise source.error(row, title, f"{relation} in {source.place(before)}", "times that increase")
            repeated_rows.append(row)
        if len(repeated_rows) > SMALL * len(rows):
            row = repeated_rows[0]
            what = f"the same time as in {source.place(row - 1)}, and so in {len(repeated_rows)} rows"
            raise source.error(row, title, what, "times that increase")
        if repeated_rows:
            subject = counted(len(repeated_rows), "row was", "rows were")
            places = places_of(source, np.array(repeated_rows))
            note = f"{subject} left out, for time and values are those of the row before: {places}."
            self.notes.append(f"{source.label}: {note}")
        return repeated_rows


def _are_newest_first(seconds: Array) -> bool:
    """Return whether times go back from row to row, apart from a few equal ones."""
    steps = np.diff(seconds[np.isfinite(seconds)])
    return len(steps) > 1 and bool((steps <= 0).all()) and (steps == 0).sum() <= SMALL * len(steps)


def _no_value(source: Source, title: str) -> NarxbenchError:
    return NarxbenchError(f"{source.name}: column {printable(title)}: found no value; needed: times")


# Columns as texts of dates and clock times.


def _joined_texts(source: Source, columns: Sequence[int]) -> Texts | None:
    """Return columns of dates and clock times as texts joined by a blank, or None if one is not text."""
    joined: Texts | None = None
    for column in columns:
        texts = _texts_of_column(source, column)
        if texts is None:
            return None
        joined = texts if joined is None else list(map(_joined, joined, texts))
    return joined


def _joined(first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return None
    return f"{first} {second}"


def _first_text(texts: Texts | None) -> str:
    return next((text for text in texts or () if text is not None), "")


def _texts_of_column(source: Source, column: int) -> Texts | None:
    """Return the texts of a column of dates or clock times with None for missing ones, or None for numbers."""
    values = source.columns[column]
    if _first_time(source, column) is None:
        return None
    if source.is_text:
        return [text if isinstance(text, str) and not is_missing(text) else None for text in values]
    return [_text_of_object(source, column, row, value) for row, value in enumerate(values)]


def _first_time(source: Source, column: int) -> Any:
    """Return the first date or clock time of a column, a text or an object, or None if it has numbers."""
    values = source.columns[column]
    if values.dtype.kind not in "OU":
        return None
    first = next((value for value in values if isinstance(value, str | date | clock)), None)
    if source.is_text and first is not None:
        first = next((text for text in values if isinstance(text, str) and not is_missing(text)), "nan")
        return None if is_numeric(first) else first
    return first


def _text_of_object(source: Source, column: int, row: int, value: Any) -> str | None:
    """Return the text of a date or clock time of Python, None for a missing one."""
    if isinstance(value, str):
        return None if is_missing(value) else value.strip()
    if is_none(value):
        return None
    if isinstance(value, date | clock):
        return value.isoformat()
    raise source.error(row, source.column_title(column), show(value), "a date and time, as in other rows")


# Columns as whole numbers.


def _whole_numbers(values: Any, numbers: Array) -> Integers | None:
    """Return whole numbers with all their digits, 0 for a missing one, or None if there are other numbers."""
    if values.dtype.kind in "iu":
        return np.asarray(values.astype(np.int64))
    present = np.where(np.isfinite(numbers), numbers, 0.0)
    if (present != np.round(present)).any() or (np.abs(present) > 2**53).any():
        return None
    return present.astype(np.int64)


def _texts_of_numbers(numbers: Array, whole_numbers: Integers | None) -> Texts:
    """Return numbers as texts, None where one is missing."""
    values = numbers if whole_numbers is None else whole_numbers
    texts: Texts = list(map(str, values.tolist()))
    for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
        texts[row] = None
    return texts


def _differences(numbers: Array, whole_numbers: Integers | None) -> Array:
    """Return the differences of numbers from the first, exact if they are whole numbers."""
    is_present = np.isfinite(numbers)
    values = numbers if whole_numbers is None else whole_numbers
    return np.where(is_present, values - values[is_present][0], np.nan)


# Moments.


def _moments_of_ticks(values: Any, has_zone: bool) -> Moments:
    """Return the moments of NumPy's dates or durations."""
    is_present = ~np.isnat(values)
    counts = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
    is_local = values.dtype.kind == "M" and not has_zone
    return Moments(np.where(is_present, counts, 0), is_present, True, is_local)


def _seconds_of_moments(moments: Moments, source: Source) -> Times:
    """Return the seconds since the first moment."""
    local = moments.nanoseconds[moments.is_present]
    moments = with_clock_changes(continued(moments, source.place), source.place)
    present = moments.nanoseconds[moments.is_present]
    first = present[:1].sum()
    seconds = np.where(moments.is_present, (moments.nanoseconds - first) / SECOND, np.nan)
    origin = None
    if moments.has_date:
        # What follows the data has the clock of their end.
        origin = int(first + (local - present)[-1:].sum())
    return Times(seconds, last_digit(seconds[moments.is_present]), True, moments.notes, origin)
