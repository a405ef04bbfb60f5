"""Offsets and scales that signals are computed with: levels and units that numbers of a computer do not bear.

Products of signals that lie far from zero are nearly the same, and the tenth power of a small unit is zero. A signal
like that is taken as its difference from a round number of its range, or in another unit. All other signals are taken
as they are.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A signal whose mean is more than so many times its standard deviation lies far from zero.
FAR = 30.0
# Signals whose largest value lies outside of these are taken in another unit.
SMALLEST, LARGEST = 1e-20, 1e20


class SignalScaling(NamedTuple):
    """Offset and scale of a signal, which is taken as (value - offset) / scale."""

    offset: float
    scale: float


def mean(values: list[float]) -> float:
    """Return a mean that is the same on every machine: NumPy's sums depend on the processor's vectors."""
    return math.fsum(values) / len(values)


def mean_and_deviation(signal: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation, whose squares are those of numbers near 1."""
    largest = float(np.abs(signal).max(initial=0.0))
    if not largest > 0.0:
        return 0.0, 0.0
    values = (signal / largest).tolist()
    middle = mean(values)
    return middle * largest, math.sqrt(mean([(value - middle) ** 2 for value in values])) * largest


def is_far(signal: Floats) -> bool:
    """Return whether a signal lies far from zero."""
    middle, deviation = mean_and_deviation(signal)
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


def least_scaling(signal: Floats) -> SignalScaling:
    """Return offset and scale of a signal that is taken as it is wherever that can be computed with.

    Examples
    --------
    >>> least_scaling(np.array([0.0, 1.0, 3.0]))
    SignalScaling(offset=0.0, scale=1.0)
    >>> least_scaling(np.array([999_999.0, 1_000_001.0, 1_000_000.5]))
    SignalScaling(offset=1000000.0, scale=1.0)
    """
    offset = 0.0
    if is_far(signal):
        offset = round_number(float(signal.min()), float(signal.max()), mean_and_deviation(signal)[0])
    largest = float(np.abs(signal - offset).max(initial=0.0))
    if largest == 0.0 or SMALLEST <= largest <= LARGEST:
        return SignalScaling(offset, 1.0)
    return SignalScaling(offset, float(f"1e{math.floor(math.log10(largest))}"))
