"""Times next to measured data: which column has them, whether the steps are even, and where samples are missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from datetime import time as clock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.columns import chosen_signals, columns_listed
from narxbench._identification.data.errors import argument_error, data_error
from narxbench._identification.data.moments import continued, with_clock_changes
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.sources import Signal, Source, is_none
from narxbench._identification.data.stamps import (
    SECOND,
    UNITS,
    Moments,
    Place,
    is_clock_time,
    is_date,
    moments_of_texts,
)
from narxbench._identification.data.time_numbers import (
    NumericTimes,
    dates_of_numbers,
    last_digit,
    times_in_unit,
    times_of_numbers,
)
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.fields import is_missing, is_numeric
from narxbench._io.words import counted

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Deviations of a step of the time from the median: up to the first it is even, up to the second it is taken as even.
EVEN, NEARLY_EVEN = 0.01, 0.1
# A step of more than so many medians is a jump: samples are missing.
JUMP = 1.5
# Numbers above this have no decimals that tell steps apart.
MOST_EXACT = 1e15
# The largest share of rows that may repeat the one before, with its time.
MOST_REPEATED = 0.1

SECONDS = UNITS | {"sec": 1.0, "second": 1.0, "seconds": 1.0, "µs": 1e-6, "μs": 1e-6, "msec": 1e-3}
SECONDS |= {"minutes": 60.0, "hours": 3600.0, "hr": 3600.0, "day": 86_400.0, "days": 86_400.0}
_SUFFIXES = ("s", "sec", "second", "seconds", "ms", "us", "µs", "μs", "ns", "min", "minutes", "h", "hours")
_UNIT = rf"[ _]*[\[(/] *(?P<unit>[^\])]*?) *[\])]?|_(?P<suffix>{'|'.join(_SUFFIXES)})"
_WORDS = "time|timestamp|time[ _]stamp|(sampling|sample|elapsed)[ _]?time|datetime|date|zeit|zeitstempel|temps|tiempo"
_WORDS += "|date[ _/]?time|datum|uhrzeit|fecha|hora|heure|clock|clock[ _]time|datenum|epoch|x_value"
# A single t is one of time, a T is rather a temperature.
_NAME_OF_TIME = re.compile(rf"(?P<word>t|(?i:{_WORDS}|sec|seconds))(?:{_UNIT})?")


class TimeChoice(NamedTuple):
    """The column of the time and the format of its values, as arguments specify them."""

    column: Any = None
    time_format: str | None = None


@dataclass(frozen=True)
class Times:
    """The times of the rows of a source."""

    columns: Sequence[int]  # none for the index of a frame
    title: str
    seconds: Array  # NaN where a time is missing
    resolution: float  # the last digit that was written
    has_unit: bool  # whether the unit is known, so that these are seconds indeed
    repeated_rows: Sequence[int] = ()  # those with time and values of the row before


def find_times(
    source: Source, choice: TimeChoice, signals: Sequence[Signal], values: Array, notes: list[str]
) -> Times | None:
    """Return the times of a source: those that the user specified, or those of columns whose names say so.

    ``values`` are those of the signals: a row that repeats the one before it is noted.
    """
    reader = _TimeReader(source, choice.time_format, values)
    if choice.column is False or isinstance(choice.column, np.bool_):
        return None
    if choice.column is not None:
        times = reader.times(_chosen_columns(source, choice.column, signals))
        notes += reader.notes
        return times
    return _times_by_name(reader, signals, notes)


def _chosen_columns(source: Source, specification: Any, signals: Sequence[Signal]) -> list[int]:
    """Return the column of the time, or those of date and clock time."""
    parts = columns_listed(specification)
    is_name = isinstance(specification, str) and specification.strip() in (source.names or ())
    if len(parts) != 2 or is_name:
        parts = [specification]
    return [chosen_signals(source, "time", part, signals)[0].column for part in parts]


def _times_by_name(reader: "_TimeReader", signals: Sequence[Signal], notes: list[str]) -> Times | None:
    source = reader.source
    candidates = []
    for column, name in enumerate(source.full_names or source.names or ()):
        if Signal(column) not in signals and _NAME_OF_TIME.fullmatch(name):
            candidates.append([column])
    pair = reader.date_and_clock_time([column for (column,) in candidates])
    refusals = []
    for columns in [pair, *candidates] if pair else candidates:
        names = " and ".join(repr(source.names[column]) for column in columns if source.names)
        try:
            times = reader.times(columns)
        except NarxbenchError as error:
            refusals.append(f"{error}. So the column was not taken as the time.")
        else:
            noun, verb = ("Columns", "were") if len(columns) > 1 else ("Column", "was")
            notes.append(f"{noun} {names} {verb} taken as the time, by {'their' if len(columns) > 1 else 'its'} name.")
            notes += reader.notes
            return times
    notes += refusals
    if source.index is None:
        return None
    notes.append("The index of the frame was taken as the time.")
    index = replace(source, names=("index",), full_names=("index",), units=("",), columns=[source.index], table=None)
    index_reader = replace(reader, source=index)
    times = index_reader.times([0])
    notes += index_reader.notes
    return replace(times, columns=())


@dataclass
class _TimeReader:
    """A reader of columns of times of a source; its notes are those on the last that it read."""

    source: Source
    time_format: str | None
    values: Array
    notes: list[str] = field(default_factory=list)

    def times(self, columns: Sequence[int]) -> Times:
        """Return the times of a column, or of those of date and clock time; times that stand raise NarxbenchError."""
        title = " and ".join(self.source.column_title(column) for column in columns)
        numeric = self._numeric_times(columns, title)
        self._refuse_without_values(numeric.seconds, title)
        self.notes = [f"{self.source.label}: {title}: {note}" for note in numeric.notes]
        repeated_rows = self._repeated_rows(numeric.seconds, title)
        noun = "columns" if len(columns) > 1 else "column"
        return Times(
            columns=columns,
            title=f"{noun} {printable(title)}",
            seconds=numeric.seconds,
            resolution=numeric.resolution,
            has_unit=numeric.has_unit,
            repeated_rows=repeated_rows,
        )

    def date_and_clock_time(self, columns: Sequence[int]) -> list[int] | None:
        """Return the first of some columns with dates alone and the first with clock times alone, None without both."""
        dates, clock_times = [], []
        for column in columns:
            text = next((text for text in self._texts([column]) or () if text is not None), "")
            if is_date(text):
                dates.append(column)
            elif is_clock_time(text):
                clock_times.append(column)
        if dates and clock_times:
            return [dates[0], clock_times[0]]
        return None

    def _numeric_times(self, columns: Sequence[int], title: str) -> NumericTimes:
        source, (column, *_) = self.source, columns
        place = Place(lambda row, what, allowed: source.error(row, title, what, allowed), source.place)
        texts = self._texts(columns)
        if texts is not None:
            return _seconds_of_moments(moments_of_texts(texts, self.time_format, place), source)
        if len(columns) > 1:
            allowed = "the texts of a date and a clock time, or one column"
            raise argument_error("time", printable(title), allowed, source.name)
        if not source.table and source.columns[column].dtype.kind in "Mm":
            return _seconds_of_moments(_moments_of_ticks(source.columns[column], source.has_zone), source)
        numbers = source.numbers([Signal(column)])[:, 0]
        self._refuse_without_values(numbers, title)
        unit = self.time_format or self._unit(column)
        whole_numbers = _whole_numbers(source, column, numbers)
        if unit is not None and "%" not in unit:
            if np.nanmax(np.abs(numbers)) > MOST_EXACT:
                numbers = _differences(numbers, whole_numbers)
            return times_in_unit(numbers, unit, SECONDS)
        if whole_numbers is not None:
            dates = dates_of_numbers(whole_numbers, place)
            if unit is not None:
                texts = [None if number is None else str(number) for number in whole_numbers]
                dates = moments_of_texts(texts, unit, place)
            if dates is not None:
                return _seconds_of_moments(dates, source)
        return times_of_numbers(numbers, _differences(numbers, whole_numbers), title)

    def _texts(self, columns: Sequence[int]) -> list[str | None] | None:
        """Return columns of dates and clock times as texts, joined by a blank; None if they are numbers."""
        texts_by_column = [_texts_of_times(self.source, column) for column in columns]
        joined: list[str | None] = []
        for texts in texts_by_column:
            if texts is None:
                return None
            if not joined:
                joined = texts
                continue
            pairs = zip(joined, texts, strict=True)
            joined = [None if None in (first, second) else f"{first} {second}" for first, second in pairs]
        return joined

    def _unit(self, column: int) -> str | None:
        """Return the unit of a column of times, None if nothing says it."""
        source = self.source
        match = None
        if source.full_names:
            match = _NAME_OF_TIME.fullmatch(source.full_names[column])
        unit = (match["unit"] or match["suffix"]) if match else None
        if not unit and source.units:
            unit = source.units[column]
        return unit.strip().lower() if unit else None

    def _refuse_without_values(self, seconds: Array, title: str) -> None:
        if not np.isfinite(seconds).any():
            raise NarxbenchError(f"{self.source.name}: column {printable(title)}: found no value; needed: times")

    def _repeated_rows(self, seconds: Array, title: str) -> list[int]:
        """Return the rows that repeat time and values of the row before; other times that stand are refused."""
        source = self.source
        rows = np.flatnonzero(np.isfinite(seconds))
        repeated_rows = []
        for index in np.flatnonzero(np.diff(seconds[rows]) <= 0).tolist():
            before, row = rows[index : index + 2].tolist()
            is_same_time = seconds[row] == seconds[before]
            if not is_same_time or not np.array_equal(self.values[row], self.values[before], equal_nan=True):
                relation = "the same time as" if is_same_time else "an earlier time than"
                raise source.error(row, title, f"{relation} in {source.place(before)}", "times that increase")
            repeated_rows.append(row)
        if len(repeated_rows) > MOST_REPEATED * len(rows):
            row = repeated_rows[0]
            what = f"the same time as in {source.place(row - 1)}, as in {len(repeated_rows)} rows"
            raise source.error(row, title, what, "times that increase")
        if repeated_rows:
            subject = counted(len(repeated_rows), "row was", "rows were")
            places = places_of(source, np.array(repeated_rows))
            note = f"{subject} left out, for time and values are those of the row before: {places}."
            self.notes.append(f"{source.label}: {note}")
        return repeated_rows


def _texts_of_times(source: Source, column: int) -> list[str | None] | None:
    """Return the texts of a column of dates or clock times, None where one is missing; None if it has numbers."""
    values = source.columns[column]
    if source.table:
        first = next((text for text in values if not is_missing(text)), "nan")
        if is_numeric(first):
            return None
        return [None if is_missing(text) else text.strip() for text in values]
    if values.dtype.kind not in "OU" or not any(isinstance(value, str | date | clock) for value in values):
        return None
    return [_text_of_time(source, column, row, value) for row, value in enumerate(values)]


def _text_of_time(source: Source, column: int, row: int, value: Any) -> str | None:
    if is_none(value) or (isinstance(value, str) and is_missing(value)):
        return None
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, date | clock):
        return value.isoformat()
    raise source.error(row, source.column_title(column), show(value), "a date and time, as in other rows")


def _whole_numbers(source: Source, column: int, numbers: Array) -> list[int | None] | None:
    """Return the whole numbers of a column with all their digits, None where one is missing; None for other numbers."""
    values = source.columns[column]
    if source.table:
        texts = [None if is_missing(text) else text.strip() for text in values]
        if not all(text is None or text.isdecimal() for text in texts):
            return None
        return [None if text is None else int(text) for text in texts]
    if values.dtype.kind in "iu":
        return [int(value) for value in values]
    present = numbers[np.isfinite(numbers)]
    if (present != np.round(present)).any() or np.abs(present).max() > 2**53:
        return None
    return [int(value) if np.isfinite(value) else None for value in numbers.tolist()]


def _differences(numbers: Array, whole_numbers: Sequence[int | None] | None) -> Array:
    """Return the differences of numbers from the first, exact if they are whole numbers."""
    if whole_numbers is None:
        return numbers - float(numbers[np.isfinite(numbers)][0])
    first = next(number for number in whole_numbers if number is not None)
    return np.array([np.nan if number is None else number - first for number in whole_numbers])


def _moments_of_ticks(values: Any, has_zone: bool) -> Moments:
    """Return the moments of NumPy's dates or durations."""
    is_present = ~np.isnat(values)
    counts = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
    is_local = values.dtype.kind == "M" and not has_zone
    return Moments(np.where(is_present, counts, 0), is_present, True, is_local)


def _seconds_of_moments(moments: Moments, source: Source) -> NumericTimes:
    """Return the seconds since the first moment."""
    moments = with_clock_changes(continued(moments, source.place), source.place)
    first = moments.nanoseconds[moments.is_present][:1].sum()
    seconds = np.where(moments.is_present, (moments.nanoseconds - first) / SECOND, np.nan)
    return NumericTimes(seconds, last_digit(seconds[moments.is_present]), True, moments.notes)


class TimeSteps(NamedTuple):
    """Where the time jumps, and the sampling time."""

    jumps: Mask  # whether samples are missing before a row
    sampling_time: float | None = None  # in seconds, if it is known


def check_steps(source: Source, times: Times, is_present: Mask, notes: list[str]) -> TimeSteps:
    """Return where the time jumps, and the sampling time; an uneven time is noted or refused."""
    follows = np.append(False, is_present[1:] & is_present[:-1])
    steps = np.diff(times.seconds, prepend=np.nan)
    if not follows.any():
        return TimeSteps(follows)
    median = float(np.median(steps[follows]))
    jumps = follows & (steps > JUMP * median)
    if jumps.sum() > 0.1 * follows.sum():  # steps of 1 and 2 last digits are rather rounded ones of 1.5
        jumps &= steps > median + 1.01 * times.resolution
    inner = follows & ~jumps
    _check_evenness(source, times, steps, inner, median, notes)
    if jumps.any():
        rows = np.flatnonzero(jumps)
        often = "once" if len(rows) == 1 else f"{len(rows)} times"
        places = places_of(source, rows)
        notes.append(f"{source.label}: the time jumps {often}, and the data were cut there: {places}.")
    if not times.has_unit:
        problem = f"the unit of {times.title} is not known, so that the sampling time is not either"
        notes.append(f"{source.label}: {problem}.")
        return TimeSteps(jumps)
    count = int(inner.sum())
    return TimeSteps(jumps, _rounded(float(steps[inner].sum() / count), count, times.resolution))


def _check_evenness(source: Source, times: Times, steps: Array, inner: Mask, median: float, notes: list[str]) -> None:
    """Note or refuse uneven steps; ``inner`` are those that are no jumps."""
    deviations = np.where(inner, np.abs(steps / median - 1), 0.0)
    largest, row = float(deviations.max()), int(deviations.argmax())
    if largest <= EVEN or _are_rounded(times, inner):
        return
    if largest >= NEARLY_EVEN:
        what = f"a step of {steps[row]:.4g}, {largest:.0%} off the median of {median:.4g}, which is uneven"
        remedy = "resample the data to even steps, or take none as the time if the samples are even"
        place = f"{source.name}: {source.place(row)}, {times.title}"
        raise data_error(place, what, f"less than {NEARLY_EVEN:.0%}; {remedy}")
    notes.append(
        f"{source.label}: sampling is uneven, steps are up to {largest:.1%} off the median ({times.title}, "
        f"{source.place(row)}); the samples were taken as even."
    )


def _are_rounded(times: Times, inner: Mask) -> bool:
    """Return whether the times of each piece are those of even steps, but for the rounding of their last digit."""
    for start, end in runs(inner):
        values = times.seconds[start - 1 : end]
        steps = np.arange(len(values)) - (len(values) - 1) / 2
        slope = steps @ (values - values.mean()) / (steps @ steps)
        if np.abs(values - values.mean() - slope * steps).max() > 0.75 * times.resolution:
            return False
    return True


def _rounded(step: float, count: int, resolution: float) -> float:
    """Return a step with as few digits as leave the time of all steps right to its last digit."""
    # Times in days or hours are not right to a day.
    largest_drift = max(min(resolution, 1.0), 1e-9 * step * count) / 2
    for digits in range(16):
        rounded = float(f"{step:.{digits}e}")
        if abs(rounded - step) * count <= largest_drift:
            return rounded
    return step


def places_of(source: Source, rows: NDArray[np.int64]) -> str:
    """Return the first few of some rows: ``lines 3, 4, 7 and 12 more``."""
    numbers = []
    for row in rows[:5].tolist():
        noun, number = source.place(row).split()
        numbers.append(number)
    if len(rows) == 1:
        return f"{noun} {numbers[0]}"
    text = f"{noun}s {', '.join(numbers)}"
    if len(rows) > 5:
        text += f" and {len(rows) - 5} more"
    return text
