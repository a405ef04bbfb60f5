"""Ranks of methods and differences between them: Friedman, Wilcoxon's signed ranks, bootstrap over systems.

Blocks are systems. These tests are those of J. Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets,
Journal of Machine Learning Research 7 (2006) 1-30. Pairs are compared by their own values, not by ranks among all
methods, as A. Benavoli, G. Corani and F. Mangili advise (Should We Really Use Post-Hoc Tests Based on Mean-Ranks?,
Journal of Machine Learning Research 17 (2016) 5:1-10): how large the difference is comes before whether chance could
make it. p-values are rounded to six significant digits, for their last bits depend on the C library.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from narxbench.analysis.frames import framed
from narxbench.analysis.metrics import (
    DECIMALS,
    DIFFERENCES,
    RANKED,
    ComparisonMetric,
    Difference,
    Interval,
    mean,
)
from narxbench.analysis.significance import holm
from narxbench.numerics.rounding import significant

Floats = NDArray[np.float64]

DATA_SET = ["scenario", "system", "snr_db", "data_seed"]
# Fewer systems than that say nothing of others: resamples of them are too much alike.
FEWEST = 6
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
    """The data sets of a group and the methods that are compared on them: every method has every data set.

    Methods that lack a whole scenario are left out, and so are data sets that another method lacks. What is no method
    but a reference is left out.

    Parameters
    ----------
    results
        One row for each data set and method of the group.
    metric
        What they are compared by; one of the search is for methods that take part in it.
    """

    def __init__(self, results: pd.DataFrame, metric: ComparisonMetric) -> None:
        results = results[~results["reference"]]
        if metric.contest == "search":
            results = results[results["searches"]]
        self.larger_is_better = metric.larger_is_better
        problems = list(zip(*(results[name] for name in DATA_SET), strict=True))
        data_sets, names = sorted({*problems}), sorted({*results["method"]})
        row_of, column_of = ({key: place for place, key in enumerate(keys)} for keys in (data_sets, names))
        at = [row_of[problem] for problem in problems], [column_of[name] for name in results["method"]]
        # Where a metric does not apply it does so for every method.
        values, present = np.full((len(data_sets), len(names)), math.nan), np.zeros((len(data_sets), len(names)), bool)
        values[at], present[at] = results[metric.name], True
        scenarios = np.array([scenario for scenario, *_ in data_sets])
        everywhere = [{*scenarios[known]} == {*scenarios} for known in present.T]
        rows = present[:, everywhere].all(axis=1)
        columns = np.logical_and(present[rows].all(axis=0), rows.any())
        self.methods = [name for name, known in zip(names, columns, strict=True) if known]
        rows &= ~np.isnan(values[:, columns]).any(axis=1)
        self.values: Floats = values[np.ix_(rows, columns)]
        self.systems = [system for (_, system, *_), known in zip(data_sets, rows, strict=True) if known]

    def by_system(self, values: Floats) -> Floats:
        """Return the means of values, shape (data sets, methods), over each system, shape (systems, methods)."""
        return mean_by_system(values, self.systems)

    def ranks(self) -> Floats:
        """Return the mean rank of each method on the data sets of each system, shape (systems, methods); 1 is best."""
        return self.by_system(rank_rows(-self.values if self.larger_is_better else self.values))


def friedman_frame(groups: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return Friedman's test that all methods are equal, for each group and ranked metric.

    Blocks are the systems, values the mean ranks of `Blocks.ranks`, which the test ranks again. The p-values are not
    corrected for their number. Groups of less than two systems or three methods have no test.
    """
    rows = []
    for group, results in groups.items():
        for metric in RANKED:
            ranks = Blocks(results, metric).ranks()
            systems, methods = ranks.shape
            if systems >= 2 and methods >= 3:
                rows.append((*group, metric.name, systems, methods, *friedman(ranks)))
    return framed("tests", rows)


def verdict(difference: Interval, of: Difference, systems: int = FEWEST) -> str:
    """Return which of two methods a and b is better, or that they are equivalent for all that matters; else open.

    So it is with few systems, whatever the interval.

    Examples
    --------
    >>> [verdict(Interval(*i), DIFFERENCES[0]) for i in [(0.2, 0.1, 0.3), (0.0, -0.01, 0.02), (0.0, -0.2, 0.2)]]
    ['a', 'equivalent', 'open']
    """
    if systems < FEWEST:
        return "open"
    if max(abs(difference.low), abs(difference.high)) <= of.negligible:
        return "equivalent"
    if difference.low <= 0 <= difference.high or math.isnan(difference.low):
        return "open"
    return "a" if (difference.value > 0) == of.metric.larger_is_better else "b"


def pairs_frame(
    groups: Mapping[tuple[str, str], pd.DataFrame],
    rngs: Mapping[tuple[str, str], np.random.Generator],
    *,
    confidence: float,
    resamples: int,
) -> pd.DataFrame:
    """Return the difference of every two methods in each group on each of `DIFFERENCES`.

    Differences are means over the data sets of a system, then over systems, with intervals by bootstrap over systems;
    of ratios they are geometric means. p is that of Wilcoxon's signed-rank test over systems, two-sided, and ``p_holm``
    that after Holm's correction over all pairs of the group and metric; ``effect`` is the rank-biserial correlation.
    """
    rows = []
    for group, results in groups.items():
        for of in DIFFERENCES:
            blocks = Blocks(results, of.metric)
            pairs = list(combinations(range(len(blocks.methods)), 2))
            if not pairs or not len(blocks.values):
                continue
            values = blocks.by_system(np.vectorize(of.transformed)(blocks.values))
            differences = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
            intervals = bootstrap_means(differences, rngs[group], confidence=confidence, resamples=resamples)
            tests = [signed_rank(own.tolist()) for own in differences.T]
            corrected = holm([p for p, _ in tests]).tolist()
            for (a, b), interval, (p, effect), p_holm in zip(pairs, intervals, tests, corrected, strict=True):
                shown = [math.exp(value) for value in interval] if of.ratio else interval
                found = (blocks.methods[a], blocks.methods[b], len(values), *map(significant, shown))
                rows.append(
                    (
                        *group,
                        of.metric.name,
                        *found,
                        verdict(interval, of, len(values)),
                        p,
                        significant(p_holm, 6),
                        effect,
                    )
                )
    return framed("pairs", rows)
