"""The page of a comparison of methods: which to use, both contests, differences, systems, sources.

All views of the page, what readers want of what data, are made here; the script of the page only shows one of them.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench.io.settings import flattened
from narxbench.model.system import System
from narxbench.model.terms import model_size
from narxbench.report.formats import MISSING, count, criterion_name, method_name, p_value, snr
from narxbench.report.markup import markdown_html, script_json
from narxbench.report.table import Column, Table, columns, to_html
from narxbench.report.templating import rendered
from narxbench.studies.methods import tables
from narxbench.studies.methods.answer import REGIONS, answer_lines
from narxbench.studies.methods.figures import SIZES, drawings, panels
from narxbench.studies.methods.metrics import COMPARISON, TARGETS, ComparisonMetric
from narxbench.studies.methods.rank_tests import DATA_SET
from narxbench.studies.methods.ranking import ALL
from narxbench.studies.methods.views import BOARDS, LOWEST_J, WANTS, Comparison, View, notes

TEMPLATES = Path(__file__).parent / "templates"

# What the heat table shows.
_HEAT = [metric for metric in COMPARISON if metric.by_system]
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

    ``methods_about`` has of every method ``algorithm``, ``description``, ``reference``, ``deterministic``,
    ``needs_objective`` and ``settings`` (plain data). ``left_out`` says why a method is not part of the study.
    ``folder`` is where the files of the study are from the page, and ends with ``/``; ``paper`` is whether the page of
    the paper's study is there, for a link to it.
    """
    scores, settings = comparison.frames["scores"], comparison.settings
    runs = scores[~scores["reference"]]
    links = {"report": f"{folder}../report.html"} if paper else {}
    rows = [row for view in comparison.whole() for row in view.rows()]
    order = list(dict.fromkeys(row["method"] for row in rows if not row["reference"]))
    without = Table.of("left_out", "Methods left out", (_METHOD, *columns(reason="Reason")), left_out.items())
    heat = _heat(comparison, list(dict.fromkeys(row["method"] for row in rows)))
    views = list(map(_view, comparison.views))
    page = {
        **{"current": "leaderboard", "study": settings["study"], "repository": "", "folder": folder},
        "titles": {"report": "Study of the paper", "leaderboard": "Comparison of methods"},
        **{"links": links | {"leaderboard": "#main"}, "settings": settings, "comparison": comparison},
        **{"all": ALL, "wants": WANTS, "order": order, "boards": BOARDS, "views": views, "sizes": SIZES},
        "parts": {part: _part(comparison.within(part)) for part in comparison.parts},
        "notes": notes(),
        "regions": REGIONS,
        "machines": comparison.cost["machine"].unique().tolist(),
        "tables": {
            "test_systems": to_html(_systems_described(systems)),
            "conditions": to_html(_scenarios_described(scores, settings["scenarios"])),
            "failures": to_html(_failures(scores)),
            "left_out": to_html(without),
        },
        "failed": bool(scores["fitness"].isna().any()),
        "left_out": bool(left_out),
        "study_settings": [(name, value) for name, value in flattened(settings) if value != "null"],
        "anchors": {name: f"method-{number}" for number, name in enumerate(order, start=1)},
        "groups": {view.group: view.description for view in comparison.views},
        "measures": {metric.name: metric.words for metric in _HEAT},
        "heat": heat,
        "methods": [(methods_about[name], *_settings_of(name, methods_about)) for name in order],
        "outside": [name for name, own in scores.groupby("system", sort=False) if own["exact"].isna().all()],
        "counts": {
            **{name: runs[name].nunique() for name in ("method", "system", "scenario", "data_seed", "seed")},
            "data_sets": len(runs[DATA_SET].drop_duplicates()),
            "runs": len(runs),
            "evaluations": int(runs["evaluations"].sum()),
            "budgets": sorted(set(runs["budget"])),
            "criteria": list(map(criterion_name, dict.fromkeys(runs["criterion"]))),
        },
    }
    data = {"orders": {view["view"].key: view["orders"] for view in views}, "heat": heat}
    return rendered("leaderboard.html.j2", page | {"data": script_json(data)}, TEMPLATES)


def _view(view: View) -> dict[str, Any]:
    """Return what the page shows of a part and a group: rows of both boards, answers, figures, differences."""
    rows = {"identify": view.rows(), "search": view.rows(LOWEST_J)}
    first = [row["method"] for row in rows["identify"]]
    best = {want: found["method"] for want in WANTS if (found := view.best(want))}
    against = [
        ([want for want in best if best[want] == name], to_html(tables.best_against(view, name)))
        for name in dict.fromkeys(() if view.of("pairs").empty else best.values())
    ]
    return {
        "view": view,
        "boards": {
            name: [(row, list(tables.remarks(row))) for row in tables.board_rows(name, own)]
            for name, own in rows.items()
        },
        # Where each want has the rows that stand in the order of the first one.
        "orders": {want: [first.index(row["method"]) for row in view.rows(want)] for want in WANTS},
        "answers": {want: [markdown_html(line, "answer") for line in answer_lines(view, want)] for want in WANTS},
        "figures": drawings(view),
        "untimed": [row["method"] for row in rows["identify"] if row["seconds"] is None and not row["reference"]],
        "differences": against,
    }


def _part(views: Sequence[View]) -> dict[str, Any]:
    """Return what the page shows of a part in all its groups: what to use for which data, and tests of all methods."""
    tests, words = views[0].of("tests").to_dict("records"), {metric.name: metric.words for metric in COMPARISON}
    said = []
    for row in tests:
        p = f"p {'' if row['p_value'] < 0.001 else '= '}{p_value(row['p_value'])}".replace(" ", "\N{NO-BREAK SPACE}")
        said.append(f"{words[row['measure']]} ({row['methods']} methods, {row['blocks']} systems) {p}")
    return {
        "situations": to_html(tables.situations_table(f"situations {views[0].part}", views)),
        "panels": panels(views),
        "friedman": "; ".join(said),
        "caveat": views[0].caveat,
    }


def _settings_of(name: str, about: Mapping[str, Mapping[str, Any]]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the settings of a method, and those of them that another method of its algorithm has otherwise."""
    settings = list(flattened(about[name]["settings"]))
    same = [of for of in about.values() if of["algorithm"] == about[name]["algorithm"]]
    others = [dict(flattened(of["settings"])) for of in same]
    return settings, [f"{key} {value}" for key, value in settings if any(of.get(key) != value for of in others)]


def _systems_described(systems: Sequence[System]) -> Table:
    head = (
        *columns(system="System", description="What it is"),
        Column("equation", "Equation", kind="equation"),
        *columns("number", terms="Terms", n_u="n_u", n_y="n_y", degree="N_l", n_terms="N_t"),
        Column("reference", "Source"),
    )
    rows = [
        (each.name, each.description, each.equation, len(each.terms) or None, each.n_u, each.n_y, each.degree, size)
        + (each.reference,)
        for each in systems
        for size in [model_size(n_y=each.n_y, n_u=each.n_u, degree=each.degree)]
    ]
    notes = (
        "Terms: number of system terms; none where the truth lies outside the candidate terms. n_u input lag, n_y "
        "output lag, N_l degree and N_t number of the candidate terms, unless a scenario says otherwise.",
    )
    return Table.of("test_systems", "Systems", head, rows, notes=notes)


def _scenarios_described(scores: pd.DataFrame, scenarios: Mapping[str, Mapping[str, Any]]) -> Table:
    head = (
        *columns(scenario="Scenario", description="What it is", snr="SNR", samples="Samples"),
        *columns(n_validation="For validation", n_terms="Candidate terms"),
        *columns("count", systems="Systems", data_sets="Data sets"),
    )
    rows = []
    for scenario, own in scores.groupby("scenario", sort=False):
        levels = ", ".join(map(snr, dict.fromkeys(own["snr_db"])))
        limits = ((count(own[name].min()), count(own[name].max())) for name in ("samples", "n_validation", "n_terms"))
        sizes = (low if low == high else f"{low} to {high}" for low, high in limits)
        counts = own["system"].nunique(), len(own[["system", "snr_db", "data_seed"]].drop_duplicates())
        rows.append((scenario, scenarios[str(scenario)]["description"], levels, *sizes, *counts))
    return Table.of("conditions", "Scenarios", head, rows)


def _failures(scores: pd.DataFrame) -> Table:
    """Return why runs failed, each text once for each method, with one run as an example."""
    failed = scores[scores["fitness"].isna()]
    failed = failed.assign(failure=failed["failure"].replace("", "found no structure of finite J"))
    rows = []
    for (method, failure), own in failed.groupby(["method", "failure"], sort=False):
        one = own.iloc[0]
        example = f"{one['scenario']}, {one['system']}, data seed {one['data_seed']}, seed {one['seed']}"
        rows.append((method, failure, len(own), example))
    head = (_METHOD, *columns(failure="Failure"), *columns("count", runs="Runs"), *columns(example="For example"))
    return Table.of("failed_runs", "Runs that failed", head, rows)


def _heat(comparison: Comparison, methods: Sequence[str]) -> dict[str, Any]:
    """Return the cells of the heat table by measure, view, method and system: a shade from 0 to 7 and the value."""
    cells: dict[str, dict[str, list[list[str]]]] = {metric.name: {} for metric in _HEAT}
    systems = {}
    for view in comparison.views:
        key, own = view.key, view.of("systems")
        systems[key] = list(dict.fromkeys(own["system"]))
        for metric in _HEAT:
            values = own.dropna(subset=metric.name).groupby(["method", "system"])[metric.name]
            known = values.agg(metric.average).to_dict()
            rows = [[_cell(metric, known.get((name, system))) for system in systems[key]] for name in methods]
            cells[metric.name][key] = rows
    return {"methods": list(map(method_name, methods)), "systems": systems, "cells": cells}


def _cell(metric: ComparisonMetric, value: float | None) -> str:
    if value is None:
        return f"0{MISSING}"
    if metric.larger_is_better:
        shade = min(_SHADES, math.floor(_SHADES * value))
    else:
        shade = _SHADES - next(place for place, end in enumerate(_CLASSES) if value <= end)
    return f"{shade}{Column('', '', kind=metric.form).show(value, 'plain')}"
