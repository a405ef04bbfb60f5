"""The tutorial of an own algorithm up to the pipeline, which ``tests/slow/test_own_algorithm.py`` runs."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from tests.unit.docs.own_algorithm import PAGE, console, examples, matches, saved, typed
from tests.workflow.project import Project

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


def test_a_program_in_another_language_passes_them_too(checkout):
    done = typed("narxbench check-algorithm correlated", checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\ncorrelated: all checks passed\n")


def test_a_draw_from_elsewhere_is_reported_as_the_page_says(checkout):
    right = saved()[MODULE]
    (checkout / MODULE).write_text(right.replace("rng.integers(objective", "np.random.randint(objective"))
    try:
        done = typed(console()[0][0], checkout)
    finally:
        (checkout / MODULE).write_text(right)
    reported = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert done.returncode == 1 and len(reported) == 1
    assert f"```text\n{reported[0]}\n```" in (checkout / "docs/own_algorithm.md").read_text(encoding="utf-8")


def test_its_examples(checkout, tmp_path):
    (tmp_path / "examples").write_text(examples())
    environment = {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", DOCTEST, str(tmp_path / "examples")]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert examples().count(">>> ") > 5


@pytest.fixture
def environment(tmp_path):
    """An environment with the packages of this one, in which nothing of this one is changed, and its uv."""
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    probe = [uv, "pip", "install", "--quiet", "--target", tmp_path / "probe", "hatchling"]
    done = subprocess.run(probe, cwd=tmp_path, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be installed here: {done.stderr.strip()[-200:]}")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.suffix == ".dist-info":
            shutil.copytree(entry, site / entry.name)  # uv follows no links to them
        elif not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    return uv, tmp_path / "venv"


def test_it_is_found_as_a_package(environment, tmp_path):
    uv, folder = environment
    (command,) = re.findall("`uv (pip install .*?)`", PAGE.read_text(encoding="utf-8"))
    project = tomllib.loads(saved()["pyproject.toml"])["project"]
    ((name, module),) = project["entry-points"]["narxbench.algorithms"].items()
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(saved()["pyproject.toml"])
    (package / f"{module}.py").write_text(saved()[MODULE])
    # uv takes an activated environment where no other one is named, which CI may do.
    here = {"VIRTUAL_ENV": str(folder), "UV_PYTHON": str(folder)}
    within = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | here
    subprocess.run([uv, *command.split()], cwd=package, env=within, check=True)
    checked = [folder / "bin/python", "-m", "narxbench.cli", "check-algorithm", name]
    reported = subprocess.run(checked, cwd=tmp_path, env=within, capture_output=True, text=True).stdout
    assert f"with {project['name']} {project['version']}\n" in reported
    assert reported.endswith("\nthreshold: all checks passed\n")
