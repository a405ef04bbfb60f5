"""Published beside reproduced: differences and tests of every published value, distance of conditions, and overviews.

All of it works on the conditions frame, so that every study is compared by the same code.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from narxbench.analysis.frames import KEY, framed
from narxbench.analysis.metrics import selection_frequency, significant
from narxbench.analysis.published import METRICS, PLACE, RUNS, Published
from narxbench.analysis.significance import fisher_exact, holm

ALPHA = 0.05

_PLACE_OF_VALUE = ["table", *PLACE, "metric", "label"]


def compare(conditions: pd.DataFrame, published: Published) -> pd.DataFrame:
    """Return every published value beside that of each condition that reproduces it.

    Columns: `KEY`, ``algorithm``, ``table``, ``metric``, ``label``, ``published``, ``reproduced``, ``difference``
    (reproduced minus published), ``p_value``, ``count`` and ``runs``, the runs behind nu and nu_max.

    ``p_value`` is that of Fisher's exact test: for nu and nu_max of the two counts of runs, for r of the counts of
    spurious terms out of all that could be. The test of r is conservative, for terms with unequal chances vary less in
    number than terms with equal. The conditions must be of the published systems; those without published values have
    no row, nor have published values without a condition.
    """
    values = published.values.assign(order=range(len(published.values)))
    rows = conditions[[*KEY, "algorithm", "runs", "n_terms", "nu", "spurious", "nu_max"]]
    rows = rows.assign(condition=range(len(rows))).merge(values, on=PLACE).sort_values(["order", "condition"])
    labels = rows["label"].str[1:].replace("", "0").astype(int)
    nu = [counts[label - 1] for counts, label in zip(rows["nu"], labels, strict=True)]
    of_r = rows["metric"] == "r"
    rows["count"] = np.where(rows["metric"] == "nu", nu, np.where(of_r, rows["spurious"], rows["nu_max"]))
    rows["reproduced"] = rows["count"] / rows["runs"].where(~of_r, rows["n_terms"])
    rows["difference"] = (rows["reproduced"] - rows["published"]).round(12)
    # Of r the terms are tested that could be spurious, of the others the runs.
    possible = rows["n_terms"] - rows["nu"].map(len)
    printed = np.rint(rows["published"] * rows["n_terms"].where(of_r, RUNS)).astype(int)
    tables = zip(printed, possible.where(of_r, RUNS), rows["count"], possible.where(of_r, rows["runs"]), strict=True)
    rows["p_value"] = [fisher_exact(*map(int, table)) for table in tables]
    shown = [*KEY, "algorithm", "table", "metric", "label", "published", "reproduced", "difference", "p_value"]
    return rows[[*shown, "count", "runs"]].reset_index(drop=True)


def clearly_different(compared: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """Tell of each row of :func:`compare` whether Fisher's test with Holm's correction tells it from the published one.

    The correction covers all rows that agree in the columns ``by``.
    """
    return compared.groupby(list(by), sort=False)["p_value"].transform(holm) <= ALPHA


def distances(compared: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how far the conditions of each group lie from the published values.

    Parameters
    ----------
    compared
        Rows of :func:`compare`.
    by
        Columns whose values make a group, such as ``["interpretation", "algorithm", "data_seed"]``.

    Returns
    -------
    pandas.DataFrame
        One row a group, with the columns ``by`` and: ``conditions``, their number; ``nu``, ``r`` and ``nu_max``, means
        over the conditions of absolute differences, the one of nu being itself a mean over the system terms;
        ``distance``, the mean of these three; ``values``, the number of printed values; and ``different``, how many of
        them Fisher's tests with Holm's correction over the group tell apart. A value that is printed in two tables
        counts twice in the last two, as in the comparison with the tables, but its condition once in the means.
    """
    by = list(by)
    rows = compared.assign(size=compared["difference"].abs(), different=clearly_different(compared, by))
    once = rows.drop_duplicates([*by, *KEY, "metric", "label"])
    each = once.groupby([*by, *(name for name in KEY if name not in by), "metric"], sort=False)["size"].mean()
    means = each.groupby([*by, "metric"], sort=False).mean().unstack("metric")
    means = means.reindex(columns=METRICS).map(significant)
    means["distance"] = means.mean(axis="columns").map(significant)
    counted = rows.groupby(by, sort=False).agg(values=("different", "size"), different=("different", "sum"))
    counted["conditions"] = rows.drop_duplicates([*by, *KEY]).groupby(by, sort=False).size()
    return counted.join(means).reset_index()[[*by, "conditions", *METRICS, "distance", "values", "different"]]


def agreement_values(
    conditions: pd.DataFrame, metrics: pd.DataFrame, published: Published, confidence: float
) -> pd.DataFrame:
    """Return a row for each published value and condition that reproduces it, in the order of the published values.

    A value without a condition has one row without a method. ``low`` and ``high`` bound the confidence interval of
    ``reproduced``. A value is ``consistent`` if the p-value of :func:`compare` is at least 0.05, and
    ``consistent_holm`` after Holm's correction over all values of one table, method and data set.
    """
    rows = compare(conditions, published)
    family = ["table", "interpretation", "data_seed", "method"]
    rows["consistent"], rows["consistent_holm"] = rows["p_value"] >= ALPHA, ~clearly_different(rows, family)
    rows = rows.merge(metrics[[*KEY, "r_low", "r_high", "nu_max_low", "nu_max_high"]], on=KEY, how="left")
    of_nu = rows["metric"] == "nu"
    counts = rows.loc[of_nu, ["count", "runs"]].itertuples(index=False, name=None)
    intervals = [selection_frequency(*count, confidence) for count in counts]
    for limit in ("low", "high"):
        rows[limit] = rows[f"r_{limit}"].where(rows["metric"] == "r", rows[f"nu_max_{limit}"])
        rows.loc[of_nu, limit] = [getattr(interval, limit) for interval in intervals]
    places = published.values.merge(published.terms[["system", "label", "term"]], on=["system", "label"], how="left")
    found = places.merge(rows.drop(columns="published"), on=_PLACE_OF_VALUE, how="left", validate="one_to_many")
    return framed("agreement_values", found.fillna(dict.fromkeys(["term", "interpretation", "method"], "")))


def agreement(values: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of each published table, algorithm and method, and a last row of all of them together.

    Parameters
    ----------
    values
        The frame of :func:`agreement_values`.
    """
    rows = []
    for (table, algorithm), part in values.groupby(["table", "algorithm"], sort=False):
        places = len(part[_PLACE_OF_VALUE].drop_duplicates())
        for method in [name for name in part["method"].unique() if name] or [""]:
            found = part[(part["method"] == method) & part["reproduced"].notna()]
            rows.append((table, algorithm, method, len(found), places - len(found), *_overview(found)))
    compared = values[values["reproduced"].notna()]
    rows.append(("all", "", "", len(compared), len(values) - len(compared), *_overview(compared)))
    return framed("agreement", rows)


def _overview(rows: pd.DataFrame) -> list[float]:
    """Return mean absolute differences, then shares of consistent values before and after correction, by metric."""
    parts = [rows[rows["metric"] == metric] for metric in METRICS]
    means = [part["difference"].abs().mean() for part in parts]
    means += [part[verdict].mean() for part in parts for verdict in ("consistent", "consistent_holm")]
    return [math.nan if pd.isna(mean) else significant(mean) for mean in means]
