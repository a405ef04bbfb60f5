"""The page of a comparison of methods: which to use, leaderboard, tests, curves, systems, sources."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.metrics import COMPARISON, TARGETS, TARGETS_NAMED, ComparisonMetric
from narxbench.analysis.ranking import ALL
from narxbench.io.settings import flattened
from narxbench.model.system import System
from narxbench.model.terms import model_size
from narxbench.report import leaderboard_tables as tables
from narxbench.report.figures import METHOD_COLOURS
from narxbench.report.formats import MISSING, count, criterion_name, method_name, snr
from narxbench.report.leaderboard_answer import answer_lines
from narxbench.report.leaderboard_figures import critical, critical_difference
from narxbench.report.markup import inline_svg, markdown_html, script_json
from narxbench.report.table import Column, Table, columns, records, to_html
from narxbench.report.tables import Frames
from narxbench.report.templating import rendered

_PAGES = {"report": "Study of the paper", "leaderboard": "Leaderboard"}
# What the heat map shows; values of several scenarios are averaged like those of runs.
_HEAT = [metric for metric in COMPARISON if metric.by_system and metric.of_run]
_WORDS = {metric.name: metric.words for metric in COMPARISON}
# Upper ends of the classes of a gap or error, from the darkest shade on.
_CLASSES = (*TARGETS, math.inf)

_SHADES = len(_CLASSES)
_METHOD = Column("method", "Method", kind="method")


def leaderboard_page(
    frames: Frames,
    settings: Mapping[str, Any],
    *,
    systems: Sequence[System],
    methods_about: Mapping[str, Mapping[str, Any]],
    cost: pd.DataFrame,
    left_out: Mapping[str, str],
    folder: str = "",
) -> str:
    """Return the page of a comparison of methods.

    Parameters
    ----------
    frames
        The frames ``scores``, ``ranking``, ``tests``, ``pairs``, ``ecdf``, ``systems`` and ``exceptions``.
    settings
        The settings of the study as plain data.
    systems
        The systems of the study.
    methods_about
        Of every method: ``algorithm``, ``description``, ``reference``, ``deterministic``, ``needs_objective``,
        ``settings`` (plain data), and ``contributed`` (who contributed the results; "" for the study's own runs).
    cost
        As for :func:`narxbench.report.leaderboard_tables.leaderboard_tables`.
    left_out
        Why a method is not part of the study, by its name.
    folder
        Where the files of the study are from the page: ``""``, or a folder that ends with ``/``.
    """
    scores, order = frames["scores"], tables.methods_in_order(frames["ranking"])
    usual = tables.usual_terms(scores)
    timed = next(iter(tables.run_costs(cost, usual)["n_terms"].tolist()), usual)
    contributed = [name for name, about in methods_about.items() if about["contributed"]]
    ranking = tables.ranked(frames, cost, contributed)
    groups = [ALL, *(name for name in settings["scenarios"] if name in set(scores["scenario"]))]
    shown = tables.leaderboard_tables(frames, cost, contributed)
    pairs, exceptions = tables.pairs_table(frames["pairs"], None), _each_exception(frames["exceptions"])
    pairs_shown, pairs_choices = _filtered(pairs, {"Scenario": ((0,), ALL), "Method": ((1, 2), method_name(order[0]))})
    filters = {"Scenario": ((0,), groups[1]), "Method": ((2,), ""), "Measure": ((3,), _WORDS["exact"])}
    exceptions_shown, exceptions_choices = _filtered(exceptions, filters)
    without = Table.of("left_out", "Methods left out", (_METHOD, *columns(reason="Reason")), left_out.items())
    overall = ranking[ranking["group"] == ALL]
    most = overall["data_sets"].max()
    heat = _heat(frames["systems"], order, groups)
    curves = _curves(frames["ecdf"], order, groups[1:])
    page = {
        **{"current": "leaderboard", "titles": _PAGES, "study": settings["study"], "repository": ""},
        "links": {"report": f"{folder}../report.html", "leaderboard": "#main"},
        **{"folder": folder, "settings": settings, "all": ALL, "groups": groups, "order": order},
        "default": tables.DEFAULT,
        "answer": [markdown_html(line, "answer") for line in answer_lines(frames, cost, contributed)],
        "rows": records(ranking),
        "notes": shown["leaderboard"].notes,
        "timed": {"n_terms": timed, "machines": cost["machine"].unique().tolist()},
        "incomplete": [(row.method, row.data_sets, most) for row in overall.itertuples() if row.data_sets < most],
        "tests": records(frames["tests"]),
        "critical": critical(frames["tests"]),
        "alpha": ALPHA,
        "targets": TARGETS_NAMED,
        "level": round(1 - settings["statistics"]["confidence"], 6),
        "ranks": inline_svg(critical_difference(frames["ranking"], frames["tests"])["svg"].decode(), "ranks"),
        "tables": {
            "pairs": to_html(pairs_shown),
            "each_exception": to_html(exceptions_shown),
            "scenarios": to_html(tables.scenarios_table(ranking, order)),
            "exceptions": to_html(shown["exceptions"]),
            "test_systems": to_html(_systems_described(systems)),
            "conditions": to_html(_scenarios_described(scores, settings["scenarios"])),
            "failures": to_html(_failures(scores)),
            "left_out": to_html(without),
        },
        "choices": {"pairs": pairs_choices, "each_exception": exceptions_choices},
        "exceptions": len(frames["exceptions"]),
        "anchors": {name: f"method-{number}" for number, name in enumerate(order, start=1)},
        "curves": curves,
        "failed": bool(scores["fitness"].isna().any()),
        "left_out": bool(left_out),
        "study_settings": [(name, value) for name, value in flattened(settings) if value != "null"],
        "named": _WORDS,
        "heat": heat,
        "measures": {metric.name: metric.average for metric in _HEAT},
        "metrics": [(each, partial(_shown, each)) for each in tables.SHOWN],
        "methods": [(methods_about[name], *_settings_of(name, methods_about)) for name in order],
        "outside": [name for name, own in scores.groupby("system", sort=False) if own["exact"].isna().all()],
        "counts": _counts(scores),
    }
    data = {
        "methods": list(map(method_name, order)),
        "colours": METHOD_COLOURS,
        "curves": curves,
        "pace": _pace(scores, cost, order, groups),
        "heat": heat["cells"],
        "rows": {table.name: table.rows("plain") for table in (pairs, exceptions)},
    }
    return rendered("leaderboard.html.j2", page | {"data": script_json(data)})


def _settings_of(name: str, about: Mapping[str, Mapping[str, Any]]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the settings of a method, and those of them that another method of its algorithm has otherwise."""
    settings = list(flattened(about[name]["settings"]))
    same = [of for of in about.values() if not of["contributed"] and of["algorithm"] == about[name]["algorithm"]]
    others = [dict(flattened(of["settings"])) for of in same]
    return settings, [f"{key} {value}" for key, value in settings if any(of.get(key) != value for of in others)]


def _counts(scores: pd.DataFrame) -> dict[str, Any]:
    return {
        **{name: scores[name].nunique() for name in ("method", "system", "scenario", "data_seed", "seed")},
        "data_sets": len(scores[["scenario", "system", "snr_db", "data_seed"]].drop_duplicates()),
        "runs": len(scores),
        "evaluations": int(scores["evaluations"].sum()),
        "budgets": sorted(set(scores["budget"])),
        "criteria": list(map(criterion_name, dict.fromkeys(scores["criterion"]))),
    }


# Tables with choices: the page holds all rows as data and shows those that match.


def _filtered(
    table: Table, filters: Mapping[str, tuple[tuple[int, ...], str]]
) -> tuple[Table, list[tuple[str, tuple[int, ...], list[str], str]]]:
    """Return the part of a table that is shown at first, and the choices: label, columns, values, and the first value.

    ``filters`` gives columns and first value by label; "" is any. A first value without rows becomes "".
    """
    rows = table.rows("plain")
    mask, choices = [True] * len(rows), []
    for label, (places, first) in filters.items():
        found = [[row[place] for place in places] for row in rows]
        values = list(dict.fromkeys(value for own in found for value in own))
        first = first if first in values else ""
        mask = [kept and (not first or first in own) for kept, own in zip(mask, found, strict=True)]
        choices.append((label, places, values, first))
    part = table.data.iloc[[place for place, kept in enumerate(mask) if kept]]
    return Table(table.name, table.caption, table.columns, part, table.notes, table.row_headers), choices


def _each_exception(exceptions: pd.DataFrame) -> Table:
    ours = method_name(tables.DEFAULT)
    values = columns("significant", theirs="Its value", best_ours=f"Value of {ours}")
    head = (*columns(scenario="Scenario", system="System"), _METHOD, *columns(measure="Measure"), *values)
    data = exceptions.assign(measure=exceptions["measure"].map(_WORDS))
    return Table("each_exception", f"Where a method does better than {ours}", head, data)


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


# What the charts of the page draw; places in lists stand for names.


def _heat(systems: pd.DataFrame, methods: Sequence[str], groups: Sequence[str]) -> dict[str, Any]:
    """Return the cells of the heat map by measure, group, method and system: a shade from 0 to 8 and the value."""
    names = list(dict.fromkeys(systems["system"]))
    cells: dict[str, list[list[list[str]]]] = {}
    for metric in _HEAT:
        known = systems.dropna(subset=metric.name)
        values = known.set_index(["scenario", "method", "system"])[metric.name].to_dict()
        pooled = known.groupby(["method", "system"], sort=False)[metric.name].agg(metric.averaged)
        values |= {(ALL, *key): value for key, value in pooled.items()}
        cells[metric.name] = [
            [[_cell(metric, values.get((group, method, name))) for name in names] for method in methods]
            for group in groups
        ]
    return {"systems": names, "cells": cells}


def _cell(metric: ComparisonMetric, value: float | None) -> str:
    if value is None:
        return f"0{MISSING}"
    if metric.larger_is_better:
        shade = min(_SHADES, math.floor(_SHADES * value))
    else:
        shade = _SHADES - next(place for place, end in enumerate(_CLASSES) if value <= end)
    return f"{shade}{_shown(metric, value)}"


def _shown(metric: ComparisonMetric, value: float) -> str:
    return tables.metric_columns(metric)[0].show(value, "plain")


def _curves(ecdf: pd.DataFrame, methods: Sequence[str], scenarios: Sequence[str]) -> dict[str, Any]:
    """Return the evaluations, and by scenario, system and method all targets and how many more are reached at each."""
    keys = ["scenario", "system", "method"]
    # A curve that ends early, with a smaller budget, stays where it is.
    wide = ecdf.pivot(index=keys, columns="evaluations", values="reached").ffill(axis="columns").fillna(0).astype(int)
    more = wide.diff(axis="columns").fillna(wide).astype(int).to_numpy().tolist()
    totals = ecdf.groupby(keys)["total"].max()[wide.index].tolist()
    curves = {key: [total, *steps] for key, total, steps in zip(wide.index, totals, more, strict=True)}
    systems = list(dict.fromkeys(ecdf["system"]))
    steps = [[[curves.get((group, name, method)) for method in methods] for name in systems] for group in scenarios]
    return {"evaluations": list(wide.columns), "scenarios": scenarios, "systems": systems, "steps": steps}


def _pace(scores: pd.DataFrame, cost: pd.DataFrame, methods: Sequence[str], groups: Sequence[str]) -> list[Any]:
    """Return by group and method CPU seconds and evaluations of a run; None where they were not measured."""
    found = []
    for group in groups:
        near = tables.run_costs(cost, tables.usual_terms(scores, group))
        runs = {row.method: [row.seconds, int(row.evaluations)] for row in near.itertuples()}
        found.append([runs.get(method) for method in methods])
    return found
