"""The tutorial of an own algorithm up to the pipeline, which ``tests/slow/test_own_algorithm.py`` runs."""

import re
import subprocess
import sys
import tomllib

import pytest
from tests.unit.algorithms.plugins import install_text
from tests.unit.docs.own_algorithm import BLOCKS, console_commands, examples, files_to_save, matches, run_command
from tests.workflow.project import Project

from narxbench._algorithms.registry import algorithm

pytestmark = pytest.mark.slow

MODULE = "src/narxbench/_algorithms/threshold.py"
DOCTEST = "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a copy of the project with the files of the page."""
    project = Project.of_checkout(tmp_path_factory.mktemp("own") / "project")
    for name, content in files_to_save().items():
        if name != "pyproject.toml":
            project.write(name, content)
    return project.root


def test_it_passes_its_checks(checkout):
    (command, shown), _ = console_commands()
    done = run_command(command, checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert matches(done.stdout, shown), done.stdout


def test_a_draw_from_elsewhere_is_reported_as_the_page_says(checkout):
    module_text = files_to_save()[MODULE]
    dishonest_text = module_text.replace("rng.integers(objective", "np.random.default_rng().integers(objective")
    (checkout / MODULE).write_text(dishonest_text)
    try:
        done = run_command(console_commands()[0][0], checkout)
    finally:
        (checkout / MODULE).write_text(module_text)
    (failure,) = re.findall("^FAILED.*\n", done.stdout, re.MULTILINE)
    (shown,) = [content for language, content in BLOCKS if content.startswith("FAILED")]
    assert done.returncode == 1
    assert matches(failure, shown)


def test_its_examples(checkout, tmp_path):
    (tmp_path / "examples").write_text(examples())
    environment = {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", DOCTEST, str(tmp_path / "examples")]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert examples().count(">>> ") > 5


def test_it_is_found_as_a_package(monkeypatch, tmp_path):
    project = tomllib.loads(files_to_save()["pyproject.toml"])["project"]
    points = project["entry-points"]["narxbench.algorithms"]
    ((name, module),) = points.items()
    install_text(monkeypatch, tmp_path, points, project["name"], **{module: files_to_save()[MODULE]})
    assert algorithm(name).distribution == project["name"]
    assert algorithm(name).about.reference
