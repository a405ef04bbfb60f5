"""Moments in the order of the rows: clock times go on after midnight, and clocks change between summer and winter."""

import calendar
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.stamps import DAY, SECOND, Moments
from narxbench._io.words import SHOWN

Integers = NDArray[np.int64]

HOUR = 3600 * SECOND


def continued(moments: Moments, place: Callable[[int], str]) -> Moments:
    """Return moments that go on after midnight where they are clock times, with a note that names the rows."""
    if moments.has_date:
        return moments
    rows = np.flatnonzero(moments.is_present)
    nanoseconds = moments.nanoseconds[rows]
    begins_day = np.append(False, np.diff(nanoseconds) < -DAY // 2)
    if not begins_day.any():
        return moments
    result = moments.nanoseconds.copy()
    result[rows] = nanoseconds + DAY * np.cumsum(begins_day)
    note = f"the clock times go over midnight: {_first_places(rows[begins_day], place)}."
    return replace_moments(moments, result, note)


def with_clock_changes(moments: Moments, place: Callable[[int], str]) -> Moments:
    """Return local moments as if the clock had not changed between summer and winter, with a note on each change.

    The clock changes where a step is an hour longer or shorter than usual on a Sunday morning.
    """
    rows = np.flatnonzero(moments.is_present)
    if not moments.is_local or len(rows) < 3:
        return moments
    local = moments.nanoseconds[rows]
    steps = np.diff(local)
    usual = int(np.median(steps))
    tolerance = max(usual // 10, SECOND // 1000)
    is_back = np.append(False, (np.abs(steps - usual + HOUR) <= tolerance) & (steps <= 0))
    is_forward = np.append(False, np.abs(steps - usual - HOUR) <= tolerance)
    is_morning = _is_sunday_morning(local)
    is_back &= is_morning
    is_forward &= is_morning & (usual < HOUR)
    if not (is_back | is_forward).any():
        return moments
    result = moments.nanoseconds.copy()
    result[rows] = local + HOUR * (np.cumsum(is_back) - np.cumsum(is_forward))
    for is_change, words, remedy in (
        (is_back, "goes back by an hour, as at the end of", "later"),
        (is_forward, "goes forward by an hour, as at the beginning of", "earlier"),
    ):
        if is_change.any():
            places = _first_places(rows[is_change], place)
            note = f"the clock {words} summer time: {places}; the times from there on were taken an hour {remedy}."
            moments = replace_moments(moments, result, note)
    return moments


def replace_moments(moments: Moments, nanoseconds: Integers, note: str) -> Moments:
    """Return moments with other values and a further note."""
    return moments._replace(nanoseconds=nanoseconds, notes=[*moments.notes, note])


def _is_sunday_morning(local: Integers) -> NDArray[np.bool_]:
    """Return which moments are before noon on a Sunday, when clocks change in Europe, America and Australia."""
    days = pd.DatetimeIndex((local // SECOND).astype("M8[s]")).day_of_week
    is_morning: NDArray[np.bool_] = (days == calendar.SUNDAY) & (local % DAY < DAY // 2)
    return is_morning


def _first_places(rows: NDArray[np.intp], place: Callable[[int], str]) -> str:
    text = ", ".join(place(int(row)) for row in rows[:SHOWN])
    if len(rows) > SHOWN:
        text += f" and {len(rows) - SHOWN} more"
    return text
