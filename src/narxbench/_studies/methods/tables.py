"""The tables of a comparison of methods: the ranking, the situations, the tests, and the systems."""

from collections.abc import Iterator

import pandas as pd

from narxbench._report.formats import MISSING, count, fixed, method_name, significant, tenths
from narxbench._report.table import Column, Table, columns
from narxbench._studies.methods.answer import REGIONS, difference_text, value_text, verdict_text
from narxbench._studies.methods.metrics import COMPARISON, EXACT, F1, FRESH, TESTED, ComparisonMetric
from narxbench._studies.methods.score_file import EVERYTHING, TIME
from narxbench._studies.methods.views import Comparison, Row, View
from narxbench._study.metrics import mean

_METHOD = Column("method", "Method", kind="method")
# The columns of the ranking after the name of the method.
RANKING = (
    *columns(exact=EXACT.heading, f1=F1.heading, fresh_error=FRESH.heading, seconds="CPU seconds"),
    *columns(settings_by="Settings by", failures="Failures", remarks="Remarks"),
)


def leaderboard_tables(comparison: Comparison) -> dict[str, Table]:
    """Return all tables of a comparison by name."""
    return {
        "leaderboard": ranking_table(comparison),
        "situations": situations_table(comparison),
        "differences": differences_table(comparison),
        "systems": systems_table(comparison),
    }


def ranking_table(comparison: Comparison) -> Table:
    """Return the methods in their order, the references last."""
    rows = []
    for row in comparison.whole.rows():
        rows.append((row["method"], *cells(row, comparison).values()))
    notes = [f"{metric.heading}: {metric.description}" for metric in COMPARISON if metric in (EXACT, F1, FRESH)]
    notes.append(
        "In brackets: the interval over systems. Undecided: the smallest difference that could have been seen."
    )
    title = f"Methods by exact recovery, {comparison.data_sets}"
    return Table.of("leaderboard", title, (_METHOD, *RANKING), rows, notes=tuple(notes))


def cells(row: Row, comparison: Comparison) -> dict[str, str]:
    """Return what the ranking shows of a method, by the keys of `RANKING`."""
    return {
        "exact": _with_interval(row, EXACT),
        "f1": MISSING if row[F1.name] is None else fixed(row[F1.name], 2),
        "fresh_error": _with_interval(row, FRESH),
        "seconds": MISSING if row["seconds"] is None else significant(row["seconds"]),
        "settings_by": row["settings_by"] or MISSING,
        "failures": count(row["failures"]),
        "remarks": "; ".join(remarks(row, comparison)),
    }


def _with_interval(row: Row, metric: ComparisonMetric) -> str:
    if row[metric.name] is None:
        return MISSING
    low, high = row[f"{metric.name}_low"], row[f"{metric.name}_high"]
    text = value_text(metric, row[metric.name])
    if low is None or high is None:
        return text
    return f"{text} ({value_text(metric, low)} to {value_text(metric, high)})"


def remarks(row: Row, comparison: Comparison) -> Iterator[str]:
    """Yield the remarks on a method: whose it is, how it compares with the best one, and what it lacks."""
    if row["reference"]:
        yield "reference"
    if row["added"]:
        yield "yours"
    if row["tuned"]:
        yield "tuned on these data sets"
    for pair in comparison.pairs(EXACT):
        if pair.rival == row["method"]:
            yield verdict_text(pair, EXACT)
    if row["not_run"]:
        yield f"{TIME}: not run on {count(row['not_run'])} data sets"
    if row["unsteady"]:
        yield f"not ranked: a repeated run found something else ({row['unsteady']})"
    elif row["missing"] and not row["reference"]:
        yield f"not ranked: it lacks {count(row['missing'])} data sets"


def situations_table(comparison: Comparison) -> Table:
    """Return the exact recovery of every method in each group of data."""
    views = situations(comparison)
    head = [_METHOD, *(Column(view.group, view.title) for view in views)]
    rows = []
    for row in comparison.whole.rows():
        rows.append((row["method"], *(recovery_text(view, row["method"]) for view in views)))
    return Table.of("situations", f"Exact recovery by situation, {comparison.data_sets}", head, rows)


def situations(comparison: Comparison) -> list[View]:
    """Return the groups of data in which the terms can be right, all data first."""
    return [view for view in comparison.views if any(row[EXACT.name] is not None for row in view.rows())]


def recovery_text(view: View, method: str) -> str:
    """Return the exact recovery of a method in a group, or that it is not run there for the time that it would need."""
    row = view.row(method)
    if row is None or row["last"] == 1 or row[EXACT.name] is None:
        return MISSING
    return TIME if row["not_run"] == row["data_sets"] else tenths(row[EXACT.name])


def differences_table(comparison: Comparison) -> Table:
    """Return the comparisons of the best method by each metric that is tested with all others."""
    head = (
        *columns(measure="Measure"),
        *(Column("best", "Best", kind="method"), Column("rival", "Against", kind="method")),
        *columns(difference="Difference", verdict="Verdict"),
        *(Column("p", "p", kind="p_value"), Column("detectable", "Could have been seen")),
    )
    rows = []
    for metric in TESTED:
        pairs = comparison.pairs(metric)
        best = comparison.frames["pairs"].query("part == @comparison.part and measure == @metric.name")["best"]
        for pair in pairs:
            difference = difference_text(metric, pair.difference)
            detectable = MISSING if pd.isna(pair.detectable) else difference_text(metric, pair.detectable)
            rows.append((metric.words, best.iloc[0], pair.rival, difference, pair.verdict, pair.p, detectable))
    test = "Wilcoxon’s signed-rank test of two methods over systems, with Holm’s correction over all pairs of methods."
    title = f"The best method against each other one, {comparison.data_sets}"
    return Table.of("differences", title, head, rows, notes=(test, REGIONS), row_headers=3)


def systems_table(comparison: Comparison) -> Table:
    """Return the exact recovery of the methods on each system, mean of its scenarios."""
    rates = comparison.whole.frame("systems").dropna(subset="exact")
    means = rates.groupby(["method", "system"])["exact"].agg(lambda values: mean(list(values)))
    systems = sorted(set(means.index.get_level_values("system")))
    head = [_METHOD, *(Column(name, name, kind=EXACT.form) for name in systems)]
    rows = []
    for row in comparison.whole.rows():
        rows.append((row["method"], *(means.get((row["method"], system)) for system in systems)))
    title = f"Exact recovery by system, mean of the scenarios, {comparison.data_sets}"
    return Table.of("systems", title, head, rows)


def name_of(row: Row) -> str:
    """Return the name of a method or of a reference for readers."""
    return "all candidates" if row["method"] == EVERYTHING else method_name(row["method"])
