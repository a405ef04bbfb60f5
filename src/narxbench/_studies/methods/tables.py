"""The tables of a comparison of methods: both contests, differences, systems, and what to use for which data."""

import math
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from narxbench._report.formats import count, method_name
from narxbench._report.table import Column, Table, columns
from narxbench._studies.methods.answer import REGIONS, cheapest_equal
from narxbench._studies.methods.leads import RELIABLE, Lead, lead_for
from narxbench._studies.methods.metrics import EXACT, FRESH, IN_RECOVERY, ComparisonMetric
from narxbench._studies.methods.rank_tests import DATA_SET, mean_by_system
from narxbench._studies.methods.ranking import ALL, HELD_OUT
from narxbench._studies.methods.score_file import TRUTH
from narxbench._studies.methods.views import BOARDS, Comparison, View, notes, values_of
from narxbench._studies.methods.wants import LOWEST_J, NEW_DATA, TERMS, TESTED, WANTS, Row
from narxbench._study.metrics import mean

_PART = Column("part", "Data sets")
_METHOD = Column("method", "Method", kind="method")


def leaderboard_tables(comparison: Comparison) -> dict[str, Table]:
    """Return all tables of a comparison by name."""
    by_recovery = "Methods, each with its own criterion, by exact recovery"
    by_rank = "Searches of the same J with the same budget, by mean rank"
    return {
        "leaderboard": _board_table("leaderboard", by_recovery, "identify", comparison),
        "search": _board_table("search", by_rank, "search", comparison),
        "unranked": unranked_table("unranked", comparison.whole()),
        "systems": systems_table(comparison),
        "differences": differences_table(comparison),
        "situations": situations_table("situations", comparison.views),
        "breaks": breaks_table("breaks", comparison.views),
    }


def board_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a view that stand on a board: ranked methods and references; on that of searches only these.

    Methods that are not ranked have a table of their own, because their data are others.
    """
    shown = [row for row in rows if row["last"] != 1]
    if name == "identify":
        return shown
    return [row for row in shown if row["searches"] or row["reference"]]


def remarks(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the marks of a method with their meanings."""
    if row["added"]:
        yield "yours", "added by the settings of this study"
    if row["deterministic"]:
        yield "det.", "deterministic: one run on each data set"
    if row["tuned"]:
        yield "tuned here", "developed or tuned on these data sets"
    if row["unsteady"]:
        yield "does not repeat", f"a repeated run found something else: {row['unsteady']}; not ranked"
    elif row["last"] == 1:
        yield "not ranked", f"it was run on {count(row['data_sets'])} of the data sets"


def _board_table(table: str, title: str, name: str, comparison: Comparison) -> Table:
    """Return a board over all scenarios, one part of the data sets after the other."""
    head = [_PART, _METHOD]
    for column in BOARDS[name]:
        heading = f"{column.heading}, {column.hint}" if column.hint else column.heading
        if column.interval:
            keys = {column.key: "value", f"{column.key}_low": "from", f"{column.key}_high": "to"}
            head += columns(column.kind, heading, **keys)
        else:
            head.append(Column(column.key, heading, kind=column.kind))
    if any(row["settings_by"] for view in comparison.whole() for row in view.rows()):
        head.append(Column("settings_by", "Settings"))
    head.append(Column("remarks", "Remarks"))
    want = TERMS if name == "identify" else LOWEST_J
    rows = []
    for view in comparison.whole():
        for row in board_rows(name, view.rows(want)):
            marks = ", ".join(dict(remarks(row)))
            if row["reference"] and not marks:
                marks = "reference"
            rows.append({**row, "remarks": marks})
    data = pd.DataFrame(rows, columns=_keys(head))
    return Table(table, title, tuple(head), data, tuple(notes()), row_headers=2)


def _keys(head: Iterable[Column]) -> list[str]:
    return [column.key for column in head]


def differences_table(comparison: Comparison) -> Table:
    """Return the comparisons of the best method of each part, for each want that is tested, with all others."""
    head = [_PART, *columns(want="Best for"), Column("best", "Best", kind="method"), *_RIVAL_COLUMNS]
    rows = []
    for view in comparison.whole():
        for want in TESTED:
            lead = lead_for(view, want)
            for cells in _rival_rows(lead) if lead else ():
                rows.append((view.part, WANTS[want], lead.best if lead else "", *cells))
    title = "The best method against each other one"
    return Table.of("differences", title, head, rows, notes=(REGIONS,), row_headers=3)


def best_against(view: View, want: str) -> Table | None:
    """Return the comparisons of the best method for a want with all others; None where there are none."""
    lead = lead_for(view, want)
    if lead is None or not lead.rivals:
        return None
    measured = f"{lead.difference.metric.words}, {view.data_sets} of {count(lead.n_systems)} systems"
    title = f"{method_name(lead.best)} against each other method: {measured}"
    return Table.of(f"differences {view.key} {want}", title, _RIVAL_COLUMNS, _rival_rows(lead))


_RIVAL_COLUMNS = (
    Column("rival", "Against", kind="method"),
    *columns(difference="Difference", interval="Interval", verdict="Verdict", p="p"),
)


def _rival_rows(lead: Lead) -> list[tuple[str, ...]]:
    """Return the comparisons of a lead as rows of `_RIVAL_COLUMNS`."""
    return [(rival.method, rival.difference, rival.interval, rival.verdict, rival.p_text) for rival in lead.rivals]


def unranked_table(name: str, views: Sequence[View]) -> Table:
    """Return the methods that are not ranked, next to the best method and the truth on the same data sets."""
    head = (
        *(_PART, _METHOD, *columns(reason="Not ranked because"), *columns("count", data_sets="Number of data sets")),
        *columns(EXACT.form, "Exact recovery", exact="its own", exact_best="the best’s"),
        *columns(FRESH.form, "Fresh error", fresh="its own", fresh_best="the best’s", fresh_truth="the truth’s"),
        Column("best", "The best", kind="method"),
    )
    rows = []
    for view in views:
        best = view.best()
        for row in view.rows():
            if row["last"] == 1:
                rows.append((view.part, row["method"], *_on_its_data(view, row, best["method"] if best else "")))
    title = "Methods that are not ranked, and the best method and the truth on the same data sets"
    data = pd.DataFrame(rows, columns=_keys(head))
    if len(views) == 1:
        return Table(name, title, head[1:], data)
    return Table(name, title, head, data, row_headers=2)


def _on_its_data(view: View, row: Row, best: str) -> tuple[str | float | None, ...]:
    """Return why a method is not ranked, and on its data sets its values, those of the best and those of the truth."""
    reason = "a repeated run found something else" if row["unsteady"] else "it was not run on all data sets"
    scores = view.frame("scores")
    keys = pd.MultiIndex.from_frame(scores[DATA_SET])
    same = scores[keys.isin(pd.MultiIndex.from_frame(scores[scores["method"] == row["method"]][DATA_SET]))]
    values = []
    for metric, methods in ((EXACT, (row["method"], best)), (FRESH, (row["method"], best, TRUTH))):
        values += [_value_of(metric, same[same["method"] == method]) for method in methods]
    return reason, row["data_sets"], *values, best or None


def _value_of(metric: ComparisonMetric, scores: pd.DataFrame) -> float | None:
    """Return the value of a metric over the runs of a method; a free run that diverged has an infinite error."""
    values = scores[[*DATA_SET, metric.name]]
    if metric is EXACT:
        values = values.dropna(subset=metric.name)
    if values.empty:
        return None
    filled = values.assign(**{metric.name: values[metric.name].astype(float).fillna(math.inf)})
    of_data_sets = filled.groupby(DATA_SET, sort=False)[metric.name].agg(metric.of_data_set).reset_index()
    if metric is EXACT:
        return mean(mean_by_system(of_data_sets[[metric.name]].to_numpy(float), of_data_sets["system"])[:, 0].tolist())
    value = metric.overall(of_data_sets)
    return value if math.isfinite(value) else None


def breaks_table(name: str, views: Sequence[View]) -> Table:
    """Return the exact recovery of every method in each group of data in which it is ranked."""
    groups = {view.key: view for view in views if any(row[EXACT.name] is not None for row in view.rows())}
    parts = {view.part for view in groups.values()}
    head = [_METHOD]
    for key, view in groups.items():
        heading = "all data" if view.group == ALL else view.group
        head.append(Column(key, f"{heading}, {view.part}" if len(parts) > 1 else heading, kind=EXACT.form))
    methods = list(dict.fromkeys(row["method"] for view in groups.values() for row in view.rows()))
    rows = []
    for method in methods:
        recoveries: list[float | None] = []
        for view in groups.values():
            recoveries.append(_recovery_if_comparable(view.row(method)))
        rows.append((method, *recoveries))
    return Table.of(name, "Exact recovery by situation", head, rows)


def _recovery_if_comparable(row: Row | None) -> float | None:
    """Return the exact recovery of a method in a group; None where it has no data set there, or is not ranked."""
    if row is None or row["last"] == 1:
        return None
    recovery: float | None = row[EXACT.name]
    return recovery


def situations_table(name: str, views: Sequence[View]) -> Table:
    """Return which method leads in each group, how sure that is, and whether the winner over all data holds there."""
    winners = {view.part: view.best() for view in views if view.group == ALL}
    rows = []
    for view in views:
        lead, on_new_data, cheapest = lead_for(view, TERMS), view.best(NEW_DATA) or {}, cheapest_equal(view) or {}
        best = (view.best() or {}) if lead else {}
        row = [view.part, view.group, view.description, lead.n_systems if lead else view.rows()[0]["systems"]]
        row += [best.get("method"), best.get("exact"), best.get("exact_low"), best.get("exact_high")]
        row += [_lead_in_words(lead), *_winner_there(winners.get(view.part), view, best)]
        row += [on_new_data.get("method"), on_new_data.get("fresh_error"), cheapest.get("method")]
        rows.append([*row, cheapest.get("seconds")])
    near = f"Cheapest within {IN_RECOVERY.region}"
    of_winner = "The best over all data"
    head = (
        *(_PART, Column("group", "Data"), Column("what", "If your data are like")),
        Column("systems", "Systems", kind="count"),
        Column("use", "First", "For the right terms", "method"),
        *columns(EXACT.form, "For the right terms", exact="recovery", low="from", high="to"),
        Column("lead", "lead", "For the right terms"),
        *(Column("of_winner", "recovery", of_winner, EXACT.form), Column("holds", "holds", of_winner)),
        Column("new", "First", "On new data", "method"),
        Column("error", "error", "On new data", "significant"),
        *(Column("cheap", "Method", near, "method"), Column("seconds", "CPU seconds", near, "significant")),
    )
    data = pd.DataFrame(rows, columns=_keys(head))
    # On the page, which shows one part at a time, the part needs no column.
    shown = head if data["part"].nunique() > 1 else head[1:]
    note = f"Holds: first, if only by a tie, and at {100 * RELIABLE:.0f} % or above."
    return Table(name, "Which method for which data", shown, data, (note,))


def _lead_in_words(lead: Lead | None) -> str | None:
    """Return than how many others the first method of a group is better."""
    if lead is None:
        return None
    if lead.is_shown_nowhere:
        return "too few systems"
    n_better = len(lead.rivals) - len(lead.not_beaten())
    return f"better than {count(n_better)} of {count(len(lead.rivals))}"


def _winner_there(winner: Row | None, view: View, best: Row) -> tuple[float | None, str | None]:
    """Return the exact recovery that the winner over all data has in a group, and whether its lead holds there."""
    row = view.row(winner["method"]) if winner else None
    if row is None or row[EXACT.name] is None or not best:
        return None, None
    reasons = []
    if row[EXACT.name] < best[EXACT.name] - 1e-9:
        reasons.append("not first")
    if row[EXACT.name] < RELIABLE:
        reasons.append(f"below {100 * RELIABLE:.0f} %")
    return row[EXACT.name], ", ".join(reasons) or "yes"


def systems_table(comparison: Comparison) -> Table:
    """Return the exact recovery of the methods on each system, mean of its scenarios; held-out systems first."""
    rates = comparison.frames["systems"].dropna(subset="exact")
    means = rates.groupby(["part", "method", "system"])["exact"].agg(lambda values: mean(list(values)))
    systems = sorted(set(means.index.droplevel("method")), key=lambda system: (system[0] != HELD_OUT, system))
    head = [_METHOD]
    for part, name in systems:
        head.append(Column(f"{part} {name}", f"{name}, {part}", kind=EXACT.form))
    rows = []
    for method in methods_in_order(comparison):
        rows.append((method, *(means.get((part, method, system)) for part, system in systems)))
    return Table.of("systems", "Exact recovery by system, mean of the scenarios", head, rows)


def methods_in_order(comparison: Comparison) -> list[str]:
    """Return all methods, references included, in the order of the boards: the best first."""
    methods: list[str] = []
    for view in comparison.whole():
        methods += values_of(view.rows(), "method")
    return list(dict.fromkeys(methods))
