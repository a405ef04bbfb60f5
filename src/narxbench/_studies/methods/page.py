"""The page of a comparison of methods: which to use, where that breaks, both contests, differences, systems, sources.

Every view of the page, one for each wish and each kind of data, is made here; the script of the page only shows one.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench._io.settings import flattened
from narxbench._model.system import System
from narxbench._model.terms import model_size
from narxbench._report.formats import MISSING, count, criterion_name, method_name, snr
from narxbench._report.markup import markdown_html, script_json
from narxbench._report.table import Column, Table, columns, to_html
from narxbench._report.templating import rendered
from narxbench._studies.methods import tables
from narxbench._studies.methods.answer import REGIONS, answer_lines
from narxbench._studies.methods.choosing import chosen_by, is_own
from narxbench._studies.methods.facets import FACETS, facets_of
from narxbench._studies.methods.figures import SIZES, drawings, whole_percent
from narxbench._studies.methods.leads import RELIABLE, breaks
from narxbench._studies.methods.metrics import COMPARISON, TARGETS, ComparisonMetric
from narxbench._studies.methods.rank_tests import DATA_SET
from narxbench._studies.methods.ranking import ALL
from narxbench._studies.methods.score_file import REFERENCES
from narxbench._studies.methods.sign_flips import fewest_systems
from narxbench._studies.methods.views import BOARDS, Comparison, View, notes, values_of
from narxbench._studies.methods.wants import LOWEST_J, TERMS, TESTED, WANTS, Row

TEMPLATES = Path(__file__).parent / "templates"

# The metrics of the heat table.
_HEAT_METRICS = [metric for metric in COMPARISON if metric.by_system]
# Upper ends of the classes of a gap or error, from the darkest shade on.
_CLASSES = (*TARGETS, math.inf)
_SHADES = len(_CLASSES)
_METHOD = Column("method", "Method", kind="method")


def leaderboard_page(
    comparison: Comparison,
    *,
    systems: Sequence[System],
    methods_about: Mapping[str, Mapping[str, Any]],
    left_out: Mapping[str, str],
    folder: str = "",
    paper: bool = False,
) -> str:
    """Return the page of a comparison of methods.

    ``methods_about`` has ``algorithm``, ``criteria``, ``description``, ``reference``, ``deterministic``,
    ``needs_objective``, ``minimises`` and ``settings`` (plain data) of every method, and ``settings_by`` and
    ``settings_source``, whose choice the settings are, if that is said. ``left_out`` has the reasons why methods are
    not part of the study. ``folder`` is the path from the page to the files of the study, and ends with ``/``.
    ``paper`` is whether the page of the paper's study exists, for a link to it.
    """
    scores, settings = comparison.frames["scores"], comparison.settings
    links = {"leaderboard": "#main"}
    if paper:
        links = {"report": f"{folder}../report.html", **links}
    methods_and_references = tables.methods_in_order(comparison)
    methods = [name for name in methods_and_references if name not in REFERENCES]
    heat = _heat(comparison, methods_and_references)
    views, orders, groups = [], {}, {}
    usual_noise = settings.get("data", {}).get("noise", "output")
    facets = facets_of(settings["scenarios"], scores, usual_noise)
    for view in comparison.views:
        views.append(_view(view, comparison))
        orders[view.key] = views[-1]["orders"]
        groups[view.group] = view.description
    page = {
        "current": "leaderboard",
        "study": settings["study"],
        "repository": "",
        "folder": folder,
        "titles": {"report": "Study of the paper", "leaderboard": "Comparison of methods"},
        "links": links,
        "settings": settings,
        "comparison": comparison,
        "all": ALL,
        "wants": WANTS,
        "order": methods,
        "boards": BOARDS,
        "views": views,
        "sizes": SIZES,
        "parts": {part: _part(comparison.within(part)) for part in comparison.parts},
        "facets": FACETS,
        "facet_values": _facet_values(facets),
        "alpha": comparison.views[0].alpha,
        "reliable": RELIABLE,
        "fewest": fewest_systems(comparison.views[0].alpha),
        "notes": notes(),
        "regions": REGIONS,
        "machines": comparison.cost["machine"].unique().tolist(),
        "tables": {
            "test_systems": to_html(_systems_described(systems)),
            "conditions": to_html(_scenarios_described(scores, settings["scenarios"])),
            "failures": to_html(_failures(scores)),
            "left_out": to_html(_left_out(left_out)),
        },
        "failed": bool(scores["fitness"].isna().any()),
        "left_out": bool(left_out),
        "study_settings": [(name, value) for name, value in flattened(settings) if value != "null"],
        "anchors": {name: f"method-{number}" for number, name in enumerate(methods, start=1)},
        "groups": groups,
        "measures": {metric.name: metric.words for metric in _HEAT_METRICS},
        "heat": heat,
        "methods": [_method_described(name, methods_about) for name in methods],
        "outside": _systems_outside(scores),
        "counts": _counts(scores[~scores["reference"]]),
    }
    data = script_json({"orders": orders, "heat": heat, "facets": facets})
    return rendered("leaderboard.html.j2", page | {"data": data}, TEMPLATES)


def _counts(runs: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers in the text of the page."""
    names = ["method", "system", "scenario", "data_seed", "seed"]
    return {
        **runs[names].nunique().to_dict(),
        "data_sets": len(runs[DATA_SET].drop_duplicates()),
        "runs": len(runs),
        "evaluations": int(runs["evaluations"].sum()),
        "budgets": sorted(set(runs["budget"])),
        "criteria": list(map(criterion_name, dict.fromkeys(runs["criterion"]))),
    }


def _systems_outside(scores: pd.DataFrame) -> list[Any]:
    """Return the systems whose terms are not among the candidate terms."""
    is_outside = scores["exact"].isna().groupby(scores["system"], sort=False).all()
    return list(is_outside.index[is_outside])


def _facet_values(facets: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the values of each facet that differ between scenarios; facets with one value are left out."""
    values = {}
    for facet in FACETS:
        distinct = list(dict.fromkeys(of_scenario[facet] for of_scenario in facets.values()))
        if len(distinct) > 1:
            values[facet] = distinct
    return values


def _view(view: View, comparison: Comparison) -> dict[str, Any]:
    """Return what the page shows of a part and a group: rows of both boards, answers, figures, differences."""
    boards: dict[str, list[tuple[Row, list[tuple[str, str]]]]] = {}
    for name, want in (("identify", TERMS), ("search", LOWEST_J)):
        rows = tables.board_rows(name, view.rows(want))
        boards[name] = [(row, list(tables.remarks(row))) for row in rows]
    first_order = [row["method"] for row, _ in boards["identify"]]
    conditions = comparison.within(view.part) if view.group == ALL else []
    orders, answers = {}, {}
    for want in WANTS:
        # The places of the rows in the order of the first want.
        ordered_rows = tables.board_rows("identify", view.rows(want))
        orders[want] = list(map(first_order.index, values_of(ordered_rows, "method")))
        answers[want] = [markdown_html(line, "answer") for line in answer_lines(view, want, conditions)]
    unranked = tables.unranked_table(f"unranked {view.key}", [view])
    return {
        "view": view,
        "boards": boards,
        "orders": orders,
        "answers": answers,
        "figures": drawings(view),
        "untimed": [row["method"] for row in view.ranked() if row["seconds"] is None],
        "unranked": to_html(unranked) if len(unranked.data) else "",
        "differences": _differences(view),
    }


def _differences(view: View) -> list[tuple[list[str], Markup]]:
    """Return the comparisons of the best method with the others, with the wants that they decide."""
    shown = []
    for want in TESTED:
        table = tables.best_against(view, want)
        if table is not None:
            shown.append(([want, "cheapest"] if want == TERMS else [want], to_html(table)))
    return shown


def _part(views: Sequence[View]) -> dict[str, Any]:
    """Return what the page shows of a part in all its groups: where methods break, and what to use for which data."""
    return {
        "situations": to_html(tables.situations_table(f"situations {views[0].part}", views)),
        "breaks": _breaks(views),
        "caveat": views[0].caveat,
    }


def _breaks(views: Sequence[View]) -> dict[str, Any]:
    """Return the heat map of methods by situation: heads with the keys of their views, and rows of shaded cells."""
    table = tables.breaks_table("breaks", views)
    broken = {condition.view.key for condition in breaks(views[0], views)}
    winner = (views[0].best() or {}).get("method")
    view_by_key = {view.key: view for view in views}
    heads = [(column.heading, view_by_key[column.key]) for column in table.columns[1:]]
    rows = []
    for method, *values in table.data.itertuples(index=False, name=None):
        cells = []
        for (_, view), value in zip(heads, values, strict=True):
            is_broken = method == winner and view.key in broken
            cells.append(("", 0, False) if pd.isna(value) else (whole_percent(value), round(7 * value), is_broken))
        rows.append((method, cells))
    return {"heads": heads, "rows": rows, "winner": winner}


def _method_described(name: str, methods_about: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is said of a method: its facts, settings, those that set it apart, and by what it chooses."""
    about = methods_about[name]
    settings = list(flattened(about["settings"]))
    differing: set[tuple[str, str]] = set()
    for variant in methods_about.values():
        if variant["algorithm"] == about["algorithm"]:
            differing |= set(settings).difference(flattened(variant["settings"]))
    special = [f"{key} {value}" for key, value in settings if (key, value) in differing]
    return {
        "about": about,
        "settings": settings,
        "special": special,
        "is_own": is_own(about),
        "chosen_by": chosen_by(about),
        "settings_by": "; ".join(filter(None, (about.get("settings_by"), about.get("settings_source")))),
    }


def _left_out(reasons: Mapping[str, str]) -> Table:
    """Return why methods are not part of the study."""
    return Table.of("left_out", "Methods left out", (_METHOD, *columns(reason="Reason")), reasons.items())


def _systems_described(systems: Sequence[System]) -> Table:
    """Return the systems with the sizes of their sets of candidate terms."""
    head = (
        *columns(system="System", description="What it is"),
        Column("equation", "Equation", kind="equation"),
        *columns("number", terms="Terms", n_u="n_u", n_y="n_y", degree="N_l", n_terms="N_t"),
        Column("reference", "Source"),
    )
    rows = []
    for system in systems:
        n_terms = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
        sizes = len(system.terms) or None, system.n_u, system.n_y, system.degree, n_terms
        rows.append((system.name, system.description, system.equation, *sizes, system.reference))
    notes = (
        "Terms: number of system terms; none where the truth lies outside the candidate terms. n_u input lag, n_y "
        "output lag, N_l degree and N_t number of the candidate terms, unless a scenario says otherwise.",
    )
    return Table.of("test_systems", "Systems", head, rows, notes=notes)


def _scenarios_described(scores: pd.DataFrame, scenarios: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the scenarios with the sizes of their data sets."""
    head = (
        *columns(scenario="Scenario", description="What it is", snr="SNR", samples="Samples"),
        *columns(n_validation="For validation", n_terms="Candidate terms"),
        *columns("count", systems="Systems", data_sets="Data sets"),
    )
    rows = []
    for scenario, group in scores.groupby("scenario", sort=False):
        levels = ", ".join(map(snr, dict.fromkeys(group["snr_db"])))
        sizes = _range(group["samples"]), _range(group["n_validation"]), _range(group["n_terms"])
        counts = group["system"].nunique(), len(group[["system", "snr_db", "data_seed"]].drop_duplicates())
        rows.append((scenario, scenarios[str(scenario)]["description"], levels, *sizes, *counts))
    return Table.of("conditions", "Scenarios", head, rows)


def _range(counts: pd.Series) -> str:
    """Return the least and the greatest of counts; one number if they look the same."""
    low, high = count(counts.min()), count(counts.max())
    return low if low == high else f"{low} to {high}"


def _failures(scores: pd.DataFrame) -> Table:
    """Return why runs failed: each text once for each method, with a run as an example."""
    failed = scores[scores["fitness"].isna()]
    failed = failed.assign(failure=failed["failure"].replace("", "found no structure of finite J"))
    rows = []
    for (method, failure), runs in failed.groupby(["method", "failure"], sort=False):
        run = runs.iloc[0]
        example = f"{run['scenario']}, {run['system']}, data seed {run['data_seed']}, seed {run['seed']}"
        rows.append((method, failure, len(runs), example))
    head = (_METHOD, *columns(failure="Failure"), *columns("count", runs="Runs"), *columns(example="For example"))
    return Table.of("failed_runs", "Runs that failed", head, rows)


def _heat(comparison: Comparison, methods: Sequence[str]) -> dict[str, Any]:
    """Return the cells of the heat table by measure, view, method and system: a shade from 0 to 7 and the value."""
    cells: dict[str, dict[str, list[list[str]]]] = {}
    systems = {}
    for view in comparison.views:
        frame = view.frame("systems")
        systems[view.key] = list(dict.fromkeys(frame["system"]))
        for metric in _HEAT_METRICS:
            rows = _heat_rows(metric, frame, methods, systems[view.key])
            cells.setdefault(metric.name, {})[view.key] = rows
    return {"methods": list(map(method_name, methods)), "systems": systems, "cells": cells}


def _heat_rows(
    metric: ComparisonMetric, frame: pd.DataFrame, methods: Sequence[str], systems: Sequence[str]
) -> list[list[str]]:
    """Return the cells of a metric, a row for each method and a column for each system."""
    groups = frame.dropna(subset=metric.name).groupby(["method", "system"])
    values = groups[metric.name].agg(metric.average).to_dict()
    rows = []
    for method in methods:
        rows.append([_cell(metric, values.get((method, system))) for system in systems])
    return rows


def _cell(metric: ComparisonMetric, value: float | None) -> str:
    """Return the shade of a value, one digit, and the value as readers see it."""
    if value is None:
        return f"0{MISSING}"
    if metric.larger_is_better:
        shade = min(_SHADES, math.floor(_SHADES * value))
    else:
        shade = _SHADES - bisect_left(_CLASSES, value)
    return f"{shade}{Column('', '', kind=metric.form).show(value, 'plain')}"
