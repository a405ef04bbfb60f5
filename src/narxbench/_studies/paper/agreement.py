"""Published and reproduced: difference, test and deviance of every published value, and nearness of conditions.

Everything here works on the conditions frame, so that every study is compared by the same code. The only measure of
nearness is the deviance, the only verdict on a single value is that of Fisher's exact test.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from narxbench._numerics.intervals import LEVEL, selection_frequency
from narxbench._numerics.logarithm import natural_log
from narxbench._numerics.rounding import significant
from narxbench._studies.paper.frames import KEY, framed, main_methods
from narxbench._studies.paper.published import METRICS, PLACE, RUNS, VALUE, Published
from narxbench._study.significance import fisher_exact, holm

BIASES = [f"bias_{metric}" for metric in METRICS]


@cache
def deviance(a: int, n_a: int, b: int, n_b: int) -> float:
    """Return the likelihood-ratio statistic G2 of ``a`` of ``n_a`` against ``b`` of ``n_b``.

    It is 2 sum(O ln(O / E)) over the four counts O of the table, where E are the counts expected with one chance for
    both. With one chance it is about 1, whatever the counts, and it grows with the evidence against one chance.
    """
    chosen, total = a + b, n_a + n_b
    table = ((a, n_a, chosen), (n_a - a, n_a, total - chosen), (b, n_b, chosen), (n_b - b, n_b, total - chosen))
    parts = []
    for count, row, column in table:
        if count:
            parts.append(count * natural_log(count * total / (row * column)))
    return significant(max(0.0, 2 * math.fsum(parts)))


def compare(conditions: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return published values (all, or once) with those of each condition of a published system that reproduces them.

    ``p_value`` (Fisher's exact test) and ``deviance`` compare ``count`` of ``size`` with the published count: for nu
    and nu_max the runs, for r the spurious terms out of all that are possible. For r both are conservative, because
    terms with unequal chances vary less in number than terms with equal chances; for nu_max, a maximum, they are
    approximate. ``difference`` is reproduced minus published.
    """
    values = values.assign(order=range(len(values)))
    rows = conditions[[*KEY, "algorithm", "runs", "n_terms", "nu", "spurious", "nu_max"]]
    rows = rows.assign(condition=range(len(rows))).merge(values, on=PLACE).sort_values(["order", "condition"])
    labels = rows["label"].str[1:].replace("", "0").astype(int)
    nu = [counts[label - 1] for counts, label in zip(rows["nu"], labels, strict=True)]
    of_r = rows["metric"] == "r"
    rows["count"] = np.where(rows["metric"] == "nu", nu, np.where(of_r, rows["spurious"], rows["nu_max"]))
    rows["reproduced"] = rows["count"] / rows["runs"].where(~of_r, rows["n_terms"])
    rows["difference"] = (rows["reproduced"] - rows["published"]).round(12)
    possible = rows["n_terms"] - rows["nu"].map(len)
    rows["size"] = possible.where(of_r, rows["runs"])
    printed = np.rint(rows["published"] * rows["n_terms"].where(of_r, RUNS)).astype(int)
    counts = (printed, possible.where(of_r, RUNS), rows["count"], rows["size"])
    tables = [column.astype(int).tolist() for column in counts]
    rows["p_value"] = list(map(fisher_exact, *tables))
    rows["deviance"] = list(map(deviance, *tables))
    shown = [*KEY, "algorithm", "table", "metric", "label", "published", "reproduced", "difference", "p_value"]
    return rows[[*shown, "deviance", "count", "size"]].reset_index(drop=True)


def different(compared: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """Return which rows of `compare` are different by Fisher's test with Holm's correction in groups."""
    return compared.groupby(list(by), sort=False)["p_value"].transform(holm) <= LEVEL


def nearness(compared: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how near the conditions of each group (``by``) come to the published values, each once in a group.

    The columns are the number of ``values``, the sum of their ``deviance``, `BIASES` (means of reproduced minus
    published), and how many values are ``different`` after Holm's correction over the group.
    """
    by = list(by)
    grouped = compared.assign(different=different(compared, by)).groupby(by, sort=False)
    totals = grouped.agg(values=("deviance", "size"), deviance=("deviance", "sum"), different=("different", "sum"))
    biases = compared.groupby([*by, "metric"], sort=False)["difference"].mean().unstack("metric")
    totals[BIASES] = biases.reindex(columns=METRICS)
    totals[["deviance", *BIASES]] = totals[["deviance", *BIASES]].map(significant, na_action="ignore")
    return totals.reset_index()[[*by, "values", "deviance", *BIASES, "different"]]


def own_deviances(compared: pd.DataFrame) -> dict[tuple[int, int], float]:
    """Return the deviance between every two data seeds of one interpretation, which is due to sampling alone."""
    counts = {}
    for seed, rows in compared.sort_values(VALUE).groupby("data_seed"):
        counts[seed] = rows["count"].tolist(), rows["size"].tolist()
    deviances = {}
    for first, second in combinations(counts, 2):
        parts = map(deviance, *counts[first], *counts[second])
        deviances[first, second] = significant(math.fsum(parts))
    return deviances


def system_ranks(compared: pd.DataFrame) -> pd.DataFrame:
    """Return how far out the published tables are among the data sets of an interpretation, on each system.

    The paper and the data sets are ranked by the sum of their deviances from all others. ``rank`` is 1 plus the number
    of data sets that are nearer, and ``places`` the number of the data sets and the paper: the paper is farthest out
    where both are equal. Ties count against that.
    """
    rows = []
    for system, of_system in compared.groupby("system"):
        total = of_system.groupby("data_seed")["deviance"].sum()
        on_paper = total.sum()
        for pair, between in own_deviances(of_system).items():
            total[list(pair)] += between
        # Sums in another order differ in their last bits.
        nearer = total.map(significant) < significant(on_paper)
        rows.append((system, 1 + int(nearer.sum()), len(total) + 1))
    return pd.DataFrame(rows, columns=["system", "rank", "places"])


def rank_test(compared: pd.DataFrame) -> dict[str, Any]:
    """Return the test that the published tables are another data set of an interpretation, NaN for one data seed.

    It has the columns of the frame ``nearness``: the ``p_value``, the number ``orders`` of equally likely places of the
    paper's tables (no p value is smaller than one in this many), and the ``systems`` on which they are ``farthest``
    out.

    If the interpretation is right, each of the data sets and the paper is as likely as any other to be farthest out,
    on every system independently (`system_ranks`). The p value is the exact chance that the ranks of the paper's data
    sets have a sum as large as theirs. The data sets must have had no part in the choice of the interpretation.
    """
    if compared["data_seed"].nunique() <= 1:
        return {"p_value": math.nan, "orders": math.nan, "farthest": "", "systems": compared["system"].nunique()}
    ranks = system_ranks(compared)
    chances = np.ones(1)
    for places in ranks["places"]:
        chances = np.convolve(chances, np.full(places, 1 / places))
    nearer = int((ranks["rank"] - 1).sum())
    farthest = ranks.loc[ranks["rank"] == ranks["places"], "system"]
    return {
        "p_value": significant(float(chances[nearer:].sum())),
        "orders": float(ranks["places"].prod()),
        "farthest": ", ".join(farthest),
        "systems": len(ranks),
    }


def agreement_values(
    conditions: pd.DataFrame, metrics: pd.DataFrame, published: Published, confidence: float
) -> pd.DataFrame:
    """Return a row for each published value and condition that reproduces it, in the order of the published values.

    A value without a condition has one row without a method. Holm's correction behind ``different`` covers all values,
    each once, of one set of methods on one data set: the first method of every algorithm, the second ones, and so on.
    """
    rows = compare(conditions, published.values)
    methods = rows[["algorithm", "method"]].drop_duplicates()
    rows = rows.merge(methods.assign(method_set=methods.groupby("algorithm").cumcount()))
    family = ["interpretation", "data_seed", "method_set"]
    once = rows.drop_duplicates([*VALUE, *family])
    rows = rows.merge(once[[*VALUE, *family]].assign(different=different(once, family)), on=[*VALUE, *family])
    rows = rows.merge(metrics[[*KEY, "r_low", "r_high", "nu_max_low", "nu_max_high"]], on=KEY, how="left")
    of_nu = rows["metric"] == "nu"
    counts = rows.loc[of_nu, ["count", "size"]].itertuples(index=False, name=None)
    for limit in ("low", "high"):
        rows[limit] = rows[f"r_{limit}"].where(rows["metric"] == "r", rows[f"nu_max_{limit}"])
    intervals = [selection_frequency(*count, confidence)[1:] for count in counts]
    rows.loc[of_nu, ["low", "high"]] = np.reshape(intervals, (-1, 2))
    places = published.values.merge(published.terms[["system", "label", "term"]], on=["system", "label"], how="left")
    values = places.merge(rows.drop(columns="published"), on=["table", *VALUE], how="left", validate="one_to_many")
    return framed("agreement_values", values.fillna(dict.fromkeys(["term", "interpretation", "method"], "")))


def agreement(values: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of each published table, each value once, and a last row of all values.

    A value that two tables print counts in the first of them. ``lower`` and ``higher`` are the values of the run that
    differ clearly from the published ones, on either side. Each algorithm is represented by its main method.
    """
    methods = set(main_methods(values).values())
    once = values[values["method"].isin({*methods, ""})].drop_duplicates(VALUE)
    rows = []
    for (table, system, algorithm), part in once.groupby(["table", "system", "algorithm"], sort=False):
        rows.append((table, system, algorithm, *_overview(part)))
    rows.append(("all", "", "", *_overview(once)))
    return framed("agreement", rows)


def _overview(rows: pd.DataFrame) -> list[float]:
    """Return how many values are compared, missing, clearly lower and higher, and the biases, NaN without a value."""
    compared = rows[rows["reproduced"].notna()]
    differing = compared.loc[compared["different"].eq(True), "difference"]
    overview: list[float] = [
        len(compared),
        len(rows) - len(compared),
        *map(int, ((differing < 0).sum(), (differing > 0).sum())),
    ]
    for metric in METRICS:
        bias = compared.loc[compared["metric"] == metric, "difference"].mean()
        overview.append(bias if pd.isna(bias) else significant(bias))
    return overview
