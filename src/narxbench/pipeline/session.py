"""The main process of a run: its end by a signal, its progress, and what makes thousands of short jobs quick."""

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snakemake.logging import logger
from snakemake.settings.types import RerunTrigger
from snakemake.shell import shell
from snakemake_interface_executor_plugins.settings import ExecMode
from snakemake_interface_logger_plugins.common import LogEvent

from narxbench.io.errors import NarxbenchError, show
from narxbench.io.words import some
from narxbench.io.yaml import read_mapping
from narxbench.pipeline.estimate import refuse
from narxbench.pipeline.machine import check_files, file_system_time
from narxbench.pipeline.origin import (
    Origin,
    Stamps,
    changed,
    check_origin,
    origin,
    read_record,
    stamps,
    write_record,
)
from narxbench.pipeline.plan import Plan, StudyPlan
from narxbench.pipeline.steps import StepFailedError

if TYPE_CHECKING:
    from narxbench.pipeline.measured_plan import MeasuredPlan

# What a batch system and a terminal that is closed send; nohup keeps the latter off.
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_TOLD = {None, LogEvent.DEBUG_DAG, LogEvent.RULEGRAPH}
_NOISE = ("Select jobs to execute", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time")
_SECONDS_BETWEEN_LINES = 5.0


def _at_an_end(handler: Callable[..., object]) -> None:
    for number in _ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _interrupted(*_: object) -> None:
    # The first Ctrl-C lets the steps under way end; another would meet Snakemake while it clears up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


class Progress(logging.Filter):
    """One line of progress in place of some thirty for every job; all else passes.

    Snakemake's own log in .snakemake/log has every line.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = self.done = self.failed = 0
        self.began = self.shown = time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        """Count the events of jobs and tell whether the record is shown."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.total = record.__dict__["stats"].get("total", 0)
        elif event == LogEvent.JOB_FINISHED:
            self.done += 1
        elif event == LogEvent.JOB_ERROR:
            self.failed += 1
        if event in (LogEvent.JOB_FINISHED, LogEvent.JOB_ERROR):
            self._show()
        if event == LogEvent.ERROR:
            # The step has told its mistake in words.
            return StepFailedError.__name__ not in str(record.msg)
        noise = event not in _TOLD or (event is None and str(record.msg).startswith(_NOISE))
        return record.levelno >= logging.WARNING or not noise

    def _show(self) -> None:
        now = time.monotonic()
        if self.done + self.failed < self.total and now - self.shown < _SECONDS_BETWEEN_LINES:
            return
        self.shown = now
        failed = f", {self.failed} failed" if self.failed else ""
        sys.stderr.write(f"{self.done} of {self.total} steps{failed}, {now - self.began:.0f} s\n")


def plan_of(overlays: Sequence[str | Path], command_line: Sequence[str]) -> "Plan | MeasuredPlan":
    """Return the plan of the kind of study that some settings are of, by their page or by what only one kind has.

    Raises
    ------
    NarxbenchError
        One line for each mistake in the settings.
    """
    layers = [read_mapping(path) for path in overlays]
    measured = any(layer.get("page") == "measured" or "identification" in layer for layer in layers)
    if not measured and "page=measured" not in command_line:
        return Plan(overlays, command_line)
    # What identifies takes a second to import.
    from threadpoolctl import threadpool_limits

    from narxbench.pipeline.measured_plan import MeasuredPlan

    # With more threads BLAS sums in an order that depends on their number, and they wait for those of other jobs.
    threadpool_limits(1, user_api="blas")
    return MeasuredPlan(overlays, command_line)


def plan(workflow: Any) -> "Plan | MeasuredPlan":
    """Return the plan of what the command line asks for; a mistake in it ends the process with one line."""
    # The jobs of a plan live until the end. To look through them for garbage, each time that some hundreds more are
    # made, would take a third of the time of planning.
    gc.freeze()
    gc.set_threshold(100_000)
    # A signal would end Python at once and leave the folder locked.
    _at_an_end(lambda *_: sys.exit("narxbench: ended while planning; repeat the command to go on."))
    if sys.stderr is None:
        # The next file that is opened would take its number, and get the words that are meant for it.
        print("narxbench: standard error: found closed; allowed: open, or 2>/dev/null")
        sys.exit(1)
    # Steps that are processes of their own use this checkout too, not a library that is installed elsewhere. The path
    # is relative to the folder that they run in, for a colon in it would end an entry.
    source = os.path.relpath(f"{workflow.basedir}/src")
    if os.pathsep in source:
        sys.exit(f"narxbench: {show(source, kind=False)}: found a colon in the path; allowed: to work in that folder")
    paths = [source, os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if not (workflow.output_settings.dryrun or workflow.output_settings.verbose):
        # Another logger that was asked for is left alone.
        for handler in logger.handlers:
            if handler.name == "DefaultStreamHandler":
                handler.addFilter(Progress())
    try:
        if workflow.exec_mode == ExecMode.DEFAULT:
            file_system_time()  # a folder that cannot be written is told before Snakemake meets it
        planned = plan_of(workflow.overwrite_configfiles, workflow.config_settings.config_args or ())
        # What is computed elsewhere needs no memory here.
        refuse(planned.estimate, cores=workflow.resource_settings.cores or 1 if workflow.local_exec else 1)
    except NarxbenchError as mistake:
        sys.exit(f"narxbench: {mistake}")
    for name, reason in planned.left_out.items():
        sys.stderr.write(f"narxbench: the method {name} is left out: {reason}\n")
    return planned


class Watch:
    """Keeps the record of what the results of a study were made of, in the main process of a run.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, with all its rules.
    planned : StudyPlan
        The plan of the study.
    """

    def __init__(self, workflow: Any, planned: StudyPlan) -> None:
        self._workflow, self._plan = workflow, planned
        self._before: Stamps = {}
        self._now: Origin = {}
        if workflow.exec_mode == ExecMode.DEFAULT:
            self._before = stamps(planned)
            # Only here are all options of the command line known, and nothing is locked yet.
            build = workflow._build_dag

            def checked() -> None:
                self._check()
                build()

            workflow._build_dag = checked

    def _check(self) -> None:
        if self._workflow.execution_settings is None:
            return  # no run: --unlock and the like
        try:
            check_files(self._plan)
            self._now = origin(self._plan)
            if not self._workflow.dag_settings.forceall:
                check_origin(self._plan, self._now, self._known)
        except NarxbenchError as mistake:
            sys.exit(f"narxbench: {mistake}")
        sys.stderr.write(f"narxbench: {self._plan.estimate.line()}\n")

    def _known(self, path: str) -> bool:
        compares = RerunTrigger.PARAMS in self._workflow.rerun_triggers
        record = self._workflow.persistence._read_record(path) if compares else None
        return record is not None and record.params is not None

    def begin(self) -> None:
        """Note what is about to be made, beside what results may be left of."""
        if self._now:
            record = read_record(self._plan)
            former, code_changed = (record.made_with, record.code_changed) if record else ([], [])
            write_record(self._plan, [self._now, *former], code_changed)

    def end(self, success: bool) -> None:
        """Note that all is made of the same; code that was changed meanwhile ends the process with one line."""
        if not self._now:
            return
        asked = self._workflow.dag_settings
        complete = set(asked.targets) <= {"all"} and not (asked.until or asked.omit_from or asked.batch)
        partly = not (success and complete) or self._workflow.touch or self._plan.finished_only
        written = changed(self._before, stamps(self._plan))
        record = read_record(self._plan)
        if record and partly:
            write_record(self._plan, record.made_with, [*record.code_changed, *written])
        else:
            write_record(self._plan, [self._now], written)
        if written:
            told = (
                f"code was changed while results were made ({some(written, 'files')}); which of it made them is unknown"
            )
            sys.exit(f"narxbench: {told}; repeat the command with --forceall, which makes all anew")


def begin(workflow: Any) -> None:
    """Prepare the main process when its jobs are about to start."""
    # In a thread of its own: Snakemake's handler would wait for a lock that the main thread may hold.
    _at_an_end(lambda *_: threading.Thread(target=workflow.scheduler.exit_gracefully).start())
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)
        # A terminal sends it to all processes. Steps that have their own are under way too, or still importing.
        shell.prefix("trap '' INT; ")
    # By default each scheduling round arms a timer that starts another one, and each round looks at every waiting job:
    # with thousands of short jobs this costs more than the searches. The limiter protects remote schedulers only.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
