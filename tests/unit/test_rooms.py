"""The library loads no module of the studies, and a study loads none of another."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

STUDIES = ("narxbench._study", "narxbench._studies", "narxbench._pipeline")
# Statements, and a module of the library that they load.
LIBRARY = {
    "import narxbench; narxbench.identify, narxbench.search": "narxbench._identification.identify",
    "import narxbench; narxbench.compare, narxbench.write_report": "narxbench._report.comparison",
    "import narxbench._report.model_page": "narxbench._report.table",
    "import narxbench._report.comparison_page": "narxbench._report.templating",
    "import narxbench.plot": "narxbench._report.model_figures",
    "import narxbench._cli, narxbench._identification.search.plan": "narxbench._io.resources",
}
# Modules of studies, and packages that they load nothing of.
OTHER_PACKAGES = {
    "narxbench._studies.paper.page": ("narxbench._studies.methods", "narxbench._pipeline"),
    "narxbench._studies.paper.analysis": ("narxbench._studies.methods", "narxbench._pipeline"),
    "narxbench._studies.methods.page": ("narxbench._studies.paper", "narxbench._pipeline"),
    "narxbench._study.settings": ("narxbench._studies", "narxbench._pipeline"),
}
# An import takes long: one process loads the library step by step, and a fork of it loads each module of a study.
SCRIPT = """
import json, os, sys

def print_modules():
    print(json.dumps([name for name in sys.modules if name.startswith("narxbench.")]), flush=True)

library, modules = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for statements in library:
    exec(statements)
    print_modules()
for module in modules:
    if os.fork() == 0:
        __import__(module)
        print_modules()
        os._exit(0)
    _, status = os.wait()
    assert status == 0, module
"""


@pytest.fixture(scope="module")
def loaded_modules() -> dict[str, list[str]]:
    """Return the modules of the package that are loaded after each statement, and with each module of a study."""
    command = [sys.executable, "-c", SCRIPT, json.dumps([*LIBRARY]), json.dumps([*OTHER_PACKAGES])]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return dict(zip([*LIBRARY, *OTHER_PACKAGES], map(json.loads, lines), strict=True))


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
    modules = loaded_modules[module]
    assert module in modules
    assert within(modules, OTHER_PACKAGES[module]) == []
