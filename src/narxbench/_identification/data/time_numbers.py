"""Numbers as times: seconds by default, or what their digits show: epochs, dates without marks, days of MATLAB."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.stamps import DAY, SECOND, UNITS, Moments, Place, moments_of_texts
from narxbench._io.errors import NarxbenchError

Array = NDArray[np.float64]

# Values that need more decimals than this need all that a number has.
MOST_DECIMALS = 12
# Seconds since 1970 of what is taken as an epoch: from 1980 to 2120.
_FIRST_EPOCH, _LAST_EPOCH = 3.15e8, 4.74e9
_EPOCH_UNITS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
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


def dates_of_numbers(whole_numbers: Sequence[int | None], place: Place) -> Moments | None:
    """Return the moments of numbers such as 202405311200, or None if some are no dates."""
    texts = [None if number is None else str(number) for number in whole_numbers]
    present_texts = list(filter(None, texts))
    n_digits = len(present_texts[0])
    if n_digits not in _DIGITS_OF_DATES or {len(text) for text in present_texts} != {n_digits}:
        return None
    first_year, last_year = int(min(present_texts)[:4]), int(max(present_texts)[:4])
    if first_year < _FIRST_YEAR or last_year > _LAST_YEAR:
        return None
    try:
        moments = moments_of_texts(texts, None, place)
    except NarxbenchError:
        return None
    note = f"the numbers of {n_digits} digits were taken as dates, {_DIGITS_OF_DATES[n_digits]}."
    return moments._replace(notes=[note])


def epoch_origin(seconds: float) -> int | None:
    """Return the nanoseconds since 1970 of a time in seconds; None for one that is not of this age, so no date."""
    return round(seconds * SECOND) if _FIRST_EPOCH <= seconds <= _LAST_EPOCH else None


def times_of_numbers(numbers: Array, differences: Array, name: str, source: str) -> NumericTimes:
    """Return numbers without a unit as times: seconds, an epoch, or days of MATLAB.

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
    if name.lower() == "datenum" or _are_days_of_matlab(present, name, source):
        times = times_in_unit(differences, "d", UNITS)
        # A day has no decimals for its seconds.
        resolution = max(times.resolution, float(np.spacing(present.max())) * UNITS["d"])
        note = "the numbers were taken as days of MATLAB (datenum)."
        origin = round((float(present[0]) - _FIRST_DATENUM) * DAY)
        return times._replace(resolution=resolution, notes=[note], origin=origin)
    return times_in_unit(numbers, "s", UNITS)


def _are_days_of_matlab(numbers: Array, name: str, source: str) -> bool:
    """Return whether numbers are days of MATLAB's calendar; where they may also be seconds, FieldError is raised."""
    if len(numbers) < 2 or numbers.min() < _FIRST_DATENUM or numbers.max() > _LAST_DATENUM:
        return False
    step = float(np.median(np.diff(numbers)))
    noise = 2 * float(np.spacing(numbers.max()))
    is_round_in_seconds = _is_round(step * UNITS["d"], noise * UNITS["d"])
    if _is_round(step, noise) == is_round_in_seconds:
        what = f"{name} from {numbers[0]:.15g} on, in steps of {step:.6g}: seconds, or days of MATLAB"
        raise argument_error("time_format", what, "s or d", source)
    return is_round_in_seconds


def _is_round(value: float, noise: float) -> bool:
    """Return whether a value has three digits at most, but for noise."""
    return abs(value - float(f"{value:.2e}")) <= noise


def last_digit(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than 12."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    for decimals in range(MOST_DECIMALS + 1):
        if (np.abs(np.round(values, decimals) - values) <= noise).all():
            return float(10.0**-decimals)
    return 0.0
