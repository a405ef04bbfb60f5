"""Numbers as times: seconds by default, or what their digits show: epochs, dates without marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.sources import Source
from narxbench._identification.data.stamps import SECOND, Moments, moments_of_texts
from narxbench._identification.data.time_names import UNITS
from narxbench._io.errors import NarxbenchError

Array = NDArray[np.float64]

# Numbers between these days, in seconds since 1970, a part of them, or days of MATLAB, are taken as dates.
_FIRST, _LAST = date(1980, 1, 1), date(2100, 1, 1)
_FIRST_EPOCH, _LAST_EPOCH = ((day - date(1970, 1, 1)).total_seconds() for day in (_FIRST, _LAST))
_EPOCH_UNITS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# MATLAB counts the days from a year 0, of 366 days, on.
_FIRST_DATENUM, _LAST_DATENUM = (day.toordinal() + (date(5, 1, 1) - date(4, 1, 1)).days for day in (_FIRST, _LAST))
_DIGITS_OF_DATES = {8: "YYYYMMDD", 12: "YYYYMMDDHHMM", 14: "YYYYMMDDHHMMSS"}


@dataclass(frozen=True)
class Times:
    """The times of the rows of a source."""

    seconds: Array  # NaN where a time is missing
    resolution: float  # the last digit that was written
    has_unit: bool = True  # whether the unit is known, so that these are seconds indeed
    notes: Sequence[str] = ()
    origin: int | None = None  # where they start, in nanoseconds since 1970, if dates say it
    columns: Sequence[int] = ()  # none for the index of a frame
    title: str = ""
    repeated_rows: Sequence[int] = ()  # with time and values of the row before
    is_newest_first: bool = False  # whether the rows are taken from the last to the first
    is_assumed: bool = False  # whether the user did not choose them


def times_in_unit(numbers: Array, unit: str, scales: Mapping[str, float]) -> Times:
    """Return numbers as times in a unit, whose ``scales`` are in seconds."""
    scale = scales.get(unit, 1.0)
    return Times(numbers * scale, last_digit(numbers[np.isfinite(numbers)]) * scale, unit in scales)


def may_be_dates(numbers: Array) -> bool:
    """Return whether numbers have as many digits as dates without marks."""
    lengths = {len(str(int(number))) for number in (np.nanmin(numbers), np.nanmax(numbers))}
    return len(lengths) == 1 and not lengths.isdisjoint(_DIGITS_OF_DATES)


def dates_of_numbers(texts: Sequence[str | None], source: Source, title: str) -> Moments | None:
    """Return the moments of numbers such as 202405311200, or None if some are not dates."""
    try:
        moments = moments_of_texts(texts, None, source, title)
    except NarxbenchError:
        return None
    n_digits = len(next(filter(None, texts)))
    note = f"the numbers of {n_digits} digits were taken as dates, {_DIGITS_OF_DATES[n_digits]}."
    return moments._replace(notes=[note])


def epoch_origin(seconds: float) -> int | None:
    """Return the nanoseconds since 1970 of a time in seconds, or None if it is too early or late to be a date."""
    return round(seconds * SECOND) if _FIRST_EPOCH <= seconds <= _LAST_EPOCH else None


def times_of_numbers(numbers: Array, differences: Array, name: str, source: str) -> Times:
    """Return numbers without a unit as times: seconds, or the time since an epoch.

    The user is asked about large numbers that are neither. ``differences`` are the exact differences from the first
    number, ``name`` and ``source`` are for errors.
    """
    present = numbers[np.isfinite(numbers)]
    for unit, words in _EPOCH_UNITS.items():
        scale = UNITS[unit]
        if present.min() * scale >= _FIRST_EPOCH and present.max() * scale <= _LAST_EPOCH:
            beginning = np.datetime_as_string(np.datetime64(int(present[0] * scale), "s"), "D")
            digits = len(str(int(present[0])))
            note = f"the numbers of {digits} digits were taken as {words} since 1970, from {beginning} on."
            origin = epoch_origin(float(present[0]) * scale)
            return replace(times_in_unit(differences, unit, UNITS), notes=[note], origin=origin)
    is_epoch = present.min() >= _FIRST_EPOCH and present.max() <= _LAST_EPOCH
    if np.abs(present).max() > _FIRST_EPOCH and not is_epoch:
        what = f"{name} from {present[0]:.15g} on, which is no date in s, ms, us or ns since 1970"
        raise argument_error("time_format", what, f"the unit, {', '.join(UNITS)}", source)
    if present.min() >= _FIRST_DATENUM and present.max() <= _LAST_DATENUM:
        what = f"{name} from {present[0]:.15g} on: seconds, or days of MATLAB (datenum)"
        raise argument_error("time_format", what, "s or d", source)
    return times_in_unit(numbers, "s", UNITS)


def last_digit(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than all digits."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    for decimals in range(np.finfo(float).precision + 1):
        if (np.abs(np.round(values, decimals) - values) <= noise).all():
            return float(10.0**-decimals)
    return 0.0
