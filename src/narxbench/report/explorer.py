"""What the charts of the report draw: every cell and the statistics, as plain data with few digits."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from narxbench.analysis.published import Published
from narxbench.report.figures import SEARCH_COLOURS, SPURIOUS_TERM, SYSTEM_TERM
from narxbench.report.tables import Cell, criterion_name, labels_of, search_name

# A line of 600 samples or a curve of 200 points cannot show more digits than these.
_DIGITS = 4
_FITNESS_DIGITS = 7


def explorer_data(cells: Sequence[Cell], published: Published, statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the explorer: names, systems, measured outputs, cells, and the curves of the statistics."""
    rows = [row for part in ("run_length", "budget") for row in statistics.get(part, [])]
    searches = dict.fromkeys([*(cell["search"] for cell in cells), *(row["search"] for row in rows)])
    criteria = dict.fromkeys([*(cell["criterion"] for cell in cells), *(row["criterion"] for row in rows)])
    return {
        "names": {
            "search": {name: search_name(name) for name in searches},
            "criterion": {name: criterion_name(name) for name in criteria},
        },
        "colours": {
            "system": SYSTEM_TERM,
            "spurious": SPURIOUS_TERM,
            "search": {name: SEARCH_COLOURS[i % len(SEARCH_COLOURS)] for i, name in enumerate(searches)},
        },
        "systems": {cell["system"]: _system(cell, published) for cell in cells},
        # Cells of one system and SNR judge their models on the same samples.
        "measured": {f"{cell['system']}/{cell['snr_db']}": _short(cell["measured"]) for cell in cells},
        "cells": [_cell(cell) for cell in cells],
        "run_length": [_fields(row, _RUN_LENGTH) for row in statistics.get("run_length", [])],
        "budget": [_budget(row) for row in statistics.get("budget", [])],
    }


_PLACE = ("system", "snr_db", "criterion", "search")
_RUN_LENGTH = (*_PLACE, "target", "target_name", "evaluations", "runs")


def _system(cell: Cell, published: Published) -> dict[str, Any]:
    true = cell["true_structure"]
    return {
        "terms": [term["term"] for term in cell["terms"]],
        "labels": labels_of(cell, published),
        "true": dict(zip(true["terms"], true["true_coefficients"], strict=True)),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    model, curve = cell["final_model"], cell["convergence"]
    return {
        **_fields(cell, (*_PLACE, "runs", "evaluations", "threshold", "confidence", "exact_runs", "cardinality")),
        "count": [term["count"] for term in cell["terms"]],
        "low": _short(term["low"] for term in cell["terms"]),
        "high": _short(term["high"] for term in cell["terms"]),
        "r": _short(cell["spurious_ratio"][key] for key in ("value", "low", "high")),
        "nu_max": _short(cell["spurious_frequency_max"][key] for key in ("value", "low", "high")),
        "worst": cell["spurious_frequency_max"]["term"],
        "true_fitness": _rounded(cell["true_structure"]["fitness"], _FITNESS_DIGITS),
        "curve": {
            "evaluations": curve["evaluations"],
            **{key: _short(curve[key], _FITNESS_DIGITS) for key in ("mean", "low", "high")},
        },
        "model": {
            "terms": model["terms"],
            "coefficients": _short(model["coefficients"], 6),
            "fitness": _rounded(model["fitness"], _FITNESS_DIGITS),
            "sse": _rounded(model["sse"], 6),
            "prediction": model["prediction"] and _short(model["prediction"]),
        },
    }


def _budget(row: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {key: _short(row[key], _FITNESS_DIGITS) for key in ("median", "low", "high")}
    return {**_fields(row, (*_PLACE, "evaluations")), **numbers}


def _fields(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _short(values: Iterable[float | None], digits: int = _DIGITS) -> list[float | None]:
    return [_rounded(value, digits) for value in values]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")
