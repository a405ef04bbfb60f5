"""The tutorial of an own algorithm, as a reader follows it; dishonest algorithms change no result of others."""

import json
import os
import re
import shlex
import tomllib
from itertools import pairwise

import pytest
import yaml
from tests.command import python, succeeded
from tests.unit.algorithms.plugins import FOLDER, install, install_text
from tests.unit.algorithms.plugins.cheats import CHEATS
from tests.workflow.project import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.ci]

PAGE = (ROOT / "docs/own_algorithm.md").read_text(encoding="utf-8")
# Language and content of each block.
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# The files that the page says to save, by the names in their first lines.
FILES = {}
for _, _content in BLOCKS:
    if _match := re.match(r"# (\S+\.\w+)\n", _content):
        FILES[_match[1]] = _content
# Each command, and the text that it prints by the block after it, or nothing.
COMMANDS = []
for (_language, _content), (_next_language, _next_content) in pairwise([*BLOCKS, ("", "")]):
    if not _language:
        COMMANDS.append((_content.strip(), _next_content if _next_language == "text" else ""))
(CHECK, CHECKED), (STUDY, _) = COMMANDS
EXAMPLES = "\n".join(text for language, text in BLOCKS if language == "python" and text.startswith(">>>"))
DOCTEST = "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)"
MODULE = "src/narxbench/_algorithms/threshold.py"
NEIGHBOURS = ("ga", "stepwise", "threshold")
# Methods of the page's command that take part here, beside those that the page adds.
REMAINING = {*NEIGHBOURS, "upso2d", "frols"}
# Their runs fail as those of the unit tests do, or are as good as any; names of methods have no underscores.
CHEATING = ("memory", "memory_file", "reset_count", "much_memory", "crashes")
FAILURES = {name.replace("_", "-"): CHEATS[name].failure or "^$" for name in CHEATING}
FAILURES["hangs"] = "not done after the time limit of 5 s"


def run(project, command, *paths, code=0):
    """Return the outcome of a command of the page, run in a checkout with further import paths."""
    words = shlex.split(command.removeprefix("python3 -m uv run "))
    imports = os.pathsep.join(map(str, (project / "src", *paths)))
    return python("-m", *words, folder=project.root, code=code, PYTHONPATH=imports)


def matches(printed, shown):
    """Return whether a text is the shown one, in which three dots represent anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed, re.DOTALL) is not None


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Return a copy of the project with the files of the page."""
    project = finished.copied(tmp_path_factory.mktemp("tutorial") / "project", made=False)
    for name, content in FILES.items():
        if name != "pyproject.toml":
            project.write(name, content)
    return project


@pytest.fixture(scope="module")
def compared(checkout):
    """Return the checkout with the results of the page's study, of few methods, systems and scenarios."""
    study = small_study(checkout, "my", {*settings(checkout)["methods"]} - REMAINING)
    checkout.write("small.yaml", yaml.safe_dump(study))
    messages = run(checkout, f"{STUDY} small.yaml").err
    # The places of both methods of the page, which the terminal ends with.
    places = r"reports/my/report\.html: by exact recovery on .*: threshold is \d+ of \d+ with .*; descent is \d+ of "
    assert re.search(places, messages), messages
    return checkout


def settings(project):
    return yaml.safe_load((project / "config/methods.yaml").read_text(encoding="utf-8"))


def small_study(project, name, removed):
    """Return what a study leaves out of the comparison of methods."""
    scenarios = sorted(settings(project)["scenarios"].keys() - {"base"})
    study = {"study": name, "systems": ["S1"], "groups": {"new-data": ["fastcan", "zhu1991"], "hard": ["fastcan"]}}
    study["held_out"] = {"systems": ["fastcan", "zhu1991"], "seeds": [611]}
    return study | {"methods": dict.fromkeys(sorted(removed)), "scenarios": dict.fromkeys(scenarios)}


def run_files(project, study, method):
    """Return the run files of a method by problem and name."""
    root = project / f"data/{study}/runs"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob(f"{method}/bic/*.json"))}


def test_it_passes_its_checks_and_a_draw_from_elsewhere_does_not(checkout):
    done = run(checkout, CHECK)
    assert done.err == "" and matches(done.out, CHECKED), done.out
    checkout.edit(MODULE, "rng.integers(objective", "np.random.default_rng().integers(objective")
    printed = run(checkout, CHECK, code=1).out
    checkout.write(MODULE, FILES[MODULE])
    (failure,) = re.findall("^FAILED.*\n", printed, re.MULTILINE)
    (shown,) = [content for _, content in BLOCKS if content.startswith("FAILED")]
    assert matches(failure, shown)


def test_its_examples(checkout, tmp_path):
    (tmp_path / "examples").write_text(EXAMPLES)
    printed = python("-c", DOCTEST, tmp_path / "examples", folder=checkout.root, PYTHONPATH=str(checkout / "src")).out
    assert printed == "" and EXAMPLES.count(">>> ") > 5


def test_it_is_found_as_a_package(monkeypatch, tmp_path):
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    ((name, module),) = project["entry-points"]["narxbench.algorithms"].items()
    install_text(monkeypatch, tmp_path, {name: module}, project["name"], **{module: FILES[MODULE]})
    assert succeeded("check-algorithm", name).endswith(": all checks passed\n")


def test_a_row_in_the_ranking(compared):
    page = (compared / "reports/my/report.html").read_text(encoding="utf-8")
    assert page.count('class="yours"') == 4
    ranking = (compared / "reports/my/tables/leaderboard.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| *([^|\n]*?) *\|((?:[^|\n]*\|){7})$", ranking, re.MULTILINE))
    assert {"threshold", "descent", "2D-UPSO", "frols"} <= set(rows)
    assert rows["threshold"] != rows["descent"]
    assert run_files(compared, "my", "threshold") != run_files(compared, "my", "descent") != {}


def test_an_edit_repeats_the_runs_of_the_algorithm(compared):
    compared.edit(MODULE, "default=10.0", "default=11.0")
    planned = run(compared, f"{STUDY} small.yaml --dry-run").out
    compared.edit(MODULE, "default=11.0", "default=10.0")
    outputs = re.findall(r"^ *output: data/my/runs/.*/(\w+)/bic/[^/]*$", planned, re.MULTILINE)
    assert set(outputs) == {"threshold", "descent"}


def test_dishonest_algorithms_fail_alone(compared, monkeypatch, tmp_path):
    (tmp_path / "site").mkdir()
    install(monkeypatch, tmp_path / "site")
    study = small_study(compared, "beside", {*settings(compared)["methods"], "descent"} - {*NEIGHBOURS})
    study |= {"held_out": None, "time_limit": 5}
    del study["groups"]
    study["methods"] |= {name: {"algorithm": name.replace("-", "_"), "criteria": ["bic"]} for name in FAILURES}
    compared.write("beside.yaml", yaml.safe_dump(study))
    assert "Traceback" not in run(compared, f"{STUDY} beside.yaml", tmp_path / "site", FOLDER).err
    for method in NEIGHBOURS:
        alone = {name: run for name, run in run_files(compared, "my", method).items() if "/S1/" in name}
        assert run_files(compared, "beside", method) == alone != {}
    for method, pattern in FAILURES.items():
        for content in run_files(compared, "beside", method).values():
            for search in json.loads(content)["runs"]:
                assert re.search(pattern, search.get("failure", "")), method
    repeats = [json.loads(path.read_bytes()) for path in (compared / "data/beside/repeats").glob("*.json")]
    differing = {repeat["condition"]["method"]: bool(repeat["difference"]) for repeat in repeats}
    assert differing == {method: method == "memory-file" for method in ("threshold", *FAILURES)}
