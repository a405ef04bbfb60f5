"""The tutorial of an own algorithm up to the pipeline, which ``tests/slow/test_own_algorithm.py`` runs."""

import subprocess
import sys
import tomllib

import pytest
from tests.unit.algorithms.plugins import install_text
from tests.unit.docs.own_algorithm import BLOCKS, console, examples, matches, saved, typed
from tests.workflow.project import Project

from narxbench.algorithms.registry import algorithm

pytestmark = pytest.mark.slow

MODULE = "src/narxbench/algorithms/threshold.py"
DOCTEST = "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the project in which the files of the page are saved."""
    project = Project.of_checkout(tmp_path_factory.mktemp("own") / "project")
    for name, content in saved().items():
        if name != "pyproject.toml":
            project.write(name, content)
    return project.root


def test_it_passes_its_checks(checkout):
    (command, shown), _ = console()
    done = typed(command, checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert matches(done.stdout, shown), done.stdout


def test_a_draw_from_elsewhere_is_reported_as_the_page_says(checkout):
    right = saved()[MODULE]
    (checkout / MODULE).write_text(
        right.replace("rng.integers(objective", "np.random.default_rng().integers(objective")
    )
    try:
        done = typed(console()[0][0], checkout)
    finally:
        (checkout / MODULE).write_text(right)
    reported = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    (shown,) = (content for kind, content in BLOCKS if kind == "text" and content.startswith("FAILED"))
    assert done.returncode == 1 and len(reported) == 1
    assert matches(reported[0] + "\n", shown)


def test_its_examples(checkout, tmp_path):
    (tmp_path / "examples").write_text(examples())
    environment = {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", DOCTEST, str(tmp_path / "examples")]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert examples().count(">>> ") > 5


def test_it_is_found_as_a_package(monkeypatch, tmp_path):
    project = tomllib.loads(saved()["pyproject.toml"])["project"]
    points = project["entry-points"]["narxbench.algorithms"]
    ((name, module),) = points.items()
    install_text(monkeypatch, tmp_path, points, project["name"], **{module: saved()[MODULE]})
    assert algorithm(name).distribution == project["name"]
    assert algorithm(name).about.reference
