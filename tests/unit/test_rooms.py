"""The library loads no module of the studies, and a study loads none of another, except the page of the paper."""

import subprocess
import sys

import pytest

LOADED = "; import sys; print(*sorted(name for name in sys.modules if name.startswith('narxbench.')))"
STUDIES = ("narxbench._study", "narxbench._studies", "narxbench._pipeline")


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
        ("import narxbench; narxbench.identify, narxbench.search", "narxbench._identification.identify"),
        ("import narxbench; narxbench.compare, narxbench.in_words", "narxbench._report.comparison"),
        ("import narxbench._report.model_page", "narxbench._report.table"),
        ("import narxbench._report.comparison_page", "narxbench._report.templating"),
        ("import narxbench.plot", "narxbench._report.model_figures"),
        ("import narxbench._cli, narxbench._identification.estimate", "narxbench._io.resources"),
    ],
)
def test_the_library_loads_no_study(statements: str, needed: str) -> None:
    modules = loaded(statements)
    assert needed in modules
    assert within(modules, STUDIES) == []


@pytest.mark.parametrize(
    ("module", "other_packages"),
    [
        ("narxbench._studies.paper.page", ("narxbench._studies.measured", "narxbench._pipeline")),
        ("narxbench._studies.paper.analysis", ("narxbench._studies.methods", "narxbench._studies.measured")),
        ("narxbench._studies.methods.page", ("narxbench._studies.paper", "narxbench._studies.measured")),
        ("narxbench._studies.measured.jobs", ("narxbench._studies.paper", "narxbench._studies.methods")),
        ("narxbench._study.settings", ("narxbench._studies", "narxbench._pipeline")),
    ],
)
def test_a_study_loads_no_other_one(module: str, other_packages: tuple[str, ...]) -> None:
    modules = loaded(f"import {module}")
    assert module in modules
    assert within(modules, other_packages) == []
