"""The tables of a comparison of methods: both contests, differences, systems, and what to use for which data."""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from narxbench._report.formats import count, method_name
from narxbench._report.table import Column, Table, columns
from narxbench._studies.methods.answer import REGIONS, cheapest_equal, differences_from
from narxbench._studies.methods.metrics import DIFFERENCES, EXACT, IN_RECOVERY
from narxbench._studies.methods.ranking import HELD_OUT
from narxbench._studies.methods.views import BOARDS, LOWEST_J, NEW_DATA, TERMS, Comparison, Row, View, notes, values_of
from narxbench._study.metrics import mean

_PART = Column("part", "Data sets")
_METHOD = Column("method", "Method", kind="method")
# What is shown of a difference on each metric.
_DIFFERENCE_COLUMNS = (
    *columns(difference="difference", interval="interval", verdict="verdict"),
    *columns("p_value", p="p (Holm)"),
)


def leaderboard_tables(comparison: Comparison) -> dict[str, Table]:
    """Return the tables ``leaderboard``, ``search``, ``systems``, ``differences`` and ``situations`` by name."""
    by_recovery = "Methods, each with its own criterion, by exact recovery"
    by_rank = "Searches of the same J with the same budget, by mean rank"
    return {
        "leaderboard": _board_table("leaderboard", by_recovery, "identify", comparison),
        "search": _board_table("search", by_rank, "search", comparison),
        "systems": systems_table(comparison),
        "differences": differences_table(comparison),
        "situations": situations_table("situations", comparison.views),
    }


def board_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a view that stand on a board: on that of the searches only searches and references."""
    if name == "identify":
        return list(rows)
    return [row for row in rows if row["searches"] or row["reference"]]


def remarks(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the marks of a method with their meanings."""
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
    """Return the differences of the best method of each part from all others."""
    head = [_PART, Column("best", "Best", kind="method")]
    data = [pd.DataFrame(columns=_keys(head))]
    for view in comparison.whole():
        best = view.best()
        if best:
            table = best_against(view, best["method"])
            head += table.columns
            data.append(table.data.assign(part=view.part, best=best["method"]))
    title, unique_head = "The best method against each other one", tuple(dict.fromkeys(head))
    return Table("differences", title, unique_head, pd.concat(data), (REGIONS,), row_headers=2)


def best_against(view: View, best: str) -> Table:
    """Return the differences of one method from all others, for those measures that have any."""
    head = [Column("other", "Against", kind="method")]
    data: dict[str, dict[str, str | float]] = {}
    rivals: set[str] = set()
    for difference in DIFFERENCES:
        shown = differences_from(view, difference, best)
        if not shown:
            continue
        rivals.update(shown)
        metric = difference.metric
        for column in _DIFFERENCE_COLUMNS:
            key = f"{metric.name}_{column.key}"
            head.append(column._replace(key=key, group=metric.words.capitalize()))
            data[key] = {rival: getattr(values, column.key) for rival, values in shown.items()}
    order = [row["method"] for row in view.rows() if row["method"] in rivals]
    rows = pd.DataFrame(data, index=pd.Index(order, name="other")).reset_index()
    return Table(f"differences {view.key} {best}", f"{method_name(best)} against each other method", tuple(head), rows)


def situations_table(name: str, views: Sequence[View]) -> Table:
    """Return which method to use for data of each group: for the terms, on new data, the cheapest near the best."""
    rows = []
    for view in views:
        for_terms, on_new_data = view.best() or {}, view.best(NEW_DATA) or {}
        cheapest = cheapest_equal(view) or {}
        row = [view.part, view.group, view.description, view.rows()[0]["systems"]]
        row += [for_terms.get("method"), for_terms.get("exact"), for_terms.get("exact_low")]
        row += [for_terms.get("exact_high"), on_new_data.get("method"), on_new_data.get("fresh_error")]
        row += [cheapest.get("method"), cheapest.get("seconds")]
        rows.append(row)
    near = f"Cheapest within {IN_RECOVERY.region}"
    head = (
        *(_PART, Column("group", "Data"), Column("what", "If your data are like")),
        Column("systems", "Systems", kind="count"),
        Column("use", "Use", "For the right terms", "method"),
        *columns("share", "For the right terms", exact="recovery", low="from", high="to"),
        Column("new", "Use", "On new data", "method"),
        Column("error", "error", "On new data", "significant"),
        *(Column("cheap", "Use", near, "method"), Column("seconds", "CPU seconds", near, "significant")),
    )
    data = pd.DataFrame(rows, columns=_keys(head))
    # On the page, which shows one part at a time, the part needs no column.
    shown = head if data["part"].nunique() > 1 else head[1:]
    return Table(name, "What to use, by what the data are like", shown, data)


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
