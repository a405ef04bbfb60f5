"""Data and budgets at the edge of what a search is defined for: what each gives, for every algorithm.

The table in docs/robustness.md says the same in words; its first column names these cases.
"""

import math

import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms.registry import algorithm_names

EVALUATIONS = 900
SAMPLES = 400


def noise(seed):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, SAMPLES)


U, Y = load_system("S1").simulate(SAMPLES, snr_db=40)[:2]
NOISE, ZERO = noise(1), np.zeros(SAMPLES)
# Grows by half at each step to estimate: what is learnt of it leaves every bound.
GROWN = np.concatenate((np.cumprod(np.full(SAMPLES - 100, 1.5)), np.full(100, 1.5 ** (SAMPLES - 100))))


def nothing(result):
    """Whether a result says that no structure could be judged."""
    return (result.terms, result.fitness, result.sse, result.history) == ([], math.inf, math.inf, [])


def finite(result):
    return math.isfinite(result.fitness)


def no_error_and_no_weights(result):
    return finite(result) and result.sse == 0.0 and not any(result.coefficients)


def at_most_one_of(*terms):
    return lambda result: finite(result) and len({*terms} & {*result.terms}) <= 1


def nothing_but_the_constant(result):
    """Whether the one structure that can be judged was found, if it was tried at all."""
    return nothing(result) or (finite(result) and result.terms == ["1"])


# Input, output, orders, and what must hold of every search on them.
CASES = {
    "constant input": (np.full(SAMPLES, 0.5), NOISE, {}, at_most_one_of("1", "u(k-1)", "u(k-2)", "u(k-1)^2")),
    "zero input": (ZERO, NOISE, {}, lambda result: finite(result) and "u" not in "".join(result.terms)),
    "constant output": (NOISE, np.full(SAMPLES, 0.7), {}, lambda result: finite(result) and result.sse < 1e-20),
    "zero output": (NOISE, ZERO, {}, no_error_and_no_weights),
    "all zero": (ZERO, ZERO, {}, nothing_but_the_constant),
    "collinear candidates": (np.tile([0.3, -0.8], SAMPLES // 2), NOISE, {"n_u": 3}, at_most_one_of("u(k-1)", "u(k-3)")),
    "input repeats output": (NOISE, NOISE, {}, at_most_one_of("u(k-1)", "y(k-1)")),
    "two candidates": (U, Y, {"n_u": 1, "n_y": 0, "degree": 1}, lambda result: {*result.terms} <= {"1", "u(k-1)"}),
    "more candidates than rows": (
        U[:115],
        Y[:115],
        {"n_u": 3, "n_y": 3},
        lambda result: finite(result) and len(result.terms) <= 12,
    ),
    "one row": (U[:103], Y[:103], {}, lambda result: nothing(result) or len(result.terms) == 1),
    "divergent structures": (NOISE, GROWN, {"n_u": 0}, nothing_but_the_constant),
    "huge numbers": (NOISE, 1e200 * noise(2), {}, nothing),
    "tiny numbers": (NOISE, 1e-200 * noise(2), {}, lambda result: finite(result) and result.sse == 0.0),
}
every_algorithm = pytest.mark.parametrize("algorithm", algorithm_names())


def problem(u, y, **orders):
    return StructureProblem(u, y, **{"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, **orders})


@every_algorithm
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_case(algorithm, name):
    u, y, orders, holds = CASES[name]
    result = search(problem(u, y, **orders), algorithm=algorithm, seed=1, evaluations=EVALUATIONS)
    assert holds(result), result
    assert result.evaluations == EVALUATIONS
    assert not math.isnan(result.fitness)
    assert all(map(math.isfinite, result.coefficients))
    again = problem(u, y, **orders).evaluate(result.terms)
    assert (again.fitness, again.sse, again.coefficients) == (result.fitness, result.sse, result.coefficients)
    assert [fitness for _, fitness in result.history][-1:] == ([] if nothing(result) else [result.fitness])


@every_algorithm
def test_nothing_found(algorithm):
    """On zero data all structures but the constant alone are singular; a search that never tries it finds nothing."""
    # A descent from the empty structure would try the constant first.
    start = {"start": "random"} if algorithm == "stepwise" else {}
    result = search(problem(ZERO, ZERO), algorithm=algorithm, seed=1, evaluations=1, **start)
    assert nothing(result)
    assert result.evaluations == 1
