"""The kinds of study as files and jobs: one module and class each, by the value of ``kind``."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from narxbench.io.files import StrPath
from narxbench.pipeline.plan import StudyPlan
from narxbench.studies.loading import KINDS
from narxbench.study.layers import Layers, merge_layers, read_layers


def plan_of(
    overlays: Sequence[StrPath] = (), command_line: Sequence[str] = (), *others: tuple[str, Mapping[str, Any]]
) -> StudyPlan:
    """Return the plan of what ``--configfile``, ``--config``, and others by the name of their source, set."""
    layers = [*read_layers([*map(os.path.relpath, overlays)], command_line), *others]
    given = merge_layers(layers)
    name = given.get("kind", "measured" if "identification" in given else "paper")
    # A kind that there is not is a mistake that the settings tell. What identifies takes a second to import.
    kind = name if isinstance(name, str) and name in {*KINDS, "measured"} else "paper"
    module = import_module(f"narxbench.pipeline.{'paper' if kind == 'interpretations' else kind}_plan")
    plan: Callable[[Layers], StudyPlan] = getattr(module, f"{kind.capitalize()}Plan")
    return plan(layers)
