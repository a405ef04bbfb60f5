"""Times next to measured data: which column has them, whether the steps are even, and where samples are missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.columns import chosen_signals
from narxbench._identification.data.errors import data_error
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.sources import Signal, Source, is_none
from narxbench._io.delimited import is_missing, is_numeric
from narxbench._io.errors import NarxbenchError, printable, show

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Deviations of a step of the time from the median: up to the first it is even, up to the second it is taken as even.
EVEN, NEARLY_EVEN = 0.01, 0.1
# A step of more than so many medians is a jump: samples are missing.
JUMP = 1.5
# Values that need more decimals than this need all that a number has.
MOST_DECIMALS = 12

SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
SECONDS |= {"ns": 1e-9, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
_UNIT = rf"[ _]*[\[(/] *(?P<unit>[^\])]*?) *[\])]?|_(?P<suffix>{'|'.join(SECONDS)})"
_WORDS = "time|timestamp|time[ _]stamp|(sampling|sample|elapsed)[ _]?time|datetime|date|zeit|zeitstempel|temps|tiempo"
# A single t is one of time, a T is rather a temperature.
_NAME_OF_TIME = re.compile(rf"(?P<word>t|(?i:{_WORDS}|sec|seconds))(?:{_UNIT})?")


@dataclass(frozen=True)
class Times:
    """A column of times."""

    column: int  # -1 for the index of a frame
    title: str
    seconds: Array  # NaN where a time is missing
    resolution: float  # the last digit that was written
    has_unit: bool  # whether the unit is known, so that these are seconds indeed


def find_times(source: Source, specification: Any, signals: Sequence[Signal], notes: list[str]) -> Times | None:
    """Return the times of a source: those that the user specified, or those of a column whose name says so."""
    if specification is False or isinstance(specification, np.bool_):
        return None
    if specification is not None:
        return _read_times(source, chosen_signals(source, "time", specification, signals)[0].column)
    refusals = []
    for column, name in enumerate(source.names or ()):
        if Signal(column) in signals or not _NAME_OF_TIME.fullmatch(name):
            continue
        try:
            times = _read_times(source, column)
        except NarxbenchError as error:
            refusals.append(f"{error}. So the column was not taken as the time.")
        else:
            notes.append(f"Column {name!r} was taken as the time, by its name.")
            return times
    notes += refusals
    if source.index is None:
        return None
    notes.append("The index of the frame was taken as the time.")
    times = _read_times(replace(source, names=("index",), columns=[source.index]), 0)
    return replace(times, column=-1)


def _read_times(source: Source, column: int) -> Times:
    """Return the times of a column; times that do not increase raise NarxbenchError."""
    values, are_stamps = _numbers_or_seconds(source, column)
    title = source.column_title(column)
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        raise NarxbenchError(f"{source.name}: column {printable(title)}: found no value; needed: times")
    wrong_steps = np.flatnonzero(np.diff(values[rows]) <= 0)
    if len(wrong_steps):
        before, row = rows[wrong_steps[0] : wrong_steps[0] + 2].tolist()
        relation = "the same time as" if values[row] == values[before] else "an earlier time than"
        raise source.error(row, title, f"{relation} in {source.place(before)}", "times that increase")
    unit = "s" if are_stamps or not source.names else _unit_in_name(source.names[column])
    scale = SECONDS.get(unit, 1.0)
    resolution = last_digit(values[rows]) * scale
    return Times(column, f"column {printable(title)}", values * scale, resolution, unit in SECONDS)


def _unit_in_name(name: str) -> str:
    """Return the unit in the name of a column of times, by default seconds."""
    match = _NAME_OF_TIME.fullmatch(name)
    if not match:
        return "s"
    return (match["unit"] or match["suffix"] or "s").strip().lower()


def last_digit(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than 12."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    for decimals in range(MOST_DECIMALS + 1):
        if (np.abs(np.round(values, decimals) - values) <= noise).all():
            return float(10.0**-decimals)
    return 0.0


def _numbers_or_seconds(source: Source, column: int) -> tuple[Array, bool]:
    """Return the numbers of a column, or the seconds of its stamps, and whether it has stamps; NaN for missing ones."""
    values = source.columns[column]
    if source.table:
        first = next((text for text in values if not is_missing(text)), "nan")
        if not is_numeric(first):
            return _seconds_of_stamps(source, column, list(map(_stamp_in_text, values))), True
    elif values.dtype.kind in "Mm":
        return _seconds_of_ticks(values), True
    elif values.dtype.kind in "OU" and any(map(_is_stamp, values)):
        return _seconds_of_stamps(source, column, values), True
    return source.numbers([Signal(column)])[:, 0], False


def _stamp_in_text(text: str) -> str | None:
    return None if is_missing(text) else text.strip()


def _seconds_of_ticks(values: Any) -> Array:
    """Return the seconds since the first of NumPy's dates or durations."""
    is_missing_value = np.isnat(values)
    counts = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
    first = counts[~is_missing_value][:1].sum()
    return np.where(is_missing_value, np.nan, (counts - first) / 1e9)


def _is_stamp(value: Any) -> bool:
    return isinstance(value, str | datetime) and not is_none(value)


def _seconds_of_stamps(source: Source, column: int, values: Sequence[Any]) -> Array:
    """Return the seconds since the first stamp, of ISO 8601 texts or of Python's dates."""
    seconds = np.full(len(values), np.nan)
    first = None
    for row, value in enumerate(values):
        if is_none(value):
            continue
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
            first = first or moment
            seconds[row] = (moment - first).total_seconds()
        except (ValueError, TypeError):  # TypeError: with and without a time zone
            allowed = "numbers, or date and time as in 2024-05-31T12:00:00.01, all with a time zone or none"
            raise source.error(row, source.column_title(column), show(value, kind=False), allowed) from None
    return seconds


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
    largest_drift = max(resolution, 1e-9 * step * count) / 2
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
