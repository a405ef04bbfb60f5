"""Results of other settings, code, files or versions never pass for current ones, whatever Snakemake still knows."""

import json
import os
import shutil

import pytest

pytestmark = pytest.mark.slow

RECORD = "data/tiny/made_with.json"
SETTINGS = ("--config", "evaluations=100")
RUN = "data/tiny/runs/S3/30dB/ga/bic/seed-1.json"
EVERYTHING = {"simulate", "search", "summarise", "analyse", "tables", "figures", "interpretations", "page"}


def forget(project):
    """Delete Snakemake's records, which a copy of the results alone does not have."""
    shutil.rmtree(project / ".snakemake")


def made_with(project):
    return json.loads((project / RECORD).read_bytes())["made_with"]


def test_a_lost_memory_and_the_same_settings(copy):
    forget(copy)
    assert copy.planned() == {}
    # Snakemake has forgotten the single results, so that a change concerns all of them, also later.
    assert set(copy.planned(*SETTINGS)) >= EVERYTHING


EDITS = {"src/narxbench/_algorithms/ga.py": "NEW = 1", "config/systems/S3.yaml": "# More.", "docs/method.md": "More."}


@pytest.mark.parametrize("change", ["statistics={threshold: 0.8}", "interpretation=reset", *EDITS])
def test_a_lost_memory_and_other_settings_code_or_files(copy, change):
    forget(copy)
    if change in EDITS:
        times = (copy / change).stat()
        copy.append(change, f"\n{EDITS[change]}\n")
        os.utime(copy / change, ns=(times.st_atime_ns, times.st_mtime_ns))
    options = () if change in EDITS else ("--config", change)
    printed = copy.snakemake("--dry-run", *options)
    assert "narxbench: found results in data/tiny that may be of other settings or code" in printed
    assert set(copy.planned(*options)) >= EVERYTHING


def test_results_of_unknown_settings(copy):
    (copy / RECORD).unlink()
    assert set(copy.planned()) == {"manifest", "all"}
    forget(copy)
    assert set(copy.planned()) >= EVERYTHING
    forget(copy)
    copy.write(RECORD, "{}")
    assert f"{RECORD}: token: missing" in copy.snakemake("--dry-run", code=1)


def test_a_run_that_did_not_finish(finished, copy):
    """Results of earlier settings may be left; without Snakemake's records, neither settings can use them."""
    assert made_with(copy)["settings/evaluations"] == "200"
    copy.snakemake(RUN, *SETTINGS)
    assert not (copy / RECORD).exists()
    assert copy.planned()["search"] == [RUN]
    forget(copy)
    for settings in ((), SETTINGS):
        assert set(copy.planned(*settings)) >= EVERYTHING
    copy.snakemake()
    assert copy.files() == finished.files()
    assert made_with(copy) == made_with(finished)
    forget(copy)
    assert copy.planned() == {}


def test_results_of_another_folder(finished, copy, tmp_path):
    """Snakemake's records next to the results are those of other results."""
    second = finished.copied(tmp_path / "second", made=False)
    second.snakemake(RUN, *SETTINGS)
    forget(copy)
    shutil.copytree(second / ".snakemake", copy / ".snakemake")
    assert set(copy.planned(*SETTINGS)) >= EVERYTHING
