"""Offsets and scales of the signals of a recording in computations.

Signals are taken as they are where that can be computed with (:mod:`narxbench._model.scaling`), unless a configuration
centres them all.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.signals import all_signals
from narxbench._model.records import Record, Recording
from narxbench._model.scaling import least_scaling, mean_and_deviation

Floats = NDArray[np.float64]

# Of a smaller signal the errors, a hundredth of it, have squares that are too small for a number of 64 bits, and of a
# larger one the fourth powers are too large.
SMALLEST, LARGEST = 1e-152, 1e70


class Scaling(NamedTuple):
    """Offset and scale of the output and each input. A signal is taken as (value - offset) / scale."""

    offsets: tuple[float, ...]
    scales: tuple[float, ...]


def scaling(recording: Recording, centred: bool) -> Scaling | None:
    """Return the scaling of the signals by the known records, or None if all are taken as they are."""
    signals = np.concatenate(all_signals(recording.known)).T
    pairs = list(map(_centring if centred else least_scaling, signals))
    if all(pair == (0.0, 1.0) for pair in pairs):
        return None
    offsets, scales = zip(*pairs, strict=True)
    return Scaling(offsets, scales)


def scaled(record: Record, by: Scaling | None) -> Record:
    """Return a record whose signals are centred and scaled."""
    if by is None:
        return record
    offsets, scales = np.array(by.offsets), np.array(by.scales)
    return replace(record, y=(record.y - offsets[0]) / scales[0], u=(record.u - offsets[1:]) / scales[1:])


def _centring(signal: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of a signal as offset and scale."""
    middle, deviation = mean_and_deviation(signal)
    return middle, deviation or 1.0
