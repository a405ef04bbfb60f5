"""The main process of a run: settings as Snakemake got them, its progress, and its end by a signal.

Three attributes of Snakemake's workflow are used here alone that have a public name and are not in its manual:
``config_settings``, ``basedir``, and the limiter of the scheduler, which is left alone where it is not to be found.
"""

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.shell import shell
from snakemake_interface_logger_plugins.common import LogEvent

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import sha256
from narxbench._io.resources import refuse
from narxbench._pipeline import manifest as record
from narxbench._pipeline.plan import BASE, MAIN_STUDY, ROOT, StudyPlan
from narxbench._pipeline.plans import plan_of
from narxbench._pipeline.steps import StepFailedError, ended_in_one_line

# The variable by which this process tells those that it starts to plan without a word.
_PLANNED = "NARXBENCH_PLANNED"
_SHOWN = {None, LogEvent.DEBUG_DAG, LogEvent.RULEGRAPH, LogEvent.RUN_INFO}
_NOISE = ("Select jobs to execute", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time")
_SECONDS_BETWEEN_LINES = 5.0


class ProgressFilter(logging.Filter):
    """Shows a line of progress every few seconds; Snakemake's own log has some thirty for every job."""

    shown = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is shown."""
        event, values, now = getattr(record, "event", None), record.__dict__, time.monotonic()
        if event == LogEvent.PROGRESS:
            is_due = bool(values["done"] == values["total"] or now - self.shown > _SECONDS_BETWEEN_LINES)
            if is_due:
                self.shown = now
            return is_due
        if event == LogEvent.ERROR:
            # The step has reported its mistake in words.
            return StepFailedError.__name__ not in str(record.msg)
        is_noise = event not in _SHOWN or (event is None and str(record.msg).startswith(_NOISE))
        return record.levelno >= logging.WARNING or not is_noise


@ended_in_one_line()
def plan(workflow: Any, config: Mapping[str, Any]) -> StudyPlan:
    """Return the plan of the study on the command line, or of the ``config`` of a workflow that uses this one.

    Files and values of the command line are read again: Snakemake's reader accepts a key twice, and takes ``1:30`` for
    90.
    """
    # The jobs of a plan live until the end: looking for garbage among them would take a third of the time of planning.
    gc.freeze()
    gc.set_threshold(100_000)
    # By default a signal ends Python at once and leaves the folder locked.
    for number in _ending_signals():
        signal.signal(number, lambda *_: sys.exit("narxbench: ended while planning; repeat the command to go on."))
    # Steps that are processes of their own use this checkout too, not a library that is installed elsewhere. The path
    # is relative to the folder that they run in, for a colon in it would end an entry.
    source = os.path.relpath(ROOT / "src")
    if os.pathsep in source:
        raise NarxbenchError(f"{source!r}: found a colon in the path; allowed: to work in that folder")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    if Path(workflow.basedir).resolve() in (ROOT, ROOT / "workflow"):
        settings = workflow.config_settings
        planned = plan_of(settings.configfiles, settings.config_args or ())
        overlays = [path for path in settings.configfiles if path.resolve() != Path(BASE).resolve()]
        if overlays and planned.study.study == MAIN_STUDY:
            problem = f"found {MAIN_STUDY!r}, the study of config/paper.yaml, whose results it would replace"
            raise NarxbenchError(f"{os.path.relpath(overlays[-1])}: study: {problem}; allowed: another name")
    else:
        planned = plan_of([], [], ("config of the module", config))
    with suppress(WorkflowError):  # jobs are computed elsewhere, and need no memory here
        refuse(planned.estimate, cores=workflow.cores)
    if _PLANNED not in os.environ:
        for name, reason in planned.left_out.items():
            sys.stderr.write(f"narxbench: the method {name} is left out: {reason}\n")
        sys.stderr.write(f"narxbench: {planned.estimate.line()}\n")
        os.environ[_PLANNED] = planned.study.study
    return planned


@ended_in_one_line()
def settle(planned: StudyPlan, manifest: str) -> None:
    """Note where the results lie, by the output of the manifest's rule, and whether Snakemake knows them."""
    planned.folder = manifest.removesuffix(planned.manifest)
    if planned.folder:
        planned.memory += f"-{sha256(planned.folder)[:8]}"
    record.settle(planned)


@ended_in_one_line()
def begin(workflow: Any, planned: StudyPlan) -> None:
    """Prepare the main process when its jobs are about to start."""
    record.begin(planned)
    # Snakemake's own handler ends the run when the steps under way have ended. It has a thread of its own here: it
    # waits for a lock that the main thread may hold.
    end = signal.getsignal(signal.SIGTERM)
    if callable(end):
        for number in _ending_signals():
            signal.signal(number, lambda *received: threading.Thread(target=end, args=received).start())
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)
        # A terminal sends it to all processes. Steps that have their own are under way too, or still importing.
        shell.prefix("trap '' INT; ")
    if not logger.isEnabledFor(logging.DEBUG):
        # Snakemake's log file has everything, and another logger that was asked for is left alone.
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
                handler.addFilter(ProgressFilter())
    # As long as there is a limit, however high, each scheduling round arms a timer that starts another one. Profiles
    # that allow a million jobs mean no limit.
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if getattr(limiter, "max_jobs", 0) >= 1_000_000:
        workflow.scheduler.job_rate_limiter = None


def end(planned: StudyPlan) -> None:
    """Say where the page of the study is."""
    sys.stderr.write(f"narxbench: the page of this study is {planned.at(planned.page)}\n")


def _ending_signals() -> list[signal.Signals]:
    """Return the signals of batch systems and of a terminal that is closed; nohup keeps the latter off."""
    return [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]


def _interrupted(*_: object) -> None:
    """Let the steps under way end at the first Ctrl-C; another would meet Snakemake while it clears up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
