"""Ranks of methods and differences between them: Friedman, Wilcoxon's signed ranks, bootstrap over systems.

Blocks are systems. These tests are those of J. Demšar (Journal of Machine Learning Research 7 (2006) 1-30). Pairs are
compared by their own values, not by ranks among all methods, as A. Benavoli, G. Corani and F. Mangili advise (ibid. 17
(2016) 5:1-10): how large the difference is comes before whether chance could make it.
p-values are rounded to six significant digits, because their last bits depend on the C library.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from narxbench._numerics.intervals import Interval
from narxbench._numerics.rounding import significant
from narxbench._studies.methods.frames import framed
from narxbench._studies.methods.metrics import DECIMALS, DIFFERENCES, RANKED, ComparisonMetric, Difference
from narxbench._study.metrics import mean
from narxbench._study.significance import holm

Floats = NDArray[np.float64]

DATA_SET = ["scenario", "system", "snr_db", "data_seed"]
# With fewer systems no verdict is given: resamples of them are too much alike to say anything about other systems.
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
    means = []
    for name in sorted({*systems}):
        means.append(list(map(mean, values[names == name].T.tolist())))
    return np.array(means).reshape(len(means), values.shape[1])


def friedman(values: Floats) -> tuple[float, float]:
    """Return the statistic and the p-value of Friedman's test that no method (column) is better than another.

    This is ``scipy.stats.friedmanchisquare`` of values of shape (blocks, methods), at least (2, 3), which corrects for
    ties and takes the statistic as chi-squared. Where all methods are equal in every block, it is 0 and p is 1.
    """
    ranks = rank_rows(values)
    if (ranks == ranks[:, :1]).all():
        return 0.0, 1.0
    test = stats.friedmanchisquare(*ranks.T)
    return significant(test.statistic), significant(test.pvalue, 6)


def signed_rank(differences: Sequence[float]) -> tuple[float, float]:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, and the matched-pairs rank-biserial correlation.

    The p-value is exact: of all ways to give signs to the ranks, it counts those that are as extreme. SciPy's exact
    distribution knows neither ties nor zeros, and its approximation is poor where p is small, which is where Holm's
    correction needs it. Zeros are ranked, then left out of the test (Pratt, 1959); there is at least one difference.
    The correlation is the rank sum of the positive differences less that of the negative ones, divided by the sum of
    all ranks, including those of zeros.
    """
    rounded = np.round(np.array(differences, float), DECIMALS)
    is_nonzero = rounded != 0
    # Ranks are multiples of a half, so that their doubles are whole.
    doubled_ranks = np.round(2 * stats.rankdata(abs(rounded))).astype(np.int64)
    total = int(doubled_ranks[is_nonzero].sum())
    positive = int(doubled_ranks[rounded > 0].sum())
    # The number of ways to reach each rank sum, in Python's whole numbers, which do not overflow.
    n_ways = np.zeros(total + 1, object)
    n_ways[0] = 1
    for rank in doubled_ranks[is_nonzero].tolist():
        n_ways[rank:] = n_ways[rank:] + n_ways[:-rank]
    n_extreme = 2 * sum(n_ways[: min(positive, total - positive) + 1].tolist())
    p = min(1.0, n_extreme / 2 ** int(np.count_nonzero(rounded)))
    return significant(p, 6), significant((2 * positive - total) / int(doubled_ranks.sum()))


def bootstrap_means(values: Floats, rng: np.random.Generator, *, confidence: float, resamples: int) -> list[Interval]:
    """Return the mean of each column with its percentile interval over resampled rows, to 12 digits.

    Values are finite, and all columns share the resamples. Fewer than two rows give no interval: its limits are NaN,
    as is the mean of no row.
    """
    n_rows = len(values)
    if not n_rows:
        return [Interval(math.nan, math.nan, math.nan)] * values.shape[1]
    means = [math.fsum(column) / n_rows for column in values.T.tolist()]
    if n_rows < 2:
        return [Interval(significant(mean), math.nan, math.nan) for mean in means]
    picks = (rng.random((resamples, n_rows)) * n_rows).astype(np.int64)
    sums = np.sort(np.rint(values * _UNIT).astype(np.int64)[picks].sum(axis=1), axis=0)
    tail = (1 - confidence) / 2
    low, high = sums[math.floor(tail * (resamples - 1))], sums[math.ceil((1 - tail) * (resamples - 1))]
    limits = zip(means, (low / (n_rows * _UNIT)).tolist(), (high / (n_rows * _UNIT)).tolist(), strict=True)
    return [Interval(*map(significant, interval)) for interval in limits]


class Blocks:
    """The data sets of a group and the methods that are compared on them: every method has every data set.

    Methods that lack a whole scenario are left out, then data sets that one of the remaining methods lacks. References
    are left out too, and for metrics of the search also methods that take no part in it. ``results`` has one row for
    each data set and method of the group.
    """

    def __init__(self, results: pd.DataFrame, metric: ComparisonMetric) -> None:
        results = results[~results["reference"]]
        if metric.contest == "search":
            results = results[results["searches"]]
        self.larger_is_better = metric.larger_is_better
        indexed = results.set_index([*DATA_SET, "method"])
        values = indexed[metric.name].unstack("method")
        has_runs = indexed["runs"].unstack("method").notna()
        in_all_scenarios = has_runs.groupby(level="scenario").any().all()
        rows = has_runs.loc[:, in_all_scenarios].all(axis=1)
        columns = has_runs[rows].all() & rows.any()
        self.methods = list(has_runs.columns[columns])
        # A metric that does not apply to a data set applies there to no method.
        rows &= values.loc[:, columns].notna().all(axis=1)
        self.values: Floats = values.loc[rows, columns].to_numpy(float)
        self.systems = list(values.index.get_level_values("system")[rows.to_numpy()])

    def ranks(self) -> Floats:
        """Return the mean rank of each method on the data sets of each system, shape (systems, methods); 1 is best."""
        values = -self.values if self.larger_is_better else self.values
        return mean_by_system(rank_rows(values), self.systems)


def friedman_frame(groups: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return Friedman's test that all methods are equal, for each group and ranked metric.

    Blocks are the systems, values the mean ranks of `Blocks.ranks`, which the test ranks again. The p-values are not
    corrected for their number. Groups of fewer than two systems or three methods have no test.
    """
    rows = []
    for group, results in groups.items():
        for metric in RANKED:
            ranks = Blocks(results, metric).ranks()
            n_systems, n_methods = ranks.shape
            if n_systems >= 2 and n_methods >= 3:
                rows.append((*group, metric.name, n_systems, n_methods, *friedman(ranks)))
    return framed("tests", rows)


def verdict(interval: Interval, difference: Difference, n_systems: int = FEWEST) -> str:
    """Return "a" or "b" for the better method, "equivalent" where the difference is negligible, else "open".

    The verdict on fewer than `FEWEST` systems is "open" too.
    """
    if n_systems < FEWEST:
        return "open"
    if max(abs(interval.low), abs(interval.high)) <= difference.negligible:
        return "equivalent"
    if interval.low <= 0 <= interval.high or math.isnan(interval.low):
        return "open"
    a_is_larger = interval.value > 0
    return "a" if a_is_larger == difference.metric.larger_is_better else "b"


def pairs_frame(
    groups: Mapping[tuple[str, str], pd.DataFrame],
    rngs: Mapping[tuple[str, str], np.random.Generator],
    *,
    confidence: float,
    resamples: int,
) -> pd.DataFrame:
    """Return the difference between every two methods in each group on each of `DIFFERENCES`.

    Differences are means over the data sets of a system, then over systems, with intervals by bootstrap over systems;
    for ratios they are geometric means. p is that of Wilcoxon's signed-rank test over systems, two-sided, and
    ``p_holm`` is p after Holm's correction over all pairs of the group and metric. ``effect`` is the rank-biserial
    correlation.
    """
    rows: list[tuple[Any, ...]] = []
    for group, results in groups.items():
        for difference in DIFFERENCES:
            blocks = Blocks(results, difference.metric)
            if len(blocks.methods) >= 2 and len(blocks.values):
                rng = rngs[group]
                rows += _pair_rows(group, blocks, difference, rng, confidence=confidence, resamples=resamples)
    return framed("pairs", rows)


def _pair_rows(
    group: tuple[str, str],
    blocks: Blocks,
    difference: Difference,
    rng: np.random.Generator,
    *,
    confidence: float,
    resamples: int,
) -> list[tuple[Any, ...]]:
    """Return the rows of a group and a metric in the frame ``pairs``."""
    pairs = list(combinations(range(len(blocks.methods)), 2))
    values = mean_by_system(np.vectorize(difference.transform)(blocks.values), blocks.systems)
    n_systems = len(values)
    differences = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
    intervals = bootstrap_means(differences, rng, confidence=confidence, resamples=resamples)
    p_values, effects = zip(*map(signed_rank, differences.T.tolist()), strict=True)
    rows = []
    corrected = holm(p_values).tolist()
    for (a, b), interval, p, p_holm, effect in zip(pairs, intervals, p_values, corrected, effects, strict=True):
        shown: Sequence[float] = interval
        if difference.ratio:
            shown = list(map(math.exp, interval))
        pair = (*group, difference.metric.name, blocks.methods[a], blocks.methods[b])
        word = verdict(interval, difference, n_systems)
        rows.append((*pair, n_systems, *map(significant, shown), word, p, significant(p_holm, 6), effect))
    return rows
