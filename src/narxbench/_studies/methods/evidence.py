"""The rule of evidence: when the best method counts as better than another one.

The best method of a group of data sets is compared with each other one by the mean difference over the systems, which
are the units: data sets of one system are alike, and no further evidence. Verdict, interval and p are those of one test
(:mod:`narxbench._studies.methods.sign_flips`) at one level for all comparisons of the group.

Which method leads is seen in the same data, so the lead of chance is the lead over all methods that are as good as the
best one. Two of them are taken for different by the test of one pair at the level alpha (S. Gutmann and Z. Maymin,
Annals of Statistics 15, 1987, pages 456-461). If m others stay undecided, chance would have to lead within a cluster of
m + 2 methods. Of its (m + 1)(m + 2) / 2 pairs those count, F, whose data can give so low a p at all (R. E. Tarone,
Biometrics 46, 1990, pages 515-522): methods that differ in few systems cannot. The rivals are taken from the largest p
on; from the first one with p F at most alpha on, all are decided with this F. The p that is shown is p F, and the
interval has the level alpha / F.

Shares and gaps have limits at which methods tie: where no system differs, others may. So the interval of an undecided
difference between them reaches to each side at least as far as the limit of Clopper and Pearson for the part of the
difference on that side. A decided lead in exact recovery has no higher lower limit than that of the gain.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench._numerics.random_streams import generator
from narxbench._numerics.rounding import significant
from narxbench._studies.methods.frames import framed
from narxbench._studies.methods.metrics import DECIMALS, EXACT, Difference
from narxbench._studies.methods.rank_tests import Blocks, Floats, mean_by_system
from narxbench._studies.methods.sign_flips import SignFlips, least_p, share_limits
from narxbench._studies.methods.wants import TESTED, first_for, is_ranked, rows_of

BETTER, WORSE, EQUAL, OPEN = "better", "worse", "practically equal", "open"


class Comparisons(NamedTuple):
    """The best method against each rival: raw p, pairs of chance F, shown p, limits and verdicts."""

    raw: list[float]
    n_pairs: list[int]
    p_values: list[float]
    limits: list[tuple[float, float]]
    verdicts: list[str]


def compare_with_best(
    values: Floats, best: int, difference: Difference, rng: np.random.Generator, *, alpha: float
) -> Comparisons:
    """Return the comparisons of the best method with the others, in their order.

    ``values`` of shape (systems, methods) are transformed; ``best`` is the column of the best method.
    """
    rivals = [column for column in range(values.shape[1]) if column != best]
    differences = values[:, [best]] - values[:, rivals]
    tests = SignFlips.of(differences, rng)
    n_pairs = pairs_of_chance(tests.p_values, _least_p_values(values, [best, *rivals]), alpha)
    p_values = [significant(min(1.0, p * n), 6) for p, n in zip(tests.p_values, n_pairs, strict=True)]
    limits, verdicts = [], []
    for column, (p, n) in enumerate(zip(p_values, n_pairs, strict=True)):
        interval = _interval(tests, column, differences[:, column], difference, alpha / n)
        mean = math.fsum(differences[:, column]) / len(differences)
        limits.append(interval)
        verdicts.append(_verdict(p <= alpha, mean, interval, difference, enough=least_p(len(differences)) <= alpha))
    return Comparisons(tests.p_values, n_pairs, p_values, limits, verdicts)


def _least_p_values(values: Floats, columns: Sequence[int]) -> Floats:
    """Return the least p-value that each two methods can have, by the number of systems in which they differ."""
    ordered = np.round(values[:, columns], DECIMALS)
    n_differing = (ordered[:, :, None] != ordered[:, None, :]).sum(axis=0)
    least_by_number: Floats = np.array([least_p(n) if n else 1.0 for n in range(len(values) + 1)])
    return np.asarray(least_by_number[n_differing])


def pairs_of_chance(p_values: Sequence[float], least_p_values: Floats, alpha: float) -> list[int]:
    """Return for each rival the number of pairs by which its p-value is multiplied.

    ``least_p_values`` has the least possible p of each two methods, the best one first, then the rivals in order.
    """
    order = sorted(range(len(p_values)), key=lambda rival: -p_values[rival])
    n_pairs = [1] * len(p_values)
    for place, rival in enumerate(order):
        cluster = [0, *(member + 1 for member in order[: place + 1])]
        possible = np.triu(least_p_values[np.ix_(cluster, cluster)] <= p_values[rival] * (1 + 1e-9), 1)
        n_pairs[rival] = max(1, int(possible.sum()))
        if p_values[rival] * n_pairs[rival] <= alpha:
            for easier in order[place:]:
                n_pairs[easier] = n_pairs[rival]
            break
    return n_pairs


def _interval(
    tests: SignFlips, column: int, differences: Floats, difference: Difference, level: float
) -> tuple[float, float]:
    """Return the limits of a mean difference at a level; infinite without limits."""
    low, high = tests.limits(column, level)
    if difference.ratio or math.isinf(low):
        return low, high
    least_gain, most_gain = share_limits(np.clip(differences, 0, 1), level)
    _, most_loss = share_limits(np.clip(-differences, 0, 1), level)
    if low <= 0 <= high:
        return min(low, -most_loss), max(high, most_gain)
    if difference.metric is EXACT and low > 0:
        return min(low, least_gain), high
    return low, high


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
    compared = compare_with_best(values, place, difference, rng, alpha=alpha)
    rivals = [method for method in blocks.methods if method != best]
    differences = values[:, [place]] - np.delete(values, place, axis=1)
    rows = []
    for column, rival in enumerate(rivals):
        mean = math.fsum(differences[:, column]) / len(values)
        shown = [_shown(value, difference) for value in (mean, *compared.limits[column])]
        p_values = compared.raw[column], compared.n_pairs[column], compared.p_values[column]
        pair = (*group, difference.metric.name, best, rival, len(values), least_p(len(values)))
        rows.append((*pair, *shown, compared.verdicts[column], *p_values))
    return rows


def _shown(value: float, difference: Difference) -> float:
    """Return a mean or a limit as it stands in the frame: a ratio if it is one, NaN without a limit, to 12 digits."""
    if math.isinf(value):
        return math.nan
    return significant(math.exp(value) if difference.ratio else value)
