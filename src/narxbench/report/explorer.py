"""What the charts of the page draw: every condition and the statistics, as plain data with few digits."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import pandas as pd

from narxbench.report.figures import METHOD_COLOURS, SPURIOUS_TERM, SYSTEM_TERM
from narxbench.report.formats import criterion_name, method_name
from narxbench.report.table import Condition, condition_of
from narxbench.report.tables import CONDITION, Frames, system_labels

# A line of 600 samples cannot show more digits than these, nor a chart more than each second point of a curve.
_DIGITS = 4
_FITNESS_DIGITS = 7
_TARGETS = {"true": "true structure's J", "best": "best known J", "near": "best known J + 1 % of the range"}


def explorer_data(
    frames: Frames, summaries: Iterable[Mapping[str, Any]], statistics: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the data of the explorer: names, systems, measured outputs, conditions, and curves of the statistics.

    Parameters
    ----------
    frames
        The frames ``metrics``, ``selection``, ``convergence``, ``run_length`` and ``budget``.
    summaries
        The summaries of the conditions, for their final models.
    statistics
        Threshold and confidence of the study.
    """
    summary = {condition_of(each): each for each in summaries}
    terms, curves, budgets = (_by_condition(frames[name]) for name in ("selection", "convergence", "budget"))
    rows = {condition_of(row): row for row in frames["metrics"].to_dict("records")}
    shown = {condition: row for condition, row in rows.items() if condition in summary}
    methods = dict.fromkeys(condition.method for condition in shown)
    return {
        "names": {
            "method": {name: method_name(name) for name in methods},
            "criterion": {condition.criterion: criterion_name(condition.criterion) for condition in shown},
        },
        "colours": {
            "system": SYSTEM_TERM,
            "spurious": SPURIOUS_TERM,
            "method": dict(zip(methods, cycle(METHOD_COLOURS), strict=False)),
        },
        "statistics": {key: statistics[key] for key in ("threshold", "confidence")},
        "systems": {each.system: _system(terms[each], summary[each]) for each in shown},
        # Conditions of one system and SNR judge their models on the same samples.
        "measured": {f"{each.system}/{each.snr_db:g}": _short(summary[each]["measured"]) for each in shown},
        "conditions": [
            {**_place(each), **_condition(row, terms[each], curves[each], summary[each])} for each, row in shown.items()
        ],
        "run_length": [
            {
                **_place(condition_of(row)),
                **{key: row[key] for key in ("evaluations", "runs")},
                "target_name": _TARGETS.get(row["target"]) or f"median final J of {method_name(row['target_method'])}",
                "target": _number(row["fitness"], _FITNESS_DIGITS),
            }
            for row in frames["run_length"].to_dict("records")
        ],
        "budget": [{**_place(each), **_curve(curve, ("median", "low", "high"))} for each, curve in budgets.items()],
    }


def _by_condition(frame: pd.DataFrame) -> dict[Condition, pd.DataFrame]:
    return {Condition(*key): rows for key, rows in frame.groupby(CONDITION, sort=False)}


def _place(condition: Condition) -> dict[str, Any]:
    # As text, an SNR is the same here, in an address and in a choice.
    return {**condition._asdict(), "snr_db": f"{condition.snr_db:g}"}


def _system(terms: pd.DataFrame, summary: Mapping[str, Any]) -> dict[str, Any]:
    true = dict(zip(summary["system_terms"], summary["true_coefficients"], strict=True))
    return {"terms": list(terms["term"]), "labels": system_labels(terms), "true": true}


def _condition(
    row: Mapping[Hashable, Any], terms: pd.DataFrame, curve: pd.DataFrame, summary: Mapping[str, Any]
) -> dict[str, Any]:
    model = summary["final_model"]
    return {
        **{key: row[key] for key in ("runs", "evaluations", "exact_runs")},
        "count": list(terms["count"]),
        **{key: _short(terms[key]) for key in ("low", "high")},
        **{key: _short(row[key + suffix] for suffix in ("", "_low", "_high")) for key in ("r", "nu_max")},
        "worst": row["worst_spurious_term"] or None,
        "true_fitness": _number(row["true_fitness"], _FITNESS_DIGITS),
        "cardinality": [len(structure) for structure in summary["runs"]["structures"]],
        "curve": _curve(curve.iloc[::-2].iloc[::-1], ("mean", "low", "high")),
        "model": {
            "terms": summary["final_structure"],
            "coefficients": _short(model["coefficients"], 6),
            "fitness": _number(model["fitness"], _FITNESS_DIGITS),
            "sse": _number(model["sse"], 6),
            "prediction": model["prediction"] and _short(model["prediction"]),
        },
    }


def _curve(curve: pd.DataFrame, keys: Sequence[str]) -> dict[str, Any]:
    return {"evaluations": list(curve["evaluations"]), **{key: _short(curve[key], _FITNESS_DIGITS) for key in keys}}


def _short(values: Iterable[float | None], digits: int = _DIGITS) -> list[float | None]:
    return [_number(value, digits) for value in values]


def _number(value: float | None, digits: int) -> float | None:
    return None if value is None or math.isnan(value) else float(f"{value:.{digits}g}")
