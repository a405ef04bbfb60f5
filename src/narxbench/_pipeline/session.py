"""The beginning of a run: the plan of the study that Snakemake was asked for, and what it costs, in a few lines.

Attributes of Snakemake's workflow are used here alone that have a public name and are not in its manual: ``basedir``,
the settings of the command line (``config_settings``, ``storage_settings``), and the ``scheduler``.
"""

import gc
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from narxbench._io.errors import NarxbenchError, printable
from narxbench._io.files import read_text
from narxbench._pipeline.plan import BASE, MAIN_STUDY, ROOT, Plan, plan_of
from narxbench._pipeline.run_record import note_start
from narxbench._pipeline.sources import Sources
from narxbench._pipeline.steps import ended_in_one_line

# The variable by which this process tells those that it starts to plan without a word.
_PLANNED = "NARXBENCH_PLANNED"
# Where Snakemake keeps the parameters and the code that each file was made with, below the working folder.
_RECORDS = Path(".snakemake/metadata")
# The target that needs no such records: it compares contents.
_VERIFY = "verify"
# The study that this process has begun, with its summaries and its page.
_SAID: list[tuple[Plan, Sources, str]] = []


@ended_in_one_line()
def plan(workflow: Any, config: Mapping[str, Any]) -> Plan:
    """Return the plan of the study that ``config`` sets, here or in a workflow that uses this one."""
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
        planned = plan_of(settings.configfiles, settings.config_args or (), config)
        overlays = [path for path in settings.configfiles if path.resolve() != Path(BASE).resolve()]
        if overlays and planned.name == MAIN_STUDY:
            problem = f"found {MAIN_STUDY!r}, the study of config/paper.yaml, whose results it would replace"
            raise NarxbenchError(f"{os.path.relpath(overlays[-1])}: study: {problem}; allowed: another name")
    else:
        planned = plan_of(config=config)
    with suppress(WorkflowError):  # jobs are computed elsewhere, and need no memory here
        planned.estimate.refuse(cores=workflow.cores)
    return planned


@ended_in_one_line()
def say(planned: Plan, sources: Sources, page: str) -> None:
    """Say which study this is, what it costs, and where its page is.

    Ends the run where files here cannot be trusted: a data set or run file that was changed after its summary was made,
    and results without Snakemake's records of what they were made with.
    """
    if _PLANNED in os.environ:
        return
    _check_records(planned.name, sources)
    sources.check()
    os.environ[_PLANNED] = planned.name
    for name, reason in planned.left_out.items():
        sys.stderr.write(f"narxbench: the method {name} is left out: {reason}\n")
    cost = planned.estimate.line()
    sys.stderr.write(f"narxbench: study {planned.name}: {cost}; page: {sources.at(page)}\n")
    _SAID.append((planned, sources, page))


def _check_records(study: str, sources: Sources) -> None:
    """Raise NarxbenchError where results are here of which Snakemake has no records.

    Without records it would take them for results of the present settings and code, whatever they were made with.
    """
    if any(_RECORDS.glob("*")) or _VERIFY in sys.argv or not sources.exist():
        return
    folder = sources.at(f"data/{study}")
    raise NarxbenchError(
        f"{folder}: found results without Snakemake's records of what they were made with ({_RECORDS}); bring these "
        f"back, or delete the results; snakemake {_VERIFY} compares them as they are"
    )


def stop_timers(workflow: Any) -> None:
    """Keep Snakemake from waking its scheduler by timers, where ``--max-jobs-per-timespan`` allows all jobs at once.

    The option has no word for no limit. Under any limit each job that ends starts one more timer, which has the
    scheduler choose among the jobs every second until the end. The study of the paper takes 1.47 times the CPU time of
    its searches with them, and 1.25 times without. The page ``docs/snakemake_timers.md`` shows it with a workflow of a
    few lines.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter is not None and limiter.max_jobs >= len(workflow.dag):
        workflow.scheduler.job_rate_limiter = None


@ended_in_one_line()
def say_answer() -> None:
    """Say at the end of a run where its page is, what the page says, and how many runs have failed, if any have."""
    for planned, sources, page in _SAID:
        answer = _answer(Path(sources.at(f"data/{planned.name}/pages/answer.txt")), map(sources.at, sources.summaries))
        if answer:
            sys.stderr.write(f"narxbench: {sources.at(page)}: {answer}\n")
        failures = sources.failures()
        if failures:
            runs = "1 run has" if len(failures) == 1 else f"{len(failures)} runs have"
            first = printable(failures[0], 300)
            sys.stderr.write(f"narxbench: {runs} failed; the first: {first}\n")


def _answer(file: Path, results: Iterable[str]) -> str:
    """Return what the page says in a line, or "" where it says nothing, or is older than one of the results."""
    if not file.is_file():
        return ""
    written = file.stat().st_mtime
    is_current = all(path.is_file() and path.stat().st_mtime <= written for path in map(Path, results))
    return read_text(file).strip() if is_current else ""
