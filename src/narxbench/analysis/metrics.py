"""Performance metrics over the runs of one condition: selection frequency and spurious terms (paper, section IV-C)."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Selections = NDArray[np.bool_]


class Interval(NamedTuple):
    """An observed value with its confidence limits."""

    value: float
    low: float
    high: float


def significant(value: float, digits: int = 12) -> float:
    """Return a number rounded to significant digits: what is stored must not hang on the C library's last bit."""
    return float(f"{value:.{digits}g}")


def selections(structures: Sequence[Iterable[int]], candidates: int) -> Selections:
    """Return which candidate terms (columns) each run's structure (rows, indexes of its terms) holds."""
    selected = np.zeros((len(structures), candidates), dtype=bool)
    for row, structure in zip(selected, structures, strict=True):
        row[list(structure)] = True
    return selected


@cache
def selection_frequency(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval, to 12 digits.

    The same interval serves nu_max (equation 14). Where one spurious term leads, nu_max is such a proportion; where
    several are about as frequent the interval is wider than it need be (``benchmarks/coverage.md``).
    """
    limits = stats.binomtest(count, runs).proportion_ci(confidence, method="wilson")
    return Interval(*map(significant, (count / runs, limits.low, limits.high)))


@cache
def spurious_ratio(count: int, possible: int, n_terms: int, confidence: float = 0.95) -> Interval:
    """Return r = count / n_terms (paper, equation 13) with an interval for its expected value, to 12 digits.

    ``count`` is the number of spurious terms that at least one run chose, a sum over the ``possible`` ones of events
    with unequal chances. The interval is the exact one (Clopper and Pearson) of that many successes in ``possible``
    trials of equal chance. It covers at least as often as it claims: for independent terms the sum varies less than
    with equal chances (Hoeffding, Annals of Mathematical Statistics 27, 1956). ``benchmarks/coverage.md`` shows by
    simulation that it does so for terms of real runs too. Resampling the runs cannot: no resample has a new term.
    """
    if not possible:
        return Interval(0.0, 0.0, 0.0)
    tail, rest = (1 - confidence) / 2, possible - count
    low = stats.beta.ppf(tail, count, rest + 1) if count else 0.0
    high = stats.beta.ppf(1 - tail, count + 1, rest) if rest else 1.0
    return Interval(*(significant(share * possible / n_terms) for share in (count / possible, low, high)))
