import json

import numpy as np
import pytest

import narxbench
from narxbench.errors import NarxbenchError
from narxbench.runs import RunAxes, read_run, run_of, write_run
from narxbench.search import SearchResult

AXES = RunAxes(system="S1", snr_db="37.5", search="mine", criterion="bic", seed=3)


@pytest.fixture(scope="module")
def run(small_problem):
    result = narxbench.search(small_problem, algorithm="ga", seed=3, evaluations=160)
    return run_of(result, small_problem, AXES, "d" * 64)


def rewritten(tmp_path, run, change):
    """Write a run file, change its content and return its path."""
    path = tmp_path / "seed-3.json"
    write_run(path, run)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def test_round_trip(tmp_path, run):
    path = tmp_path / "deep" / "seed-3.json"
    write_run(path, run)
    assert read_run(path) == run
    first = path.read_bytes()
    write_run(path, read_run(path))
    assert path.read_bytes() == first


def test_content(run, small_problem):
    assert run.axes == AXES
    assert run.algorithm == "ga"
    assert run.settings["population_size"] == 80
    size = {"n_u": 2, "n_y": 2, "degree": 2, "n_terms": 15, "n_validation": 300}
    assert run.problem.model_dump() == size | {"estimation": "before_validation", "error": "free_run"}
    assert run.data_sha256 == "d" * 64
    assert set(run.versions) == {"python", "narxbench", "numpy", "numba", "llvmlite"}
    assert run.evaluations == 160
    assert run.history.evaluations == sorted(run.history.evaluations)
    assert run.history.fitness[-1] == run.fitness
    assert small_problem.evaluate(run.terms).coefficients == run.coefficients


def test_run_that_found_nothing(tmp_path, small_problem):
    result = SearchResult([], np.inf, np.inf, [], 160, [], "ga", 3)
    write_run(tmp_path / "run.json", run_of(result, small_problem, AXES, ""))
    found = read_run(tmp_path / "run.json")
    assert (found.fitness, found.sse, found.terms) == (None, None, [])


def test_not_a_number_is_refused(tmp_path, run):
    with pytest.raises(ValueError, match="Out of range float values"):
        write_run(tmp_path / "run.json", run.model_copy(update={"coefficients": [float("nan")]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", '{"axes": {"system"', "\x00", "{} {}"])
def test_damaged_file(tmp_path, text):
    path = tmp_path / "seed-3.json"
    path.write_text(text)
    with pytest.raises(NarxbenchError) as error:
        read_run(path)
    assert str(error.value).startswith(f"{path}: damaged, not valid JSON (")
    assert str(error.value).endswith("delete it and run again")


def test_missing_file(tmp_path):
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: cannot be read: No such file"):
        read_run(tmp_path / "seed-1.json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: run.pop("history"), "history: missing"),
        (lambda run: run["axes"].pop("seed"), "axes.seed: missing"),
        (lambda run: run.update(fitnes=1), "fitnes: unknown key"),
        (lambda run: run.update(fitness="low"), "fitness: found 'low'"),
        (lambda run: run["coefficients"].pop(), "terms and"),
        (lambda run: run.update(fitness=None), "found terms without a fitness"),
        (lambda run: run["history"]["fitness"].pop(), "found a history of unequal columns"),
    ],
)
def test_wrong_content(tmp_path, run, change, told):
    path = rewritten(tmp_path, run, change)
    with pytest.raises(NarxbenchError) as error:
        read_run(path)
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)
