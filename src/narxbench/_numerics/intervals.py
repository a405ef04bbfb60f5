"""Intervals of medians and frequencies."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, ndtri

from narxbench._numerics.rounding import significant

# The share of intervals that may miss their value, and of true hypotheses that a test may reject: the usual one.
LEVEL = 0.05


class Interval(NamedTuple):
    """An observed value with its confidence limits."""

    value: float
    low: float
    high: float


def median_interval(values: Sequence[float], confidence: float = 1.0 - LEVEL) -> tuple[float, float]:
    """Return a confidence interval of the median, between two values of the sample, for any distribution.

    With few values no interval reaches the confidence. Then it is the interval from the smallest to the largest value.
    """
    ordered = sorted(values)
    tails = bdtr(range(len(ordered)), len(ordered), 0.5)
    # The largest rank at which a tail still has at most half of the allowed error.
    rank = max(int(np.sum(tails < (1 - confidence) / 2)), 1)
    return ordered[rank - 1], ordered[-rank]


@cache
def selection_frequency(count: int, runs: int, confidence: float = 1.0 - LEVEL) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval, to 12 digits.

    The interval is valid for nu_max (equation 14) too. If several spurious terms are about equally frequent, it is
    wider than necessary (``benchmarks/coverage.md``).
    """
    share, z = count / runs, float(-ndtri((1 - confidence) / 2))
    middle, reach = 2 * count + z**2, z * math.sqrt(z**2 + 4 * runs * share * (1 - share))
    low, high = ((middle + side) / (2 * (runs + z**2)) for side in (-reach, reach))
    if count == 0:
        low = 0.0
    if count == runs:
        high = 1.0
    return Interval(significant(share), significant(low), significant(high))
