"""Results of other settings, code, files or versions never pass for current ones."""

import os
import shutil

import pytest
from tests.workflow.project import unlike

pytestmark = pytest.mark.slow

SETTINGS = ("--config", "evaluations=100")
RUN = "data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-1.json"
DATA = "data/tiny/problems/as-described/data-1/S3/30dB.csv"
AFTER_ANALYSIS = {"analyse", "tables", "figures", "page", "manifest", "site", "all"}
AFTER_SUMMARIES = {"run_record", *AFTER_ANALYSIS}


def edit_with_the_date_kept(project, path, text):
    times = (project / path).stat()
    project.append(path, text)
    os.utime(project / path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_the_same_settings_code_and_files(copy):
    assert copy.planned() == {}


@pytest.mark.parametrize(
    ("path", "text", "changed", "rules"),
    [
        ("src/narxbench/_algorithms/ga.py", "\nNEW = 1\n", "code of search.py with ga", {"search", *AFTER_SUMMARIES}),
        ("docs/method.md", "\nMore.\n", "docs/method.md: ", {"page", "manifest"}),
        ("data/reference/published_tables.csv", "\n", "data/reference/published_tables.csv: ", AFTER_ANALYSIS),
    ],
)
def test_an_edited_file_of_the_same_date(copy, path, text, changed, rules):
    edit_with_the_date_kept(copy, path, text)
    assert reasons(copy, changed) != []
    planned = copy.planned()
    assert rules <= set(planned)
    assert "simulate" not in planned
    if "search" in rules:
        for path in planned["search"]:
            assert "/ga/" in path


@pytest.mark.parametrize(
    ("setting", "changed", "rules"),
    [
        ("statistics={threshold: 0.8}", "before: 0.9 now: 0.8", {"summarise", *AFTER_SUMMARIES}),
        ("evaluations=100", "'evaluations': 100", {"search", "summarise", *AFTER_SUMMARIES}),
        ("data={washout: 90}", "'washout': 90", {"simulate", "search", "summarise"}),
    ],
)
def test_another_setting(copy, setting, changed, rules):
    assert reasons(copy, changed, "--config", setting) != []
    assert rules <= set(copy.planned("--config", setting))


def reasons(project, changed, *arguments):
    """Return the reasons of steps that say what of their parameters has changed."""
    lines = project.snakemake("--dry-run", *arguments).splitlines()
    return [line for line in lines if "Params have changed since last execution" in line and changed in line]


def test_settings_and_back_again(finished, copy):
    """A run that did not finish leaves results of earlier settings; none of them passes for another."""
    copy.snakemake("all", "--until", "search", *SETTINGS)
    assert len(copy.planned()["search"]) == 12
    copy.snakemake(RUN)
    assert len(copy.planned()["search"]) == 11
    copy.snakemake()
    assert unlike(copy.files(), finished.files()) == []
    assert copy.planned() == {}


def test_a_data_set_of_other_settings_is_no_edited_one(finished, copy):
    """A run of other settings that ended early leaves it younger than its summary."""
    copy.snakemake(DATA, "--config", "data={washout: 90}")
    assert copy.planned()["simulate"] == [DATA]
    copy.snakemake()
    assert unlike(copy.files(), finished.files()) == []


def test_results_without_records_of_what_they_were_made_with(finished, copy):
    """They may be of any settings: of an older version, or copied from elsewhere."""
    shutil.rmtree(copy / ".snakemake")
    *_, line = copy.snakemake(code=1).splitlines()
    assert line.startswith(
        "narxbench: data/tiny: found results without Snakemake's records of what they were made with"
    )
    assert "files are the same as in reports/tiny/manifest.csv" in copy.snakemake("verify")
