"""Score files, runs_folder of the runs of two methods on a tiny problem."""

import json
import math
import shutil

import numpy as np
import pytest
from tests import reference
from tests.lookups import values_of
from tests.regression import product
from tests.unit.studies.methods.scores import edit
from tests.unit.study.test_runs import CONDITION, STRUCTURE, SYSTEM, simulated

from narxbench import StructureProblem, read_signals
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, sha256
from narxbench._model.dataset import Signals
from narxbench._model.excitation import UniformInput
from narxbench._model.system import System, load_system
from narxbench._studies.methods.score_file import TIME, read_score
from narxbench._studies.methods.scores import fresh_error, score
from narxbench._study.runs import run_seeds

PROBLEM = {name: value for name, value in CONDITION.items() if name != "method"} | {"scenario": "noisy"}
FRESH = {"samples": 300, "washout": 10, "excitation": UniformInput()}
GA = {"population_size": 10}
METHODS = {
    "mine": {"algorithm": "ga", "settings": GA, "evaluations": 120, "seeds": [1, 2], "deterministic": False},
    "first": {"algorithm": "stepwise", "settings": {}, "evaluations": 30, "seeds": [1], "deterministic": True},
}
FILES = {"mine": ["mine-1.json", "mine-2.json"], "first": ["first-1.json"]}


def run_of(folder, seed, name, about):
    """Return the text of a run file of a method."""
    method = {key: about[key] for key in ("algorithm", "settings", "evaluations")}
    condition = {**PROBLEM, "method": name}
    data = {seed: str(folder / "data.csv")}
    return run_seeds(data, condition=condition, axes={"system": "X1"}, structure=STRUCTURE, **method)


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory):
    """Return a folder with the data set and all run files."""
    folder = tmp_path_factory.mktemp("scores")
    (folder / "data.csv").write_text(simulated())
    for name, files in FILES.items():
        for seed, file in zip(METHODS[name]["seeds"], files, strict=True):
            (folder / file).write_text(run_of(folder, seed, name, METHODS[name]))
    return folder


@pytest.fixture
def folder(runs_folder, tmp_path):
    """Return a copy that a test may change."""
    return shutil.copytree(runs_folder, tmp_path / "copy")


def scored(folder, runs=None, **changes):
    arguments = {"problem": PROBLEM, "system": SYSTEM, "structure": STRUCTURE, "fresh": FRESH}
    arguments["methods"] = {name: {**about, "stops_early": True, "minimises": True} for name, about in METHODS.items()}
    runs = runs or {name: [str(folder / file) for file in files] for name, files in FILES.items()}
    return score(runs, str(folder / "data.csv"), **{**arguments, **changes})


def test_a_score_file_reads_back_as_it_was(runs_folder, tmp_path):
    path = tmp_path / "score.json"
    path.write_text(scored(runs_folder))
    assert canonical_json(read_score(path).model_dump(mode="json")) == path.read_text() == scored(runs_folder)


def test_a_score_file_describes_the_problem(runs_folder):
    score_file = json.loads(scored(runs_folder))
    problem = StructureProblem(*read_signals(runs_folder / "data.csv"), **STRUCTURE, criterion="aic-6.5")
    expected = {
        **PROBLEM,
        **{"n_terms": 15, "samples": 200, "n_validation": 60, "penalty": 6.5},
        "data_sha256": sha256((runs_folder / "data.csv").read_bytes()),
        "true_terms": 2,
        "true_fitness": problem.evaluate(["y(k-1)", "u(k-1)"]).fitness,
    }
    assert score_file | expected == score_file
    assert values_of(score_file["methods"], "method") == ["mine", "first", "truth", "all-candidates"]
    assert values_of(score_file["methods"], "reference") == [False, False, True, True]


@pytest.mark.parametrize(("place", "name"), list(enumerate(METHODS)))
def test_a_score_file_says_what_the_runs_found(runs_folder, place, name):
    score_file = json.loads(scored(runs_folder))
    method = score_file["methods"][place]
    run_files = [json.loads((runs_folder / file).read_text()) for file in FILES[name]]
    for key in ("algorithm_sha256", "versions"):
        assert method[key] == run_files[0][key]
    assert method["budget"] == METHODS[name]["evaluations"]
    for run, run_file in zip(method["runs"], run_files, strict=True):
        (stored,) = run_file["runs"]
        for key in ("seed", "fitness", "evaluations", "terms"):
            assert run[key] == stored[key]
        assert run["hits"] == len({*run["terms"]} & {"y(k-1)", "u(k-1)"}) > 0
        assert run["failure"] == ""


def test_the_fresh_error_is_that_of_a_plain_loop(runs_folder):
    run = json.loads(scored(runs_folder))["methods"][0]["runs"][0]
    coefficients = json.loads((runs_folder / "mine-1.json").read_text())["runs"][0]["coefficients"]
    # Neither the input nor the noise of the data set: a realisation of its own, without noise.
    u, y = System(**SYSTEM).simulate(300, seed=3, realisation=0, washout=10)
    assert not np.isin(u, read_signals(runs_folder / "data.csv")[0]).any()
    past = {"u": u, "y": y[:2].tolist()}
    for k in range(2, 300):
        value = 0.0
        for term, weight in zip(run["terms"], coefficients, strict=True):
            value += weight * product(reference.factors(term), past, k)
        past["y"].append(value)
    expected = np.sqrt(((y - past["y"])[2:] ** 2).sum() / ((y[2:] - y[2:].mean()) ** 2).sum())
    assert run["fresh_error"] == pytest.approx(expected, rel=1e-12)
    assert 0 < expected < 1


def test_the_weights_of_a_run_are_judged_and_its_fitness_is_that_of_least_squares(folder):
    before = json.loads(scored(folder))["methods"][1]["runs"][0]
    content = json.loads((folder / "first-1.json").read_text())
    smaller = 0.9 * np.array(content["runs"][0]["coefficients"])
    edit(folder / "first-1.json", ["runs", 0, "coefficients"], smaller.tolist())
    after = json.loads(scored(folder))["methods"][1]["runs"][0]
    assert after["fresh_error"] > before["fresh_error"]
    assert {**after, "fresh_error": before["fresh_error"]} == before


def test_a_run_that_failed_has_no_scores(folder):
    run = json.loads((folder / "mine-2.json").read_text())["runs"][0]
    nothing = {"evaluations": 0, "fitness": None, "terms": []}
    failed = {"sse": None, "coefficients": [], "failure": "ended:\n signal 9"}
    failed["history"] = {"evaluations": [], "fitness": []}
    edit(folder / "mine-2.json", ["runs", 0], {**run, **nothing, **failed})
    run_scores = json.loads(scored(folder))["methods"][0]["runs"][1]
    assert run_scores.pop("failure") == "ended: signal 9"
    assert run_scores == {**nothing, "seed": 2, "hits": 0, "fresh_error": None}


@pytest.mark.parametrize(
    "equation", ["y(k) = 0.4*y(k-1) + u(k-1) + 0.01*u(k-3)", "y(k) = 0.4*y(k-1) + u(k-1)/(1 + y(k-1)^2)"]
)
def test_without_the_truth_among_the_candidates_nothing_is_right(runs_folder, equation):
    score_file = json.loads(scored(runs_folder, system={**SYSTEM, "equation": equation, "n_u": 3}))
    assert (score_file["true_terms"], score_file["true_fitness"]) == (0, None)
    assert values_of(score_file["methods"], "method") == ["mine", "first", "all-candidates"]
    for method in score_file["methods"]:
        for run in method["runs"]:
            assert run["hits"] == 0 and run["fresh_error"] > 0


@pytest.mark.parametrize(
    ("key", "value"), [("fitness", -1e6), ("terms", ["u(k-1)"]), ("history", {"evaluations": [], "fitness": []})]
)
def test_edited_run_files_are_refused(folder, key, value):
    edit(folder / "mine-2.json", ["runs", 0, key], value)
    with pytest.raises(NarxbenchError, match=r"mine-2\.json"):
        scored(folder)


def test_fresh_errors_by_hand():
    system = load_system("S1")
    data = system.simulate(400)
    assert fresh_error(system.terms, system.coefficients, data, 5) == 0.0
    # A model that says 2 where the outputs are 1 and 3 errs like their mean; one that says 1, by sqrt(4 / 2).
    two = Signals(np.zeros(3), np.array([9.0, 1.0, 3.0]))
    assert fresh_error(["1"], [2.0], two, 1) == 1.0
    assert fresh_error(["1"], [1.0], two, 1) == math.sqrt(2.0)
    assert fresh_error(["y(k-1)"], [10.0], Signals(np.zeros(20), np.arange(1.0, 21.0)), 1) is None
    assert fresh_error(["1"], [2.0], Signals(np.zeros(3), np.ones(3)), 1) is None


def test_references_have_weights_by_least_squares_over_all_samples(runs_folder):
    run_of_method = {method["method"]: method["runs"][0] for method in json.loads(scored(runs_folder))["methods"]}
    u, y = read_signals(runs_folder / "data.csv")
    problem = StructureProblem(u, y, **STRUCTURE, criterion="aic-6.5")
    assert run_of_method["truth"]["terms"] == [term for term in problem.terms if term in ("y(k-1)", "u(k-1)")]
    assert run_of_method["truth"]["fitness"] == problem.evaluate(run_of_method["truth"]["terms"]).fitness
    assert run_of_method["all-candidates"]["terms"] == problem.terms
    weights = np.linalg.lstsq(np.stack([y[1:-1], u[1:-1]], axis=1), y[2:], rcond=None)[0]
    fresh = System(**SYSTEM).simulate(300, seed=3, realisation=0, washout=10)
    expected = fresh_error(["y(k-1)", "u(k-1)"], weights, fresh, 2)
    assert run_of_method["truth"]["fresh_error"] == pytest.approx(expected, rel=1e-9)
    assert run_of_method["truth"]["fresh_error"] < run_of_method["all-candidates"]["fresh_error"]


def test_a_method_that_would_need_too_long_counts_as_one_failed_run(runs_folder):
    about = {"algorithm": "frols", "settings": {}, "evaluations": 70, "deterministic": True, "minimises": False}
    score_file = json.loads(scored(runs_folder, too_slow={"slow": about}))
    assert values_of(score_file["methods"], "method") == ["mine", "first", "slow", "truth", "all-candidates"]
    slow = score_file["methods"][2]
    (run,) = slow["runs"]
    assert (slow["algorithm"], slow["budget"], run["failure"], run["terms"]) == ("frols", 70, TIME, [])
    assert (run["fitness"], run["fresh_error"], run["hits"], run["evaluations"]) == (None, None, 0, 0)
