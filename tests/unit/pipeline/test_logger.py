"""Progress in the place of Snakemake's lines for each job."""

import io
import logging
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_narxbench import LogHandler


class Terminal:
    """A logger of Snakemake that writes to a text."""

    def __init__(self, **settings: bool) -> None:
        common = dict.fromkeys(("stdout", "dryrun", "verbose", "printshellcmds", "debug_dag"), False)
        self._handler = LogHandler(SimpleNamespace(**common | settings), None)
        self._handler.setFormatter(logging.Formatter("%(message)s"))
        self._handler.stream = io.StringIO()

    def lines(self, message: str, event: LogEvent | None, level: int = logging.INFO, **values: object) -> list[str]:
        """Return the lines that a message of Snakemake adds."""
        before = len(self._handler.stream.getvalue())
        self._handler.handle(logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **values}))
        return self._handler.stream.getvalue()[before:].splitlines()


def test_lines_of_jobs_are_hidden_and_all_else_passes() -> None:
    terminal = Terminal()
    assert terminal.lines("rule search", LogEvent.JOB_INFO) == []
    assert terminal.lines("Finished", LogEvent.JOB_FINISHED) == []
    assert terminal.lines("Error in rule search", LogEvent.JOB_ERROR, logging.ERROR) == ["Error in rule search"]
    assert terminal.lines("Job stats", LogEvent.RUN_INFO, stats={"total": 3, "search": 3}) == ["Job stats"]
    assert terminal.lines("Select jobs to execute...", None) == []
    assert terminal.lines("Nothing to be done", None) == ["Nothing to be done"]
    assert terminal.lines("Unknown rule", LogEvent.ERROR, logging.ERROR) == ["Unknown rule"]
    assert terminal.lines("RuleException: StepFailedError in line 3", LogEvent.ERROR, logging.ERROR) == []
    slowly = "Select jobs to execute, slowly"
    assert terminal.lines(slowly, None, logging.WARNING) == [slowly]
    assert terminal.lines("echo", LogEvent.SHELLCMD) == []


def test_progress_is_told_every_few_seconds_and_at_the_end() -> None:
    terminal = Terminal()
    assert terminal.lines("", LogEvent.PROGRESS, done=1, total=3) == []
    terminal._handler._last_line -= 6.0
    (line,) = terminal.lines("", LogEvent.PROGRESS, done=2, total=3)
    assert line.startswith("2 of 3 steps (67%) done in ") and line.endswith(" s to go")
    (line,) = terminal.lines("", LogEvent.PROGRESS, done=3, total=3)
    assert line.startswith("3 of 3 steps (100%) done in ") and "to go" not in line


def test_a_dry_run_shows_every_job() -> None:
    assert Terminal(dryrun=True).lines("rule search", LogEvent.JOB_INFO) == ["rule search"]
    assert Terminal(printshellcmds=True).lines("echo", LogEvent.SHELLCMD) == ["echo"]
