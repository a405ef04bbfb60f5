"""Offsets and scales of signals, for levels and units that floating-point numbers do not bear.

Products of signals that lie far from zero are nearly the same, and the tenth power of a small unit is zero. Such a
signal is taken as its difference from a round number in its range, or in another unit. All other signals are taken as
they are, unless the settings centre them all.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.identification.data.signals import all_signals
from narxbench.model.records import Record, Recording

Floats = NDArray[np.float64]

# A signal whose mean is more than so many times its standard deviation lies far from zero.
FAR = 30.0
# Signals whose largest value lies outside of these are taken in another unit.
SMALLEST, LARGEST = 1e-20, 1e20


class Scaling(NamedTuple):
    """Offset and scale of the output and each input; a signal is taken as (value - offset) / scale."""

    offsets: tuple[float, ...]
    scales: tuple[float, ...]


def mean(values: Sequence[float]) -> float:
    """Return a mean that is the same on every machine: NumPy's sums depend on the processor's vectors."""
    return math.fsum(values) / len(values)


def scaling(recording: Recording, centred: bool) -> Scaling | None:
    """Return the scaling of the signals, by the records that estimate or select; None if all are taken as they are."""
    signals = np.concatenate(all_signals(recording.known)).T
    pairs = list(map(_centring if centred else _least_change, signals))
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


def is_far(signal: Floats) -> bool:
    """Return whether a signal lies far from zero."""
    middle, deviation = _mean_and_deviation(signal)
    return deviation > 0.0 and abs(middle) > FAR * deviation


def round_number(low: float, high: float, near: float) -> float:
    """Return the number from low to high that has the fewest digits, of these the one closest to another number.

    Examples
    --------
    >>> round_number(999_997.2, 1_000_002.9, near=1_000_000.4)
    1000000.0
    >>> round_number(293.4, 301.7, near=297.1)
    300.0
    """
    exponent = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for power in range(exponent, exponent - 20, -1):
        step = float(f"1e{power}")
        number = float(f"{round(near / step)}e{power}")
        if low <= number <= high:
            return number
    return near


def _mean_and_deviation(signal: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation, from squares of numbers near 1."""
    largest = float(np.abs(signal).max(initial=0.0))
    if not largest > 0.0:
        return 0.0, 0.0
    values = (signal / largest).tolist()
    middle = mean(values)
    return middle * largest, math.sqrt(mean([(value - middle) ** 2 for value in values])) * largest


def _centring(signal: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of a signal as offset and scale."""
    middle, deviation = _mean_and_deviation(signal)
    return middle, deviation or 1.0


def _least_change(signal: Floats) -> tuple[float, float]:
    """Return offset and scale of a signal, 0 and 1 if it can be computed with as it is."""
    offset = 0.0
    if is_far(signal):
        offset = round_number(float(signal.min()), float(signal.max()), _mean_and_deviation(signal)[0])
    largest = float(np.abs(signal - offset).max(initial=0.0))
    if largest == 0.0 or SMALLEST <= largest <= LARGEST:
        return offset, 1.0
    return offset, float(f"1e{math.floor(math.log10(largest))}")
