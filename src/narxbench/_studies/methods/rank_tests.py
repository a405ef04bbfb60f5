"""Ranks of methods on the data sets that all of them have, and their means over systems.

Systems are the units: data sets of one system are alike, and no further evidence. Methods are ranked as J. Demšar
advises (Journal of Machine Learning Research 7 (2006) 1-30), and compared by their own values, not by ranks among all
methods (A. Benavoli, G. Corani and F. Mangili, ibid. 17 (2016) 5:1-10).
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from narxbench._numerics.intervals import Interval
from narxbench._numerics.rounding import significant
from narxbench._studies.methods.metrics import DECIMALS, ComparisonMetric
from narxbench._study.metrics import mean

Floats = NDArray[np.float64]

DATA_SET = ["scenario", "system", "snr_db", "data_seed"]
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
    and methods that do not repeat are left out too, and for metrics of the search methods that take no part in it.
    ``results`` has one row for each data set and method of the group.
    """

    def __init__(self, results: pd.DataFrame, metric: ComparisonMetric) -> None:
        results = results[results["ranked"]]
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
