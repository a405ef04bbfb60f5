"""Limits of time and memory of runs: each run ends, and gives its best structure so far or one line."""

import math
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

import narxbench
from narxbench import AlgorithmFailedError, search
from narxbench._algorithms import limits, pem, stepwise
from narxbench._algorithms.contract import Found
from narxbench._algorithms.registry import Algorithm
from narxbench._algorithms.search import Runner
from narxbench._io.settings import Settings
from narxbench._model.dataset import write_signals
from narxbench._study.runs import one_run


def runner_of(monkeypatch, run):
    """Return a runner of an algorithm that runs in this process."""
    algorithm = Algorithm("forever", "narxbench._algorithms.stepwise")
    monkeypatch.setitem(vars(algorithm), "imported", SimpleNamespace(run=run))
    return Runner(algorithm, Settings(), None)


def forever(problem, objective, rng, settings):
    """Evaluate one structure, then never end."""
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8)[1:2])
    while True:
        try:
            sum(range(100))
        except Exception:
            continue


@pytest.mark.parametrize("name", ["ga", "multistart", "stepwise", "random_search", "upso2d"])
def test_a_search_that_meets_its_limit_gives_the_best_so_far(name, small_problem, monkeypatch, caplog):
    def limit_met(watch):
        # The limit is met as soon as there is something, however busy the machine is.
        objective = watch._stop_run.__self__
        return limits.time_text(0.2) if objective.best_fitness < math.inf else ""

    monkeypatch.setattr(limits.Watch, "_limit_met", limit_met)
    search(small_problem, algorithm=name, seed=1, evaluations=1)  # compiles
    caplog.clear()
    result = search(small_problem, algorithm=name, seed=1, evaluations=1_000_000, time_limit=0.2)
    assert result.terms and math.isfinite(result.fitness)
    assert 0 < result.evaluations < 1_000_000
    assert result.history[-1] == (result.history[-1][0], result.fitness)
    (warning,) = result.warnings
    assert warning.kind == "limit"
    assert warning.message == "not done after the time limit of 0.2 s: this is the best structure so far"
    text = f"narxbench: algorithm {name!r}: seed 1: not done after the time limit of 0.2 s"
    assert caplog.messages == [f"{text}; the result is the best structure so far"]


def test_pem_gives_the_best_model_so_far(small_problem, monkeypatch):
    def end(_):
        raise limits.LimitReachedError

    monkeypatch.setattr(pem._Choice, "first_bounded", end)
    result = search(small_problem, seed=1)
    assert result.terms == ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
    assert result.details["noise_model"] == "noe" and "probabilities" not in result.details


def test_without_a_finite_structure_it_is_one_line(small_problem, monkeypatch):
    monkeypatch.setattr(pem.LikelihoodSearch, "run", lambda _: time.sleep(0.3))
    message = r"^algorithm 'pem': seed 1: not done after the time limit of 0\.1 s$"
    with pytest.raises(AlgorithmFailedError, match=message):
        search(small_problem, seed=1, time_limit=0.1)


def test_a_study_records_the_run_as_failed(small_problem, monkeypatch, tmp_path):
    """The best structure so far depends on the machine, so that no table may have it."""
    write_signals(tmp_path / "data.csv", *narxbench.load_system("S1").simulate(1000, snr_db=40))
    run, _, _ = one_run(
        runner_of(monkeypatch, forever),
        str(tmp_path / "data.csv"),
        condition={"method": "forever", "criterion": "bic"},
        structure={"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 300},
        seed=1,
        evaluations=10,
        axes={},
        time_limit=0.1,
    )
    assert run.failure == "algorithm 'forever': seed 1: not done after the time limit of 0.1 s"
    assert (run.terms, run.fitness, run.evaluations) == ([], None, 0)


def test_python_code_that_never_ends(small_problem, monkeypatch):
    with pytest.raises(AlgorithmFailedError, match=r"not done after the time limit of 0\.1 s") as caught:
        runner_of(monkeypatch, forever).run(small_problem, seed=1, evaluations=10, time_limit=0.1)
    assert caught.value.best.terms == [small_problem.terms[1]] and caught.value.best.evaluations == 1


def test_memory_that_grows(small_problem, monkeypatch):
    def growing(problem, objective, rng, settings):
        kept = []
        while True:
            kept.append(np.ones(1 << 17))
            time.sleep(1e-3)

    monkeypatch.setattr(limits, "_MEMORY", 1 << 26)
    with pytest.raises(AlgorithmFailedError, match=r"it needs more than its memory limit of 0\.1 GiB$"):
        runner_of(monkeypatch, growing).run(small_problem, seed=1, evaluations=10)


def test_memory_that_is_not_there(small_problem, monkeypatch):
    def large(problem, objective, rng, settings):
        return Found(np.ones(1 << 55))

    with pytest.raises(AlgorithmFailedError, match=r"it needs more memory than there is$"):
        runner_of(monkeypatch, large).run(small_problem, seed=1, evaluations=10)


def test_a_run_that_ends_leaves_nothing_behind(small_problem):
    """A limit that is far changes no result, and no exception arrives later."""
    results = [search(small_problem, algorithm="stepwise", seed=1, evaluations=300, time_limit=t) for t in (None, 0.5)]
    assert results[0] == results[1]
    time.sleep(0.6)
    assert stepwise.ABOUT.reference


def test_a_run_within_its_limits_leaves_the_interpreter_alone(monkeypatch):
    """Any exception that is set for a thread, or taken back, makes the interpreter look for it from then on."""
    set_for = []
    monkeypatch.setattr(limits, "_set_exception", set_for.append)
    with limits.Watch(None, 1 << 60, lambda: None) as watch:
        pass
    assert (watch.limit, set_for) == ("", [])


def test_no_exception_of_a_limit_comes_late():
    def stop():
        pass

    with suppress(limits.LimitReachedError), limits.Watch(0.01, 1 << 60, stop) as watch:
        while not watch.limit:
            time.sleep(0)
    assert sum(range(10_000)) == 49_995_000
