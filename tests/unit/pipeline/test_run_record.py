"""The record of a run: its command, its settings, its time, and what it was made with."""

import json
import os
import time
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline import run_record
from narxbench._study.run_record import FIXED_RECORD, read_run_record


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The logs of two searches that count, one of them without a time, and of one of other settings."""
    for name, text in (
        ("a/seed-1", "cpu 1.5 s, wall 2.25 s\n"),
        ("a/seed-2", ""),
        ("of other settings", "cpu 9 s, wall 9 s\n"),
    ):
        path = tmp_path / f"logs/search/{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "logs"


RESULTS = [f"data/mine/runs/a/seed-{seed}.json" for seed in (1, 2, 3)]


def begin(monkeypatch: pytest.MonkeyPatch, seconds_ago: float, *words: str) -> None:
    """Begin a run some seconds ago by a command."""
    started = [time.time() - seconds_ago, run_record.typed(["/somewhere/snakemake", *words])]
    monkeypatch.setenv("NARXBENCH_STARTED", json.dumps(started))


def test_a_record_has_the_command_its_settings_and_the_time_of_the_jobs_that_count(logs, monkeypatch):
    words = ("--cores", "2", "--config", "seeds=4", "study=a b", "-k", "--configfile", "mine.yaml", "--", "all")
    begin(monkeypatch, 60, *words)
    record = run_record.run_record(str(logs), RESULTS)
    assert record.command == "snakemake --cores 2 --config seeds=4 'study=a b' -k --configfile mine.yaml -- all"
    assert record.settings == "--config seeds=4 'study=a b' --configfile mine.yaml"
    (step,) = record.steps
    assert (step.step, step.jobs, step.cpu_seconds, step.wall_seconds) == ("search", 2, 1.5, 2.2)
    assert record.cpu_seconds == 1.5 and 60 <= record.wall_seconds < 90
    assert record.day == time.strftime("%Y-%m-%d", time.gmtime())


def test_the_wall_time_is_missing_where_an_earlier_command_made_some_of_the_runs(logs, monkeypatch):
    begin(monkeypatch, 60)
    os.utime(logs / "search/a/seed-2.log", (0, 0))
    assert run_record.run_record(str(logs), RESULTS).wall_seconds is None


def test_a_job_keeps_the_command_of_the_process_that_began_the_run(monkeypatch):
    begin(monkeypatch, 60, "--cores", "2")
    before = os.environ["NARXBENCH_STARTED"]
    run_record.note_start()
    assert os.environ["NARXBENCH_STARTED"] == before


def test_a_record_reads_back_as_it_was(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(FIXED_RECORD.to_json())
    assert read_run_record(path) == FIXED_RECORD
    path.write_text(FIXED_RECORD.to_json().replace("2018-12-21T", "21.12.2018 "))
    with pytest.raises(NarxbenchError, match=r"run.json: date: .*not a record of a run of this version, delete it"):
        read_run_record(path)
