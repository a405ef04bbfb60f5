"""The statistics: tests between methods, exact recovery, gaps, and curves of run length and budget."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench.report import explorer
from narxbench.report.formats import method_name
from narxbench.report.markup import script_json
from narxbench.report.site import Material
from narxbench.report.table import condition_of
from narxbench.report.tables import Frames

_TARGETS = {"true": "true structure's J", "best": "best known J", "near": "best known J + 1 % of the range"}
# What the chooser shows for the runs of all systems and SNRs together.
_ALL = "all"


def statistics_page(material: Material, tables: Mapping[str, Markup]) -> str:
    """Return the page of the statistics; ``tables`` holds method_comparison, recovery and gaps as HTML."""
    data = statistics_data(material.frames)
    curves = {name: bool(data[name]) for name in ("run_length", "budget")}
    shown = {"tables": tables, "curves": curves, "data": script_json(data)}
    return material.site.page("statistics", {"settings": material.settings, **shown})


def statistics_data(frames: Frames) -> dict[str, Any]:
    """Return names and curves of the frames ``run_length`` and ``budget``."""
    budgets = explorer.by_condition(frames["budget"])
    spent = {condition: int(curve["evaluations"].max()) for condition, curve in budgets.items()}
    rows = frames["run_length"].to_dict("records")
    lengths = [_length(row, spent.get(condition_of(row))) for row in rows]
    return {
        **explorer.names_and_colours([*map(condition_of, rows), *budgets]),
        "run_length": [*_together(lengths), *lengths],
        "budget": [
            {**explorer.place(each), **explorer.curve_data(curve, ("median", "low", "high"))}
            for each, curve in budgets.items()
        ],
    }


def _length(row: Mapping[Any, Any], budget: int | None) -> dict[str, Any]:
    return {
        **explorer.place(condition_of(row)),
        "evaluations": list(row["evaluations"]),
        "runs": row["runs"],
        "target_name": _TARGETS.get(row["target"]) or f"median final J of {method_name(row['target_method'])}",
        "target": explorer.rounded(row["fitness"], explorer.FITNESS_DIGITS),
        "budget": budget or max(row["evaluations"], default=0),
    }


def _together(lengths: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the run lengths of all systems and SNRs together, where all methods have run on the same ones."""
    keys = ["criterion", "target_name", "method"]
    if not lengths:
        return
    frame = pd.DataFrame(lengths)
    for _, of_target in frame.groupby(keys[:2], sort=False):
        problems = of_target.groupby("method")[["system", "snr_db"]].agg(list).agg(tuple, axis=1)
        if len({str(each) for each in problems}) > 1 or len(problems.iloc[0][0]) < 2:
            continue
        for (criterion, name, method), rows in of_target.groupby(keys, sort=False):
            yield {
                **{"system": _ALL, "snr_db": _ALL, "method": method, "criterion": criterion, "target_name": name},
                **{"evaluations": sorted(chain.from_iterable(rows["evaluations"])), "runs": int(rows["runs"].sum())},
                **{"target": None, "budget": int(rows["budget"].max())},
            }
