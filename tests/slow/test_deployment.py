"""The project elsewhere: an archive of Snakemake, and studies too large for one machine."""

import re
import subprocess
import sys
import tarfile

import pytest
from tests.command import python
from tests.workflow.project import Project

pytestmark = pytest.mark.slow

# In a small process: a child begins with the memory of the one that starts it.
MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


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


def test_a_large_study_in_blocks_of_seeds_is_planned_in_little_memory(project):
    """The 72 conditions of the paper with 1389 seeds each are 100,008 runs, in 28 jobs for each condition."""
    large = project.with_study("large", "seeds: 1389\nseeds_per_job: 50\n")
    command = ["-m", "snakemake", "--dry-run", "--cores", "1", "--configfile", "large.yaml"]
    printed = python("-c", MEASURED, sys.executable, *command, folder=large.root).out
    assert re.search(r"^search +2016$", printed, re.MULTILINE)
    assert int(printed.splitlines()[-1]) < 400_000
