"""Gaps of measured signals: which of them are bridged, and which cut a record.

A gap is a run of samples without a value of a signal. A straight line replaces a short gap of the output until a model
is identified, which then predicts it. A short gap of an input keeps the value before it if the input mostly keeps its
value, else a straight line leads to the value after it. The measured samples must show that the error of this is small.
All other gaps cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.signals import MOST_SAMPLES, NEGLIGIBLE
from narxbench._identification.data.sources import Source, places_of
from narxbench._io.errors import is_whole_number, printable, show
from narxbench._io.words import counted
from narxbench._model.functions import applied

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Samples of the longest gap that is bridged by default: gaps up to there are measured in benchmarks/gaps.md.
USUAL_GAP = 10


# How the gaps of an input are bridged: whether in a straight line to the value after a gap, else the value before it
# goes on, and the error of that where the samples are there, relative to the standard deviation of the input.
StandIns = tuple[bool, float]


@dataclass(frozen=True)
class BridgedSignals:
    """Signals in columns, the output first, with imputed values in short gaps."""

    values: Array
    has_values: Mask  # that were measured, shape (rows, columns)
    ways: tuple[StandIns | None, ...]  # of each input, or None if it has no gaps or they are not bridged
    is_planned: Mask  # rows after the last output, whose outputs a model is to predict

    @property
    def is_whole(self) -> Mask:
        """Rows in which all signals have a value that was measured, or is to be predicted."""
        has_output = self.has_values[:, 0] | self.is_planned
        return np.asarray(has_output & self.has_values[:, 1:].all(axis=1))

    @property
    def is_usable(self) -> Mask:
        """Rows in which all signals have a value, or one that replaces it."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    def trimmed(self, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return pieces (start, end) of usable rows without those at their ends where a value is missing."""
        trimmed = []
        for start, end in pieces:
            rows = start + np.flatnonzero(self.is_whole[start:end])
            if len(rows):
                trimmed.append((int(rows[0]), int(rows[-1]) + 1))
        return trimmed

    def is_parted(self, start: int, end: int) -> bool:
        """Return whether a gap parts a planned piece from the last output."""
        return bool(self.is_planned[start:end].all() and not self.is_planned.all())

    def notes(self, source: Source, titles: Sequence[str], pieces: Sequence[tuple[int, int]]) -> list[str]:
        """Return notes on the gaps inside pieces that are bridged, and on the rows that cut the data."""
        is_inside = np.zeros(len(self.values), np.bool_)
        for start, end in pieces:
            is_inside[start:end] = True
        is_missing = is_inside[:, None] & ~self.has_values
        is_missing[:, 0] &= ~self.is_planned
        texts = []
        if is_missing[:, 0].any():
            texts.append(_gaps_in_words(source, titles[0], is_missing[:, 0], "left to the model to bridge"))
        for title, missing_values, way in zip(titles[1:], is_missing.T[1:], self.ways, strict=True):
            # Functions of inputs follow their inputs.
            if missing_values.any() and way is not None:
                texts.append(_gaps_in_words(source, title, missing_values, _in_words(way)))
        cutting = np.flatnonzero(~is_inside & ~self.is_whole)
        if len(cutting):
            subject = counted(len(cutting), "row with a missing value was", "rows with missing values were")
            texts.append(f"{subject} left out, and the data cut there: {places_of(source, cutting)}.")
        return [f"{source.label}: {text}" for text in texts]


def _gaps_in_words(source: Source, title: str, is_missing: Mask, action: str) -> str:
    """Return a sentence on the gaps of a signal and how they were treated."""
    lengths = [end - start for start, end in runs(is_missing)]
    subject = f"{counted(sum(lengths), 'missing value', 'missing values')} of {printable(title)}"
    subject += f" in {counted(len(lengths), 'gap', 'gaps')}"
    if max(lengths) > 1:
        subject += f", the longest of {max(lengths)} samples,"
    verb = "was" if sum(lengths) == 1 else "were"
    return f"{subject} {verb} {action}: {places_of(source, np.flatnonzero(is_missing))}."


def _in_words(way: StandIns) -> str:
    """Return how missing values of an input were bridged."""
    in_line, error = way
    action = "interpolated" if in_line else "held at the value before"
    return f"{action}, which is off by {error:.1%} of the standard deviation where values are there"


def checked_gap(longest: object) -> int:
    """Return the samples of the longest gap that is bridged. Anything but such a number is refused."""
    if longest is None:
        return USUAL_GAP
    if not is_whole_number(longest, 0):
        raise argument_error("bridge", show(longest), "a whole number of samples, 0 or more")
    return int(str(longest))


def bridge_gaps(
    values: Array,
    has_time: Mask,
    longest: int,
    functions: Mapping[int, tuple[str, int]] = {},
    *,
    with_plan: bool = False,
) -> BridgedSignals:
    """Return signals with imputed values in their short gaps.

    Parameters
    ----------
    values : array, shape (rows, columns)
        The signals, the output first, with NaN where a value is missing.
    has_time : array of bool, shape (rows,)
        Whether the time of a row is known, if there is a time.
    longest : int
        The samples of the longest gap that is bridged.
    functions : mapping of int to (str, int)
        Columns that are functions of others, with the function and the column: they follow the imputed values of these.
    with_plan : bool
        Whether the rows after the last output are usable, for a model is to predict their outputs.
    """
    has_values = np.isfinite(values)
    filled = values.copy()
    is_planned = np.zeros(len(values), np.bool_)
    if with_plan:
        measured = values[has_values[:, 0], 0]
        is_planned[np.flatnonzero(has_values[:, 0])[-1] + 1 if len(measured) else 0 :] = True
        filled[is_planned, 0] = measured[-1] if len(measured) else 0.0
    _fill(filled[:, 0], _short_gaps(has_values[:, 0], has_time, longest), in_line=True)
    ways: list[StandIns | None] = []
    for column in range(1, values.shape[1]):
        way = None
        if column not in functions:
            gaps = _short_gaps(has_values[:, column], has_time, longest)
            way, gaps = _way_and_gaps(values[:, column], gaps)
            _fill(filled[:, column], gaps, way is not None and way[0])
        ways.append(way)
    for column, (function, argument) in functions.items():
        rows = np.flatnonzero(~has_values[:, column] & np.isfinite(filled[:, argument]))
        filled[rows, column] = applied(function, filled[rows, argument])
    filled[~has_time] = np.nan
    return BridgedSignals(filled, has_values & has_time[:, None], tuple(ways), is_planned & has_time)


def _short_gaps(has_value: Mask, has_time: Mask, longest: int) -> list[tuple[int, int]]:
    """Return start and end of the gaps of a signal that are not longer than this and are between known times."""
    gaps = []
    for start, end in runs(~has_value):
        is_inside = start > 0 and end < len(has_value) and bool(has_time[start - 1 : end + 1].all())
        if is_inside and end - start <= longest:
            gaps.append((start, end))
    return gaps


def _fill(signal: Array, gaps: Sequence[tuple[int, int]], in_line: bool) -> None:
    """Write imputed values into the gaps of a signal."""
    for start, end in gaps:
        last = signal[end] if in_line else signal[start - 1]
        signal[start:end] = np.linspace(signal[start - 1], last, end - start + 2)[1:-1]


def _way_and_gaps(signal: Array, gaps: Sequence[tuple[int, int]]) -> tuple[StandIns | None, list[tuple[int, int]]]:
    """Return the way to bridge gaps of an input, and those that are short enough for it."""
    lengths = sorted({end - start for start, end in gaps}, reverse=True)
    for length in lengths:
        way = _way(signal, length)
        if way is not None:
            return way, [(start, end) for start, end in gaps if end - start <= length]
    return None, []


def _way(signal: Array, length: int) -> StandIns | None:
    """Return the way to bridge gaps of a length, or None if its error is large where all samples are measured.

    A signal that mostly keeps its value is held. Any other is interpolated.
    """
    windows = np.lib.stride_tricks.sliding_window_view(signal, length + 2)
    windows = windows[:: -(-windows.size // MOST_SAMPLES)]
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
    if error > NEGLIGIBLE * spread:
        return None
    return in_line, error / spread if spread else 0.0
