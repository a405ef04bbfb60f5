"""Published and reproduced: difference, test and deviance of every published value, and nearness of conditions.

All of it works on the conditions frame, so that every study is compared by the same code. The one measure of nearness
is the deviance, the one verdict on a single value Fisher's exact test.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from narxbench.numerics.intervals import selection_frequency
from narxbench.numerics.logarithm import natural_log
from narxbench.numerics.rounding import significant
from narxbench.studies.paper.frames import KEY, framed
from narxbench.studies.paper.published import METRICS, PLACE, RUNS, VALUE, Published
from narxbench.study.significance import ALPHA, fisher_exact, holm

BIASES = [f"bias_{metric}" for metric in METRICS]
SAME_DEVIANCE = 1e-9  # sums in another order differ by less


@cache
def deviance(a: int, n_a: int, b: int, n_b: int) -> float:
    """Return the likelihood-ratio statistic G2 of ``a`` of ``n_a`` against ``b`` of ``n_b``.

    It is 2 sum(O ln(O / E)) over the four counts O of the table, where E are those expected with one chance for both.
    With one chance it is of the size of 1, whatever the counts; it grows with the evidence against one chance.
    """
    chosen, total = a + b, n_a + n_b
    table = ((a, n_a, chosen), (n_a - a, n_a, total - chosen), (b, n_b, chosen), (n_b - b, n_b, total - chosen))
    parts = [count * natural_log(count * total / (row * column)) for count, row, column in table if count]
    return significant(max(0.0, 2 * math.fsum(parts)))


def compare(conditions: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return published values (all, or once) with those of each condition of a published system that reproduces them.

    ``p_value`` (Fisher's exact test) and ``deviance`` compare ``count`` of ``size`` with the published count: of nu and
    nu_max the runs, of r the spurious terms out of all that could be. For r both are conservative, for terms with
    unequal chances vary less in number than terms with equal; for nu_max, a maximum, they are approximate.
    ``difference`` is reproduced minus published.
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
    tables = list(zip(*(column.astype(int).tolist() for column in counts), strict=True))
    rows["p_value"] = [fisher_exact(*table) for table in tables]
    rows["deviance"] = [deviance(*table) for table in tables]
    shown = [*KEY, "algorithm", "table", "metric", "label", "published", "reproduced", "difference", "p_value"]
    return rows[[*shown, "deviance", "count", "size"]].reset_index(drop=True)


def different(compared: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """Return which rows of `compare` Fisher's test calls different, by Holm's correction in groups."""
    return compared.groupby(list(by), sort=False)["p_value"].transform(holm) <= ALPHA


def nearness(compared: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how near the conditions of each group (``by``) come to the published values, each once in a group.

    The columns are the number of ``values``, the sum of their ``deviance``, `BIASES` (means of reproduced minus
    published), and how many values are ``different`` after Holm's correction over the group.
    """
    by = list(by)
    grouped = compared.assign(different=different(compared, by)).groupby(by, sort=False)
    found = grouped.agg(values=("deviance", "size"), deviance=("deviance", "sum"), different=("different", "sum"))
    biases = compared.groupby([*by, "metric"], sort=False)["difference"].mean().unstack("metric")
    found[BIASES] = biases.reindex(columns=METRICS)
    found[["deviance", *BIASES]] = found[["deviance", *BIASES]].map(significant, na_action="ignore")
    return found.reset_index()[[*by, "values", "deviance", *BIASES, "different"]]


def own_deviances(compared: pd.DataFrame) -> dict[tuple[int, int], float]:
    """Return the deviance between every two data seeds of one interpretation: what sampling alone leaves of it."""
    by_seed = compared.sort_values(VALUE).groupby("data_seed")
    known = {seed: (of["count"].tolist(), of["size"].tolist()) for seed, of in by_seed}
    return {
        (one, other): significant(math.fsum(map(deviance, *known[one], *known[other])))
        for one, other in combinations(known, 2)
    }


def rank_test(compared: pd.DataFrame) -> float:
    """Return the p value of the published tables being one more data set of an interpretation; missing for one alone.

    On each system the data sets, the paper's among them, are ranked by the sum of their deviances from all others. If
    the interpretation is right, each of them is as likely as any other to lie farthest out, on every system
    independently. The p value is the exact chance of ranks whose sum is as large as that of the paper's. The data sets
    must have had no part in the choice of the interpretation.
    """
    nearer, chances = 0, np.ones(1)
    for _, of_system in compared.groupby("system"):
        total = of_system.groupby("data_seed")["deviance"].sum()
        on_paper = total.sum()
        for pair, between in own_deviances(of_system).items():
            total[list(pair)] += between
        # Ties count against the difference.
        nearer += int((total < on_paper - SAME_DEVIANCE).sum())
        chances = np.convolve(chances, np.full(len(total) + 1, 1 / (len(total) + 1)))
    return significant(float(chances[nearer:].sum())) if compared["data_seed"].nunique() > 1 else math.nan


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
    intervals = [selection_frequency(*count, confidence) for count in counts]
    for limit in ("low", "high"):
        rows[limit] = rows[f"r_{limit}"].where(rows["metric"] == "r", rows[f"nu_max_{limit}"])
        rows.loc[of_nu, limit] = [getattr(interval, limit) for interval in intervals]
    places = published.values.merge(published.terms[["system", "label", "term"]], on=["system", "label"], how="left")
    found = places.merge(rows.drop(columns="published"), on=["table", *VALUE], how="left", validate="one_to_many")
    return framed("agreement_values", found.fillna(dict.fromkeys(["term", "interpretation", "method"], "")))


def agreement(values: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of each published table, algorithm and method, and a last row of all values, each once."""
    rows = []
    for (table, algorithm), part in values.groupby(["table", "algorithm"], sort=False):
        places = len(part[VALUE].drop_duplicates())
        for method in [name for name in part["method"].unique() if name] or [""]:
            found = part[(part["method"] == method) & part["reproduced"].notna()]
            rows.append((table, algorithm, method, len(found), places - len(found), *_overview(found)))
    once = values.drop_duplicates([*VALUE, "method", "interpretation", "data_seed"])
    compared = once[once["reproduced"].notna()]
    rows.append(("all", "", "", len(compared), len(once) - len(compared), *_overview(compared)))
    return framed("agreement", rows)


def _overview(rows: pd.DataFrame) -> list[float]:
    """Return how many values are different, the deviance and the biases; NaN for what is not there."""
    biases = [rows.loc[rows["metric"] == metric, "difference"].mean() for metric in METRICS]
    totals = [significant(math.fsum(rows["deviance"])) if len(rows) else math.nan, *biases]
    return [int(rows["different"].sum()), *(math.nan if pd.isna(total) else significant(total) for total in totals)]
