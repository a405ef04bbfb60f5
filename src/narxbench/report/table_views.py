"""Tables as the report shows them: headings that stay in view, published values, verdicts and distances."""

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from narxbench import tables
from narxbench.analysis.agreement import ALPHA, Comparison
from narxbench.analysis.published import Published
from narxbench.report.tables import CellName, Column, Table, Value

# Widths in rem of columns that head the rows of wide tables, so that a second one can stay beside the first.
_STUB_WIDTHS = {"criterion": 7.4, "snr": 3.6, "search": 5.2}

_LEFT = ("text", "equation", "search", "criterion")

Beside = Mapping[tuple[CellName, str], Comparison]


@dataclass(frozen=True)
class TableCell:
    """A value; ``verdict`` is consistent, differs or "" without a published value, ``repeated`` as in the row above."""

    html: Markup
    repeated: bool = False
    published: str = ""
    verdict: str = ""
    interval: str = ""
    test: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading; ``column`` is the index of the column, None over a group of columns."""

    html: Markup
    column: int | None = None
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True)
class TableView:
    """A table prepared for the template; ``stub`` holds the left edge in rem of each column that heads the rows.

    ``places`` names the cell of the explorer behind each row, where rows show cells.
    """

    name: str
    caption: str
    heads: list[list[Heading]]
    rows: list[list[TableCell]]
    notes: list[Markup]
    stub: list[tuple[float, float | None]]
    files: list[tuple[str, str]] = field(default_factory=list)
    command: str = ""
    distance: str = ""
    places: list[str] = field(default_factory=list)
    left: frozenset[int] = frozenset()


def beside_cells(rows: Iterable[Comparison]) -> dict[tuple[CellName, str], Comparison]:
    """Return the comparison behind each value of a cell: by cell, and by the label or metric that heads its column."""
    found: dict[tuple[CellName, str], Comparison] = {}
    for row in rows:
        place = row.place
        cell = (place.system, row.search, place.criterion, float(place.snr_db))
        found.setdefault((cell, place.label or place.metric), row)
    return found


def table_view(table: Table, beside: Beside | None = None, forms: Sequence[str] = ("csv", "md", "tex")) -> TableView:
    """Return a table with the published values ``beside`` the reproduced ones; ``forms`` are the kinds of its files."""
    beside = beside or {}
    rows: list[list[TableCell]] = []
    shown: list[Comparison] = []
    for number, values in enumerate(table.rows):
        above = table.rows[number - 1] if number else ()
        row: list[TableCell] = []
        for index, text in enumerate(tables.show_row(table, values, "html")):
            found = beside.get((table.cells[number], table.columns[index].key)) if table.cells else None
            shown += [found] if found and index >= table.stub else []
            same = index < table.merged and values[: index + 1] == above[: index + 1]
            row.append(_cell(Markup(text), found if index >= table.stub else None, same))
        rows.append(row)
    file = f"tables/{quote(table.name)}"
    return TableView(
        name=re.sub(r"[^\w-]", "-", table.name),
        caption=table.caption,
        heads=_heads(table),
        rows=rows,
        notes=[Markup(tables.rich(note, "html")) for note in table.notes],
        stub=_stub(table.columns[: table.stub]),
        files=[(form, f"{file}.{form}") for form in forms],
        command=f"snakemake {shlex.quote(f'reports/tables/{table.name}.{forms[0]}')}" if forms else "",
        distance=distance(shown),
        places=["/".join(quote(str(part), safe="") for part in explorer_key(cell)) for cell in table.cells],
        left=frozenset(i for i, column in enumerate(table.columns) if column.kind in _LEFT),
    )


def explorer_key(cell: CellName) -> tuple[str, str, str, str]:
    """Return system, SNR, search and criterion of a cell in the order of the explorer's choices."""
    system, search, criterion, snr_db = cell
    return system, f"{snr_db:g}", search, criterion


def distance(rows: Sequence[Comparison]) -> str:
    """Return in one sentence how far reproduced values lie from published ones; "" without any."""
    differences = [abs(row.difference) for row in rows if row.difference is not None]
    if not differences:
        return ""
    consistent = sum(bool(row.consistent) for row in rows)
    mean = math.fsum(differences) / len(differences)
    return (
        f"Distance from the published table: {mean:.3f} (mean absolute difference of {len(differences)} values); "
        f"{consistent} of {len(differences)} consistent."
    )


def statistics_tables(statistics: Mapping[str, Any]) -> dict[str, TableView]:
    """Return the tables of tests between searches, of exact recoveries, and of gaps to the best known J."""
    place = (Column("system", "System"), Column("snr_db", "SNR", kind="snr"))
    criterion, search = Column("criterion", "Criterion", kind="criterion"), Column("search", "Search", kind="search")
    found = {
        "comparisons": Table(
            "search_comparison",
            "Searches compared by the final J of their runs",
            (
                *place,
                criterion,
                Column("a", "A", kind="search"),
                Column("b", "B", kind="search"),
                Column("runs", "Runs"),
                *(Column(key, name, "Median J", "number") for key, name in (("median_a", "A"), ("median_b", "B"))),
                *(Column(key, name, "Mann-Whitney", "number") for key, name in (("p", "p"), ("p_holm", "p (Holm)"))),
                Column("a12", "A12", kind="number"),
                Column("magnitude", "Effect"),
                Column("verdict", "Lower J"),
            ),
            tuple(map(_comparison, statistics.get("comparisons", []))),
            _methods(statistics.get("comparisons", [])),
            stub=2,
        ),
        "recovery": Table(
            "recovery",
            "Runs that end at exactly the system's terms",
            (
                *place,
                criterion,
                search,
                Column("exact", "Exact", kind="number"),
                Column("runs", "Runs", kind="number"),
                Column("rate", "Rate", kind="frequency"),
                Column("low", "from", "Interval", "frequency"),
                Column("high", "to", "Interval", "frequency"),
            ),
            _picked(statistics.get("recovery", []), "criterion", "search", "exact", "runs", "rate", "low", "high"),
            stub=2,
        ),
        "gaps": Table(
            "gaps",
            "Gaps of the runs to the best known J and to the J of the true structure",
            (
                *place,
                criterion,
                search,
                Column("best_known", "Best known J", kind="number"),
                Column("true_structure", "J of the true structure", kind="number"),
                Column("to_best", "to the best", "Median gap", "number"),
                Column("to_true", "to the true", "Median gap", "number"),
                Column("criterion_failure", "Does J mislead?"),
                Column("failures", "Search failures", kind="frequency"),
            ),
            tuple(map(_gap, statistics.get("gaps", []))),
            (
                "J misleads where a structure other than the true one has the lower J: the criterion fails. "
                "Search failures: share of the runs that end above the best known J.",
            ),
            stub=2,
        ),
    }
    forms = {"gaps": ()}
    return {name: table_view(table, forms=forms.get(name, ("csv",))) for name, table in found.items() if table.rows}


def _comparison(row: Mapping[str, Any]) -> tuple[Value, ...]:
    a, b = row["median_a"], row["median_b"]
    names = tables.search_name(row["a"]), tables.search_name(row["b"])
    # A run without a finite structure counts as infinitely bad.
    low_a, low_b = (math.inf if value is None else value for value in (a, b))
    clear = row["p_holm"] is not None and row["p_holm"] < ALPHA and low_a != low_b
    verdict = names[low_a > low_b] if clear else "no clear difference"
    runs = str(row["n_a"]) if row["n_a"] == row["n_b"] else f"{row['n_a']} / {row['n_b']}"
    tests = _p(row["p_value"]), _p(row["p_holm"]), _fixed(row["a12"], 2)
    return (*_place(row), row["criterion"], row["a"], row["b"], runs, _j(a), _j(b), *tests, row["magnitude"], verdict)


def _gap(row: Mapping[str, Any]) -> tuple[Value, ...]:
    numbers = [_j(row[key]) for key in ("best_known", "true_structure", "median_gap_to_best", "median_gap_to_true")]
    fails = {True: "yes", False: "no"}.get(row["criterion_failure"])
    return (*_place(row), row["criterion"], row["search"], *numbers, fails, row["search_failure_rate"])


def _picked(rows: Iterable[Mapping[str, Any]], *keys: str) -> tuple[tuple[Value, ...], ...]:
    return tuple((*_place(row), *(row[key] for key in keys)) for row in rows)


def _place(row: Mapping[str, Any]) -> tuple[str, float]:
    return row["system"], row["snr_db"]


def _methods(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    methods = "; ".join(dict.fromkeys(str(row["method"]) for row in rows))
    return (
        f"Test: Mann-Whitney, two-sided, {methods}. A12: chance that a run of A ends at a lower J than one of B. "
        f"The last column names a search where p after Holm's correction over all rows is below {ALPHA}.",
    )


def _j(value: float | None) -> str | None:
    return _fixed(value, 1)


def _fixed(value: float | None, digits: int) -> str | None:
    # Neither "-0.0" nor a hyphen as sign of a number.
    return None if value is None else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _p(value: float | None) -> str | None:
    if value is None:
        return None
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _cell(html: Markup, found: Comparison | None, repeated: bool) -> TableCell:
    if found is None or found.low is None or found.high is None:
        return TableCell(html, repeated)
    return TableCell(
        html,
        published=tables.rounded(found.published),
        verdict="consistent" if found.consistent else "differs",
        interval=f"{tables.rounded(found.low)}–{tables.rounded(found.high)}",
        test="" if found.p_value is None else f"p {_p(found.p_value)}",
    )


def _stub(columns: Sequence[Column]) -> list[tuple[float, float | None]]:
    """Return left edge and width in rem of the columns that stay in view; the last may be as wide as it needs."""
    edges: list[tuple[float, float | None]] = []
    left = 0.0
    for column in columns:
        width = _STUB_WIDTHS.get(column.kind, 3.6 if column.key == "system" else None)
        edges.append((left, width))
        if width is None:
            break
        left += width
    return edges


def _heads(table: Table) -> list[list[Heading]]:
    headings = [Markup(tables.rich(column.heading, "html")) for column in table.columns]
    leaves = [Heading(heading, index) for index, heading in enumerate(headings)]
    if not any(column.group for column in table.columns):
        return [leaves]
    top: list[Heading] = []
    for first, span, group in tables.groups(table.columns):
        if group:
            top.append(Heading(Markup(tables.rich(group, "html")), columns=span))
        else:
            top += [Heading(headings[index], index, rows=2) for index in range(first, first + span)]
    return [top, [leaf for leaf, column in zip(leaves, table.columns, strict=True) if column.group]]


def coverage(published: Published, rows: Iterable[Comparison]) -> dict[str, Any]:
    """Return how many published values are compared, consistent and missing, and their mean absolute difference."""
    first: dict[Any, Comparison] = {}
    for row in rows:
        first.setdefault(row.place, row)
    compared = [row for row in first.values() if row.search]
    differences = [abs(row.difference) for row in compared if row.difference is not None]
    return {
        "published": len(published.values),
        "compared": len(compared),
        "missing": len(first) - len(compared),
        "consistent": sum(bool(row.consistent) for row in compared),
        "distance": math.fsum(differences) / len(differences) if differences else None,
    }
