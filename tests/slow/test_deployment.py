"""The project elsewhere: an archive of Snakemake, its container recipe, and studies too large for one machine."""

import os
import subprocess
import sys
import tarfile

import pytest
from tests.workflow.project import Project

pytestmark = pytest.mark.slow


def test_an_archive_holds_the_project_and_plans_the_study(empty, tmp_path):
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=empty.root, check=True)
    empty.snakemake("--archive", "project.tar.gz")
    listed = subprocess.run(["git", "ls-files"], cwd=empty.root, check=True, capture_output=True, text=True)
    with tarfile.open(empty / "project.tar.gz") as archive:
        assert set(listed.stdout.splitlines()) <= set(archive.getnames())
        archive.extractall(tmp_path / "unpacked", filter="data")
    (empty / "project.tar.gz").unlink()
    assert Project(tmp_path / "unpacked").planned() == empty.planned()


def test_a_container_recipe_of_snakemake_has_no_packages(empty):
    recipe = empty.snakemake("--containerize")
    commands = [line.split()[0] for line in recipe.splitlines() if line.split()[:1] in (["FROM"], ["RUN"], ["COPY"])]
    assert commands == ["FROM"]


def test_a_large_study_in_blocks_of_seeds_is_planned_in_seconds(empty):
    """The 72 conditions of the paper with 1389 seeds each are 100,008 runs."""
    large = empty.with_study("large", "seeds: 1389\nseeds_per_job: 50\n")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--configfile", "large.yaml"]
    process = subprocess.Popen(command, cwd=large.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_utime + usage.ru_stime < 10.0, "CPU seconds"
    assert usage.ru_maxrss < 400_000, "kilobytes"
