"""Mistakes in settings, reported before any job."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from snakemake.settings.types import MaxJobsPerTimespan

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline import session
from narxbench._pipeline.plan import ROOT, plan_of
from narxbench._pipeline.session import plan as plan_for_snakemake
from narxbench._pipeline.session import say, stop_timers
from narxbench._pipeline.sources import Sources


@pytest.fixture(autouse=True)
def recorded(folder: Path) -> None:
    """Make what may be named for a recorded input."""
    Path("short.csv").write_text("u\n" + "0.5\n" * 2099)
    os.mkfifo("pipe.csv")


def mistake(text: str, *command_line: str) -> str:
    Path("mine.yaml").write_text(text)
    with pytest.raises(NarxbenchError) as error:
        plan_of(["mine.yaml"], command_line)
    return str(error.value)


RECORDED = "data: {excitation: {kind: recorded, file: %s}}"
COMPARED = "kind: methods\nsystems: [S1, S3]\nsnr_db: [30]\nmethods: {upso2d: null}\n"
COMPARED += "scenarios: {base: {description: plain, %s}}"
CASES = [
    ("data: {samples: 605}", "data.samples: found 605; allowed: more than 605 (5 for the largest lag of S1, 600 to"),
    (COMPARED % "samples: 601", "scenarios.base.samples: found 601; allowed: more than 605 (5 for the largest lag"),
    (COMPARED % "n_y: 9999, n_u: 5, degree: 1", "scenarios.base: system S1: n_y=9999, n_u=5, degree=1: 10005 cand"),
    (COMPARED % "degree: 1", "scenarios.base: system S1: term 'y(k-1)*u(k-1)': not among the 11 candidate terms"),
    (RECORDED % "shord.csv", "data.excitation.file: found 'shord.csv'; allowed: a file that is there (did you mean"),
    (RECORDED % "pipe.csv", "data.excitation.file: found 'pipe.csv'; allowed: a file that is there"),
    (
        RECORDED % "data/mine/problems/as-described/data-1/S1/30dB.csv",
        "data.excitation.file: found 'data/mine/problems/as-described/data-1/S1/30dB.csv'; a",
    ),
    (RECORDED % "short.csv", "data.excitation.file: short.csv: found 2099 samples; allowed: at least 2100 (with was"),
    ("seeds: 1:30", "seeds: found '1:30' (text); allowed: a whole number from 1 to 100000"),
    ("methods: {ga: {criteria: [aic-2, bic, aic-02.0]}}", "methods.ga.criteria[2]: found 'aic-2' twice; allowed: e"),
]


@pytest.mark.parametrize(("text", "reported"), CASES)
def test_a_mistake_is_reported_in_one_line_before_any_job(folder: Path, text: str, reported: str) -> None:
    message = mistake(text)
    assert message.startswith(f"mine.yaml: {reported}") and "\n" not in message
    assert not (folder / "data" / "mine").exists()


def test_storage_elsewhere_is_refused_in_one_line() -> None:
    """A plan that took it would ask the provider for files that are not there."""
    workflow = SimpleNamespace(storage_settings=SimpleNamespace(default_storage_provider="fs"))
    with pytest.raises(SystemExit, match=r"^narxbench: --default-storage-provider: found fs; allowed: none: .*$"):
        plan_for_snakemake(workflow, {})


RECORDS = ".snakemake/metadata"


def begin(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    """Begin a run of a study with two runs, of which one is there."""
    monkeypatch.delenv("NARXBENCH_PLANNED", raising=False)
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments])
    monkeypatch.setattr(session, "_SAID", [])
    Path("mine.yaml").write_text(
        "systems: [S1]\nsnr_db: [30]\nseeds: 2\nmethods: {ga: null, upso2d: {criteria: [bic]}}"
    )
    planned = plan_of(["mine.yaml"])
    folder = "data/{study}/%s/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}"
    runs, summary = f"{folder % 'runs'}/{{seeds}}.json", f"{folder % 'conditions'}.json"
    problem = "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"
    run = Path("data/mine/runs/as-described/data-1/S1/30dB/upso2d/bic/seed-1.json")
    run.parent.mkdir(parents=True, exist_ok=True)
    run.touch()
    try:
        say(planned, Sources(planned, "", summary=summary, problem=problem, runs=runs), "reports/mine/report.html")
    finally:
        os.environ.pop("NARXBENCH_PLANNED", None)


def test_results_without_records_of_what_they_were_made_with_are_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^narxbench: data/mine: found results without Snakemake's records .*verify"):
        begin(monkeypatch, "-n")
    begin(monkeypatch, "--cores", "1", "verify")
    Path(RECORDS).mkdir(parents=True)
    with pytest.raises(SystemExit, match=RECORDS):
        begin(monkeypatch)
    Path(RECORDS, "one").touch()
    begin(monkeypatch)
    assert capsys.readouterr().err.count("narxbench: study mine: 2 searches, ") == 2


@pytest.mark.parametrize(("path", "former"), [("S1/30dB/ga", "data/mine/runs/S1"), ("as-described/data-1/S1", "")])
def test_runs_under_paths_of_an_earlier_version_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str, former: str
) -> None:
    Path("data/mine/runs", path).mkdir(parents=True)
    Path(RECORDS).mkdir(parents=True)
    Path(RECORDS, "one").touch()
    begin(monkeypatch)
    line = f"narxbench: {former}: results of an earlier version, which are not read; delete them\n"
    assert (line in capsys.readouterr().err) == bool(former)


@pytest.mark.parametrize("profile", ["default", "cluster", "slurm"])
def test_the_profiles_need_no_timers(profile: str) -> None:
    settings = yaml.safe_load((ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8"))
    limit = MaxJobsPerTimespan.parse_choice(settings["max-jobs-per-timespan"])
    workflow = SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limit))
    stop_timers(workflow)
    assert workflow.scheduler.job_rate_limiter is None


def test_a_limit_of_the_user_stays() -> None:
    limit = MaxJobsPerTimespan.parse_choice("100/1s")
    workflow = SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limit))
    stop_timers(workflow)
    assert workflow.scheduler.job_rate_limiter is limit


def test_criteria_that_mean_the_same_are_one(folder: Path) -> None:
    Path("mine.yaml").write_text("methods: {ga: {criteria: [aic-02, aic-.5, aic-1e2, bic]}, upso2d: null}")
    planned = plan_of(["mine.yaml"], [])
    names = ["aic-2", "aic-0.5", "aic-100", "bic"]
    assert planned.settings["methods"]["ga"]["criteria"] == names
    assert [*planned.conditions][:4] == [f"as-described/data-1/S1/50dB/ga/{name}" for name in names]
    same = plan_of(["mine.yaml"], ["methods={ga: {criteria: [aic-2.0, aic-0.50, aic-100, bic]}}"])
    assert same.jobs == planned.jobs and same.settings == planned.settings
