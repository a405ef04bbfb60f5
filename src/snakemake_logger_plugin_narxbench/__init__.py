"""A logger of Snakemake for thousands of short jobs: ``snakemake --logger narxbench``, as ``profiles/default`` asks.

It shows what Snakemake shows but for the some thirty lines about each job: in their place stands a line of progress
every few seconds. Warnings and errors are shown, and so is every line of a dry run and of ``--verbose``.
"""

import logging
import sys
import time
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# The events that are shown; None has plain messages.
_SHOWN = {None, LogEvent.RULEGRAPH, LogEvent.RUN_INFO}
_NOISE = ("Select jobs to execute", "Execute ", "Using shell:", "host: ", "Assuming unrestricted", "Elapsed time")
_SECONDS_BETWEEN_LINES = 5.0
# The exception of a step that has reported its mistake in words already.
_REPORTED = "StepFailedError"


class LogHandler(LogHandlerBase, logging.StreamHandler[TextIO]):
    """Writes the lines that a person wants to see to the terminal."""

    def __post_init__(self) -> None:
        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        logging.StreamHandler.__init__(self, stream=stream)
        self._begin = self._last_line = time.monotonic()
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

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless it is empty."""
        if getattr(record, "event", None) == LogEvent.PROGRESS:
            self._write_progress(record)
        elif self.format(record).strip():
            logging.StreamHandler.emit(self, record)

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
        now, values = time.monotonic(), record.__dict__
        is_due = bool(values["done"] == values["total"] or now - self._last_line > _SECONDS_BETWEEN_LINES)
        if is_due:
            self._last_line = now
        return is_due

    def _write_progress(self, record: logging.LogRecord) -> None:
        """Write how many steps are done, how long this took, and how long the others take at this rate."""
        done, total = record.__dict__["done"], record.__dict__["total"]
        elapsed = time.monotonic() - self._begin
        line = f"{done} of {total} steps ({done / total:.0%}) done in {elapsed:.0f} s"
        if done < total:
            line += f", about {elapsed / done * (total - done):.0f} s to go"
        self.stream.write(f"{line}\n")
        self.flush()
