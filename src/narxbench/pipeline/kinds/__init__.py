"""The kinds of study as files and jobs: one module and class each, by the value of ``page``."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from narxbench.experiment.kinds import KINDS
from narxbench.experiment.layers import Layers, read_layers, together
from narxbench.io.files import StrPath
from narxbench.pipeline.plan import StudyPlan


def plan_of(
    overlays: Sequence[StrPath] = (), command_line: Sequence[str] = (), *others: tuple[str, Mapping[str, Any]]
) -> StudyPlan:
    """Return the plan of what ``--configfile``, ``--config``, and others by the name of their source, set."""
    layers = [*read_layers([*map(os.path.relpath, overlays)], command_line), *others]
    given = together(layers)
    page = given.get("page", "measured" if "identification" in given else "paper")
    # A page that there is not is a mistake that the settings tell. What identifies takes a second to import.
    name = page if isinstance(page, str) and page in {*KINDS, "measured"} else "paper"
    module = import_module(f"{__name__}.{'paper' if name == 'interpretations' else name}")
    kind: Callable[[Layers], StudyPlan] = getattr(module, f"{name.capitalize()}Plan")
    return kind(layers)
