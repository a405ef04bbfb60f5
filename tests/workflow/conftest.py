import pytest
from project import QUICK, Copy


@pytest.fixture(scope="session")
def first_run(tmp_path_factory):
    """The quick configuration, run in a fresh copy: the project and what was printed."""
    project = Copy.of_checkout(tmp_path_factory.mktemp("first") / "project")
    return project, project.snakemake(*QUICK)


@pytest.fixture
def complete(first_run, tmp_path):
    """A copy of the project in which the quick configuration is complete."""
    return first_run[0].copied(tmp_path / "project", made=True)


@pytest.fixture
def clean(first_run, tmp_path):
    """A copy of the project without results; the compiled search is kept to save time."""
    return first_run[0].copied(tmp_path / "project", made=False)
