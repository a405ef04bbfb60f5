"""The tables of a comparison of methods: both contests, differences, systems, and what to use for which data."""

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from narxbench.report.formats import count, method_name
from narxbench.report.table import Column, Table, columns
from narxbench.studies.methods.answer import REGIONS, cheapest_equal, compared
from narxbench.studies.methods.metrics import DIFFERENCES, EXACT
from narxbench.studies.methods.ranking import HELD_OUT
from narxbench.studies.methods.views import BOARDS, LOWEST_J, NEW_DATA, TERMS, Comparison, Row, View, notes

_PART = Column("part", "Data sets")
_METHOD = Column("method", "Method", kind="method")


def leaderboard_tables(comparison: Comparison) -> dict[str, Table]:
    """Return the tables ``leaderboard``, ``search``, ``systems``, ``differences`` and ``situations`` by name."""
    tables = (
        _board_table("leaderboard", "Methods, each with its own criterion, by exact recovery", "identify", comparison),
        _board_table("search", "Searches of the same J with the same budget, by mean rank", "search", comparison),
        systems_table(comparison),
        differences_table(comparison),
        situations_table("situations", comparison.views),
    )
    return {table.name: table for table in tables}


def board_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return those rows of a view that a board has: for the searches, methods that search, and references."""
    return [row for row in rows if name == "identify" or row["searches"] or row["reference"]]


def remarks(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the marks of a method, and what they mean."""
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
        limits = {f"{column.key}_low": "from", f"{column.key}_high": "to"} if column.interval else {}
        own = columns(column.kind, heading, **{column.key: "value"}, **limits)
        head += own if limits else [Column(column.key, heading, kind=column.kind)]
    head.append(Column("remarks", "Remarks"))
    want = TERMS if name == "identify" else LOWEST_J
    rows = [
        {**row, "remarks": ", ".join(word for word, _ in remarks(row)) or ("reference" if row["reference"] else "")}
        for view in comparison.whole()
        for row in board_rows(name, view.rows(want))
    ]
    data = pd.DataFrame(rows, columns=[column.key for column in head])
    return Table(table, title, tuple(head), data, tuple(notes()), row_headers=2)


def differences_table(comparison: Comparison) -> Table:
    """Return the differences of the best method of each part to all others."""
    found = [
        (view.part, best["method"], best_against(view, best["method"]))
        for view in comparison.whole()
        if (best := view.best())
    ]
    head = (
        _PART,
        Column("best", "Best", kind="method"),
        *dict.fromkeys(of for *_, table in found for of in table.columns),
    )
    data = [table.data.assign(part=part, best=best) for part, best, table in found]
    rows = pd.concat([pd.DataFrame(columns=[column.key for column in head[:2]]), *data])
    return Table("differences", "The best method against each other one", head, rows, (REGIONS,), row_headers=2)


def best_against(view: View, best: str) -> Table:
    """Return the differences of one method to all others, by those measures that have any."""
    head, data = [Column("other", "Against", kind="method")], {}
    for of in DIFFERENCES:
        found = compared(view, of, best)
        for key in ("difference", "interval", "verdict", "p") if found else ():
            name, heading = f"{of.metric.name}_{key}", "p (Holm)" if key == "p" else key
            head.append(Column(name, heading, of.metric.words.capitalize(), "p_value" if key == "p" else "text"))
            data[name] = {other: getattr(each, key) for other, each in found.items()}
    order = [row["method"] for row in view.rows() if any(row["method"] in own for own in data.values())]
    rows = pd.DataFrame(data, index=pd.Index(order, name="other")).reset_index()
    return Table(f"differences {view.key} {best}", f"{method_name(best)} against each other method", tuple(head), rows)


def situations_table(name: str, views: Sequence[View]) -> Table:
    """Return which method to use for data of each group: for the terms, on new data, the cheapest near the best."""
    rows = []
    for view in views:
        terms, new, cheap = view.best() or {}, view.best(NEW_DATA) or {}, cheapest_equal(view) or {}
        exact = (terms.get(key) for key in ("method", "exact", "exact_low", "exact_high"))
        others = (new.get("method"), new.get("fresh_error"), cheap.get("method"), cheap.get("seconds"))
        rows.append((view.part, view.group, view.description, view.rows()[0]["systems"], *exact, *others))
    near = f"Cheapest within {DIFFERENCES[0].region}"
    head = (
        *(_PART, Column("group", "Data"), Column("what", "If your data are like")),
        Column("systems", "Systems", kind="count"),
        Column("use", "Use", "For the right terms", "method"),
        *columns("share", "For the right terms", exact="recovery", low="from", high="to"),
        Column("new", "Use", "On new data", "method"),
        Column("error", "error", "On new data", "significant"),
        *(Column("cheap", "Use", near, "method"), Column("seconds", "CPU seconds", near, "significant")),
    )
    data = pd.DataFrame(rows, columns=[column.key for column in head])
    # On the page, which shows one part at a time, the part needs no column.
    shown = head if data["part"].nunique() > 1 else head[1:]
    return Table(name, "What to use, by what the data are like", shown, data)


def systems_table(comparison: Comparison) -> Table:
    """Return the exact recovery of the methods on each system, mean of its scenarios; held-out systems first."""
    known = comparison.frames["systems"].dropna(subset="exact")
    means = known.groupby(["part", "method", "system"])["exact"].agg(lambda values: math.fsum(values) / len(values))
    order = dict.fromkeys(row["method"] for view in comparison.whole() for row in view.rows())
    places = sorted(
        {(part, system) for part, _, system in means.index}, key=lambda place: (place[0] != HELD_OUT, place)
    )
    head = (_METHOD, *(Column(f"{part} {name}", f"{name}, {part}", kind=EXACT.form) for part, name in places))
    rows = [(name, *(means.get((part, name, system)) for part, system in places)) for name in order]
    return Table.of("systems", "Exact recovery by system, mean of the scenarios", head, rows)
