"""Snakemake logger plugin: one line of progress in place of some thirty for every job."""

import argparse
import errno
import logging
import os
import re
import shutil
import sys
import time
from collections import deque
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# One rule for runs of a single seed, one for each block of seeds that a cluster's job runs.
_SEARCH = re.compile(r"search(_\d+_to_\d+)?")
TERMINAL_INTERVAL = 0.25
PLAIN_INTERVAL = 10.0
# Searches of one cell take alike, those of different systems do not: only the latest tell how long the rest takes.
RECENT_SEARCHES = 200
FEWEST_SEARCHES = 5

_TOLD_BY_PROGRESS = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RUN_INFO,
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.GROUP_INFO,
    LogEvent.PROGRESS,
    LogEvent.RESOURCES_INFO,
}
_NOISE = (
    "Assuming unrestricted shared filesystem usage",
    "Building DAG of jobs",
    "Using shell:",
    "Select jobs to execute",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Group jobs: inactive",
    "host: ",
    "Removing temporary output",
    "Elapsed time:",
)
# What tells that Snakemake could not read a file of --configfile, in its message or in the traceback that it shows.
_UNREADABLE_CONFIG = ("Config file ", "load_configfile")
# The file that a process holds while it makes files in the folder; the kernel takes it back when the process ends.
HELD = ".snakemake/held"
# What Snakemake says when it finds the lock of another process, running or killed.
_LOCKED = "Directory cannot be locked"
# Where its traceback ends when another process makes or removes locks while it does.
_LOCKS_CHANGED = re.compile(r"in _(?:read|write|delete)_locks\n.*(?:FileNotFoundError|Directory not empty)", re.DOTALL)
# What Snakemake shows of a mistake that the library told in words: the place in the code, the words, the way there.
_TOLD = re.compile(
    r"RuleException:\n(?:NarxbenchError|SettingsError) in file .*, line \d+:\n(?P<told>.*?)(?:\n  File .*)*", re.DOTALL
)
# What it adds to the last words of a script, which are above it, or to its end by SIGHUP, SIGINT or SIGTERM.
_SCRIPT_ENDED = re.compile(
    r"RuleException:\nCalledProcessError .*\.snakemake/scripts/.*exit status (?:1|129|130|143)\.", re.DOTALL
)
# The end of the traceback that Snakemake shows when it cannot write a file of its own; what the user can change.
_SYSTEM_ERROR = re.compile(r"^(?:OS|Permission)Error: \[Errno (\d+)\] [^:\n]+(?:: '([^'\n]+)')?\s*\Z", re.MULTILINE)
_NOT_WRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
_logs_not_written: set[str] = set()
# Failed jobs that are named at the end.
_NAMED_FAILURES = 10
# How Snakemake spells a message that it does not have.
_EMPTY = (None, "", "None", "Shell command: None")


def duration(seconds: float) -> str:
    """Return a length of time in words: ``40 s``, ``1 min 40 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def mistake_in_config_files(arguments: list[str]) -> str | None:
    """Return what is wrong with the files of ``--configfile``, which Snakemake reads before the workflow can."""
    from narxbench.config import check_config_files
    from narxbench.errors import NarxbenchError

    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    try:
        check_config_files(options.parse_known_args(arguments)[0].configfile)
    except NarxbenchError as mistake:
        return f"narxbench: {mistake}"
    return None


def lock_explained() -> str:
    """Return why the folder is locked and what to do: wait for the process that has it, or clear what a kill left."""
    from narxbench.files import hold

    others = processes_here()
    if others or not hold(HELD):
        who = f"as process {', '.join(others)}" if others else "on another machine"
        return (
            f"narxbench: snakemake is already making these files in this folder, {who}; "
            "wait until it has ended, then repeat the command. Nothing was changed."
        )
    return (
        "narxbench: this folder is locked, but no snakemake of this machine runs in it: an earlier one was killed.\n"
        "Nothing is lost. If none runs on another machine either, unlock the folder, then repeat the command:\n"
        "    snakemake --unlock"
    )


def not_written(text: str) -> str | None:
    """Return in one line why Snakemake could not write a file of its own, of which it shows a traceback."""
    found = _SYSTEM_ERROR.search(text)
    if "Traceback" not in text or found is None or int(found[1]) not in _NOT_WRITABLE:
        return None
    return _cannot_be_written(found[2] or ".snakemake", os.strerror(int(found[1])))


def _cannot_be_written(path: str, reason: str | None) -> str:
    from narxbench.files import cannot_be_written

    return f"narxbench: {cannot_be_written(path, reason)}"


def log_not_written(handler: logging.Handler, record: logging.LogRecord) -> None:
    """Say once that Snakemake's log file cannot be written, in place of a traceback for each of its lines."""
    error, file = sys.exc_info()[1], str(getattr(handler, "baseFilename", ""))
    if not isinstance(error, OSError):
        logging.Handler.handleError(handler, record)
    elif file not in _logs_not_written:
        _logs_not_written.add(file)
        sys.stderr.write(_cannot_be_written(file, error.strerror) + "\n")


def cluster_logs(record: Any) -> list[str]:
    """Return the logs that a cluster's job has left, of profiles/slurm or of profiles/cluster."""
    job = (record.aux or {}).get("external_jobid")
    named = [log for log in record.log or () if os.path.basename(log) == f"{job}.log"]
    return [log for log in (*named, f".snakemake/cluster-{job}.log") if os.path.exists(log)]


def processes_here() -> list[str]:
    """Return the numbers of the other Snakemake processes that work in the current folder."""
    import psutil  # type: ignore[import-untyped]

    # A process that ends while it is looked at, or that belongs to someone else, shows nothing.
    seen = [process.info for process in psutil.process_iter(["pid", "cwd", "cmdline"])]
    return [
        str(info["pid"])
        for info in seen
        if info["pid"] != os.getpid() and info["cwd"] == os.getcwd() and _is_snakemake(info["cmdline"] or [])
    ]


def _is_snakemake(command: list[str]) -> bool:
    # A launcher such as `uv run snakemake` is not Snakemake itself, which Python runs as a script or a module.
    return (
        os.path.basename(command[0]).startswith("python")
        and any(os.path.basename(word) == "snakemake" for word in command[1:3])
        if command
        else False
    )


class Progress:
    """Counts of the jobs of a run, from Snakemake's events. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.searches = self.others = 0
        self.searches_done = self.others_done = 0
        self.started: float | None = None
        self.blocks = False  # whether a job of searches runs several seeds
        self.failed: set[int] = set()
        # Rule and wildcards of the jobs under way: later events give only the number.
        self.running: dict[int, tuple[str, str]] = {}
        self._finished: deque[float] = deque(maxlen=RECENT_SEARCHES)

    def planned(self, stats: dict[str, int], now: float) -> None:
        """Take the number of jobs per rule; ``total`` counts all."""
        self.searches = sum(jobs for rule, jobs in stats.items() if _SEARCH.fullmatch(rule))
        self.blocks = self.searches > stats.get("search", 0)
        self.others = stats.get("total", 0) - self.searches
        self.started = now

    def begun(self, job: int, rule: str, wildcards: str) -> None:
        """Note a job that starts."""
        self.running[job] = (rule, wildcards)

    def finished(self, job: int, now: float) -> None:
        """Count a finished job; one that failed before a successful retry counts as done only."""
        self.failed.discard(job)
        if _SEARCH.fullmatch(self.running.pop(job, ("", ""))[0]):
            self.searches_done += 1
            self._finished.append(now)
        else:
            self.others_done += 1

    def seconds_left(self) -> float | None:
        """Return the estimate for the remaining searches, None when there is nothing to go by."""
        if len(self._finished) < FEWEST_SEARCHES or self.searches_done >= self.searches:
            return None
        each = (self._finished[-1] - self._finished[0]) / (len(self._finished) - 1)
        return each * (self.searches - self.searches_done)

    def failures(self) -> list[str]:
        """Return rule and wildcards of the jobs that failed, the first ten by name."""
        named = sorted(": ".join(filter(None, self.running.get(job, ("", "")))) for job in self.failed)
        more = len(named) - _NAMED_FAILURES
        return [f"failed: {name}" for name in named[:_NAMED_FAILURES]] + ([f"failed: {more} more"] if more > 0 else [])

    def line(self, elapsed: float | None = None) -> str:
        """Return the line of progress; with ``elapsed`` seconds, the final one."""
        searches = "jobs of searches" if self.blocks else "searches"
        parts = [f"{searches} {self.searches_done}/{self.searches}"] if self.searches else []
        if self.others:
            parts.append(f"{'other steps' if parts else 'steps'} {self.others_done}/{self.others}")
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        left = self.seconds_left()
        if elapsed is not None:
            parts.append(f"time taken {duration(elapsed)}")
        elif left is not None:
            parts.append(f"{duration(left)} left")
        return " · ".join(parts)


class LogHandler(LogHandlerBase):
    """Shows the progress; errors, warnings and all else worth reading go through Snakemake's own formatting."""

    def __post_init__(self) -> None:
        """Set up Snakemake's own handler for what is shown in full."""
        options = self.common_settings
        self.stream = sys.stdout if options.stdout else sys.stderr
        self.quiet = set(options.quiet or ())
        self.shown = DefaultFilter(
            self.quiet, options.debug_dag, options.verbose, options.dryrun, options.printshellcmds
        )
        self.full = ColorizingTextHandler(
            nocolor=options.nocolor,
            stream=self.stream,
            formatter=DefaultFormatter(self.quiet, options.show_failed_logs),
        )
        # A dry-run is there to be read, and --verbose asks for everything.
        self.everything = options.dryrun or options.verbose or options.debug_dag
        self.terminal = self.full.is_tty
        self.progress = Progress()
        self.silent = self.everything or bool(self.quiet & {Quietness.ALL, Quietness.PROGRESS})
        self.last_shown = float("-inf")
        self.on_screen = False
        # Snakemake makes the handler of its log file later, and its first line may fail.
        logging.FileHandler.handleError = log_not_written  # type: ignore[assignment,method-assign]

    def emit(self, record: logging.LogRecord) -> None:
        """Count the record, and show it in full or as progress."""
        try:
            event = getattr(record, "event", None)
            self._count(event, record)
            if self.everything or not self._told_by_progress(event, record):
                self._show_in_full(event, record)
            if event in (LogEvent.JOB_FINISHED, LogEvent.JOB_ERROR, LogEvent.RUN_INFO):
                self._show_progress()
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Show the final counts and the time taken."""
        started, self.progress.started = self.progress.started, None
        if started is not None and not self.silent:
            self._clear()
            lines = [*self.progress.failures(), self.progress.line(elapsed=time.monotonic() - started)]
            self.stream.write("\n".join(lines) + "\n")
            self.stream.flush()
        super().close()

    def _count(self, event: LogEvent | None, record: Any) -> None:
        now = time.monotonic()
        if event == LogEvent.JOB_INFO:
            wildcards = ", ".join(f"{name}={value}" for name, value in (record.wildcards or {}).items())
            self.progress.begun(record.jobid, record.rule_name, wildcards)
        elif event == LogEvent.JOB_FINISHED:
            self.progress.finished(record.job_id, now)
        elif event == LogEvent.JOB_ERROR:
            self.progress.failed.add(record.jobid)
        elif event == LogEvent.RUN_INFO:
            self.progress.planned(record.stats, now)

    def _told_by_progress(self, event: LogEvent | None, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            return False
        return event in _TOLD_BY_PROGRESS or (event is None and str(record.msg).startswith(_NOISE))

    def _show_in_full(self, event: LogEvent | None, record: logging.LogRecord) -> None:
        if not self.shown.filter(record):
            return
        if event == LogEvent.JOB_ERROR and (logs := cluster_logs(record)):
            # Snakemake shows logs up to the first that is empty or missing; that of the cluster comes last, if at all.
            record = logging.makeLogRecord(record.__dict__ | {"log": logs})
        text = self.full.format(record)
        if text in _EMPTY or _SCRIPT_ENDED.fullmatch(text):
            return
        if event == LogEvent.JOB_ERROR:
            text = self._with_wildcards(text, record)
        elif mistake := _TOLD.fullmatch(text):
            text = f"narxbench: {mistake['told']}"
        elif event == LogEvent.ERROR and any(sign in text for sign in _UNREADABLE_CONFIG):
            text = mistake_in_config_files(sys.argv[1:]) or text
        elif event == LogEvent.ERROR and _LOCKED in text:
            text = lock_explained()
            # Two that began in the same moment have both counted their jobs.
            self.progress.started = None
        elif event == LogEvent.ERROR and _LOCKS_CHANGED.search(text):
            text = (
                "narxbench: another snakemake began or ended in this folder in the same moment. "
                "Nothing is lost; repeat the command."
            )
        elif event == LogEvent.ERROR:
            text = not_written(text) or text
        taken_back = self._clear()
        self.stream.write(self.full.decorate(record, text) + "\n")
        self.stream.flush()
        if taken_back:
            self.last_shown = float("-inf")
            self._show_progress()

    def _with_wildcards(self, text: str, record: Any) -> str:
        # Snakemake names the files of a failed job, but not its wildcards.
        _, wildcards = self.progress.running.get(record.jobid, ("", ""))
        line = f"    jobid: {record.jobid}\n"
        return text.replace(line, f"{line}    wildcards: {wildcards}\n", 1) if wildcards else text

    def _show_progress(self) -> None:
        now = time.monotonic()
        interval = TERMINAL_INTERVAL if self.terminal else PLAIN_INTERVAL
        if self.silent or now - self.last_shown < interval:
            return
        self.last_shown = now
        line = self.progress.line()
        if self.terminal:
            # A line that wraps could not be taken back.
            self.stream.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
            self.on_screen = True
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def _clear(self) -> bool:
        was_on_screen, self.on_screen = self.on_screen, False
        if was_on_screen:
            self.stream.write("\r\x1b[K")
        return was_on_screen

    @property
    def writes_to_stream(self) -> bool:
        """Whether this plugin takes the place of Snakemake's output."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Whether this plugin writes a log file; Snakemake's own in .snakemake/log stays complete."""
        return False

    @property
    def has_filter(self) -> bool:
        """Whether this plugin filters by itself; it must count what --quiet hides."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Whether this plugin formats by itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """Whether this plugin needs the graph of rules."""
        return False
