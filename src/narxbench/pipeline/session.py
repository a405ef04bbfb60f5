"""The main process of a run: settings as Snakemake got them, its progress, and its end by a signal.

Two attributes of Snakemake's workflow are used here, and nowhere else, that have a public name and are not in its
manual: ``config_settings`` (the files and values of the command line) and ``basedir``. One more, the limiter of the
scheduler, is left alone where it is not to be found.
"""

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.shell import shell
from snakemake_interface_logger_plugins.common import LogEvent

from narxbench.experiment.layers import COMMAND_LINE
from narxbench.io.errors import NarxbenchError, show
from narxbench.pipeline import origin
from narxbench.pipeline.estimate import refuse
from narxbench.pipeline.kinds import plan_of
from narxbench.pipeline.plan import BASE, MAIN_STUDY, ROOT, StudyPlan
from narxbench.pipeline.steps import StepFailedError, ended_in_one_line

# The source of what a workflow gives that uses this one as a module.
MODULE = "config of the module"
# What this process tells those that it starts: they plan again, and say nothing of it.
_PLANNED = "NARXBENCH_PLANNED"
_SHOWN = {None, LogEvent.DEBUG_DAG, LogEvent.RULEGRAPH, LogEvent.RUN_INFO}
_NOISE = ("Select jobs to execute", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time")
_SECONDS_BETWEEN_LINES = 5.0
# As many jobs as anybody can start: profiles that say so mean no limit.
_UNLIMITED = 1_000_000


class Progress(logging.Filter):
    """One line of progress in place of some thirty for every job; all else passes.

    Snakemake's own log in .snakemake/log has every line.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failed = 0
        self.began = self.shown = time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        """Count the events of jobs and return whether the record is shown."""
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_ERROR:
            self.failed += 1
        if event == LogEvent.PROGRESS:
            self._show(record.__dict__["done"], record.__dict__["total"])
        if event == LogEvent.ERROR:
            # The step has reported its mistake in words.
            return StepFailedError.__name__ not in str(record.msg)
        noise = event not in _SHOWN or (event is None and str(record.msg).startswith(_NOISE))
        return record.levelno >= logging.WARNING or not noise

    def _show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done + self.failed < total and now - self.shown < _SECONDS_BETWEEN_LINES:
            return
        self.shown = now
        failed = f", {self.failed} failed" if self.failed else ""
        sys.stderr.write(f"{done} of {total} steps{failed}, {now - self.began:.0f} s\n")


@ended_in_one_line()
def plan(workflow: Any, config: Mapping[str, Any]) -> StudyPlan:
    """Return the plan of what the command line asks for; a mistake in it ends the process with one line.

    ``config``, which Snakemake has put together, counts where another workflow uses this one. Here the files and the
    values of the command line are read again: Snakemake's reader takes a key that is given twice, and ``1:30`` for 90.
    """
    # The jobs of a plan live until the end. To look through them for garbage, each time that some hundreds more are
    # made, would take a third of the time of planning.
    gc.freeze()
    gc.set_threshold(100_000)
    # A signal would end Python at once and leave the folder locked.
    for number in _ends():
        signal.signal(number, lambda *_: sys.exit("narxbench: ended while planning; repeat the command to go on."))
    if sys.stderr is None:
        # The next file that is opened would take its number, and get the words that are meant for it.
        print("narxbench: standard error: found closed; allowed: open, or 2>/dev/null")
        sys.exit(1)
    # Steps that are processes of their own use this checkout too, not a library that is installed elsewhere. The path
    # is relative to the folder that they run in, for a colon in it would end an entry.
    source = os.path.relpath(ROOT / "src")
    if os.pathsep in source:
        raise NarxbenchError(f"{show(source, kind=False)}: found a colon in the path; allowed: to work in that folder")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    given = workflow.config_settings
    here = Path(workflow.basedir).resolve() in (ROOT, ROOT / "workflow")
    planned = _asked(given.configfiles, given.config_args or ()) if here else plan_of([], [], (MODULE, config))
    with suppress(WorkflowError):  # jobs are computed elsewhere, and need no memory here
        refuse(planned.estimate, cores=workflow.cores)
    if _PLANNED not in os.environ:
        for name, reason in planned.left_out.items():
            sys.stderr.write(f"narxbench: the method {name} is left out: {reason}\n")
        sys.stderr.write(f"narxbench: {planned.estimate.line()}\n")
        os.environ[_PLANNED] = planned.study.study
    return planned


def _asked(overlays: Sequence[Path], command_line: Sequence[str]) -> StudyPlan:
    keys = [text.partition("=")[0] for text in command_line]
    if twice := next((key for i, key in enumerate(keys) if key in keys[:i]), None):
        raise NarxbenchError(f"{COMMAND_LINE}: {twice}: found twice; allowed: each key once")
    planned = plan_of(overlays, command_line)
    others = [path for path in overlays if path.resolve() != Path(BASE).resolve()]
    if others and planned.study.study == MAIN_STUDY:
        found = f"found {MAIN_STUDY!r}, the study of config/paper.yaml, whose results it would replace"
        raise NarxbenchError(f"{os.path.relpath(others[-1])}: study: {found}; allowed: another name")
    return planned


@ended_in_one_line()
def settle(planned: StudyPlan, manifest: str) -> None:
    """Note where the results lie, and what they may be of, when the rules have asked for what they need.

    ``manifest`` is the output of the rule of the manifest: a module may have a prefix.
    """
    planned.folder = manifest.removesuffix(planned.manifest)
    origin.settle(planned)


@ended_in_one_line()
def begin(workflow: Any, planned: StudyPlan) -> None:
    """Prepare the main process when its jobs are about to start."""
    origin.begin(planned)
    # Snakemake's own handler ends the run when the steps under way have ended. It has a thread of its own here: it
    # waits for a lock that the main thread may hold.
    end = signal.getsignal(signal.SIGTERM)
    if callable(end):
        for number in _ends():
            signal.signal(number, lambda *given: threading.Thread(target=end, args=given).start())
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)
        # A terminal sends it to all processes. Steps that have their own are under way too, or still importing.
        shell.prefix("trap '' INT; ")
    if not logger.isEnabledFor(logging.DEBUG):
        # Snakemake's log file has everything, and another logger that was asked for is left alone.
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
                handler.addFilter(Progress())
    # Each scheduling round arms a timer that starts another one for as long as there is a limit, however high, and each
    # looks at every waiting job. With thousands of short jobs this costs more than the searches.
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if getattr(limiter, "max_jobs", 0) >= _UNLIMITED:
        workflow.scheduler.job_rate_limiter = None


def end(planned: StudyPlan) -> None:
    """Say where to read on."""
    sys.stderr.write(f"narxbench: the page of this study is {planned.at(planned.page)}\n")


def _ends() -> list[signal.Signals]:
    # What batch systems and a terminal that is closed send; nohup keeps the latter off.
    return [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]


def _interrupted(*_: object) -> None:
    # The first Ctrl-C lets the steps under way end; another would meet Snakemake while it clears up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
