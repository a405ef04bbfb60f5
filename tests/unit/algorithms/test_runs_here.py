"""Runs in this process: their evaluations are counted and recorded, and they end at their limits."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import narxbench
from narxbench import AlgorithmFailedError
from narxbench._algorithms import limits
from narxbench._algorithms.contract import BudgetSpentError, Found
from narxbench._algorithms.objective import CountedObjective
from narxbench._algorithms.registry import Algorithm
from narxbench._algorithms.search import Runner
from narxbench._io.settings import Settings
from narxbench._study.runs import one_run


def runner_of(monkeypatch, run):
    """Return a runner of an algorithm that runs in this process."""
    algorithm = Algorithm("here", "narxbench._algorithms.stepwise")
    monkeypatch.setitem(vars(algorithm), "imported", SimpleNamespace(run=run))
    return Runner(algorithm, Settings(), None)


def test_evaluations_are_those_of_the_problem_counted_and_recorded(small_problem, rng):
    positions = rng.integers(0, 2, (40, len(small_problem.terms)))
    objective = CountedObjective(small_problem, 50)
    assert (objective.best_fitness, objective.history()) == (np.inf, [])
    assert not objective.best_position.any() and len(objective.trace()) == 0
    first = objective.evaluate(positions)
    np.testing.assert_array_equal(first, small_problem.evaluate_positions(positions)[0])
    assert (objective.budget, objective.remaining, objective.evaluations) == (50, 10, 40)
    # Known structures spend the budget again, and those beyond it are not evaluated.
    second = objective.evaluate(positions)
    np.testing.assert_array_equal(second, [*first[:10], *[np.inf] * 30])
    np.testing.assert_array_equal(objective.trace(), [*first, *first[:10]])
    assert objective.history()[-1] == (first.argmin() + 1, first.min()) == (first.argmin() + 1, objective.best_fitness)
    np.testing.assert_array_equal(objective.best_position, positions[first.argmin()])
    assert objective.known_fitness(positions[3]) == first[3]
    assert objective.known_fitness(np.zeros(objective.n_terms, np.uint8)) is None
    with pytest.raises(BudgetSpentError):
        objective.evaluate(positions[:1])
    assert len(objective.evaluate(positions[:0])) == 0


# What an algorithm evaluates, what it returns instead of its best structure, and its evaluations then.
RETURNED = [(["y", "best"], "y", 2), (["best"], "y", 2), (["y"], "nothing", 1), ([], "y", 1), (["y"] * 6, None, 5)]
RETURNED.append(([], "names", 1))


@pytest.mark.parametrize(("evaluated", "returned", "evaluations"), RETURNED)
def test_what_a_run_returns(monkeypatch, small_problem, evaluated, returned, evaluations):
    """It may be no structure that it evaluated, and a run ends where its budget does."""
    structures = {"nothing": [], "y": ["y(k-1)"], "best": ["y(k-1)", "u(k-1)"], "names": ["u(k-1)"], None: ["y(k-1)"]}
    rows = {name: np.isin(small_problem.terms, terms) for name, terms in structures.items()}

    def run(problem, objective, rng, settings):
        for array in (problem.gram, problem.y, problem.rows, problem.regressors(), problem.outputs()):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
        for name in evaluated:
            objective.evaluate([rows[name]])
        return ["u(k-1)"] if returned == "names" else Found(rows[returned])

    result = runner_of(monkeypatch, run).run(small_problem, seed=1, evaluations=5).result
    assert (result.terms, result.evaluations) == (structures[returned], evaluations)
    assert result.fitness == small_problem.evaluate(result.terms).fitness


def forever(problem, objective, rng, settings):
    """Evaluate one structure, then never end."""
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8)[1:2])
    while True:
        try:
            sum(range(100))
        except Exception:
            continue


def growing(problem, objective, rng, settings):
    kept = []
    while True:
        kept.append(np.ones(1 << 17))
        time.sleep(1e-3)


def changing(problem, objective, rng, settings):
    objective.compiled[0].measured[0] = 0.0
    return Found(objective.best_position)


FAILING = {
    "a time limit": (forever, r"not done after the time limit of 0\.1 s", 0.1),
    "memory that grows": (growing, r"it needs more than its memory limit of 0\.1 GiB", None),
    "memory that is not there": (lambda *_: Found(np.ones(1 << 55)), "it needs more memory than there is", None),
    "changed data": (changing, "it has changed the data of the problem", None),
    "a wrong result": (lambda *_: Found([1, 0]), r"result: found a structure of shape \(2,\); allowed: \(6,\)", None),
}


@pytest.mark.parametrize("what", FAILING)
def test_a_run_that_fails_is_one_line(monkeypatch, what):
    u, y = narxbench.load_system("S1").simulate(300)
    problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
    run, words, time_limit = FAILING[what]
    monkeypatch.setattr(limits, "_MEMORY", 1 << 26)
    with pytest.raises(AlgorithmFailedError, match=f"^algorithm 'here': seed 1: {words}$") as caught:
        runner_of(monkeypatch, run).run(problem, seed=1, evaluations=10, time_limit=time_limit)
    if time_limit:
        assert caught.value.best.terms == [problem.terms[1]] and caught.value.best.evaluations == 1


def test_a_study_records_a_run_that_meets_its_limit_as_failed(monkeypatch, tmp_path):
    """The best structure so far depends on the machine, so that no table may have it."""
    narxbench.write_signals(tmp_path / "data.csv", *narxbench.load_system("S1").simulate(1000, snr_db=40))
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
    assert run.failure == "algorithm 'here': seed 1: not done after the time limit of 0.1 s"
    assert (run.terms, run.fitness, run.evaluations) == ([], None, 0)
