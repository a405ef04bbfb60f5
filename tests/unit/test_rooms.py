"""The library loads no module of the studies, and a study loads none of another, except the page of the paper."""

import subprocess
import sys

import pytest

LOADED = "; import sys; print(*sorted(name for name in sys.modules if name.startswith('narxbench.')))"
STUDIES = ("narxbench.study", "narxbench.studies", "narxbench.pipeline")


def loaded(statements: str) -> list[str]:
    """Return the modules of the package that some statements load in a fresh process."""
    done = subprocess.run([sys.executable, "-c", statements + LOADED], capture_output=True, text=True, check=True)
    return done.stdout.split()


def within(modules: list[str], packages: tuple[str, ...]) -> list[str]:
    """Return those of the modules that are in some packages."""
    prefixes = tuple(f"{package}." for package in packages)
    return [name for name in modules if f"{name}.".startswith(prefixes)]


@pytest.mark.parametrize(
    ("statements", "needed"),
    [
        ("import narxbench; narxbench.identify, narxbench.search", "narxbench.identification.identify"),
        ("import narxbench; narxbench.compare, narxbench.in_words", "narxbench.report.comparison"),
        ("import narxbench.report.model_page", "narxbench.report.table"),
        ("import narxbench.report.comparison_page", "narxbench.report.templating"),
        ("import narxbench.plot", "narxbench.report.model_figures"),
        ("import narxbench.cli, narxbench.identification.estimate", "narxbench.io.resources"),
    ],
)
def test_the_library_loads_no_study(statements: str, needed: str) -> None:
    modules = loaded(statements)
    assert needed in modules
    assert within(modules, STUDIES) == []


@pytest.mark.parametrize(
    ("module", "other_packages"),
    [
        ("narxbench.studies.paper.page", ("narxbench.studies.measured", "narxbench.pipeline")),
        ("narxbench.studies.paper.analysis", ("narxbench.studies.methods", "narxbench.studies.measured")),
        ("narxbench.studies.methods.page", ("narxbench.studies.paper", "narxbench.studies.measured")),
        ("narxbench.studies.measured.jobs", ("narxbench.studies.paper", "narxbench.studies.methods")),
        ("narxbench.study.settings", ("narxbench.studies", "narxbench.pipeline")),
    ],
)
def test_a_study_loads_no_other_one(module: str, other_packages: tuple[str, ...]) -> None:
    modules = loaded(f"import {module}")
    assert module in modules
    assert within(modules, other_packages) == []
