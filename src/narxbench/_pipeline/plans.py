"""The kinds of study as files and jobs: one module and class each, by the value of ``kind``."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from narxbench._io.files import StrPath
from narxbench._pipeline.plan import StudyPlan
from narxbench._study.layers import Layers, merge_layers, read_layers

# The module of each kind of study.
_MODULES = {
    "paper": "paper_plan",
    "interpretations": "paper_plan",
    "methods": "methods_plan",
    "measured": "measured_plan",
}


def plan_of(
    overlays: Sequence[StrPath] = (),
    command_line: Sequence[str] = (),
    *others: tuple[str, Mapping[str, Any]],
    seed_jobs: int | None = None,
) -> StudyPlan:
    """Return the plan of the study that ``--configfile``, ``--config`` and the layers ``others`` set.

    ``seed_jobs`` is the number of jobs that the seeds of a condition are divided among; None: as the settings say.
    """
    layers = [*read_layers([*map(os.path.relpath, overlays)], command_line), *others]
    settings = merge_layers(layers)
    kind = settings.get("kind", "measured" if "identification" in settings else "paper")
    if not isinstance(kind, str) or kind not in _MODULES:
        kind = "paper"  # whose settings refuse a kind that does not exist
    # Modules that identify take a second to import.
    module = import_module(f"narxbench._pipeline.{_MODULES[kind]}")
    plan: Callable[[Layers, int | None], StudyPlan] = getattr(module, f"{kind.capitalize()}Plan")
    return plan(layers, seed_jobs)
