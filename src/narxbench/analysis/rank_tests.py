"""Ranks of methods and tests between them: Friedman, Nemenyi, Wilcoxon's signed ranks, bootstrap over systems.

Blocks are systems. These tests are those of J. Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets,
Journal of Machine Learning Research 7 (2006) 1-30. Pairs are tested by their own values, not by ranks among all
methods, as A. Benavoli, G. Corani and F. Mangili advise (Should We Really Use Post-Hoc Tests Based on Mean-Ranks?,
Journal of Machine Learning Research 17 (2016) 5:1-10). p-values are rounded to six significant digits, for their last
bits depend on the C library.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from narxbench.analysis.frames import framed
from narxbench.analysis.metrics import COMPARISON, DECIMALS, GAP, ComparisonMetric, Interval, mean, significant
from narxbench.analysis.significance import holm

Floats = NDArray[np.float64]

PROBLEM = ["scenario", "system", "snr_db", "data_seed", "criterion"]
# Errors first.
TESTED = sorted((metric for metric in COMPARISON if metric.tested), key=lambda metric: metric.larger_is_better)
# The bootstrap adds whole numbers, values in units of 1e-12, so that no rounding depends on the order of a sum.
_UNIT = 10**12


def rank_rows(values: Floats) -> Floats:
    """Return the ranks within each row, from 1 for the lowest; equal values, infinite ones too, share their mean rank.

    Parameters
    ----------
    values
        Shape (blocks, methods); compared to nine decimals.
    """
    ranks: Floats = stats.rankdata(np.round(values, DECIMALS), axis=1)
    return ranks


def mean_by_system(values: Floats, systems: Sequence[str]) -> Floats:
    """Return the mean of the rows of each system, shape (systems, columns), systems in alphabetical order.

    Parameters
    ----------
    values
        Shape (data sets, columns), finite.
    systems
        The system of each row.
    """
    names = np.array(systems)
    groups = [values[names == name].T.tolist() for name in sorted({*systems})]
    means = [[mean(column) for column in group] for group in groups]
    return np.array(means).reshape(len(groups), values.shape[1])


def friedman(values: Floats) -> tuple[float, float]:
    """Return statistic and p-value of Friedman's test that no method (column) is better than another.

    This is ``scipy.stats.friedmanchisquare``, which corrects for ties and takes the statistic as chi-squared. Where all
    methods are equal in every block, the statistic is 0 and p is 1.

    Parameters
    ----------
    values
        Shape (blocks, methods), at least two blocks and three methods.
    """
    ranks = rank_rows(values)
    if (ranks == ranks[:, :1]).all():
        return 0.0, 1.0
    found = stats.friedmanchisquare(*ranks.T)
    return significant(found.statistic), significant(found.pvalue, 6)


@cache
def critical_difference(methods: int, blocks: int, confidence: float) -> float:
    """Return Nemenyi's critical difference: average ranks that differ less do not differ clearly, all pairs at once."""
    q = stats.studentized_range.ppf(confidence, methods, math.inf) / math.sqrt(2)
    return significant(q * math.sqrt(methods * (methods + 1) / (6 * blocks)), 6)


def signed_rank(differences: Sequence[float]) -> tuple[float, float]:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, and the matched-pairs rank-biserial correlation.

    The p-value is exact: of all ways to give signs to the ranks that there are, it counts those that are as extreme.
    SciPy's exact distribution knows neither ties nor zeros, and its approximation is poor where p is small, which is
    where Holm's correction needs it. Zeros are ranked, then left out of the test (Pratt, 1959).

    The correlation is the rank sum of the positive differences less that of the negative ones, divided by the sum of
    all ranks, those of zeros included: from -1, where all differences are negative, to 1.

    Parameters
    ----------
    differences
        At least one; compared to nine decimals.
    """
    d = np.round(np.array(differences, float), DECIMALS)
    doubled = np.round(2 * stats.rankdata(abs(d))).astype(np.int64)  # ranks are multiples of a half
    total, positive = int(doubled[d != 0].sum()), int(doubled[d > 0].sum())
    ways = np.zeros(total + 1, object)  # to reach each rank sum; whole numbers of Python, which do not overflow
    ways[0] = 1
    for rank in doubled[d != 0].tolist():
        ways[rank:] = ways[rank:] + ways[:-rank]
    extreme = 2 * sum(ways[: min(positive, total - positive) + 1].tolist())
    p = min(1.0, extreme / 2 ** int(np.count_nonzero(d)))
    return significant(p, 6), significant((2 * positive - total) / int(doubled.sum()))


def bootstrap_means(values: Floats, rng: np.random.Generator, *, confidence: float, resamples: int) -> list[Interval]:
    """Return the mean of each column with its percentile interval over resampled rows, to 12 digits.

    All columns share the resamples. Less than two rows give no interval: its limits are NaN,
    as is the mean of no row.

    Parameters
    ----------
    values
        Shape (systems, columns), finite.
    rng, confidence, resamples
        Generator and number of the resamples, coverage of the intervals.
    """
    n = len(values)
    means = [math.fsum(column) / n if n else math.nan for column in values.T.tolist()]
    if n < 2:
        return [Interval(significant(mean), math.nan, math.nan) for mean in means]
    picks = (rng.random((resamples, n)) * n).astype(np.int64)
    sums = np.sort(np.rint(values * _UNIT).astype(np.int64)[picks].sum(axis=1), axis=0)
    tail = (1 - confidence) / 2
    low, high = sums[math.floor(tail * (resamples - 1))], sums[math.ceil((1 - tail) * (resamples - 1))]
    limits = zip(means, (low / (n * _UNIT)).tolist(), (high / (n * _UNIT)).tolist(), strict=True)
    return [Interval(*map(significant, interval)) for interval in limits]


class Blocks:
    """The problems of a group and the methods that are ranked on them: every method has every problem.

    Problems that a method of the study lacks are left out; so are contributed methods that lack one of the others, for
    nobody's contribution shall take problems away from the rest.

    Parameters
    ----------
    results
        One row for each problem and method of the group.
    """

    def __init__(self, results: pd.DataFrame) -> None:
        present = results.pivot(index=PROBLEM, columns="method", values="runs").notna()
        own = results.loc[~results["contributed"], "method"].unique()
        complete = present[present[own].all(axis=1)]
        self.methods = [str(name) for name in complete.columns[complete.all()]] if len(complete) else []
        self._results = results.set_index(PROBLEM).loc[complete.index].reset_index()

    def values(self, column: str) -> pd.DataFrame:
        """Return a column of the results, problems by methods; without the problems on which it is unknown."""
        return self._results.pivot(index=PROBLEM, columns="method", values=column)[self.methods].dropna()

    def ranks(self, metric: ComparisonMetric) -> Floats:
        """Return the ranks of the methods in each system, 1 for the best; shape (systems, methods).

        Methods are ranked on each problem; the mean of these ranks over the problems of a system is ranked again, so
        that each system is one block with ranks from 1 on, as Friedman's test and the critical difference have it.
        """
        values = self.values(metric.name)
        signed = -values.to_numpy() if metric.larger_is_better else values.to_numpy()
        return rank_rows(mean_by_system(rank_rows(signed), values.index.get_level_values("system")))

    def mean_gaps(self) -> Floats:
        """Return the mean gap over the problems of each system, shape (systems, methods).

        An infinite gap counts as the worst finite one of any run on the problem.
        """
        gaps = self.values(GAP.name)
        finite = np.where(np.isinf(gaps), self.values("worst"), gaps)
        return mean_by_system(finite, gaps.index.get_level_values("system"))


def friedman_frame(blocks: Mapping[str, Blocks], confidence: float) -> pd.DataFrame:
    """Return Friedman's test that all methods are equal, for each group and metric, with the critical difference.

    Blocks are the systems, values the ranks of `Blocks.ranks`. The p-values are not corrected for their number: the
    question of the study is the gap over all scenarios, and the others are reported next to it. Groups of less than two
    systems or three methods have no test.
    """
    rows = []
    for group, of in blocks.items():
        for metric in TESTED:
            ranks = of.ranks(metric)
            systems, methods = ranks.shape
            if systems >= 2 and methods >= 3:
                difference = critical_difference(methods, systems, confidence)
                rows.append((group, metric.name, systems, methods, *friedman(ranks), difference))
    return framed("tests", rows)


def pairs_frame(blocks: Mapping[str, Blocks]) -> pd.DataFrame:
    """Return Wilcoxon's signed-rank test of every two methods in each group; ``p_holm`` covers all pairs of the group.

    The differences are those of `Blocks.mean_gaps`, one for each system; they and the effect size are negative where
    ``a`` has the lower gap, which is better.
    """
    rows = []
    for group, of in blocks.items():
        gaps = dict(zip(of.methods, of.mean_gaps().T.tolist(), strict=True))
        found = []
        for a, b in combinations(of.methods, 2):
            differences = [round(x - y, DECIMALS) for x, y in zip(gaps[a], gaps[b], strict=True)]
            found.append((group, a, b, len(differences), median(differences), *signed_rank(differences)))
        corrected = holm([p for *_, p, _ in found]).tolist()
        rows += [(*test, significant(p, 6), effect) for (*test, effect), p in zip(found, corrected, strict=True)]
    return framed("pairs", rows)
