"""Intervals of medians and frequencies."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, ndtri

from narxbench.numerics.rounding import significant


class Interval(NamedTuple):
    """An observed value with its confidence limits."""

    value: float
    low: float
    high: float


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a median between two values of the sample, whatever the distribution.

    Of few values no interval has the coverage: then it is that from the least to the greatest.
    """
    ordered = sorted(values)
    # The largest rank that at most (1 - confidence) / 2 of all samples have more values below than.
    rank = max(int(np.sum(bdtr(range(len(ordered)), len(ordered), 0.5) < (1 - confidence) / 2)), 1)
    return ordered[rank - 1], ordered[-rank]


@cache
def selection_frequency(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval, to 12 digits.

    It serves nu_max (equation 14) too; where several spurious terms are about as frequent as the first, it is wider
    than it need be (``benchmarks/coverage.md``).
    """
    share, z = count / runs, float(-ndtri((1 - confidence) / 2))
    middle, reach = 2 * count + z**2, z * math.sqrt(z**2 + 4 * runs * share * (1 - share))
    low, high = ((middle + side) / (2 * (runs + z**2)) for side in (-reach, reach))
    return Interval(*map(significant, (share, low if count else 0.0, high if count < runs else 1.0)))
