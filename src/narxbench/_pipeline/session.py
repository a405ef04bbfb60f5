"""The beginning of a run: the plan of the study that Snakemake was asked for, and what it costs, in a few lines.

Attributes of Snakemake's workflow are used here alone that have a public name and are not in its manual: ``basedir``
and the settings of the command line (``config_settings``, ``storage_settings``).
"""

import gc
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from narxbench._io.errors import NarxbenchError, printable
from narxbench._pipeline.plan import BASE, MAIN_STUDY, ROOT, Sources
from narxbench._pipeline.plans import plan_of
from narxbench._pipeline.run_record import note_start
from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._pipeline.steps import ended_in_one_line

# The variable by which this process tells those that it starts to plan without a word.
_PLANNED = "NARXBENCH_PLANNED"
_SHOWN = 5
# The study that this process has begun, with its summaries and what they stand for.
_SAID: list[tuple[SimulatedPlan, Sources]] = []


@ended_in_one_line()
def plan(workflow: Any, config: Mapping[str, Any]) -> SimulatedPlan:
    """Return the plan of the study on the command line, or of the ``config`` of a workflow that uses this one.

    Files and values of the command line are read again: Snakemake's reader accepts a key twice, and takes ``1:30`` for
    90.
    """
    note_start()
    if sys.flags.optimize > 1:
        raise NarxbenchError("PYTHONOPTIMIZE: found 2, which removes texts that pages show; allowed: 0 and 1")
    if workflow.storage_settings.default_storage_provider is not None:
        problem = f"found {workflow.storage_settings.default_storage_provider}"
        raise NarxbenchError(f"--default-storage-provider: {problem}; allowed: none: results lie in a folder of files")
    # The jobs of a plan live until the end: looking for garbage among them would take a third of the time of planning.
    gc.freeze()
    gc.set_threshold(100_000)
    if Path(workflow.basedir).resolve() in (ROOT, ROOT / "workflow"):
        settings = workflow.config_settings
        planned = plan_of(settings.configfiles, settings.config_args or ())
        overlays = [path for path in settings.configfiles if path.resolve() != Path(BASE).resolve()]
        if overlays and planned.name == MAIN_STUDY:
            problem = f"found {MAIN_STUDY!r}, the study of config/paper.yaml, whose results it would replace"
            raise NarxbenchError(f"{os.path.relpath(overlays[-1])}: study: {problem}; allowed: another name")
    else:
        planned = plan_of([], [], ("config of the module", config))
    with suppress(WorkflowError):  # jobs are computed elsewhere, and need no memory here
        planned.estimate.refuse(cores=workflow.cores)
    return planned


@ended_in_one_line()
def say(planned: SimulatedPlan, sources: Sources) -> None:
    """Say which study this is, what it costs, where its page is, and what has changed since results here were made.

    A data set or run file that was changed after its summary was made ends the run: ``sources`` has all summaries with
    these.
    """
    if _PLANNED in os.environ:
        return
    planned.check_sources(sources)
    os.environ[_PLANNED] = planned.name
    for name, reason in planned.left_out.items():
        sys.stderr.write(f"narxbench: the method {name} is left out: {reason}\n")
    former = planned.former_results()
    if former:
        sys.stderr.write(f"narxbench: {former}: results of an earlier version, which are not read; delete them\n")
    changed = planned.changed_definitions()
    for name, steps in list(changed.items())[:_SHOWN]:
        others = f" and {len(steps) - 1} more" if len(steps) > 1 else ""
        sys.stderr.write(f"narxbench: since the results here were made, {name} has changed: {steps[0]}{others}\n")
    if len(changed) > _SHOWN:
        sys.stderr.write(f"narxbench: {len(changed) - _SHOWN} more things have changed\n")
    cost = planned.estimate.line()
    sys.stderr.write(f"narxbench: study {planned.name}: {cost}; page: {planned.at(planned.page)}\n")
    _SAID.append((planned, sources))


@ended_in_one_line()
def say_answer() -> None:
    """Say at the end of a run where its page is, what it says, and how many runs have failed, if any have."""
    for planned, sources in _SAID:
        answer = planned.answer([result for result, _ in sources])
        if answer:
            sys.stderr.write(f"narxbench: {planned.at(planned.page)}: {answer}\n")
        failures = planned.failures(sources)
        if failures:
            runs = "1 run has" if len(failures) == 1 else f"{len(failures)} runs have"
            first = printable(failures[0], 300)
            sys.stderr.write(f"narxbench: {runs} failed; the first: {first}\n")
