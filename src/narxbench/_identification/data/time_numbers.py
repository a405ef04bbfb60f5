"""Numbers as times: seconds by default, or what their digits show: epochs, dates without marks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.stamps import SECOND, UNITS, Moments, Place, moments_of_texts
from narxbench._io.errors import NarxbenchError

Array = NDArray[np.float64]

# Values that need more decimals than this need all that a number has.
MOST_DECIMALS = 12
# Seconds since 1970 of what is taken as an epoch: from 1980 to 2120.
_FIRST_EPOCH, _LAST_EPOCH = 3.15e8, 4.74e9
_EPOCH_UNITS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# Larger numbers, more than three years, are not taken as seconds unless they are an epoch.
MOST_SECONDS = 1e8
# Days of MATLAB's calendar from 1970 to 2080.
_FIRST_DATENUM, _LAST_DATENUM = 719_529, 760_000
_DIGITS_OF_DATES = {8: "YYYYMMDD", 12: "YYYYMMDDHHMM", 14: "YYYYMMDDHHMMSS"}
_FIRST_YEAR, _LAST_YEAR = 1950, 2100


class NumericTimes(NamedTuple):
    """Times that are numbers."""

    seconds: Array  # NaN where a time is missing
    resolution: float  # the last digit that was written
    has_unit: bool = True  # whether the unit is known, so that these are seconds indeed
    notes: Sequence[str] = ()
    origin: int | None = None  # where they start, in nanoseconds since 1970, if dates say it


def times_in_unit(numbers: Array, unit: str, scales: Mapping[str, float]) -> NumericTimes:
    """Return numbers as times in a unit, whose ``scales`` are in seconds."""
    scale = scales.get(unit, 1.0)
    return NumericTimes(numbers * scale, last_digit(numbers[np.isfinite(numbers)]) * scale, unit in scales)


def may_be_dates(numbers: Array) -> bool:
    """Return whether numbers have as many digits as dates without marks, and years of this age."""
    low, high = int(np.nanmin(numbers)), int(np.nanmax(numbers))
    n_digits = len(str(low))
    if n_digits not in _DIGITS_OF_DATES or len(str(high)) != n_digits:
        return False
    return int(str(low)[:4]) >= _FIRST_YEAR and int(str(high)[:4]) <= _LAST_YEAR


def dates_of_numbers(texts: Sequence[str | None], place: Place) -> Moments | None:
    """Return the moments of numbers such as 202405311200, or None if some are no dates."""
    try:
        moments = moments_of_texts(texts, None, place)
    except NarxbenchError:
        return None
    n_digits = len(next(filter(None, texts)))
    note = f"the numbers of {n_digits} digits were taken as dates, {_DIGITS_OF_DATES[n_digits]}."
    return moments._replace(notes=[note])


def epoch_origin(seconds: float) -> int | None:
    """Return the nanoseconds since 1970 of a time in seconds; None for one that is not of this age, so no date."""
    return round(seconds * SECOND) if _FIRST_EPOCH <= seconds <= _LAST_EPOCH else None


def times_of_numbers(numbers: Array, differences: Array, name: str, source: str) -> NumericTimes:
    """Return numbers without a unit as times: seconds, or an epoch; large numbers that are none are asked about.

    ``differences`` are the exact ones from the first number; ``name`` and ``source`` are for errors.
    """
    present = numbers[np.isfinite(numbers)]
    for unit, words in _EPOCH_UNITS.items():
        scale = UNITS[unit]
        if present.min() * scale >= _FIRST_EPOCH and present.max() * scale <= _LAST_EPOCH:
            beginning = np.datetime_as_string(np.datetime64(int(present[0] * scale), "s"), "D")
            digits = len(str(int(present[0])))
            note = f"the numbers of {digits} digits were taken as {words} since 1970, from {beginning} on."
            origin = epoch_origin(float(present[0]) * scale)
            return times_in_unit(differences, unit, UNITS)._replace(notes=[note], origin=origin)
    is_epoch = present.min() >= _FIRST_EPOCH and present.max() <= _LAST_EPOCH
    if np.abs(present).max() > MOST_SECONDS and not is_epoch:
        what = f"{name} from {present[0]:.15g} on, which is no date in s, ms, us or ns since 1970"
        raise argument_error("time_format", what, f"the unit, {', '.join(UNITS)}", source)
    if present.min() >= _FIRST_DATENUM and present.max() <= _LAST_DATENUM:
        what = f"{name} from {present[0]:.15g} on: seconds, or days of MATLAB (datenum)"
        raise argument_error("time_format", what, "s or d", source)
    return times_in_unit(numbers, "s", UNITS)


def last_digit(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than 12."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    for decimals in range(MOST_DECIMALS + 1):
        if (np.abs(np.round(values, decimals) - values) <= noise).all():
            return float(10.0**-decimals)
    return 0.0
