"""Times next to measured data: which column has them, whether the steps are even, and where samples are missing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.columns import chosen_signals, columns_listed
from narxbench._identification.data.errors import data_error
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.signals import SMALL
from narxbench._identification.data.sources import Signal, Source, SourceForm, places_of
from narxbench._identification.data.stamps import JUMP
from narxbench._identification.data.time_columns import TimeReader
from narxbench._identification.data.time_names import is_name_of_time
from narxbench._identification.data.time_numbers import Times
from narxbench._io.errors import FieldError, NarxbenchError
from narxbench._io.words import duration
from narxbench._model.indexes import UNEVEN

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def find_times(
    source: Source, form: SourceForm, signals: Sequence[Signal], values: Array, notes: list[str]
) -> Times | None:
    """Return the times of a source from the columns that the user specified, or whose names say that they are times.

    ``values`` are the signals: a row that repeats the one before it is left out, with a note.
    """
    if form.time is False or isinstance(form.time, np.bool_):
        return None
    reader = TimeReader(source, form.time_format, values)
    times = None
    if form.time is not None:
        times = reader.times(_chosen_columns(source, form.time, signals))
    else:
        times = _times_by_name(reader, signals, notes)
        if times is None and source.index is not None:
            reader = replace(reader, source=_index_as_source(source))
            times = replace(reader.times([0]), columns=(), is_assumed=True)
    if times is not None:
        notes += reader.notes
    return times


def _chosen_columns(source: Source, specification: Any, signals: Sequence[Signal]) -> list[int]:
    """Return the column of the time, or the columns of date and clock time."""
    parts = columns_listed(specification)
    is_name = isinstance(specification, str) and specification.strip() in (source.names or ())
    if len(parts) != 2 or is_name:
        parts = [specification]
    return [chosen_signals(source, "time", part, signals)[0].column for part in parts]


def _times_by_name(reader: TimeReader, signals: Sequence[Signal], notes: list[str]) -> Times | None:
    """Return the times of the first column, or pair of date and clock time, whose name says so and that increases.

    Columns without times are noted, and FieldError is raised for an ambiguous format.
    """
    refusals = []
    for columns in _candidates(reader, signals):
        try:
            times = reader.times(columns)
        except NarxbenchError as error:
            if isinstance(error, FieldError) and error.field == "time_format":
                raise
            refusals.append(f"{error}. So the column was not taken as the time.")
            continue
        return replace(times, is_assumed=True)
    notes += refusals
    return None


def note_on_time(source: Source, times: Times, sampling_time: float | None) -> list[str]:
    """Return a note on the time and its steps, if the user did not choose them."""
    if not times.is_assumed:
        return []
    steps = f" ({duration(sampling_time)})" if sampling_time else ""
    return [f"{source.label}: time from {times.title}{steps}."]


def _candidates(reader: TimeReader, signals: Sequence[Signal]) -> list[list[int]]:
    """Return the columns whose names say that they are times, first the pair of date and clock time."""
    columns = []
    for column, name in enumerate(reader.source.full_names or ()):
        if Signal(column) not in signals and is_name_of_time(name):
            columns.append(column)
    candidates = [[column] for column in columns]
    pair = reader.date_and_clock_time(columns)
    if pair:
        candidates.insert(0, pair)
    return candidates


def _index_as_source(source: Source) -> Source:
    """Return the index of a frame as the only column of a source."""
    return replace(source, names=("index",), full_names=("index",), units=("",), columns=[source.index])


def check_steps(source: Source, times: Times, is_present: Mask, notes: list[str]) -> tuple[Mask, float | None]:
    """Return which rows do not follow the one before, and the sampling time in seconds, if it is known.

    An uneven time is noted or refused.
    """
    follows = np.append(False, is_present[1:] & is_present[:-1])
    steps = np.diff(times.seconds, prepend=np.nan)
    if not follows.any():
        return follows, None
    median = float(np.median(steps[follows]))
    jumps, beginnings = follows & (steps > JUMP * median), follows & (steps < 0)
    if jumps.sum() > SMALL * follows.sum():  # steps of 1 and 2 last digits are rather rounded ones of 1.5
        jumps &= steps > median + 1.01 * times.resolution
    cuts = jumps | beginnings
    inner = follows & ~cuts
    _check_evenness(source, times, steps, inner, median, notes)
    for words, is_cut in (("jumps", jumps), ("goes back", beginnings)):
        if is_cut.any():
            rows = np.flatnonzero(is_cut)
            often = "once" if len(rows) == 1 else f"{len(rows)} times"
            places = places_of(source, rows)
            notes.append(f"{source.label}: the time {words} {often}, and the data were cut there: {places}.")
    if not times.has_unit:
        problem = f"the unit of {times.title} is not known, so that the sampling time is not either"
        notes.append(f"{source.label}: {problem}.")
        return cuts, None
    count = int(inner.sum())
    return cuts, _rounded(float(steps[inner].sum() / count), count, times.resolution)


def _check_evenness(source: Source, times: Times, steps: Array, inner: Mask, median: float, notes: list[str]) -> None:
    """Note or refuse uneven steps among the ``inner`` ones, which are not jumps."""
    deviations = np.where(inner, np.abs(steps / median - 1), 0.0)
    largest, row = float(deviations.max()), int(deviations.argmax())
    if largest <= UNEVEN or _are_rounded(times, inner):
        return
    if largest >= SMALL:
        what = f"a step of {steps[row]:.4g}, {largest:.0%} off the median of {median:.4g}, which is uneven"
        remedy = "resample the data to even steps, or take none as the time if the samples are even"
        place = f"{source.name}: {source.place(row)}, {times.title}"
        raise data_error(place, what, f"less than {SMALL:.0%}; {remedy}")
    notes.append(
        f"{source.label}: sampling is uneven, steps are up to {largest:.1%} off the median ({times.title}, "
        f"{source.place(row)}); the samples were taken as even."
    )


def _are_rounded(times: Times, inner: Mask) -> bool:
    """Return whether each piece has even steps, apart from the rounding of the last digit of its times."""
    for start, end in runs(inner):
        values = times.seconds[start - 1 : end]
        steps = np.arange(len(values)) - (len(values) - 1) / 2
        slope = steps @ (values - values.mean()) / (steps @ steps)
        if np.abs(values - values.mean() - slope * steps).max() > 0.75 * times.resolution:
            return False
    return True


def _rounded(step: float, count: int, resolution: float) -> float:
    """Return a step with the fewest digits that keep the time of all steps right to its last digit."""
    # Times in days or hours are not right to a day.
    largest_drift = max(min(resolution, 1.0), 1e-9 * step * count) / 2
    for digits in range(16):
        rounded = float(f"{step:.{digits}e}")
        if abs(rounded - step) * count <= largest_drift:
            return rounded
    return step
