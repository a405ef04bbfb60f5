"""The kinds of study as files and jobs: one module and class each, by the value of ``kind``."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from narxbench._io.files import StrPath
from narxbench._pipeline.plan import StudyPlan
from narxbench._study.layers import Layers, merge_layers, read_layers

# The module and the class of each kind of study.
_PLANS = {
    "paper": ("paper_plan", "PaperPlan"),
    "interpretations": ("paper_plan", "PaperPlan"),
    "methods": ("methods_plan", "MethodsPlan"),
    "measured": ("measured_plan", "MeasuredPlan"),
}


def plan_of(
    overlays: Sequence[StrPath] = (),
    command_line: Sequence[str] = (),
    *others: tuple[str, Mapping[str, Any]],
) -> StudyPlan:
    """Return the plan of the study that ``--configfile``, ``--config`` and the layers ``others`` set."""
    layers = [*read_layers([*map(os.path.relpath, overlays)], command_line), *others]
    settings = merge_layers(layers)
    kind = settings.get("kind", "measured" if "identification" in settings else "paper")
    if not isinstance(kind, str) or kind not in _PLANS:
        kind = "paper"  # whose settings refuse a kind that does not exist
    # Modules that identify take a second to import.
    module, name = _PLANS[kind]
    plan: Callable[[Layers], StudyPlan] = getattr(import_module(f"narxbench._pipeline.{module}"), name)
    return plan(layers)
