import pytest
from tests.workflow.project import Project


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the complete tiny study, made by a checkout that is not the installed one; tests must not change it."""
    project = Project.of_checkout(tmp_path_factory.mktemp("finished") / "project")
    project.printed = project.snakemake()
    return project


@pytest.fixture
def copy(finished, tmp_path):
    """Return a copy in which the tiny study is complete."""
    return finished.copied(tmp_path / "project")


@pytest.fixture
def empty(finished, tmp_path):
    """Return a copy in which nothing is made yet."""
    return finished.copied(tmp_path / "project", made=False)
