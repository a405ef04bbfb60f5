"""A logger of Snakemake for thousands of short jobs: ``snakemake --logger narxbench``, as ``profiles/default`` asks.

It shows what Snakemake shows, but writes a line of progress every few seconds in place of about thirty lines for each
job. Warnings and errors are shown, and so is every line of a dry run and of ``--verbose``. The last lines of a run that
fails name the steps that failed and their logs.
"""

import logging
import sys
import time
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_narxbench.pace import Pace

# The events that are shown; None has plain messages.
_SHOWN = {None, LogEvent.RULEGRAPH, LogEvent.RUN_INFO}
_NOISE = ("Select jobs", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time", "Complete log")
_SECONDS_BETWEEN_LINES = 5.0
# Shorter estimates are not given as a number.
_SOON = 15.0
_SHOWN_FAILURES = 5
# The exception of a step that has reported its mistake in words already.
_REPORTED = "StepFailedError"


class LogHandler(LogHandlerBase, logging.StreamHandler[TextIO]):
    """Writes the lines that a person wants to see to the terminal."""

    def __post_init__(self) -> None:
        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        logging.StreamHandler.__init__(self, stream=stream)
        self._begin = self._last_line = time.time()
        self._pace = Pace(self._begin)
        self._rules: dict[int, str] = {}
        self._failed_steps: dict[int, str] = {}
        self.addFilter(self._is_shown)

    @property
    def writes_to_stream(self) -> bool:
        """Whether it takes the place of Snakemake's own lines on the terminal."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Whether it takes the place of Snakemake's log file."""
        return False

    @property
    def has_filter(self) -> bool:
        """Whether it decides itself what is shown."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Whether it words the lines itself; they are Snakemake's own."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """Whether it needs the graph of the rules."""
        return False

    def handle(self, record: logging.LogRecord) -> bool:
        """Take note of what a record says about steps, and write it if it is shown."""
        self._note(record)
        return bool(super().handle(record))

    def close(self) -> None:
        """Write which steps failed, below all other lines."""
        for step in list(self._failed_steps.values())[:_SHOWN_FAILURES]:
            self.stream.write(f"failed: {step}\n")
        hidden = len(self._failed_steps) - _SHOWN_FAILURES
        if hidden > 0:
            self.stream.write(f"failed: {hidden} more steps; the complete log names them\n")
        self._failed_steps.clear()
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless it is empty."""
        if getattr(record, "event", None) == LogEvent.PROGRESS:
            self._write_progress(record)
        elif self.format(record).strip():
            logging.StreamHandler.emit(self, record)

    def _note(self, record: logging.LogRecord) -> None:
        """Count planned and finished steps, and keep those that failed."""
        event, values = getattr(record, "event", None), record.__dict__
        if event == LogEvent.RUN_INFO:
            self._pace.plan(values["stats"])
        elif event == LogEvent.JOB_INFO:
            self._rules[values["jobid"]] = values["rule_name"]
        elif event == LogEvent.JOB_FINISHED:
            self._pace.finish(self._rules.pop(values["job_id"], ""), record.created)
            # Another attempt has made it.
            self._failed_steps.pop(values["job_id"], None)
        elif event == LogEvent.JOB_ERROR:
            log = ", ".join(values["log"]) or "none"
            self._failed_steps[values["jobid"]] = f"{values['rule_name']}; log: {log}"

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
        return event in _SHOWN and not (event is None and str(record.msg).startswith(_NOISE))

    def _is_due(self, record: logging.LogRecord) -> bool:
        """Return whether a line of progress is due: every few seconds, and at the end."""
        values = record.__dict__
        is_last = bool(values["done"] == values["total"])
        is_due = is_last or record.created - self._last_line > _SECONDS_BETWEEN_LINES
        if is_due:
            self._last_line = record.created
        return is_due

    def _write_progress(self, record: logging.LogRecord) -> None:
        """Write how many steps are done, how long they took, and how long the others will take."""
        done, total = record.__dict__["done"], record.__dict__["total"]
        line = f"{done} of {total} steps ({done / total:.0%}) done in {record.created - self._begin:.0f} s"
        seconds_to_go = self._pace.seconds_to_go()
        if done < total and seconds_to_go is not None:
            line += f", about {seconds_to_go:.0f} s to go" if seconds_to_go > _SOON else ", some seconds to go"
        self.stream.write(f"{line}\n")
        self.flush()
