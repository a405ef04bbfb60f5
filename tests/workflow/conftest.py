import fcntl
import os

import pytest
from tests.workflow.project import Project


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the complete tiny study, made by a checkout that is not the installed one; tests must not change it.

    The first process of the tests that asks for it makes it for all.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    folder.mkdir(exist_ok=True)
    printed = folder / "printed.txt"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if printed.exists():
            project = Project(folder / "project")
        else:
            project = Project.of_checkout(folder / "project")
            printed.write_text(project.snakemake(), encoding="utf-8")
    project.printed = printed.read_text(encoding="utf-8")
    return project


@pytest.fixture
def copy(finished, tmp_path):
    """Return a copy in which the tiny study is complete."""
    return finished.copied(tmp_path / "project")


@pytest.fixture
def empty(finished, tmp_path):
    """Return a copy in which nothing is made yet."""
    return finished.copied(tmp_path / "project", made=False)
