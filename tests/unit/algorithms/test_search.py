"""Results of searches, whichever the algorithm is; ``test_conformance.py`` checks what each algorithm must do."""

import itertools

import numpy as np
import pytest
from tests.tiers import mostly_slow

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms import random_search
from narxbench._algorithms.contract import Found
from narxbench._algorithms.search import AlgorithmFailedError, prepared

# One that runs here, one that runs here and is not compiled, and one in a process of its own.
KINDS = ("upso2d", "stepwise", "honest_annealing")
every_kind = pytest.mark.parametrize("algorithm", mostly_slow(KINDS, "upso2d", "stepwise"))


@every_kind
def test_a_result_is_consistent(plugins, small_problem, algorithm):
    result = search(small_problem, algorithm=algorithm, seed=1, evaluations=700)
    again = small_problem.evaluate(result.terms)
    assert (result.fitness, result.sse, result.coefficients) == (again.fitness, again.sse, again.coefficients)
    assert sorted({*result.terms}, key=small_problem.terms.index) == result.terms
    evaluations, best = zip(*result.history, strict=True)
    assert evaluations[0] >= 1 and evaluations[-1] <= 700
    assert [*evaluations] == sorted({*evaluations})
    assert [*best] == sorted({*best}, reverse=True)
    assert best[-1] == result.fitness
    assert (result.algorithm, result.seed, result.evaluations) == (algorithm, 1, 700)


@every_kind
def test_seed_criterion_and_axes_determine_every_draw(plugins, small_problem, algorithm):
    # The first descent of the stepwise search draws nothing unless it starts at random.
    settings = {"start": "random"} if algorithm == "stepwise" else {}

    def trace(seed, problem=small_problem, **options):
        with prepared(algorithm, settings) as runner:
            return runner.run(problem, seed=seed, evaluations=300, **options).trace.tolist()

    u, y = load_system("S1").simulate(1000, snr_db=40)
    other_criterion = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300, criterion="aic-5.70")
    first = trace(1)
    np.random.seed(2)
    assert first == trace(1) == trace(np.int64(1).item(), axes={})
    assert first != trace(2)
    assert first != trace(1, axes={"system": "S9"})
    # The penalties of both criteria are nearly the same, so that equal draws would give nearly the same J.
    assert not np.allclose(first[:1], trace(1, other_criterion)[:1], atol=1.0)


def test_the_best_individual_of_the_last_generation(small_problem):
    """The best of all generations is in the history all the same; what differs is which structure is the run's."""
    ever, last = (
        search(small_problem, algorithm="ga", seed=1, evaluations=600, mutation_probability=0.3, result=result)
        for result in ("best_ever", "last_generation")
    )
    assert last.history == ever.history and last.fitness > ever.fitness


@pytest.mark.parametrize(
    ("algorithm", "settings"), [("upso2d", {}), ("ga", {"selection": "tournament", "elitism": True}), ("stepwise", {})]
)
def test_known_optimum_is_found(algorithm, settings):
    u, y = load_system("S1").simulate(1000, snr_db=40)
    problem = StructureProblem(u, y, n_u=1, n_y=2, degree=2, n_validation=300)
    assert len(problem.terms) == 10
    structures = np.array([*itertools.product((0, 1), repeat=10)], np.uint8)
    optimum = problem.evaluate_positions(structures)[0].min()
    assert problem.evaluate(load_system("S1").terms).fitness == optimum
    assert search(problem, algorithm=algorithm, seed=1, **settings).fitness == optimum


RETURNED = {
    # What an algorithm evaluates, what it returns instead of its best structure, and its evaluations then.
    "a structure that it evaluated": (["y", "best"], "y", 2),
    "one that it did not evaluate": (["best"], "y", 2),
    "no term": (["y"], "nothing", 1),
    "a structure without any evaluation": ([], "y", 1),
    "what the budget ends with": (["y"] * 6, None, 5),
}


@pytest.mark.parametrize("what", RETURNED)
def test_what_a_run_returns(monkeypatch, small_problem, what):
    evaluated, returned, evaluations = RETURNED[what]
    structures = {"nothing": [], "y": ["y(k-1)"], "best": ["y(k-1)", "u(k-1)"], None: ["y(k-1)"]}
    rows = {name: np.isin(small_problem.terms, terms) for name, terms in structures.items()}

    def run(problem, objective, rng, settings):
        for name in evaluated:
            objective.evaluate([rows[name]])
        return Found(rows[returned])

    monkeypatch.setattr(random_search, "run", run)
    result = search(small_problem, algorithm="random_search", seed=1, evaluations=5)
    assert (result.terms, result.evaluations) == (structures[returned], evaluations)
    assert result.fitness == small_problem.evaluate(result.terms).fitness


def test_a_run_here_that_changes_the_data_fails(monkeypatch):
    u, y = load_system("S1").simulate(300)
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)

    def run(view, objective, rng, settings):
        objective.compiled[0].measured[0] = 0.0
        return Found(objective.best_position)

    monkeypatch.setattr(random_search, "run", run)
    with pytest.raises(AlgorithmFailedError, match="algorithm 'random_search': seed 1: it has changed the data"):
        search(problem, algorithm="random_search", seed=1)
