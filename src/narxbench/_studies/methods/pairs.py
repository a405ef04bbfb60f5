"""The test of methods: two at a time, paired over systems, with Holm's correction over all pairs.

As J. Demšar advises (Journal of Machine Learning Research 7, 2006, pages 1-30), a difference is tested by Wilcoxon's
signed-rank test. The correction is over all pairs, not the pairs of the best method alone: which method is best is seen
in the same data, and a lead of chance is the lead over all others. Among equal methods one is then called better in at
most the level of the studies (``tests/unit/studies/methods/test_pairs.py``).

Two methods are practically equal if the mean difference is shown to be within the region of the metric, by two
one-sided t-tests (D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987, pages 657-680), with
Holm's correction too. All else is undecided, with the smallest mean difference that would have been seen with a
probability of 0.8.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from narxbench._numerics.rounding import significant
from narxbench._studies.methods.metrics import DECIMALS, ComparisonMetric, Floats
from narxbench._study.significance import holm

BETTER, WORSE, EQUAL, UNDECIDED = "better", "worse", "practically equal", "undecided"
# The probability with which the smallest difference that could have been seen is seen.
POWER = 0.8


class PairedTest(NamedTuple):
    """The best method against a rival: the mean difference, as a ratio where the metric is one, p, and the verdict.

    ``verdict`` is of the best method. ``detectable`` is the smallest difference that could have been seen.
    """

    rival: str
    systems: int
    difference: float
    p: float
    verdict: str
    detectable: float


def compared_with_best(by_system: pd.DataFrame, best: str, metric: ComparisonMetric, alpha: float) -> list[PairedTest]:
    """Return the comparisons of the best method with the others, in their order.

    ``by_system`` has the transformed values, shape (systems, methods).
    """
    pairs = list(combinations(by_system.columns, 2))
    differences = [_difference(by_system, *pair) for pair in pairs]
    p_different = holm([_p_of_difference(difference) for difference in differences])
    p_equal = holm([_p_of_equality(difference, metric) for difference in differences])
    is_enough = enough_systems(len(by_system), by_system.shape[1], alpha)
    compared = []
    for pair, difference, p, equal in zip(pairs, differences, p_different, p_equal, strict=True):
        if best not in pair:
            continue
        rival = pair[1] if pair[0] == best else pair[0]
        signed = difference if pair[0] == best else -difference
        mean = math.fsum(signed) / len(signed)
        verdict = UNDECIDED
        if is_enough and equal <= alpha:
            verdict = EQUAL
        elif is_enough and p <= alpha:
            verdict = BETTER if (mean > 0) == metric.larger_is_better else WORSE
        values = metric.inverse(mean), metric.inverse(detectable(signed, alpha / len(pairs)))
        shown = [significant(value) for value in values]
        compared.append(PairedTest(str(rival), len(signed), shown[0], significant(float(p), 6), verdict, shown[1]))
    return compared


def _difference(by_system: pd.DataFrame, first: str, second: str) -> Floats:
    """Return the differences of two methods in each system, without those that are rounding."""
    return np.asarray((by_system[first] - by_system[second]).round(DECIMALS), float)


def _p_of_difference(difference: Floats) -> float:
    """Return p of Wilcoxon's signed-rank test, or 1 where no system differs."""
    if not difference.any():
        return 1.0
    # The exact distribution is for differences without ties, but shares tie often.
    return float(stats.wilcoxon(difference, correction=True, method="asymptotic").pvalue)


def _p_of_equality(difference: Floats, metric: ComparisonMetric) -> float:
    """Return p of the hypothesis that the mean difference is outside the region of the metric."""
    region = metric.negligible or 0.0
    if np.ptp(difference) == 0:
        return 0.0 if abs(difference[0]) <= region else 1.0
    above = stats.ttest_1samp(difference, -region, alternative="greater").pvalue
    below = stats.ttest_1samp(difference, region, alternative="less").pvalue
    return float(max(above, below))


def detectable(difference: Floats, alpha: float) -> float:
    """Return the mean difference that a test of systems that scatter alike would see with the probability `POWER`."""
    n = len(difference)
    if n < 2:
        return math.nan
    quantiles = stats.t.ppf([1 - alpha / 2, POWER], n - 1)
    return float(quantiles.sum() * np.std(difference, ddof=1) / math.sqrt(n))


def enough_systems(n_systems: int, n_methods: int, alpha: float) -> bool:
    """Return whether one of this many methods can be called better than another, after the correction."""
    clearest = stats.wilcoxon(np.arange(1.0, n_systems + 1), correction=True, method="asymptotic").pvalue
    return bool(clearest * math.comb(n_methods, 2) <= alpha)


def fewest_systems(n_methods: int, alpha: float) -> int:
    """Return the least number of systems with which one of this many methods can be called better than another."""
    n_systems = 1
    while not enough_systems(n_systems, n_methods, alpha):
        n_systems += 1
    return n_systems


def not_beaten(pairs: Sequence[PairedTest]) -> list[PairedTest]:
    """Return the rivals that the best method is not shown to be better than."""
    return [pair for pair in pairs if pair.verdict != BETTER]
