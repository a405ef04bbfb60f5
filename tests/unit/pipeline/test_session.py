"""A run from its start to its record: mistakes before any job, what it says, its steps, their times and its pages."""

import json
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from snakemake.settings.types import MaxJobsPerTimespan
from tests.unit.pipeline.conftest import ROOT
from tests.unit.pipeline.test_plan import PROBLEM, RUNS, SUMMARY
from tests.unit.studies.steps import read, step

from narxbench._pipeline import session, steps
from narxbench._pipeline.plan import plan_of
from narxbench._pipeline.run_record import note_start
from narxbench._pipeline.session import plan as plan_for_snakemake
from narxbench._pipeline.session import say, say_answer, stop_timers
from narxbench._pipeline.sources import Sources
from narxbench._pipeline.steps import call


def test_storage_elsewhere_is_refused_in_one_line():
    """A plan that took it would ask the provider for files that are not there."""
    workflow = SimpleNamespace(storage_settings=SimpleNamespace(default_storage_provider="fs"))
    with pytest.raises(SystemExit, match=r"^narxbench: --default-storage-provider: found fs; allowed: none: .*$"):
        plan_for_snakemake(workflow, {})


RECORDS = ".snakemake/metadata"


def begin(monkeypatch, *arguments):
    """Begin a run of a study with two runs, of which one is there."""
    monkeypatch.delenv("NARXBENCH_PLANNED", raising=False)
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments])
    monkeypatch.setattr(session, "_SAID", [])
    Path("mine.yaml").write_text(
        "systems: [S1]\nsnr_db: [30]\nseeds: 2\nmethods: {ga: null, upso2d: {criteria: [bic]}}"
    )
    planned = plan_of(["mine.yaml"])
    run = Path("data/mine/runs/as-described/data-1/S1/30dB/upso2d/bic/seed-1.json")
    run.parent.mkdir(parents=True, exist_ok=True)
    run.touch()
    try:
        say(planned, Sources(planned, "", summary=SUMMARY, problem=PROBLEM, runs=RUNS), "reports/mine/report.html")
    finally:
        os.environ.pop("NARXBENCH_PLANNED", None)


def test_results_without_records_of_what_they_were_made_with_are_not_believed(folder, monkeypatch, capsys):
    with pytest.raises(SystemExit, match=r"^narxbench: data/mine: found results without Snakemake's records .*verify"):
        begin(monkeypatch, "-n")
    begin(monkeypatch, "--cores", "1", "verify")
    Path(RECORDS).mkdir(parents=True)
    with pytest.raises(SystemExit, match=RECORDS):
        begin(monkeypatch)
    Path(RECORDS, "one").touch()
    begin(monkeypatch)
    assert capsys.readouterr().err.count("narxbench: study mine: 2 searches, ") == 2
    # At the end it says what the page does, unless a summary is missing or younger.
    summary = Path("data/mine/conditions/as-described/data-1/S1/30dB/upso2d/bic.json")
    for path, text in (
        (summary, '{"failures":{"1":"it hangs"}}'),
        (Path("data/mine/pages/answer.txt"), "Trial."),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    say_answer()
    answer, failed = capsys.readouterr().err.splitlines()
    assert answer == "narxbench: reports/mine/report.html: Trial."
    assert failed == "narxbench: 1 run has failed; the first: it hangs"
    os.utime(summary, (2e9, 2e9))
    say_answer()
    assert capsys.readouterr().err.splitlines() == [failed]


@pytest.mark.parametrize("profile", ["default", "cluster", "slurm", ""])
def test_the_profiles_need_no_timers_and_a_limit_of_the_user_stays(profile):
    settings = {"max-jobs-per-timespan": "100/1s"}
    if profile:
        settings = yaml.safe_load(read(ROOT / f"profiles/{profile}/config.yaml"))
    limit = MaxJobsPerTimespan.parse_choice(settings["max-jobs-per-timespan"])
    workflow = SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limit), dag=range(200_000))
    stop_timers(workflow)
    assert workflow.scheduler.job_rate_limiter is (None if profile else limit)


# The record of a run

RESULTS = [f"data/mine/runs/a/seed-{seed}.json" for seed in (1, 2, 3)]


def record_of(monkeypatch, folder, *words):
    """Return the record of a run that began a minute ago by a command."""
    started = [time.time() - 60, ["snakemake", *words]]
    monkeypatch.setenv("NARXBENCH_STARTED", json.dumps(started))
    return json.loads(read(step("run_record", output={"": [str(folder / "run.json")]}, logs="logs", files=RESULTS)[0]))


def test_a_record_has_the_command_its_settings_and_the_time_of_the_jobs_that_count(folder, monkeypatch):
    other = {f"{step}/of other settings": "cpu 9 s, wall 9 s\n" for step in ("search", "simulate")}
    for name, text in {"search/a/seed-1": "cpu 1.5 s, wall 2.25 s\n", "search/a/seed-2": "", **other}.items():
        path = Path(f"logs/{name}.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    words = ("--cores", "2", "--config", "seeds=4", "study=a b", "-k", "--configfile", "mine.yaml", "--", "all")
    record = record_of(monkeypatch, folder, *words)
    assert record["command"] == "snakemake --cores 2 --config seeds=4 'study=a b' -k --configfile mine.yaml -- all"
    assert record["settings"] == "--config seeds=4 'study=a b' --configfile mine.yaml"
    assert record["steps"] == {"search": 1.5}
    assert 60 <= record["wall_seconds"] < 90
    assert record["date"].startswith(time.strftime("%Y-%m-%d", time.gmtime()))
    # The wall time is missing where an earlier command made some of the runs.
    os.utime("logs/search/a/seed-2.log", (0, 0))
    assert record_of(monkeypatch, folder)["wall_seconds"] is None
    # A job keeps the command of the process that began the run.
    before = os.environ["NARXBENCH_STARTED"]
    note_start()
    assert os.environ["NARXBENCH_STARTED"] == before


def test_a_site_loses_only_the_links_that_lead_nowhere(tmp_path):
    page = '<a class="x" href="tables/a.csv">a</a> <a href="../report.html#end">up</a> <a href="#main">here</a>'
    page += (
        '<a href="https://a.org/b">b</a> <a href="gone.html">gone</a> <link href="data:,"> <a href="../../away.html">'
    )
    files = {"report.html": "r", "paper/tables/a.csv": "1", "paper/page.html": page}
    for name, text in files.items():
        (tmp_path / "reports" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "reports" / name).write_text(text)
    inputs = {"": [str(tmp_path / "reports" / name) for name in files], "page": tmp_path / "reports/report.html"}
    step("site", input=inputs, output={"": [str(tmp_path / "site")]})
    copied = page.replace(' href="gone.html"', "").replace(' href="../../away.html"', "")
    assert read(tmp_path / "site/paper/page.html") == copied and read(tmp_path / "site/paper/tables/a.csv") == "1"


# Steps


def test_a_step_writes_its_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(steps, "SCRIPTS", tmp_path)
    # A script is executed once, so its name is that of no other one.
    script, log = tmp_path / "step_of_this_test.py", tmp_path / "logs" / "step.log"
    script.write_text("from pathlib import Path\ndef main(job):\n    Path(job.output[0]).write_text(job.params)\n")
    call(script.stem, output=[str(tmp_path / "made")], params="text", log=[str(log)])
    assert (tmp_path / "made").read_text() == "text"
    assert re.fullmatch(r"cpu [0-9.]+ s, wall [0-9.]+ s\n", log.read_text())
    assert capsys.readouterr() == ("", "")
