"""The library loads no module of the studies, and a study loads none of another, except the page of the paper."""

import json
import subprocess
import sys

import pytest

STUDIES = ("narxbench._study", "narxbench._studies", "narxbench._pipeline")
# Statements, and a module of the library that they load.
LIBRARY = {
    "import narxbench; narxbench.identify, narxbench.search": "narxbench._identification.identify",
    "import narxbench; narxbench.compare, narxbench.in_words": "narxbench._report.comparison",
    "import narxbench._report.model_page": "narxbench._report.table",
    "import narxbench._report.comparison_page": "narxbench._report.templating",
    "import narxbench.plot": "narxbench._report.model_figures",
    "import narxbench._cli, narxbench._identification.estimate": "narxbench._io.resources",
}
# Modules of studies, and packages that they load nothing of.
OTHER_PACKAGES = {
    "narxbench._studies.paper.page": ("narxbench._studies.measured", "narxbench._pipeline"),
    "narxbench._studies.paper.analysis": ("narxbench._studies.methods", "narxbench._studies.measured"),
    "narxbench._studies.methods.page": ("narxbench._studies.paper", "narxbench._studies.measured"),
    "narxbench._studies.measured.jobs": ("narxbench._studies.paper", "narxbench._studies.methods"),
    "narxbench._study.settings": ("narxbench._studies", "narxbench._pipeline"),
}
# Packages of others take most of the time of an import: one process loads them, and a fork of it runs each statement.
SCRIPT = """
import json, os, sys
import jinja2, matplotlib.figure, numba, numpy, pandas, pydantic, ruamel.yaml, scipy.optimize, scipy.stats

for statements in sys.argv[1:]:
    assert not any(name.startswith("narxbench") for name in sys.modules)
    if os.fork() == 0:
        exec(statements)
        print(json.dumps([name for name in sys.modules if name.startswith("narxbench.")]), flush=True)
        os._exit(0)
    _, status = os.wait()
    assert status == 0, statements
"""


@pytest.fixture(scope="module")
def loaded_modules() -> dict[str, list[str]]:
    """Return the modules of the package that each of the statements loads in a process of its own."""
    statements = [*LIBRARY, *(f"import {module}" for module in OTHER_PACKAGES)]
    command = [sys.executable, "-c", SCRIPT, *statements]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return dict(zip(statements, map(json.loads, lines), strict=True))


def within(modules: list[str], packages: tuple[str, ...]) -> list[str]:
    """Return those of the modules that are in some packages."""
    prefixes = tuple(f"{package}." for package in packages)
    return [name for name in modules if f"{name}.".startswith(prefixes)]


@pytest.mark.parametrize("statements", LIBRARY)
def test_the_library_loads_no_study(loaded_modules: dict[str, list[str]], statements: str) -> None:
    modules = loaded_modules[statements]
    assert LIBRARY[statements] in modules
    assert within(modules, STUDIES) == []


@pytest.mark.parametrize("module", OTHER_PACKAGES)
def test_a_study_loads_no_other_one(loaded_modules: dict[str, list[str]], module: str) -> None:
    modules = loaded_modules[f"import {module}"]
    assert module in modules
    assert within(modules, OTHER_PACKAGES[module]) == []
