"""Tests against published counts: Fisher's exact test, and Holm's correction of a family of tests.

p-values are rounded to six significant digits, for their last bits depend on the C library.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from narxbench._numerics.rounding import significant


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
