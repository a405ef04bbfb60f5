"""The explorer: every condition and what its charts draw, as plain data with few digits."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import pandas as pd

from narxbench.report.figures import METHOD_COLOURS, SPURIOUS_TERM, SYSTEM_TERM
from narxbench.report.formats import criterion_name, method_name
from narxbench.report.markup import script_json
from narxbench.report.site import Material
from narxbench.report.table import Condition, condition_of
from narxbench.report.tables import CONDITION, Frames, system_labels

# A line of 600 samples cannot show more digits than these, nor a chart more than each second point of a curve.
_DIGITS = 4
FITNESS_DIGITS = 7


def explorer_page(material: Material) -> str:
    """Return the page on which every condition of a study can be looked at."""
    data = explorer_data(material.frames, material.summaries, material.settings["statistics"])
    shown = {"data": script_json(data), "conditions": data["conditions"]}
    return material.site.page("explorer", {"settings": material.settings, **shown})


def explorer_data(
    frames: Frames, summaries: Iterable[Mapping[str, Any]], statistics: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the data of the explorer: names, systems, intervals, measured outputs and conditions.

    Parameters
    ----------
    frames
        The frames ``metrics``, ``selection``, ``convergence``, ``gaps`` and ``agreement_values``.
    summaries
        The summaries of the conditions, for their final models.
    statistics
        Threshold and confidence of the study.
    """
    summary = {condition_of(each): each for each in summaries}
    terms, curves = (by_condition(frames[name]) for name in ("selection", "convergence"))
    published = _published(frames["agreement_values"])
    best = {condition_of(row): row["best_known"] for row in frames["gaps"].to_dict("records")}
    rows = {condition_of(row): row for row in frames["metrics"].to_dict("records")}
    shown = {condition: row for condition, row in rows.items() if condition in summary}
    return {
        **names_and_colours(shown),
        "statistics": {key: statistics[key] for key in ("threshold", "confidence")},
        "systems": {
            each.system: {
                "terms": list(terms[each]["term"]),
                "labels": system_labels(terms[each]),
                "true": dict(zip(*(summary[each][key] for key in ("system_terms", "true_coefficients")), strict=True)),
            }
            for each in shown
        },
        # The interval of a frequency depends on nothing but counts: "13/40", so many of so many runs.
        "intervals": {
            f"{count}/{runs}": short(ends)
            for count, runs, *ends in frames["selection"][["count", "runs", "low", "high"]]
            .drop_duplicates()
            .itertuples(index=False)
        },
        # Conditions of one system and SNR judge their models on the same samples.
        "measured": {f"{each.system}/{each.snr_db:g}": short(summary[each]["measured"]) for each in shown},
        "conditions": [
            {
                **place(each),
                **_condition(row, terms[each], curves[each], summary[each]),
                "published": published.get(each, {}),
                "best_known": rounded(best.get(each), FITNESS_DIGITS),
            }
            for each, row in shown.items()
        ],
    }


def names_and_colours(conditions: Iterable[Condition]) -> dict[str, Any]:
    """Return what methods and criteria are called, and the colours of terms and methods."""
    shown = list(conditions)
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
    }


def place(condition: Condition) -> dict[str, Any]:
    """Return what names a condition; as text, an SNR is the same here, in an address and in a choice."""
    return {**condition._asdict(), "snr_db": f"{condition.snr_db:g}"}


def curve_data(curve: pd.DataFrame, keys: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a curve with its numbers of evaluations."""
    return {"evaluations": list(curve["evaluations"]), **{key: short(curve[key], FITNESS_DIGITS) for key in keys}}


def short(values: Iterable[float | None], digits: int = _DIGITS) -> list[float | None]:
    """Return numbers with few digits; what is not finite is null."""
    return [rounded(value, digits) for value in values]


def rounded(value: float | None, digits: int) -> float | None:
    """Return a number with few digits, null if there is none."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def by_condition(frame: pd.DataFrame) -> dict[Condition, pd.DataFrame]:
    """Return the rows of each condition."""
    return {Condition(*key): rows for key, rows in frame.groupby(CONDITION, sort=False)}


def _published(values: pd.DataFrame) -> dict[Condition, dict[str, float]]:
    """Return the published values of each condition by label or metric; of one that is printed twice the first."""
    found: dict[Condition, dict[str, float]] = {}
    for row in values[values["method"] != ""].to_dict("records"):
        found.setdefault(condition_of(row), {}).setdefault(row["label"] or row["metric"], row["published"])
    return found


def _condition(
    row: Mapping[Hashable, Any], terms: pd.DataFrame, curve: pd.DataFrame, summary: Mapping[str, Any]
) -> dict[str, Any]:
    model = summary["final_model"]
    return {
        **{key: row[key] for key in ("runs", "evaluations", "exact_runs")},
        "count": list(terms["count"]),
        **{key: short(row[key + suffix] for suffix in ("", "_low", "_high")) for key in ("r", "nu_max")},
        "worst": row["worst_spurious_term"] or None,
        "true_fitness": rounded(row["true_fitness"], FITNESS_DIGITS),
        "cardinality": [len(structure) for structure in summary["runs"]["structures"]],
        "curve": curve_data(curve.iloc[::-2].iloc[::-1], ("median", "low", "high")),
        "model": {
            "terms": summary["final_structure"],
            "coefficients": short(model["coefficients"], 6),
            "fitness": rounded(model["fitness"], FITNESS_DIGITS),
            "sse": rounded(model["sse"], 6),
            "prediction": model["prediction"] and short(model["prediction"]),
        },
    }
