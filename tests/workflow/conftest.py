import shutil
from pathlib import Path

import pytest
from project import MADE, QUICK, ROOT, Project, committed_files


@pytest.fixture(scope="session")
def first_run(tmp_path_factory):
    """The quick configuration, run in a fresh copy: the project and what was printed."""
    project = Project(tmp_path_factory.mktemp("first") / "project")
    for name in committed_files():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, project / name)
    return project, project.snakemake(*QUICK)


@pytest.fixture
def complete(first_run, tmp_path):
    """A copy of the project in which the quick configuration is complete."""
    return Project(Path(shutil.copytree(first_run[0].root, tmp_path / "project", symlinks=True)))


@pytest.fixture
def clean(first_run, tmp_path):
    """A copy of the project without results; the compiled search is kept to save time."""
    first = first_run[0].root
    made = {str(first / path) for path in MADE}

    def results(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if f"{folder}/{name}" in made]

    return Project(Path(shutil.copytree(first, tmp_path / "project", symlinks=True, ignore=results)))
