"""The tutorial of an own algorithm in the pipeline, and what dishonest algorithms do to others there: nothing."""

import json
import re

import pytest
import yaml
from tests.unit.algorithms.plugins import FOLDER, install
from tests.unit.algorithms.plugins.cheats import CHEATS
from tests.unit.docs.own_algorithm import console, saved, typed

from narxbench.studies.methods.repeats import read_repeats

pytestmark = [pytest.mark.slow, pytest.mark.ci]

COMMAND = console()[1][0]
MODULE = "src/narxbench/algorithms/threshold.py"
NEIGHBOURS = ("ga", "stepwise", "threshold")
# What the command of the page runs on less, so that it takes a third of the time: no packages of others, fewer systems.
SMALL = {
    "study": "my",
    "systems": ["S1", "S2"],
    "held_out": {"systems": ["fastcan", "zhu1991"], "seeds": [301]},
    "only_in": {},
    "methods": dict.fromkeys(["pymoo-ga", "sysidentpy-frols", "sysidentpy-aols", "sysidentpy-metamss", "fastcan"]),
}
# Their runs fail as those of the unit tests do, or are as good as any.
CHEATING = ("mutated_data", "memory_file", "reset_count", "much_memory", "crashes")


@pytest.fixture
def own(empty):
    """A copy of the project in which the files of the page are saved."""
    for name, content in saved().items():
        if name != "pyproject.toml":
            empty.write(name, content)
    return empty


def runs(project, study, method):
    """Return the run files of a method by problem and name."""
    root = project / f"data/{study}/runs"
    files = {str(path.relative_to(root)): path for path in root.rglob(f"{method}/bic/*.json")}
    return {name: path.read_bytes() for name, path in sorted(files.items())}


def test_a_row_in_the_ranking_and_neighbours_that_nobody_touches(own, monkeypatch, tmp_path):
    own.write("small.yaml", yaml.safe_dump(SMALL))
    command = f"{COMMAND} small.yaml"
    done = typed(command, own.root)
    assert done.returncode == 0, done.stderr
    assert (own / "reports/my/report.html").is_file()
    ranking = (own / "reports/my/tables/leaderboard.md").read_text(encoding="utf-8").splitlines()
    rows = {row.split("|")[2].strip(): row for row in ranking if row.startswith("| ") and row.count("|") > 5}
    assert {"threshold", "descent", "2D-UPSO", "frols"} <= set(rows)
    assert rows["threshold"] != rows["descent"]
    assert runs(own, "my", "threshold") != runs(own, "my", "descent") != {}

    # An edit repeats its runs only.
    own.edit(MODULE, "default=10.0", "default=11.0")
    planned = typed(f"{command} --dry-run", own.root).stdout
    made = {line.split("/")[-3] for line in planned.splitlines() if line.strip().startswith("output: data/my/runs/")}
    assert made == {"threshold", "descent"}
    own.edit(MODULE, "default=11.0", "default=10.0")

    # The same runs, with others next to them that do what they must not.
    (tmp_path / "site").mkdir()
    install(monkeypatch, tmp_path / "site")
    overlay = yaml.safe_load((own / "config/methods.yaml").read_text(encoding="utf-8"))
    methods = {name: None for name in overlay["methods"] if name not in (*NEIGHBOURS, *SMALL["methods"])}
    methods |= {name.replace("_", "-"): {"algorithm": name, "criteria": ["bic"]} for name in (*CHEATING, "hangs")}
    beside = {"study": "beside", "systems": ["S1"], "held_out": None, "time_limit": 5}
    beside["methods"] = {**methods, "descent": None}
    beside["scenarios"] = {name: None for name in overlay["scenarios"] if name != "base"}
    own.write("beside.yaml", yaml.safe_dump(beside))
    done = typed(f"{command} beside.yaml", own.root, tmp_path / "site", FOLDER)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for method in NEIGHBOURS:
        right = {name: content for name, content in runs(own, "my", method).items() if name.startswith("base/S1/")}
        assert runs(own, "beside", method) == right != {}
    for name in (*CHEATING, "hangs"):
        failure = "not done after the time limit of 5 s" if name == "hangs" else CHEATS[name].failure or "^$"
        for content in runs(own, "beside", name.replace("_", "-")).values():
            failures = {run.get("failure", "") for run in json.loads(content)["runs"]}
            assert all(map(re.compile(failure).search, failures)), failures
    repeats = read_repeats((own / "data/beside/repeats").glob("*.json"))
    assert {name for name, found in repeats.items() if not found.same} == {"memory-file"}
    assert repeats.keys() == {"threshold", *(name.replace("_", "-") for name in (*CHEATING, "hangs"))}
