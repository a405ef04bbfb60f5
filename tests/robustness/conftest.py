import shutil
from pathlib import Path

import pytest
from tests.robustness.pipelines import SMALL, SMALL_RUN, copy_of_project, results_of, without_results
from tests.workflow.project import Project


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """A copy of the project in which the small configuration was run without disturbance, and its results."""
    project = copy_of_project(tmp_path_factory.mktemp("undisturbed") / "project")
    project.write("small.yaml", SMALL)
    project.snakemake(*SMALL_RUN)
    return project, results_of(project)


@pytest.fixture
def complete(undisturbed, tmp_path):
    """A copy of the project in which the small configuration is complete."""
    return Project(Path(shutil.copytree(undisturbed[0].root, tmp_path / "project", symlinks=True)))


@pytest.fixture
def clean(undisturbed, tmp_path):
    """A copy of the project without results; the compiled searches are kept to save time."""
    return without_results(undisturbed[0], tmp_path / "project")
