"""Progress in the place of Snakemake's lines for each job."""

import csv
import io
import logging
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_narxbench import LogHandler

# Runs of the paper's study on a machine with an empty cache: the second at which steps of a rule were done.
RECORDED = Path(__file__).parent / "recorded_runs"


class LoggerTerminal:
    """A logger of Snakemake that writes to a text."""

    def __init__(self, **settings: bool) -> None:
        common = dict.fromkeys(("stdout", "dryrun", "verbose", "printshellcmds", "debug_dag"), False)
        self._handler = LogHandler(SimpleNamespace(**common | settings), None)
        self._handler.setFormatter(logging.Formatter("%(message)s"))
        self._handler.stream = io.StringIO()

        self._begin = self._handler._begin

    def lines(self, message: str, event: LogEvent | None, level: int = logging.INFO, **values: object) -> list[str]:
        """Return the lines that a message of Snakemake adds."""
        before = len(self._handler.stream.getvalue())
        self._handler.handle(logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **values}))
        return self._handler.stream.getvalue()[before:].splitlines()

    def finish(self, rule: str, second: float, done: int, total: int) -> list[str]:
        """Return the lines that the end of a step adds."""
        self.lines(f"rule {rule}", LogEvent.JOB_INFO, jobid=done, rule_name=rule)
        self.lines("Finished", LogEvent.JOB_FINISHED, job_id=done, created=self._begin + second)
        return self.lines("", LogEvent.PROGRESS, done=done, total=total, created=self._begin + second)

    def closed(self) -> list[str]:
        """Return the lines that the end of the run adds."""
        before = len(self._handler.stream.getvalue())
        self._handler.close()
        return self._handler.stream.getvalue()[before:].splitlines()


def test_lines_of_jobs_are_hidden_and_all_else_passes() -> None:
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


def test_progress_is_shown_every_few_seconds_and_at_the_end() -> None:
    terminal = LoggerTerminal()
    terminal.lines("Job stats", LogEvent.RUN_INFO, stats={"search": 2, "all": 1, "total": 3})
    assert terminal.finish("search", 1.0, done=1, total=3) == []
    (line,) = terminal.finish("search", 6.0, done=2, total=3)
    assert line == "2 of 3 steps (67%) done in 6 s, some seconds to go"
    (line,) = terminal.finish("all", 6.5, done=3, total=3)
    assert line == "3 of 3 steps (100%) done in 6 s"


@pytest.mark.parametrize("name", ["trial"])
def test_the_time_to_go_is_right_within_a_factor_of_two(name: str) -> None:
    """Replay recorded runs; a short time is not given as a number."""
    with (RECORDED / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    steps = []
    for row in rows:
        steps += [(row["rule"], float(row["second"]))] * int(row["steps"])
    counts, end = Counter(rule for rule, _ in steps), steps[-1][1]
    terminal = LoggerTerminal()
    terminal.lines("Job stats", LogEvent.RUN_INFO, stats={**counts, "total": len(steps)})
    n_estimates = 0
    for done, (rule, second) in enumerate(steps, start=1):
        for line in terminal.finish(rule, second, done=done, total=len(steps)):
            if done < 0.05 * len(steps):
                assert "to go" not in line
            elif done < len(steps):
                estimate = re.search(r", about (\d+) s to go$", line)
                n_estimates += 1
                if estimate:
                    assert (end - second) / 2 <= int(estimate[1]) <= 2 * (end - second), line
                else:
                    assert line.endswith(", some seconds to go") and end - second < 30, line
    assert n_estimates > 2


def test_the_last_lines_name_the_steps_that_failed() -> None:
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


def test_a_dry_run_shows_every_job() -> None:
    assert LoggerTerminal(dryrun=True).lines("rule search", LogEvent.JOB_INFO, jobid=1, rule_name="search") == [
        "rule search"
    ]
    assert LoggerTerminal(printshellcmds=True).lines("echo", LogEvent.SHELLCMD) == ["echo"]
