"""The tutorial of an own algorithm in the pipeline; dishonest algorithms change no result of others there."""

import json
import re
from pathlib import Path

import pytest
import yaml
from tests.unit.algorithms.plugins import FOLDER, install
from tests.unit.algorithms.plugins.cheats import CHEATS
from tests.unit.docs.own_algorithm import console_commands, files_to_save, run_command

from narxbench._studies.methods.repeats import read_repeats

pytestmark = [pytest.mark.slow, pytest.mark.ci]

COMMAND = f"{console_commands()[1][0]} small.yaml"
MODULE = "src/narxbench/_algorithms/threshold.py"
NEIGHBOURS = ("ga", "stepwise", "threshold")
# Methods of the page's command that take part here, beside those that the page adds.
REMAINING = {*NEIGHBOURS, "upso2d", "frols"}
# Their runs fail as those of the unit tests do, or are as good as any.
CHEATING = ("mutated_data", "memory_file", "reset_count", "much_memory", "crashes")
FAILURES = {name: CHEATS[name].failure or "^$" for name in CHEATING}
FAILURES["hangs"] = "not done after the time limit of 5 s"
# Names of methods have no underscores.
METHODS = {name: name.replace("_", "-") for name in FAILURES}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Return a copy of the project with the files of the page and the results of its command."""
    project = finished.copied(tmp_path_factory.mktemp("tutorial") / "project", made=False)
    for name, content in files_to_save().items():
        if name != "pyproject.toml":
            project.write(name, content)
    project.write("small.yaml", yaml.safe_dump(small_study(project)))
    done = run_command(COMMAND, project.root)
    assert done.returncode == 0, done.stderr
    # The places of both methods of the page, which the terminal ends with.
    places = r"reports/my/report\.html: by exact recovery on .*: threshold is \d+ of \d+ with .*; descent is \d+ of "
    assert re.search(places, done.stderr), done.stderr
    return project


def compared(project):
    """Return the settings of the comparison of methods."""
    return yaml.safe_load((project / "config/methods.yaml").read_text(encoding="utf-8"))


def small_study(project):
    """Return what the study of the page leaves out here: most methods, systems and scenarios."""
    overlay = compared(project)
    return {
        "study": "my",
        "systems": ["S1"],
        "held_out": {"systems": ["fastcan", "zhu1991"], "seeds": [611]},
        "groups": {"new-data": ["fastcan", "zhu1991"], "hard": ["fastcan"]},
        "methods": dict.fromkeys(sorted(overlay["methods"].keys() - REMAINING)),
        "scenarios": dict.fromkeys(sorted(overlay["scenarios"].keys() - {"base"})),
    }


def run_files(project, study, method):
    """Return the run files of a method by problem and name."""
    root = project / f"data/{study}/runs"
    paths = sorted(root.rglob(f"{method}/bic/*.json"))
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def test_a_row_in_the_ranking(checkout):
    page = (checkout / "reports/my/report.html").read_text(encoding="utf-8")
    assert page.count('class="yours"') == 4
    ranking = (checkout / "reports/my/tables/leaderboard.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| *([^|\n]*?) *\|((?:[^|\n]*\|){7})$", ranking, re.MULTILINE))
    assert {"threshold", "descent", "2D-UPSO", "frols"} <= set(rows)
    assert rows["threshold"] != rows["descent"]
    assert run_files(checkout, "my", "threshold") != run_files(checkout, "my", "descent") != {}


def test_an_edit_repeats_the_runs_of_the_algorithm(checkout):
    checkout.edit(MODULE, "default=10.0", "default=11.0")
    try:
        planned = run_command(f"{COMMAND} --dry-run", checkout.root).stdout
    finally:
        checkout.edit(MODULE, "default=11.0", "default=10.0")
    outputs = re.findall(r"^ *output: (data/my/runs/.*)$", planned, re.MULTILINE)
    assert {Path(output).parts[-3] for output in outputs} == {"threshold", "descent"}


def study_of_cheats(project):
    """Return the settings of a study with the neighbours and dishonest algorithms on one system."""
    overlay = compared(project)
    methods = dict.fromkeys([*sorted(overlay["methods"].keys() - {*NEIGHBOURS}), "descent"])
    methods |= {method: {"algorithm": name, "criteria": ["bic"]} for name, method in METHODS.items()}
    return {
        "study": "beside",
        "systems": ["S1"],
        "held_out": None,
        "time_limit": 5,
        "methods": methods,
        "scenarios": dict.fromkeys(sorted(overlay["scenarios"].keys() - {"base"})),
    }


def test_dishonest_algorithms_fail_alone(checkout, monkeypatch, tmp_path):
    (tmp_path / "site").mkdir()
    install(monkeypatch, tmp_path / "site")
    checkout.write("beside.yaml", yaml.safe_dump(study_of_cheats(checkout)))
    done = run_command(f"{COMMAND} beside.yaml", checkout.root, tmp_path / "site", FOLDER)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for method in NEIGHBOURS:
        check_neighbour(checkout, method)
    for name, pattern in FAILURES.items():
        for content in run_files(checkout, "beside", METHODS[name]).values():
            for run in json.loads(content)["runs"]:
                assert re.search(pattern, run.get("failure", "")), name
    repeats = read_repeats((checkout / "data/beside/repeats").glob("*.json"))
    assert repeats.keys() == {"threshold", *METHODS.values()}
    for method, repeat in repeats.items():
        assert bool(repeat.difference) == (method == "memory-file"), method


def check_neighbour(project, method):
    """Check that the runs of a method next to dishonest ones are those of the study without them."""
    expected = {}
    for name, content in run_files(project, "my", method).items():
        if re.match(r"base/data-\d+/S1/", name):
            expected[name] = content
    assert run_files(project, "beside", method) == expected != {}
