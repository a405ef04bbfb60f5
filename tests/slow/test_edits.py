"""Every module and script edited in turn: the plan runs the steps that depend on it, and what follows from them."""

import os

import pytest
from tests.workflow.project import ROOT

from narxbench.pipeline import code

pytestmark = pytest.mark.slow

SCRIPTS = {path.stem: path for path in sorted((ROOT / "scripts").glob("*.py"))}
# Run by name, or in a comparison of methods or a study of measured data only.
UNPLANNED = ("verify", "update_reference", "screenshot")
UNPLANNED += ("score", "rank", "ranking_tables", "ranking_figures", "leaderboard")
UNPLANNED += ("brief_search", "rank_configurations", "thorough_search", "choose_structure", "resample", "conclude")
FOLLOWING = {
    "simulate": ["search"],
    "search": ["summarise"],
    "summarise": ["analyse"],
    "analyse": ["tables", "figures", "page"],
    "tables": ["manifest"],
    "figures": ["page"],
    "interpretations": ["page"],
    "page": ["run_info", "manifest"],
    "run_info": ["all"],
    "manifest": ["all"],
    "all": [],
}


def with_what_follows(rules):
    found, waiting = set(), list(rules)
    while waiting:
        rule = waiting.pop()
        found.add(rule)
        waiting += FOLLOWING[rule]
    return found


@pytest.mark.parametrize("package", sorted({path.parent for path in code.PACKAGE.rglob("*.py")}), ids=lambda p: p.name)
def test_plan_after_each_edit(copy, package):
    algorithms = [path for path in (code.PACKAGE / "algorithms").glob("*.py") if path.stem in ("ga", "upso2d")]
    needs = {step: code.closure(path) for step, path in SCRIPTS.items() if step not in UNPLANNED}
    for step in ("search", "summarise"):
        needs[step] = code.closure(SCRIPTS[step], *algorithms)
    for module in sorted(package.glob("*.py")):
        path = str(module.relative_to(ROOT))
        text = (copy / path).read_text(encoding="utf-8")
        copy.append(path, "\nEDITED = 1\n")
        planned = set(copy.planned())
        copy.write(path, text)
        assert planned == with_what_follows(step for step, modules in needs.items() if module in modules), path


def test_plan_after_each_edit_of_a_script(copy):
    for step, script in SCRIPTS.items():
        path = str(script.relative_to(ROOT))
        times, text = (copy / path).stat(), (copy / path).read_text(encoding="utf-8")
        copy.append(path, "\nEDITED = 1\n")
        planned = set(copy.planned())
        copy.write(path, text)
        # Snakemake looks at the time of a script too.
        os.utime(copy / path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert planned == with_what_follows({step} - set(UNPLANNED)), path
