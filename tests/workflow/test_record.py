"""The record of a run: its command, date and commit, which its pages quote; it is written once for a set of results."""

import re
import shlex
import subprocess
import time

import pytest

pytestmark = pytest.mark.slow

OPTIONS = ("--config", "evaluations=100", "seeds=1", "--cores", "2")
RECORD = "reports/tiny/run.json"


def git(project, *arguments):
    """Return what git prints in a project."""
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=project.root, check=True, capture_output=True, text=True).stdout.strip()


def test_a_run_is_recorded_once_and_its_report_names_the_record(empty):
    git(empty, "init", "--quiet")
    git(empty, "add", "--all")
    git(empty, "commit", "--quiet", "--message", "all")
    day_before = time.strftime("%Y-%m-%d", time.gmtime())
    # Snakemake's last line may come after it.
    lines = empty.snakemake(*OPTIONS).splitlines()[-2:]
    assert any(line.startswith("narxbench: reports/tiny/report.html: Trial run: no conclusions (") for line in lines)
    record = empty.record()
    assert record.command == shlex.join(["snakemake", *OPTIONS, "--configfile", "tiny.yaml"])
    assert record.settings == "--config evaluations=100 seeds=1 --configfile tiny.yaml"
    assert day_before <= record.date[:10] <= time.strftime("%Y-%m-%d", time.gmtime())
    assert (record.commit, record.changed_files) == (git(empty, "rev-parse", "HEAD"), 0)
    assert vars(record.steps).keys() == {"simulate", "search", "summarise"}
    check_named(empty, record)
    # The record stays as it is if a result is made again from the same runs.
    before, results = (empty / RECORD).read_bytes(), empty.files()
    (empty / "reports/tiny/tables/claims.md").unlink()
    printed = empty.snakemake(*OPTIONS[:-2])
    assert re.search(r"steps \(100%\) done", printed)
    assert (empty / RECORD).read_bytes() == before and empty.files() == results


def check_named(project, record):
    """Check that report and method name what was recorded, and that the pages of the manifest do not."""
    method = (project / "reports/tiny/method.html").read_text(encoding="utf-8")
    for text in (record.command, record.date[:10], record.commit, record.machine):
        assert text in method
    assert record.commit[:8] in (project / "reports/tiny/report.html").read_text(encoding="utf-8")
    # Commands on the method page make the files of this run, with its settings.
    conditions = "data/tiny/conditions/as-described/data-1/S3"
    assert f"snakemake --cores 2 {record.settings} -- {conditions}" in method
    for path in project.files("data/tiny/pages"):
        assert record.command not in (project / path).read_text(encoding="utf-8"), path
