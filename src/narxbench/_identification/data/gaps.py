"""Gaps of measured signals: which of them are bridged, and which cut a record.

A gap is a run of samples at which a signal has no value. A short gap of the output is left to the model that is
identified; until there is one, a straight line stands in for it. In a short gap of an input that mostly keeps its
value, the value before goes on; in that of any other, a straight line leads to the value after it. The samples that are
there must show that this is hardly wrong. All other gaps cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.sources import Source, places_of
from narxbench._io.errors import is_whole_number, printable, show
from narxbench._io.words import counted

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Samples of the longest gap that is bridged, by default and at most.
USUAL_GAP, LONGEST_GAP = 3, 100
# Stand-ins of an input may be off by this share of its standard deviation. The error that they cause is then that of
# noise of so small a share, at few samples.
LARGEST_ERROR = 0.05


class StandIns(NamedTuple):
    """How the gaps of an input are bridged, and how far off that is where the samples are there."""

    in_line: bool  # a straight line leads to the value after a gap; else the value before it goes on
    error: float  # relative to the standard deviation of the input


@dataclass(frozen=True)
class BridgedSignals:
    """Signals in columns, the output first, in whose short gaps something stands in for what is missing."""

    values: Array
    has_values: Mask  # that were measured, shape (rows, columns)
    ways: tuple[StandIns | None, ...]  # of each input; None: nothing is missing, or it is not bridged

    @property
    def is_whole(self) -> Mask:
        """Rows in which all signals have a value that was measured."""
        return np.asarray(self.has_values.all(axis=1))

    @property
    def is_usable(self) -> Mask:
        """Rows in which all signals have a value, or one that stands in for it."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    def trimmed(self, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return pieces (start, end) of usable rows without those at their ends where a value is missing."""
        trimmed = []
        for start, end in pieces:
            rows = start + np.flatnonzero(self.is_whole[start:end])
            if len(rows):
                trimmed.append((int(rows[0]), int(rows[-1]) + 1))
        return trimmed

    def notes(self, source: Source, titles: Sequence[str], pieces: Sequence[tuple[int, int]]) -> list[str]:
        """Return notes on the gaps inside pieces that are bridged, and on the rows that cut the data."""
        is_inside = np.zeros(len(self.values), np.bool_)
        for start, end in pieces:
            is_inside[start:end] = True
        notes = []
        for title, has_value, way in zip(titles, self.has_values.T, (None, *self.ways), strict=True):
            is_missing = is_inside & ~has_value
            if not is_missing.any():
                continue
            lengths = [end - start for start, end in runs(is_missing)]
            counts = counted(len(lengths), "gap", "gaps")
            subject = f"{counted(sum(lengths), 'missing value', 'missing values')} of {printable(title)} in {counts}"
            if max(lengths) > 1:
                subject += f", the longest of {max(lengths)} samples,"
            verb = "was" if sum(lengths) == 1 else "were"
            places = places_of(source, np.flatnonzero(is_missing))
            notes.append(f"{source.label}: {subject} {verb} {_in_words(way)}: {places}.")
        cutting = np.flatnonzero(~is_inside & ~self.is_whole)
        if len(cutting):
            subject = counted(len(cutting), "row with a missing value was", "rows with missing values were")
            places = places_of(source, cutting)
            notes.append(f"{source.label}: {subject} left out, and the data cut there: {places}.")
        return notes


def _in_words(way: StandIns | None) -> str:
    """Return how missing values were bridged; those of the output have no way of their own."""
    if way is None:
        return "left to the model to bridge"
    action = "interpolated" if way.in_line else "held at the value before"
    return f"{action}, which is off by {way.error:.1%} of the standard deviation where values are there"


def checked_gap(longest: object) -> int:
    """Return the samples of the longest gap that is bridged; anything else than such a number is refused."""
    if longest is None:
        return USUAL_GAP
    if not is_whole_number(longest, 0, LONGEST_GAP):
        raise argument_error("bridge", show(longest), f"a whole number of samples from 0 to {LONGEST_GAP}")
    return int(str(longest))


def bridge_gaps(values: Array, has_time: Mask, longest: int) -> BridgedSignals:
    """Return signals with stand-ins in their short gaps.

    Parameters
    ----------
    values : array, shape (rows, columns)
        The signals, the output first; NaN where a value is missing.
    has_time : array of bool, shape (rows,)
        Whether the time of a row is known, if there is a time.
    longest : int
        The samples of the longest gap that is bridged.
    """
    has_values = np.isfinite(values)
    filled = values.copy()
    ways: list[StandIns | None] = []
    for column, signal in enumerate(values.T):
        gaps = []
        for start, end in runs(~has_values[:, column]):
            is_inside = start > 0 and end < len(signal) and bool(has_time[start - 1 : end + 1].all())
            if is_inside and end - start <= longest:
                gaps.append((start, end))
        if column == 0:
            _fill(filled[:, 0], gaps, in_line=True)
            continue
        way = None
        if gaps:
            way = _way(signal, max(end - start for start, end in gaps))
        if way is not None:
            _fill(filled[:, column], gaps, way.in_line)
        ways.append(way)
    filled[~has_time] = np.nan
    return BridgedSignals(filled, has_values & has_time[:, None], tuple(ways))


def _fill(signal: Array, gaps: Sequence[tuple[int, int]], in_line: bool) -> None:
    """Write stand-ins into the gaps of a signal."""
    for start, end in gaps:
        last = signal[end] if in_line else signal[start - 1]
        signal[start:end] = np.linspace(signal[start - 1], last, end - start + 2)[1:-1]


def _way(signal: Array, length: int) -> StandIns | None:
    """Return the way to bridge gaps of a length; None if it is far off where all samples are there.

    A signal that mostly keeps its value is held, any other interpolated.
    """
    windows = np.lib.stride_tricks.sliding_window_view(signal, length + 2)
    windows = windows[np.isfinite(windows).all(axis=1)]
    if not len(windows):
        return None
    before, after = windows[:, :1], windows[:, -1:]
    in_line = bool(np.mean(windows[:, 0] == windows[:, 1]) < 0.5)
    stand_ins = before
    if in_line:
        share = np.arange(1, length + 1) / (length + 1)
        stand_ins = before + share * (after - before)
    error = float(np.sqrt(np.mean((windows[:, 1:-1] - stand_ins) ** 2)))
    spread = float(np.nanstd(signal))
    if error > LARGEST_ERROR * spread:
        return None
    return StandIns(in_line, error / spread if spread else 0.0)
