"""A step runs again when a module that its result can depend on is edited, and only then."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.lookups import values_of
from tests.workflow.project import ROOT

from narxbench._algorithms.registry import algorithm
from narxbench._pipeline import code

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


# The searches of the tiny study: algorithm and criterion.
SEARCHES = (("upso2d", "bic"), ("upso2d", "aic-2"), ("ga", "bic"))


def digests():
    """Return the digest of each step's code, by step; searches and summaries by algorithm and criterion too."""
    steps = []
    for step in STEPS:
        searches = SEARCHES if step in ("search", "summarise") else [(None, None)]
        steps += [(step, *search) for search in searches]
    return {step: code_of_step(*step) for step in steps}


def code_of_step(step, name, criterion):
    """Return the digests of the code that the definition of a step holds."""
    algorithm_files = algorithm(name).files if name else []
    return code.code_of(*code.with_criteria(criterion, ROOT / f"scripts/{step}.py", *algorithm_files))


def loaded():
    """Return the modules that each script loads."""
    scripts = [str(ROOT / f"scripts/{step}.py") for step in STEPS]
    done = subprocess.run([sys.executable, "-c", LOADING, *scripts], capture_output=True, text=True, check=True)
    modules = {}
    for line in done.stdout.splitlines():
        script, *files = line.split("\t")
        modules[Path(script).stem] = set(map(Path, files))
    return modules


def test_any_edit_of_a_module_changes_the_digest_of_the_steps_that_load_it(monkeypatch):
    real, loads = code.code_digest, loaded()
    assert loads.keys() == set(STEPS)
    assert len(loads["page"]) > len(loads["simulate"]) > 5
    before = digests()
    modules_of_step = {step: set() for step in before}
    for module in MODULES:
        monkeypatch.setattr(code, "code_digest", lambda path, module=module: "edited" if path == module else real(path))
        code.code_of.cache_clear()
        for step, digest in digests().items():
            if digest != before[step]:
                modules_of_step[step].add(module)
    code.code_of.cache_clear()
    for (step, name, criterion), modules in modules_of_step.items():
        assert loads[step] - modules == set(), f"{step} loads modules that its digest does not cover"
        if name:
            check_modules_of_a_search(modules, name, criterion)


def check_modules_of_a_search(modules, name, criterion):
    """Check that a search depends on its own algorithm and criterion, and on no study or report."""
    folder = code.PACKAGE / "_algorithms"
    assert modules & {folder / "ga.py", folder / "upso2d.py"} == {folder / f"{name}.py"}
    criteria = {*code.CRITERIA.parent.glob("*.py")} - {code.CRITERIA}
    # BIC names the extended BIC, which compares sets of candidate terms.
    words = {"bic": {"bic", "ebic"}, "aic-2": {"aic"}}[criterion]
    assert set(values_of(modules & criteria, "stem")) == words
    for module in modules:
        assert module.relative_to(code.PACKAGE).parts[0] not in ("_studies", "_report"), module


SEARCHING = """
import os, sys
import narxbench
from narxbench._algorithms.registry import REVIEWED, algorithm
u, y = narxbench.load_system("S1").simulate(300, snr_db=30)
problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100, criterion="aicc")
for name in REVIEWED:
    if os.fork() == 0:
        if algorithm(name).about.requires:
            os._exit(0)
        narxbench.search(problem, algorithm=name, seed=1, evaluations=50)
        criteria = [name for name in sys.modules if name.startswith("narxbench._fitness.criteria.")]
        print(name, *sorted(sys.modules[name].__file__ for name in criteria), sep="\\t", flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_search_depends_on_all_criteria_that_its_algorithm_computes():
    done = subprocess.run([sys.executable, "-c", SEARCHING], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) > 10
    several = 0
    for name, *files in lines:
        search = code.with_criteria("aicc", ROOT / "scripts/search.py", *algorithm(name).files)
        assert {*map(Path, files)} <= code.closure(*search), name
        several += len(files) > 1
    assert several > 5


ENDING = {"manifest", "site", "all"}
AFTER_ANALYSIS = {"analyse", "tables", "figures", "page", *ENDING}


@pytest.mark.parametrize(
    ("path", "again", "spared", "searches"),
    [
        ("src/narxbench/_model/system.py", {"simulate"}, set(), 12),
        ("src/narxbench/_algorithms/ga.py", {"summarise", "run_record", *AFTER_ANALYSIS}, {"simulate"}, 4),
        ("src/narxbench/_study/significance.py", AFTER_ANALYSIS, {"simulate", "summarise", "run_record"}, 0),
        (
            "src/narxbench/_report/figures.py",
            {"figures", "page", *ENDING},
            {"summarise", "run_record", "analyse", "tables"},
            0,
        ),
        ("src/narxbench/_report/templates/site.css", {"page", *ENDING}, {"summarise", "analyse"}, 0),
        ("scripts/analyse.py", AFTER_ANALYSIS, {"simulate", "summarise"}, 0),
        ("scripts/search.py", {"search", "summarise", "run_record", *AFTER_ANALYSIS}, {"simulate"}, 12),
    ],
)
def test_plan_after_an_edit(copy, path, again, spared, searches):
    copy.append(path, "\nEDITED = 1\n" if path.endswith(".py") else "\n/* edited */\n")
    planned = copy.planned()
    assert again <= set(planned)
    assert spared & set(planned) == set()
    outputs = planned.get("search", [])
    assert len(outputs) == searches
    if searches == 4:
        for output in outputs:
            assert "/ga/" in output
