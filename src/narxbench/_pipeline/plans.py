"""The kinds of study as files and jobs: one class each, by the value of ``kind``."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from narxbench._io.files import StrPath
from narxbench._pipeline.methods_plan import MethodsPlan
from narxbench._pipeline.paper_plan import PaperPlan
from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._study.layers import merge_layers, read_layers

_PLANS: dict[str, type[SimulatedPlan]] = {
    "paper": PaperPlan,
    "interpretations": PaperPlan,
    "methods": MethodsPlan,
}


def plan_of(
    overlays: Sequence[StrPath] = (),
    command_line: Sequence[str] = (),
    *others: tuple[str, Mapping[str, Any]],
) -> SimulatedPlan:
    """Return the plan of the study that ``--configfile``, ``--config`` and the layers ``others`` set."""
    layers = [*read_layers([*map(os.path.relpath, overlays)], command_line), *others]
    kind = merge_layers(layers).get("kind", "paper")
    if not isinstance(kind, str) or kind not in _PLANS:
        kind = "paper"  # whose settings refuse a kind that does not exist
    return _PLANS[kind](layers)
