"""Results of other settings, code, files or versions never pass for current ones, whatever Snakemake still knows."""

import json
import os
import shutil

import pytest
from tests.workflow.project import unlike

from narxbench._study.runs import seal_of

pytestmark = pytest.mark.slow

SETTINGS = ("--config", "evaluations=100")
RUN = "data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-1.json"
SUMMARY = "data/tiny/conditions/as-described/data-1/S3/30dB/ga/bic.json"
AFTER_ANALYSIS = {"analyse", "tables", "figures", "page", "manifest", "site", "all"}
AFTER_SUMMARIES = {"run_record", *AFTER_ANALYSIS}


def forget(project):
    """Delete Snakemake's records, which a copy of the results alone does not have."""
    shutil.rmtree(project / ".snakemake")


def edit_with_the_date_kept(project, path, text):
    times = (project / path).stat()
    project.append(path, text)
    os.utime(project / path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture(params=["remembered", "forgotten"])
def known(request, copy):
    """Return a copy of which Snakemake has its records, or has lost them."""
    if request.param == "forgotten":
        forget(copy)
    return copy


def test_the_same_settings_code_and_files(known):
    assert known.planned() == {}


@pytest.mark.parametrize(
    ("path", "text", "changed", "rules"),
    [
        ("src/narxbench/_algorithms/ga.py", "\nNEW = 1\n", "code _algorithms/ga.py", {"search", *AFTER_SUMMARIES}),
        ("docs/method.md", "\nMore.\n", "files docs/method.md", {"page", "manifest"}),
        ("data/reference/published_tables.csv", "\n", "files data/reference/published_tables.csv", AFTER_ANALYSIS),
    ],
)
def test_an_edited_file_of_the_same_date(known, path, text, changed, rules):
    edit_with_the_date_kept(known, path, text)
    assert f"since the results here were made, {changed} has changed: " in known.snakemake("--dry-run")
    planned = known.planned()
    assert rules <= set(planned)
    assert "simulate" not in planned
    if "search" in rules:
        for path in planned["search"]:
            assert "/ga/" in path


@pytest.mark.parametrize(
    ("setting", "changed", "rules"),
    [
        ("statistics={threshold: 0.8}", "setting threshold", {"summarise", *AFTER_SUMMARIES}),
        ("evaluations=100", "setting evaluations", {"search", "summarise", *AFTER_SUMMARIES}),
        ("data={washout: 90}", "setting simulation.data.washout", {"simulate", "search", "summarise"}),
    ],
)
def test_another_setting(known, setting, changed, rules):
    assert f"since the results here were made, {changed} has changed: " in known.snakemake("-n", "--config", setting)
    assert rules <= set(known.planned("--config", setting))


def test_results_without_a_definition_are_made_again(known):
    """They may be of any settings: of an older version, or copied from elsewhere."""
    definitions = known.definitions("methods/as-described/ga")
    assert len(definitions) == 1
    (known / definitions[0]).unlink()
    planned = known.planned()
    assert planned["define"] == definitions
    assert len(planned["search"]) == 4


def test_settings_and_back_again(finished, known):
    """A run that did not finish leaves results of earlier settings; none of them passes for another."""
    known.snakemake("all", "--until", "search", *SETTINGS)
    assert len(known.planned()["search"]) == 12
    known.snakemake(RUN)
    forget(known)
    # The definition of the GA is that of the first settings again, and one of its runs; all else is of others.
    assert len(known.planned()["search"]) == 11
    known.snakemake()
    assert unlike(known.files(), finished.files()) == []
    assert known.definitions() == finished.definitions()
    assert known.planned() == {}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_run_file_that_was_changed_is_named(known, sealed):
    """Its date does not matter; one with a seal that fits its content differs from what its summary has seen."""
    times = (known / RUN).stat()
    record = json.loads((known / RUN).read_bytes())
    record["runs"][0]["fitness"] -= 1.0
    if sealed:
        record["seal"] = seal_of(record)
    known.write(RUN, json.dumps(record))
    os.utime(known / RUN, ns=(times.st_atime_ns, times.st_mtime_ns))
    *_, line = known.snakemake(code=1).splitlines()
    assert line == f"narxbench: {RUN}: changed since it was summed up; delete it and run again"
    (known / RUN).unlink()
    planned = known.planned()
    assert (planned["search"], planned["summarise"]) == ([RUN], [SUMMARY])
