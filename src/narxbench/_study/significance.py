"""Tests between methods and against published counts: Mann-Whitney, effect size, Fisher's exact test, Holm.

p-values are rounded to six significant digits, for their last bits depend on the C library. A run without a finite
structure has J = +infinity, so it ranks last.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from narxbench._numerics.rounding import significant

ALPHA = 0.05


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> tuple[float, str]:
    """Return the two-sided p-value of the Mann-Whitney U test, and whether it is exact or asymptotic.

    The test is ``scipy.stats.mannwhitneyu`` with ``method="auto"``: exact if a sample has at most eight values and no
    two values are equal, else the normal approximation with corrections for ties and continuity. It suits the paper's
    40 against 40 runs: those that end at the same structure are ties, which the exact distribution does not know.
    """
    untied = len({*a, *b}) == len(a) + len(b)
    method = "exact" if untied and min(len(a), len(b)) <= 8 else "asymptotic"
    return significant(stats.mannwhitneyu(a, b, method=method).pvalue, 6), method


def a12(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """Return the Vargha-Delaney effect size: the chance that a run of ``a`` ends at a lower J than one of ``b``."""
    larger_b = stats.mannwhitneyu(b, a, method="asymptotic").statistic
    return Fraction(round(2 * larger_b), 2 * len(a) * len(b))


def magnitude(effect: Fraction) -> str:
    """Return the name of an effect size A12 by the limits 0.56, 0.64 and 0.71."""
    distance = 100 * abs(effect - Fraction(1, 2))
    limits = {"large": 21, "medium": 14, "small": 6, "negligible": 0}  # of Vargha and Delaney (2000), in hundredths
    return next(name for name, limit in limits.items() if distance >= limit)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values of one family after Holm's step-down correction, which SciPy does not have."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    return adjusted


@cache
def fisher_exact(a: int, n_a: int, b: int, n_b: int) -> float:
    """Return the two-sided p-value of Fisher's exact test that ``a`` of ``n_a`` and ``b`` of ``n_b`` share a chance."""
    return significant(stats.fisher_exact([[a, n_a - a], [b, n_b - b]]).pvalue, 6)
