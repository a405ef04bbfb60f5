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


@pytest.fixture
def committed(empty):
    """Return a project in which nothing is made yet, as a checkout of a commit."""
    git(empty, "init", "--quiet")
    git(empty, "add", "--all")
    git(empty, "commit", "--quiet", "--message", "all")
    return empty


def test_a_run_is_recorded_once_and_its_report_names_the_record(committed):
    day_before = time.strftime("%Y-%m-%d", time.gmtime())
    # Snakemake's last line may come after it.
    lines = committed.snakemake(*OPTIONS).splitlines()[-2:]
    assert any(line.startswith("narxbench: reports/tiny/report.html: Trial run: no conclusions (") for line in lines)
    record = committed.record()
    assert record.command == shlex.join(["snakemake", *OPTIONS, "--configfile", "tiny.yaml"])
    assert record.settings == "--config evaluations=100 seeds=1 --configfile tiny.yaml"
    assert day_before <= record.date[:10] <= time.strftime("%Y-%m-%d", time.gmtime())
    assert record.commit == git(committed, "rev-parse", "HEAD")
    assert record.changed_files == 0
    assert vars(record.steps).keys() == {"simulate", "search", "summarise"}
    check_named(committed, record)
    check_untouched(committed)


def check_named(project, record):
    """Check that report and method name what was recorded, and that the pages of the manifest do not."""
    report, method = (
        (project / f"reports/tiny/{name}.html").read_text(encoding="utf-8") for name in ("report", "method")
    )
    for text in (record.command, record.date[:10], record.commit[:8]):
        assert text in report
    for text in (record.command, record.date[:10], record.commit, record.machine):
        assert text in method
    # Commands on the method page make the files of this run, with its settings.
    conditions = "data/tiny/conditions/as-described/data-1/S3"
    assert f"snakemake --cores 2 {record.settings} -- {conditions}" in method
    for path in project.files("data/tiny/pages"):
        assert record.command not in (project / path).read_text(encoding="utf-8"), path


def check_untouched(project):
    """Check that the record stays as it is if the command is repeated, or a result is made again from the same runs."""
    before = (project / RECORD).read_bytes(), (project / RECORD).stat().st_mtime_ns
    results = project.files()
    printed = project.snakemake(*OPTIONS)
    assert "Nothing to be done" in printed
    (project / "reports/tiny/tables/claims.md").unlink()
    printed = project.snakemake(*OPTIONS[:-2])
    assert re.search(r"steps \(100%\) done", printed)
    assert ((project / RECORD).read_bytes(), (project / RECORD).stat().st_mtime_ns) == before
    assert project.files() == results
