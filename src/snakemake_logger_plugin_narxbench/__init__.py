"""A logger of Snakemake for thousands of short jobs: ``snakemake --logger narxbench``, as ``profiles/default`` asks.

It shows what Snakemake shows, but writes a line of progress every few seconds in place of about thirty lines for each
job. Warnings and errors are shown, and so is every line of a dry run and of ``--verbose``. The last lines of a run that
fails name the steps that failed and their logs.

Snakemake loads this before the Snakefile, which says which checkout of narxbench is used. So modules of narxbench are
imported only when lines are written.
"""

import logging
import sys
import time
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# The events that are shown; None has plain messages.
_SHOWN_EVENTS = {None, LogEvent.PROGRESS, LogEvent.RULEGRAPH, LogEvent.RUN_INFO}
_NOISE = ("Select jobs", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time", "Complete log")
_SECONDS_BETWEEN_LINES = 5.0
# Shorter estimates, of three lines, are not given as a number.
_SOON = 3 * _SECONDS_BETWEEN_LINES
# The exception of a step that has reported its mistake in words already.
_REPORTED = "StepFailedError"


class LogHandler(LogHandlerBase, logging.StreamHandler[TextIO]):
    """Writes the lines that a person wants to see to the terminal, in Snakemake's own words."""

    writes_to_stream = has_filter = True
    writes_to_file = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        logging.StreamHandler.__init__(self, stream=sys.stdout if self.common_settings.stdout else sys.stderr)
        self._begin = self._last_line = time.time()
        # How many steps were done, and when.
        self._done = [(0, self._begin)]
        self._failed_steps: dict[int, str] = {}
        self.addFilter(self._is_shown)

    def handle(self, record: logging.LogRecord) -> bool:
        """Take note of what a record says about steps, and write it if it is shown."""
        values = record.__dict__
        match values.get("event"):
            case LogEvent.JOB_FINISHED:
                # Another attempt has made it.
                self._failed_steps.pop(values["job_id"], None)
            case LogEvent.JOB_ERROR:
                log = ", ".join(values["log"]) or "none"
                self._failed_steps[values["jobid"]] = f"{values['rule_name']}; log: {log}"
            case LogEvent.PROGRESS if values["done"] > self._done[-1][0]:
                self._done.append((values["done"], record.created))
        return bool(super().handle(record))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless it is empty."""
        if getattr(record, "event", None) == LogEvent.PROGRESS:
            self.stream.write(f"{self._progress(record)}\n")
            self.flush()
        elif self.format(record).strip():
            logging.StreamHandler.emit(self, record)

    def close(self) -> None:
        """Write which steps failed, below all other lines."""
        from narxbench._io.words import SHOWN

        for step in list(self._failed_steps.values())[:SHOWN]:
            self.stream.write(f"failed: {step}\n")
        hidden = len(self._failed_steps) - SHOWN
        if hidden > 0:
            self.stream.write(f"failed: {hidden} more steps; the complete log names them\n")
        self._failed_steps.clear()
        super().close()

    def _is_shown(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown."""
        event, settings = getattr(record, "event", None), self.common_settings
        if event == LogEvent.SHELLCMD:
            return settings.printshellcmds
        if event == LogEvent.DEBUG_DAG:
            return settings.debug_dag
        if event == LogEvent.ERROR:
            return _REPORTED not in str(record.msg)
        if settings.verbose or record.levelno >= logging.WARNING:
            return True
        if settings.dryrun:
            return event != LogEvent.WORKFLOW_STARTED
        if event == LogEvent.PROGRESS:
            return self._is_due(record)
        return event in _SHOWN_EVENTS and not (event is None and str(record.msg).startswith(_NOISE))

    def _is_due(self, record: logging.LogRecord) -> bool:
        """Return whether a line of progress is due: every few seconds, and at the end."""
        is_last = bool(record.__dict__["done"] == record.__dict__["total"])
        is_due = is_last or record.created - self._last_line > _SECONDS_BETWEEN_LINES
        if is_due:
            self._last_line = record.created
        return is_due

    def _progress(self, record: logging.LogRecord) -> str:
        """Return how many steps are done, how long they took, and how long the others take at the pace of late."""
        from narxbench._report.status_line import KNOWN_SHARE

        done, total = record.__dict__["done"], record.__dict__["total"]
        line = f"{done} of {total} steps ({done / total:.0%}) done in {record.created - self._begin:.0f} s"
        if done == total or done < KNOWN_SHARE * total:
            return line
        earlier, then = self._done[(len(self._done) - 1) // 2]
        seconds_to_go = (total - done) * (record.created - then) / (done - earlier)
        return line + (f", about {seconds_to_go:.0f} s to go" if seconds_to_go > _SOON else ", some seconds to go")
