"""The tables of a comparison of methods: leaderboard, by scenario, by system, tests between pairs, exceptions.

A group is all scenarios together (`ALL`) or one of them.
"""

import math
from collections.abc import Collection, Sequence
from itertools import chain

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.metrics import COMPARISON, ComparisonMetric, significant
from narxbench.analysis.ranking import ALL
from narxbench.io.csv import INTEGER, NAME, NUMBER, TEXT, read_table
from narxbench.io.files import StrPath
from narxbench.report.formats import method_name
from narxbench.report.table import Column, Kind, Table, columns
from narxbench.report.tables import Frames, clearly_better

DEFAULT = "multistart"  # the project's default method, which the exceptions are measured against

_COST = {"method": NAME, "n_terms": INTEGER, "seconds": NUMBER, "evaluations": INTEGER, "machine": TEXT}
_METHOD = Column("method", "Method", kind="method")
SHOWN = [metric for metric in COMPARISON if metric.on_leaderboard]
_BY_SYSTEM = [metric for metric in COMPARISON if metric.by_system]
_NOTES = (
    "Average rank: methods are ranked by their gaps on each data set, from 1 for the best; their mean ranks on the "
    "data sets of a system are ranked again, and these ranks averaged over the systems.",
    *(f"{metric.heading}: {metric.description}" for metric in SHOWN),
)


def leaderboard_tables(frames: Frames, cost: pd.DataFrame, contributed: Collection[str] = ()) -> dict[str, Table]:
    """Return the tables ``leaderboard``, ``systems``, ``pairs`` and ``exceptions`` by name.

    Parameters
    ----------
    frames
        The frames ``scores``, ``ranking``, ``systems``, ``pairs`` and ``exceptions``.
    cost
        CPU time of the methods, as :func:`read_cost` returns it.
    contributed
        The methods whose results were contributed by others.
    """
    order = methods_in_order(frames["ranking"])
    tables = (
        leaderboard_table(ranked(frames, cost, contributed)),
        systems_table(frames["systems"], order),
        pairs_table(frames["pairs"]),
        exceptions_table(frames, order),
    )
    return {table.name: table for table in tables}


def read_cost(path: StrPath) -> pd.DataFrame:
    """Read the CPU time of methods: seconds and evaluations of a run, by method and number of candidate terms."""
    return read_table(path, _COST, may_be_empty=True)


def ranked(frames: Frames, cost: pd.DataFrame, contributed: Collection[str] = ()) -> pd.DataFrame:
    """Return the frame ``ranking``, best first within each group, with what else the leaderboard shows.

    Added are ``place`` (1 is best; none without a rank), ``seconds`` (see :func:`run_costs`), ``deterministic``,
    ``contributed``, and both in words as ``remarks``.
    """
    ranking, scores = frames["ranking"], frames["scores"]
    deterministic = scores.groupby("method", sort=False)["deterministic"].first()
    parts = []
    for group, own in ranking.groupby("group", sort=False):
        seconds = run_costs(cost, usual_terms(scores, str(group))).set_index("method")["seconds"]
        own = own.sort_values("average_rank", kind="stable")
        parts.append(
            own.assign(
                place=own["average_rank"].rank(method="min"),
                seconds=own["method"].map(seconds).astype(float),
                deterministic=own["method"].map(deterministic).fillna(False).astype(bool),
                contributed=own["method"].isin(list(contributed)),
            )
        )
    found = pd.concat(parts, ignore_index=True)
    words = [
        ", ".join(word for word in ("deterministic", "contributed") if row[word]) for row in found.to_dict("records")
    ]
    return found.assign(remarks=words)


def methods_in_order(ranking: pd.DataFrame) -> list[str]:
    """Return all methods, those with the best average rank over all scenarios first."""
    overall = ranking[ranking["group"] == ALL].sort_values("average_rank", kind="stable")
    return list(dict.fromkeys([*overall["method"], *ranking["method"]]))


def usual_terms(scores: pd.DataFrame, group: str = ALL) -> int:
    """Return the most frequent number of candidate terms among the runs of a group."""
    own = scores if group == ALL else scores[scores["scenario"] == group]
    return int(own["n_terms"].mode().min())


def run_costs(cost: pd.DataFrame, n_terms: int) -> pd.DataFrame:
    """Return the rows of ``cost`` measured at the number of candidate terms closest to ``n_terms``, one a method."""
    near = cost.assign(distance=(cost["n_terms"] - n_terms).abs()).sort_values("distance", kind="stable")
    return near.drop_duplicates("method")


def pooled_ecdf(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of the frame ``ecdf`` summed over scenarios and systems, by method and evaluations."""
    keys = ["method", "evaluations"]
    return frame.groupby(keys, sort=False)[["reached", "total"]].sum().reset_index().sort_values("evaluations")


def pooled_systems(systems: pd.DataFrame) -> pd.DataFrame:
    """Return for each system and method the mean of its exact recovery over the scenarios that have it."""
    known = systems.dropna(subset="exact").groupby(["system", "method"], sort=False)["exact"]
    return known.agg(lambda values: significant(math.fsum(values) / len(values))).reset_index()


def leaderboard_table(ranking: pd.DataFrame) -> Table:
    """Return the leaderboard over all scenarios from :func:`ranked`."""
    head = (
        *(Column("place", "Rank", kind="number"), _METHOD),
        *_interval("average_rank", "rank", "Average rank", "effect"),
        *(column for metric in SHOWN for column in metric_columns(metric)),
        Column("seconds", "CPU seconds", kind="significant"),
        Column("failures", "Failures", kind="count"),
        Column("remarks", "Remarks"),
    )
    shown = ranking[ranking["group"] == ALL]
    return Table("leaderboard", "Leaderboard of the methods, all scenarios", head, shown, _NOTES, row_headers=2)


def pairs_table(pairs: pd.DataFrame, group: str | None = ALL) -> Table:
    """Return the tests between pairs of methods over all scenarios; with ``group`` None over each group."""
    head = (
        *(() if group else (Column("group", "Scenario"),)),
        *columns("method", a="A", b="B"),
        Column("blocks", "Systems", kind="count"),
        Column("median_difference", "Median of A − B", kind="significant"),
        *columns("p_value", p_value="p", p_holm="p (Holm)"),
        Column("effect", "Effect", kind="effect"),
        Column("better", "Better", kind="method"),
    )
    own = pairs[pairs["group"] == group] if group else pairs
    data = own.assign(better=clearly_better(own, own["effect"]))
    notes = (
        "Wilcoxon’s signed-rank test, two-sided: the gap of A, mean over the data sets of a system, against that of "
        "B. Holm: corrected for all pairs of a scenario, or of all scenarios together. Effect: matched-pairs "
        "rank-biserial correlation, from −1, A has the lower gap on all systems, to 1. An infinite gap counts as the"
        " largest finite one on its data set. Better: the method with the lower gaps where p (Holm) is below "
        f"{ALPHA}.",
    )
    return Table("pairs", "Pairs of methods, tested over the systems", head, data, notes, row_headers=2)


def exceptions_table(frames: Frames, methods: Sequence[str]) -> Table:
    """Return on how many systems, counted in each scenario, methods do better than the default one, by measure."""
    counts = frames["exceptions"].groupby(["method", "measure"]).size()
    cases = frames["systems"].groupby("method")[[metric.name for metric in _BY_SYSTEM]].count()
    rows = [
        (name, *(n for m in _BY_SYSTEM for n in (counts.get((name, m.name), 0), cases.at[name, m.name])))
        for name in methods
        if name != DEFAULT
    ]
    pairs = (
        columns("count", metric.words.capitalize(), **{metric.name: "better", f"{metric.name}_of": "of"})
        for metric in _BY_SYSTEM
    )
    caption = f"Systems, counted in each scenario, on which a method does better than {method_name(DEFAULT)}"
    return Table.of("exceptions", caption, (_METHOD, *chain(*pairs)), rows)


def scenarios_table(ranking: pd.DataFrame, methods: Sequence[str]) -> Table:
    """Return the average ranks of the methods in each scenario."""
    cells = ranking.loc[ranking["group"] != ALL, ["method", "group", "average_rank"]]
    return _crossed("scenarios", "Average rank by scenario", cells, methods, "effect")


def systems_table(systems: pd.DataFrame, methods: Sequence[str]) -> Table:
    """Return the exact recovery of the methods on each system."""
    cells = pooled_systems(systems)[["method", "system", "exact"]]
    return _crossed("systems", "Exact recovery by system, mean of the scenarios", cells, methods, "share")


def metric_columns(metric: ComparisonMetric) -> tuple[Column, ...]:
    """Return the columns of a metric in a table of the frame ``ranking``."""
    if metric.interval:
        return _interval(metric.name, metric.name, metric.heading, metric.form)
    return (Column(metric.name, metric.heading, kind=metric.form),)


def _interval(key: str, stem: str, group: str, kind: Kind) -> tuple[Column, ...]:
    return columns(kind, group, **{key: "value", f"{stem}_low": "from", f"{stem}_high": "to"})


def _crossed(name: str, caption: str, cells: pd.DataFrame, methods: Sequence[str], kind: Kind) -> Table:
    """Return a table of the last column of ``cells`` by the first two: method, and what stands across."""
    _, key, values = cells
    across = list(dict.fromkeys(cells[key]))
    wide = cells.pivot(index="method", columns=key, values=values).reindex(index=list(methods), columns=across)
    head = (_METHOD, *(Column(each, each, kind=kind) for each in across))
    return Table(name, caption, head, wide.rename_axis(columns=None).reset_index())
