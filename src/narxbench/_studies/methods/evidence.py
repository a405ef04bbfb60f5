"""The rule of evidence: when the best method counts as better than another one.

The best method of a group of data sets is compared with each other one by the mean difference over the systems, which
are the units: data sets of one system are alike, and no further evidence. Verdict, interval and p are those of one test
(:mod:`narxbench._studies.methods.sign_flips`) at one level for all comparisons of the group.

Which method leads is seen in the same data, so the lead of chance is the lead over all methods that are as good as the
best one. Two of them can be taken for different by the test of one pair at the level alpha (S. Gutmann and Z. Maymin,
Annals of Statistics 15, 1987, pages 456-461). If the best one is told from all but m others, chance would have to lead
within a cluster of m + 2 methods, which are F = (m + 1)(m + 2) / 2 pairs. So m is the least number of undecided methods
such that p F is at most alpha for all others; p F is the p that is shown, and intervals have the level alpha / F.

A share has a largest value, at which methods tie: where no system differs, others may. So the interval of an undecided
difference between shares reaches to each side at least as far as the limit of Clopper and Pearson for the part of the
difference on that side. A decided one has no higher lower limit than that of the gain.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench._numerics.random_streams import generator
from narxbench._numerics.rounding import significant
from narxbench._studies.methods.frames import framed
from narxbench._studies.methods.metrics import Difference
from narxbench._studies.methods.rank_tests import Blocks, Floats, mean_by_system
from narxbench._studies.methods.sign_flips import SignFlips, least_p, share_limits
from narxbench._studies.methods.wants import TESTED, first_for, is_ranked, rows_of

BETTER, WORSE, EQUAL, OPEN = "better", "worse", "practically equal", "open"


class Comparisons(NamedTuple):
    """The best method against each rival: raw p, shown p, limits and verdicts, and the number of undecided rivals."""

    raw: list[float]
    p_values: list[float]
    limits: list[tuple[float, float]]
    verdicts: list[str]
    n_undecided: int


def compare_with_best(
    differences: Floats, difference: Difference, rng: np.random.Generator, *, alpha: float
) -> Comparisons:
    """Return the comparisons of the best method with its rivals.

    ``differences`` of shape (systems, rivals) are transformed values of the best one less those of the rivals.
    """
    tests = SignFlips.of(differences, rng)
    n_undecided = undecided(tests.p_values, alpha)
    # Where all rivals stay undecided, the cluster is that of all methods.
    n_pairs = pairs_of_chance(min(n_undecided, max(0, differences.shape[1] - 1)))
    p_values = [significant(min(1.0, p * n_pairs), 6) for p in tests.p_values]
    limits, verdicts = [], []
    for column, p in enumerate(p_values):
        interval = _interval(tests, column, differences[:, column], difference, alpha / n_pairs)
        mean = math.fsum(differences[:, column]) / len(differences)
        limits.append(interval)
        verdicts.append(_verdict(p <= alpha, mean, interval, difference, enough=least_p(len(differences)) <= alpha))
    return Comparisons(tests.p_values, p_values, limits, verdicts, n_undecided)


def undecided(p_values: list[float], alpha: float) -> int:
    """Return the least number of rivals that stay undecided such that all others are decided at their level."""
    for n_undecided, p in enumerate(sorted(p_values, reverse=True)):
        if p * pairs_of_chance(n_undecided) <= alpha:
            return n_undecided
    return len(p_values)


def pairs_of_chance(n_undecided: int) -> int:
    """Return the number of pairs within the largest cluster of equal methods that a false lead takes."""
    return (n_undecided + 1) * (n_undecided + 2) // 2


def _interval(
    tests: SignFlips, column: int, differences: Floats, difference: Difference, level: float
) -> tuple[float, float]:
    """Return the limits of a mean difference at a level; infinite without limits."""
    low, high = tests.limits(column, level)
    if difference.ratio or math.isinf(low):
        return low, high
    least_gain, most_gain = share_limits(np.clip(differences, 0, 1), level)
    least_loss, most_loss = share_limits(np.clip(-differences, 0, 1), level)
    if low > 0:
        return min(low, least_gain), high
    if high < 0:
        return low, max(high, -least_loss)
    return min(low, -most_loss), max(high, most_gain)


def _verdict(
    is_decided: bool, mean: float, interval: tuple[float, float], difference: Difference, *, enough: bool
) -> str:
    """Return what a comparison says of the best method; with too few systems nothing."""
    if not enough:
        return OPEN
    if max(map(abs, interval)) <= difference.negligible:
        return EQUAL
    if not is_decided:
        return OPEN
    return BETTER if (mean > 0) == difference.metric.larger_is_better else WORSE


def pairs_frame(groups: Mapping[tuple[str, str], pd.DataFrame], ranking: pd.DataFrame, *, alpha: float) -> pd.DataFrame:
    """Return the comparisons of the best method of each group with the others, for each want that is tested.

    Differences are means over the data sets of a system, then over systems; for ratios they are geometric means.
    ``p_value`` is p of the pair alone, ``p`` is p after the correction.
    """
    rows: list[tuple[Any, ...]] = []
    for (part, group), results in groups.items():
        ranked_rows = _ranked_rows(ranking, part, group)
        ranked_results = results[results["method"].isin([row["method"] for row in ranked_rows])]
        for want, difference in TESTED.items():
            best = first_for(want, ranked_rows)
            if best is not None:
                rng = generator(purpose="differences", part=part, group=group, want=want)
                rows += _pair_rows((part, group), ranked_results, best["method"], difference, rng, alpha)
    return framed("pairs", rows)


def _ranked_rows(ranking: pd.DataFrame, part: str, group: str) -> list[dict[str, Any]]:
    rows = rows_of(ranking[(ranking["part"] == part) & (ranking["group"] == group)])
    n_data_sets = max(row["data_sets"] for row in rows)
    return [row for row in rows if is_ranked(row, n_data_sets)]


def _pair_rows(
    group: tuple[str, str],
    results: pd.DataFrame,
    best: str,
    difference: Difference,
    rng: np.random.Generator,
    alpha: float,
) -> list[tuple[Any, ...]]:
    """Return the rows of a group and a metric in the frame ``pairs``."""
    blocks = Blocks(results, difference.metric)
    if best not in blocks.methods or len(blocks.methods) < 2 or not len(blocks.values):
        return []
    values = mean_by_system(np.vectorize(difference.transform)(blocks.values), blocks.systems)
    place = blocks.methods.index(best)
    differences = values[:, [place]] - np.delete(values, place, axis=1)
    compared = compare_with_best(differences, difference, rng, alpha=alpha)
    n_systems, n_rivals = differences.shape
    rows = []
    for column, rival in enumerate(method for method in blocks.methods if method != best):
        mean = math.fsum(differences[:, column]) / n_systems
        shown = [_shown(value, difference) for value in (mean, *compared.limits[column])]
        counts = n_systems, n_rivals, compared.n_undecided, least_p(n_systems)
        p_values = compared.raw[column], compared.p_values[column]
        pair = (*group, difference.metric.name, best, rival)
        rows.append((*pair, *counts, *shown, compared.verdicts[column], *p_values))
    return rows


def _shown(value: float, difference: Difference) -> float:
    """Return a mean or a limit as it stands in the frame: a ratio if it is one, NaN without a limit, to 12 digits."""
    if math.isinf(value):
        return math.nan
    return significant(math.exp(value) if difference.ratio else value)
