"""Ranks of methods and differences between them: Friedman, Wilcoxon's signed ranks, bootstrap over systems.

Blocks are systems. These tests are those of J. Demšar (Journal of Machine Learning Research 7 (2006) 1-30). Pairs are
compared by their own values, not by ranks among all methods, as A. Benavoli, G. Corani and F. Mangili advise (ibid. 17
(2016) 5:1-10): how large the difference is comes before whether chance could make it.
p-values are rounded to six significant digits, for their last bits depend on the C library.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from narxbench.numerics.intervals import Interval
from narxbench.numerics.rounding import significant
from narxbench.studies.methods.frames import framed
from narxbench.studies.methods.metrics import DECIMALS, DIFFERENCES, RANKED, ComparisonMetric, Difference
from narxbench.study.metrics import mean
from narxbench.study.significance import holm

Floats = NDArray[np.float64]

DATA_SET = ["scenario", "system", "snr_db", "data_seed"]
# Fewer systems than that say nothing of others: resamples of them are too much alike.
FEWEST = 6
# The bootstrap adds whole numbers, values in units of 1e-12, so that no rounding depends on the order of a sum.
_UNIT = 10**12


def rank_rows(values: Floats) -> Floats:
    """Return the ranks within each row, from 1 for the lowest; equal values, infinite ones too, share their mean rank.

    Values, of shape (blocks, methods), are compared to nine decimals.
    """
    return np.asarray(stats.rankdata(np.round(values, DECIMALS), axis=1))


def mean_by_system(values: Floats, systems: Sequence[str]) -> Floats:
    """Return the means of the rows of each system, shape (systems, columns), systems in alphabetical order."""
    names = np.array(systems)
    means = [[mean(column) for column in values[names == name].T.tolist()] for name in sorted({*systems})]
    return np.array(means).reshape(len(means), values.shape[1])


def friedman(values: Floats) -> tuple[float, float]:
    """Return statistic and p-value of Friedman's test that no method (column) is better than another.

    This is ``scipy.stats.friedmanchisquare`` of values of shape (blocks, methods), at least (2, 3), which corrects for
    ties and takes the statistic as chi-squared. Where all methods are equal in every block, it is 0 and p is 1.
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
    where Holm's correction needs it. Zeros are ranked, then left out of the test (Pratt, 1959); there is at least one
    difference. The correlation is the rank sum of the positive differences less that of the negative ones, divided by
    the sum of all ranks, those of zeros included.
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
    """Return the mean of each column, finite values, with its percentile interval over resampled rows, to 12 digits.

    All columns share the resamples. Less than two rows give no interval: its limits are NaN, as is the mean of no row.
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
    but a reference is left out, and where the metric is one of the search, who takes no part in it.
    ``results`` has one row for each data set and method of the group.
    """

    def __init__(self, results: pd.DataFrame, metric: ComparisonMetric) -> None:
        results = results[~results["reference"]]
        if metric.contest == "search":
            results = results[results["searches"]]
        self.larger_is_better = metric.larger_is_better
        at = results.set_index([*DATA_SET, "method"])
        # Where a metric does not apply it does so for every method.
        values, present = at[metric.name].unstack("method"), at["runs"].unstack("method").notna()
        everywhere = present.groupby(level="scenario").any().all()
        rows = present.loc[:, everywhere].all(axis=1)
        columns = present[rows].all() & rows.any()
        self.methods = list(present.columns[columns])
        rows &= values.loc[:, columns].notna().all(axis=1)
        self.values: Floats = values.loc[rows, columns].to_numpy(float)
        self.systems = list(values.index.get_level_values("system")[rows.to_numpy()])

    def ranks(self) -> Floats:
        """Return the mean rank of each method on the data sets of each system, shape (systems, methods); 1 is best."""
        return mean_by_system(rank_rows(-self.values if self.larger_is_better else self.values), self.systems)


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
    """Return which of a and b is better, or that they are equivalent for all that matters; else, and of few, open."""
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
            values = mean_by_system(np.vectorize(of.transformed)(blocks.values), blocks.systems)
            differences = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
            intervals = bootstrap_means(differences, rngs[group], confidence=confidence, resamples=resamples)
            tests = [signed_rank(own.tolist()) for own in differences.T]
            corrected = holm([p for p, _ in tests]).tolist()
            for (a, b), interval, (p, effect), p_holm in zip(pairs, intervals, tests, corrected, strict=True):
                shown = [math.exp(value) for value in interval] if of.ratio else interval
                compared = (*group, of.metric.name, blocks.methods[a], blocks.methods[b], len(values))
                word = verdict(interval, of, len(values))
                rows.append((*compared, *map(significant, shown), word, p, significant(p_holm, 6), effect))
    return framed("pairs", rows)
