"""Progress in place of Snakemake's lines for each job."""

import logging

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from narxbench.pipeline.session import Progress


def shown(progress: Progress, message: str, event: LogEvent | None, level: int = logging.INFO, **more: object) -> bool:
    return bool(progress.filter(logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **more})))


def test_jobs_are_counted_and_hidden_and_all_else_passes(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    assert not shown(progress, "Job stats", LogEvent.RUN_INFO, stats={"total": 3, "search": 3})
    for _ in range(2):
        assert not shown(progress, "rule search", LogEvent.JOB_INFO)
        assert not shown(progress, "Finished", LogEvent.JOB_FINISHED)
    assert shown(progress, "Error in rule search", LogEvent.JOB_ERROR, logging.ERROR)
    assert capsys.readouterr().err == "2 of 3 steps, 1 failed, 0 s\n"
    assert not shown(progress, "Select jobs to execute...", None)
    assert shown(progress, "Nothing to be done", None)
    assert shown(progress, "Unknown rule", LogEvent.ERROR, logging.ERROR)
    assert not shown(progress, "RuleException: StepFailedError in line 3", LogEvent.ERROR, logging.ERROR)
    assert shown(progress, "Select jobs to execute, slowly", None, logging.WARNING)
    assert shown(progress, "Shutting down", LogEvent.PROGRESS, logging.WARNING)
