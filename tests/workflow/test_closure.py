"""A step runs again when a module that its result can depend on is edited, and only then."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.project import ROOT

from narxbench.pipeline import code
from narxbench.pipeline.plans import plan_of

pytestmark = pytest.mark.slow

MODULES = sorted(code.PACKAGE.rglob("*.py"))
STEPS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))
# Executes each script without a job, in a process of its own, and prints the modules of the package that this loads;
# the parent has loaded what is slow.
LOADING = """
import os, runpy, sys
import jinja2, matplotlib.figure, numba, pandas, pydantic, scipy.stats
for script in sys.argv[1:]:
    if os.fork() == 0:
        runpy.run_path(script)
        files = {module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "narxbench"}
        print(script, *sorted(files), sep="\\t", flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def plan(finished, monkeypatch):
    """The plan of the tiny study here."""
    monkeypatch.chdir(ROOT)
    return plan_of([finished / "tiny.yaml"])


def digests(plan):
    """Return the digest of each step's code, by step; searches and summaries by algorithm too."""
    algorithms = dict.fromkeys(("search", "summarise"), (*plan.study.methods,))
    return {(step, name): plan.code(step, name) for step in STEPS for name in algorithms.get(step, (None,))}


def loaded():
    """Return the modules that each script loads."""
    scripts = [str(ROOT / f"scripts/{step}.py") for step in STEPS]
    done = subprocess.run([sys.executable, "-c", LOADING, *scripts], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {Path(script).stem: set(map(Path, files)) for script, *files in lines}


def test_any_edit_of_a_module_changes_the_digest_of_the_steps_that_load_it(plan, monkeypatch):
    real, loads = code.code_digest, loaded()
    assert loads.keys() == set(STEPS)
    assert len(loads["page"]) > len(loads["simulate"]) > 5
    before = digests(plan)
    seen = {}
    for module in MODULES:
        monkeypatch.setattr(code, "code_digest", lambda path, module=module: "edited" if path == module else real(path))
        code.digest_of.cache_clear()
        after = digests(plan)
        seen[module] = {step for step in before if before[step] != after[step]}
    code.digest_of.cache_clear()
    for step, algorithm in before:
        found = {module for module in MODULES if (step, algorithm) in seen[module]}
        assert loads[step] - found == set(), f"{step} loads what its digest does not see"
        if algorithm:
            folder = code.PACKAGE / "algorithms"
            assert found & {folder / "ga.py", folder / "upso2d.py"} == {folder / f"{algorithm}.py"}
            assert not {module.relative_to(code.PACKAGE).parts[0] for module in found} & {"studies", "report"}


ENDING = {"manifest", "run_info", "all"}
AFTER_ANALYSIS = {"analyse", "tables", "figures", "page", *ENDING}


@pytest.mark.parametrize(
    ("path", "again", "spared", "searches"),
    [
        ("src/narxbench/model/system.py", {"simulate"}, set(), 12),
        ("src/narxbench/algorithms/ga.py", {"summarise", *AFTER_ANALYSIS}, {"simulate", "interpretations"}, 4),
        ("src/narxbench/study/significance.py", AFTER_ANALYSIS, {"simulate", "summarise"}, 0),
        ("src/narxbench/report/figures.py", {"figures", "page", *ENDING}, {"summarise", "analyse", "tables"}, 0),
        ("src/narxbench/report/templates/site.css", {"page", *ENDING}, {"summarise", "analyse"}, 0),
        ("scripts/analyse.py", AFTER_ANALYSIS, {"simulate", "summarise"}, 0),
        ("scripts/search.py", {"search", "summarise", *AFTER_ANALYSIS}, {"simulate", "interpretations"}, 12),
    ],
)
def test_plan_after_an_edit(copy, path, again, spared, searches):
    copy.append(path, "\nEDITED = 1\n" if path.endswith(".py") else "\n/* edited */\n")
    planned = copy.planned()
    assert again <= set(planned)
    assert spared & set(planned) == set()
    outputs = planned.get("search", [])
    assert len(outputs) == searches
    assert searches != 4 or all("/ga/" in output for output in outputs)
