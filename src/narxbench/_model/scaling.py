"""Offsets and scales of signals whose level or unit is beyond the precision of floating-point numbers.

Products of signals far from zero are nearly equal, and the tenth power of a very small number is zero. Such a
signal is replaced by its difference from a round number in its range, or taken in another unit. All other signals stay
as they are.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A signal is far from zero if its mean is more than this many times its standard deviation.
FAR = 30.0
# A signal is taken in another unit if its largest magnitude is above this, or below its inverse: the tenth power of a
# smaller number is zero.
LARGEST = 1e20


def mean(values: list[float]) -> float:
    """Return a mean that is the same on every machine: NumPy's sums depend on the processor's vector width."""
    return math.fsum(values) / len(values)


def mean_and_deviation(signal: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of a signal of any unit, without overflow of squares."""
    largest = float(np.abs(signal).max(initial=0.0))
    if not largest > 0.0:
        return 0.0, 0.0
    values = (signal / largest).tolist()
    middle = mean(values)
    return middle * largest, math.sqrt(mean([(value - middle) ** 2 for value in values])) * largest


def is_far(signal: Floats) -> bool:
    """Return whether a signal is far from zero."""
    middle, deviation = mean_and_deviation(signal)
    return deviation > 0.0 and abs(middle) > FAR * deviation


def round_number(low: float, high: float, near: float) -> float:
    """Return the number from low to high that has the fewest digits, and of several the closest to ``near``.

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


def least_scaling(signal: Floats) -> tuple[float, float]:
    """Return the offset and scale that a signal needs: 0 and 1 unless its level or its unit requires others.

    Computations use (value - offset) / scale.

    Examples
    --------
    >>> least_scaling(np.array([0.0, 1.0, 3.0]))
    (0.0, 1.0)
    >>> least_scaling(np.array([999_999.0, 1_000_001.0, 1_000_000.5]))
    (1000000.0, 1.0)
    """
    offset = 0.0
    if is_far(signal):
        offset = round_number(float(signal.min()), float(signal.max()), mean_and_deviation(signal)[0])
    largest = float(np.abs(signal - offset).max(initial=0.0))
    if largest == 0.0 or 1 / LARGEST <= largest <= LARGEST:
        return offset, 1.0
    return offset, float(f"1e{math.floor(math.log10(largest))}")
