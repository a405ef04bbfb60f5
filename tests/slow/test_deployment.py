"""The project elsewhere: an archive of Snakemake, its container recipe, and studies too large for one machine."""

import os
import re
import subprocess
import sys
import tarfile

import pytest
from tests.workflow.project import Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project in which nothing runs."""
    return Project.of_checkout(tmp_path_factory.mktemp("deployment") / "project")


def test_an_archive_holds_the_project_and_plans_the_study(project, tmp_path):
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=project.root, check=True)
    project.snakemake("--archive", "project.tar.gz")
    listed = subprocess.run(["git", "ls-files"], cwd=project.root, check=True, capture_output=True, text=True)
    with tarfile.open(project / "project.tar.gz") as archive:
        assert set(listed.stdout.splitlines()) <= set(archive.getnames())
        archive.extractall(tmp_path / "unpacked", filter="data")
    (project / "project.tar.gz").unlink()
    assert Project(tmp_path / "unpacked").planned() == project.planned()


def test_a_container_recipe_of_snakemake_has_no_packages(project):
    recipe = project.snakemake("--containerize")
    assert re.findall("^(FROM|RUN|COPY|ADD) ", recipe, re.MULTILINE) == ["FROM"]


def test_a_large_study_in_blocks_of_seeds_is_planned_in_seconds(project):
    """The 72 conditions of the paper with 1389 seeds each are 100,008 runs."""
    large = project.with_study("large", "seeds: 1389\nseeds_per_job: 50\n")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--configfile", "large.yaml"]
    process = subprocess.Popen(command, cwd=large.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_utime + usage.ru_stime < 10.0, "CPU seconds"
    assert usage.ru_maxrss < 400_000, "kilobytes"
