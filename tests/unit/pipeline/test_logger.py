"""Progress in the place of Snakemake's lines for each job."""

import io
import logging
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_narxbench import LogHandler


class LoggerTerminal:
    """A logger of Snakemake that writes to a text."""

    def __init__(self, **settings):
        common = dict.fromkeys(("stdout", "dryrun", "verbose", "printshellcmds", "debug_dag"), False)
        self._handler = LogHandler(SimpleNamespace(**common | settings), None)
        self._handler.setFormatter(logging.Formatter("%(message)s"))
        self._handler.stream = io.StringIO()

        self._begin = self._handler._begin

    def lines(self, message, event, level=logging.INFO, **values):
        """Return the lines that a message of Snakemake adds."""
        before = len(self._handler.stream.getvalue())
        self._handler.handle(logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **values}))
        return self._handler.stream.getvalue()[before:].splitlines()

    def finish(self, rule, second, done, total):
        """Return the lines that the end of a step adds."""
        self.lines(f"rule {rule}", LogEvent.JOB_INFO, jobid=done, rule_name=rule)
        self.lines("Finished", LogEvent.JOB_FINISHED, job_id=done, created=self._begin + second)
        return self.lines("", LogEvent.PROGRESS, done=done, total=total, created=self._begin + second)

    def closed(self):
        """Return the lines that the end of the run adds."""
        before = len(self._handler.stream.getvalue())
        self._handler.close()
        return self._handler.stream.getvalue()[before:].splitlines()


def test_lines_of_jobs_are_hidden_and_all_else_passes():
    terminal = LoggerTerminal()
    assert terminal.lines("rule search", LogEvent.JOB_INFO, jobid=1, rule_name="search") == []
    assert terminal.lines("Finished", LogEvent.JOB_FINISHED, job_id=1) == []
    failed = {"jobid": 2, "rule_name": "search", "log": ["logs/search.log"]}
    assert terminal.lines("Error in rule", LogEvent.JOB_ERROR, logging.ERROR, **failed) == ["Error in rule"]
    assert terminal.lines("Job stats", LogEvent.RUN_INFO, stats={"total": 3, "search": 3}) == ["Job stats"]
    assert terminal.lines("Select jobs to execute...", None) == []
    assert terminal.lines("Nothing to be done", None) == ["Nothing to be done"]
    assert terminal.lines("Unknown rule", LogEvent.ERROR, logging.ERROR) == ["Unknown rule"]
    assert terminal.lines("RuleException: StepFailedError in line 3", LogEvent.ERROR, logging.ERROR) == []
    slowly = "Select jobs to execute, slowly"
    assert terminal.lines(slowly, None, logging.WARNING) == [slowly]
    assert terminal.lines("echo", LogEvent.SHELLCMD) == []


def test_progress_is_shown_every_few_seconds_and_at_the_end():
    terminal = LoggerTerminal()
    terminal.lines("Job stats", LogEvent.RUN_INFO, stats={"search": 2, "all": 1, "total": 3})
    assert terminal.finish("search", 1.0, done=1, total=3) == []
    (line,) = terminal.finish("search", 6.0, done=2, total=3)
    assert line == "2 of 3 steps (67%) done in 6 s, some seconds to go"
    (line,) = terminal.finish("all", 6.5, done=3, total=3)
    assert line == "3 of 3 steps (100%) done in 6 s"


def test_the_time_to_go_is_at_the_pace_of_late():
    terminal = LoggerTerminal()
    lines = []
    # Twenty steps take 4 s each, and the next eighteen 1 s each.
    for done, second in enumerate([*range(4, 84, 4), *range(81, 99)], start=1):
        lines += terminal.finish("search", second, done=done, total=100)
    assert "to go" not in lines[0]
    # The later half of the steps took 22 s for nineteen, and 62 are to be done.
    assert lines[-1] == "38 of 100 steps (38%) done in 98 s, about 72 s to go"


def test_the_last_lines_name_the_steps_that_failed():
    terminal = LoggerTerminal()
    for number in range(7):
        log = [f"logs/search-{number}.log"] * bool(number)
        terminal.lines("Error", LogEvent.JOB_ERROR, logging.ERROR, jobid=number, rule_name="search", log=log)
    # A step that fails and is made by another attempt is not named.
    terminal.lines("Error", LogEvent.JOB_ERROR, logging.ERROR, jobid=7, rule_name="page", log=[])
    terminal.lines("Finished", LogEvent.JOB_FINISHED, job_id=7)
    *first, last = terminal.closed()
    assert first[:2] == ["failed: search; log: none", "failed: search; log: logs/search-1.log"] and len(first) == 5
    assert last == "failed: 2 more steps; the complete log names them"
    assert terminal.closed() == [] == LoggerTerminal().closed()


def test_a_dry_run_shows_every_job():
    assert LoggerTerminal(dryrun=True).lines("rule search", LogEvent.JOB_INFO, jobid=1, rule_name="search") == [
        "rule search"
    ]
