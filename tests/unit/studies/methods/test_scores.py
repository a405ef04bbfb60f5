"""Score files, made of the runs of two methods on a tiny problem, and runs that are made again."""

import json
import shutil
from operator import itemgetter

import numpy as np
import pytest
from tests import reference
from tests.lookups import values_of
from tests.regression import product
from tests.unit.algorithms.plugins import install
from tests.unit.studies.methods.leaderboards import FRAMES
from tests.unit.studies.steps import edit, read, step
from tests.unit.study.searches import AXES, CONDITION, STRUCTURE, SYSTEM, search, simulate, simulation

from narxbench import NarxbenchError, StructureProblem, System, read_signals

PROBLEM = {name: value for name, value in CONDITION.items() if name != "method"} | {"scenario": "noisy"}
FRESH = {"samples": 300, "washout": 10, "excitation": {"kind": "uniform"}}
TRUE = ["y(k-1)", "u(k-1)"]
METHODS = {
    "mine": {"algorithm": "ga", "settings": {"population_size": 10}, "evaluations": 120, "seeds": [1, 2]},
    "first": {"algorithm": "stepwise", "settings": {}, "evaluations": 30, "seeds": [1]},
}
ABOUT = {"stops_early": True, "minimises": True}
RUNS = [f"{name}/aic-6.5/seed-{seed}.json" for name, seed in (("mine", 1), ("mine", 2), ("first", 1))]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the data set and all run files."""
    folder = tmp_path_factory.mktemp("scores")
    data = simulate(folder / "data.csv")
    for path in RUNS:
        method = {key: METHODS[path.split("/")[0]][key] for key in ("algorithm", "settings", "evaluations")}
        condition = {**PROBLEM, "method": path.split("/")[0]}
        search(folder / path, data, [int(path[-6])], condition=condition, axes={"system": "X1"}, **method)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """Return a copy that a test may change."""
    return shutil.copytree(made, tmp_path / "copy")


def scored(folder, **changes):
    """Return the content of the score file."""
    problem = {"problem": PROBLEM, "system": SYSTEM, "structure": STRUCTURE, "too_slow": {}, "held_out": False}
    problem |= {"fresh": FRESH, **changes}
    params = {"problem": problem, "methods": {name: {**about, **ABOUT} for name, about in METHODS.items()}}
    inputs = {"runs": [str(folder / path) for path in RUNS], "data": str(folder / "data.csv")}
    output = {"": [str(folder / "score.json")]}
    return json.loads(read(step("score", params, input=inputs, output=output, simulation=simulation())[0]))


@pytest.fixture(scope="module")
def score_file(made):
    return scored(made)


def test_a_score_file_describes_the_problem(made, score_file, tmp_path):
    problem = StructureProblem(*read_signals(made / "data.csv"), **STRUCTURE, criterion="aic-6.5")
    expected = {
        **PROBLEM,
        **{"n_terms": 15, "samples": 200, "n_validation": 60, "true_terms": TRUE},
        "true_fitness": problem.evaluate(TRUE).fitness,
    }
    assert score_file | expected == score_file
    assert values_of(score_file["methods"], "method") == ["mine", "first", "truth", "all-candidates"]
    assert values_of(score_file["methods"], "reference") == [False, False, True, True]
    assert values_of(score_file["methods"], "budget") == [120, 30, 1, 1]
    # The next step reads it.
    inputs = {"scores": [str(made / "score.json")], "repeats": []}
    output = {name: str(tmp_path / f"{name}.csv") for name in FRAMES}
    step("rank", {"ranking": {"confidence": 0.95, "situations": {}}}, input=inputs, output=output)
    assert len(read(tmp_path / "scores.csv").splitlines()) == 1 + 5


def test_a_score_file_says_what_the_runs_found(made, score_file):
    outcome = itemgetter("seed", "fitness", "evaluations", "terms")
    run_files = [json.loads(read(made / path)) for path in RUNS]
    scored_runs = [run for method in score_file["methods"][:2] for run in method["runs"]]
    for run, run_file in zip(scored_runs, run_files, strict=True):
        (stored,) = run_file["runs"]
        assert outcome(run) == outcome(stored)
        assert {*run["terms"]} & {*TRUE} and run["failure"] == ""


def fresh_error(terms, weights):
    """Return the error of a free run on a realisation of its own, without noise, in a plain loop."""
    u, y = System(**SYSTEM).simulate(300, seed=3, realisation=0, washout=10)
    past = {"u": u, "y": y[:2].tolist()}
    for k in range(2, 300):
        value = 0.0
        for term, weight in zip(terms, weights, strict=True):
            value += weight * product(reference.factors(term), past, k)
        past["y"].append(value)
    return np.sqrt(((y - past["y"])[2:] ** 2).sum() / ((y[2:] - y[2:].mean()) ** 2).sum())


def test_the_fresh_error_is_that_of_a_plain_loop(made, score_file):
    run, stored = score_file["methods"][0]["runs"][0], json.loads(read(made / RUNS[0]))["runs"][0]
    assert run["fresh_error"] == pytest.approx(fresh_error(run["terms"], stored["coefficients"]), rel=1e-12)
    assert 0 < run["fresh_error"] < 1


def test_references_have_weights_by_least_squares_over_all_samples(made, score_file):
    truth, everything = (method["runs"][0] for method in score_file["methods"][2:])
    u, y = read_signals(made / "data.csv")
    problem = StructureProblem(u, y, **STRUCTURE, criterion="aic-6.5")
    in_order = [term for term in problem.terms if term in TRUE]
    assert (truth["terms"], everything["terms"]) == (in_order, problem.terms)
    assert truth["fitness"] == problem.evaluate(in_order).fitness
    weights = np.linalg.lstsq(np.stack([y[1:-1], u[1:-1]], axis=1), y[2:], rcond=None)[0]
    assert truth["fresh_error"] == pytest.approx(fresh_error(TRUE, weights), rel=1e-9)
    assert truth["fresh_error"] < everything["fresh_error"]


def test_runs_that_failed_or_diverge_and_methods_that_would_need_too_long_have_no_scores(folder):
    run = json.loads(read(folder / RUNS[1]))["runs"][0]
    nothing = {"evaluations": 0, "fitness": None, "terms": []}
    failed = {"coefficients": [], "failure": "ended:\n signal 9"}
    failed |= {"history_evaluations": [], "history_fitness": []}
    edit(folder / RUNS[1], "runs", 0, value={**run, **nothing, **failed})
    about = {"algorithm": "frols", "settings": {}, "evaluations": 70, "minimises": False}
    # The free run of such weights diverges.
    weights = json.loads(read(folder / RUNS[2]))["runs"][0]["coefficients"]
    edit(folder / RUNS[2], "runs", 0, "coefficients", value=[1e3 * weight for weight in weights])
    mine, first, slow, *_ = scored(folder, too_slow={"slow": about})["methods"]
    empty = {**nothing, "fresh_error": None}
    assert first["runs"][0]["fresh_error"] is None
    assert mine["runs"][1] == {**empty, "seed": 2, "failure": "ended: signal 9"}
    assert slow["runs"] == [{**empty, "seed": 1, "failure": "time"}]
    assert (slow["method"], slow["algorithm"], slow["budget"]) == ("slow", "frols", 70)


@pytest.mark.parametrize("inputs", ["u(k-1) + 0.01*u(k-3)", "u(k-1)/(1 + y(k-1)^2)"])
def test_without_the_truth_among_the_candidates_nothing_is_right(made, inputs):
    score_file = scored(made, system={**SYSTEM, "equation": f"y(k) = 0.4*y(k-1) + {inputs}", "n_u": 3})
    assert (score_file["true_terms"], score_file["true_fitness"]) == ([], None)
    assert values_of(score_file["methods"], "method") == ["mine", "first", "all-candidates"]
    for method in score_file["methods"]:
        for run in method["runs"]:
            assert run["fresh_error"] > 0


@pytest.mark.parametrize(
    "edited", [{"fitness": -1e6}, {"terms": ["u(k-1)"]}, {"history_evaluations": [], "history_fitness": []}]
)
def test_edited_run_files_are_refused(folder, edited):
    for key, value in edited.items():
        edit(folder / RUNS[1], "runs", 0, key, value=value)
    with pytest.raises(NarxbenchError, match=r"mine/aic-6\.5/seed-2\.json"):
        scored(folder)


# Runs that are made again


def repeated(folder, algorithm, seeds, *, run_of="", **changes):
    """Return what the last of some runs of an algorithm says when it is made again."""
    condition = {**CONDITION, "method": f"my-{algorithm}"}
    run = {"axes": AXES, "structure": STRUCTURE, "settings": {}, "evaluations": 60, "time_limit": 30.0}
    run |= {"algorithm": algorithm, "condition": condition, **changes}
    data = str(folder / "data.csv")
    search(folder / "run.json", data, seeds, **run | ({"condition": {**condition, "method": run_of}} if run_of else {}))
    inputs, output = {"run": [str(folder / "run.json")], "data": [data]}, {"": [str(folder / "repeat.json")]}
    params = {"run": run, "seed": seeds[-1]}
    (path,) = step("repeat", params, input=inputs, output=output, simulation=simulation())
    return json.loads(read(path))["difference"]


def test_a_run_that_leaves_notes_to_the_next_is_noticed(folder, monkeypatch, tmp_path):
    (tmp_path / "site").mkdir()
    install(monkeypatch, tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    difference = repeated(folder, "memory_file", [1, 2])
    assert difference.startswith("improvement ") and "; at first " in difference


def test_a_run_of_another_condition_seed_or_data_set_is_named(folder):
    """Else its method would be called one that does not repeat."""
    ga = {"settings": {"population_size": 10}}
    with pytest.raises(NarxbenchError, match=r"run\.json: its runs are of another condition; delete it and run again$"):
        repeated(folder, "ga", [1], run_of="other", **ga)
    assert repeated(folder, "ga", [1], **ga) == ""
    edit(folder / "run.json", "runs", 0, "data_sha256", value="0")
    condition = {**CONDITION, "method": "my-ga"}
    inputs = {"run": [str(folder / "run.json")], "data": [str(folder / "data.csv")]}
    for seed, mistake in ((1, "its runs are of another data set"), (3, "runs: found none of seed 3")):
        with pytest.raises(NarxbenchError, match=rf"run\.json: {mistake}; delete it and run again$"):
            step("repeat", {"run": {"condition": condition}, "seed": seed}, input=inputs, simulation=simulation())
