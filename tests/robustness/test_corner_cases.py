"""Data and budgets at the edge of what a search is defined for: what each gives, for every algorithm.

The table in docs/robustness.md says the same in words; its first column names these cases.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from tests.workflow.project import ROOT

from narxbench import NarxbenchError, StructureProblem, load_system, search
from narxbench.algorithms.search import SearchResult, algorithm_names

EVALUATIONS = 900
SIZE = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100}
SAMPLES = 400


def noise(seed: int, samples: int = SAMPLES) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, samples)


def system_data() -> tuple[np.ndarray, np.ndarray]:
    return load_system("S1").simulate(SAMPLES, snr_db=40)[:2]


def problem(u, y, **other) -> StructureProblem:
    return StructureProblem(u, y, **{**SIZE, **other})


def nothing(result: SearchResult) -> bool:
    """Whether a result says that no structure could be judged."""
    return (result.terms, result.fitness, result.sse, result.history) == ([], math.inf, math.inf, [])


def at_most_one_of(*terms: str) -> Callable[[SearchResult], bool]:
    return lambda result: math.isfinite(result.fitness) and len({*terms} & {*result.terms}) <= 1


def finite(result: SearchResult) -> bool:
    return math.isfinite(result.fitness)


def exact(result: SearchResult) -> bool:
    return result.sse < 1e-20 and math.isfinite(result.fitness)


def nothing_but_the_constant(result: SearchResult) -> bool:
    """Whether the one structure that can be judged was found, if it was tried at all."""
    return nothing(result) or (finite(result) and result.terms == ["1"])


def grown() -> StructureProblem:
    """Return a problem whose output grew by half at each step to estimate: what is learnt of it leaves every bound."""
    output = np.concatenate((np.cumprod(np.full(SAMPLES - 100, 1.5)), np.full(100, 1.5 ** (SAMPLES - 100))))
    return problem(noise(1), output, n_u=0)


class Case(NamedTuple):
    """A problem, and what must hold of every search on it."""

    problem: Callable[[], StructureProblem]
    holds: Callable[[SearchResult], bool]


CASES = {
    "constant input": Case(
        lambda: problem(np.full(SAMPLES, 0.5), noise(1)), at_most_one_of("1", "u(k-1)", "u(k-2)", "u(k-1)^2")
    ),
    "zero input": Case(
        lambda: problem(np.zeros(SAMPLES), noise(1)),
        lambda result: finite(result) and not any("u" in term for term in result.terms),
    ),
    "constant output": Case(lambda: problem(noise(1), np.full(SAMPLES, 0.7)), exact),
    "zero output": Case(
        lambda: problem(noise(1), np.zeros(SAMPLES)),
        lambda result: finite(result) and result.sse == 0.0 and not any(result.coefficients),
    ),
    "all zero": Case(lambda: problem(np.zeros(SAMPLES), np.zeros(SAMPLES)), nothing_but_the_constant),
    "collinear candidates": Case(
        lambda: problem(np.tile([0.3, -0.8], SAMPLES // 2), noise(1), n_u=3), at_most_one_of("u(k-1)", "u(k-3)")
    ),
    "input repeats output": Case(lambda: problem(y := noise(1), y), at_most_one_of("u(k-1)", "y(k-1)")),
    "two candidates": Case(
        lambda: problem(*system_data(), n_u=1, n_y=0, degree=1), lambda result: {*result.terms} <= {"1", "u(k-1)"}
    ),
    "more candidates than rows": Case(
        lambda: problem(*(signal[:115] for signal in system_data()), n_u=3, n_y=3, degree=2),
        lambda result: finite(result) and len(result.terms) <= 12,
    ),
    "one row": Case(
        lambda: problem(*(signal[:103] for signal in system_data())),
        lambda result: nothing(result) or len(result.terms) == 1,
    ),
    "divergent structures": Case(grown, nothing_but_the_constant),
    "huge numbers": Case(lambda: problem(noise(1), 1e200 * noise(2)), nothing),
    "tiny numbers": Case(
        lambda: problem(noise(1), 1e-200 * noise(2)), lambda result: finite(result) and result.sse == 0.0
    ),
}
every_algorithm = pytest.mark.parametrize("algorithm", algorithm_names())


@every_algorithm
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_case(algorithm, name):
    case = CASES[name]
    result = search(case.problem(), algorithm=algorithm, seed=1, evaluations=EVALUATIONS)
    assert case.holds(result), result
    assert result.evaluations == EVALUATIONS
    assert not math.isnan(result.fitness)
    assert all(map(math.isfinite, result.coefficients))
    again = case.problem().evaluate(result.terms)
    assert (again.fitness, again.sse, again.coefficients) == (result.fitness, result.sse, result.coefficients)
    assert [fitness for _, fitness in result.history][-1:] == ([] if nothing(result) else [result.fitness])


# A descent from the empty structure would try the constant first.
START = {"stepwise": {"start": "random"}}


@every_algorithm
def test_nothing_found(algorithm):
    """On zero data all structures but the constant alone are singular; a search that never tries it finds nothing."""
    zero = problem(np.zeros(SAMPLES), np.zeros(SAMPLES))
    result = search(zero, algorithm=algorithm, seed=1, evaluations=1, **START.get(algorithm, {}))
    assert nothing(result)
    assert result.evaluations == 1


@every_algorithm
@pytest.mark.parametrize("evaluations", [1, 2, 17, 29])
def test_budget_below_one_population(algorithm, evaluations):
    """The result is the best of the structures that the budget covered, which are the first of a longer run."""
    short = search(problem(*system_data()), algorithm=algorithm, seed=1, evaluations=evaluations)
    long = search(problem(*system_data()), algorithm=algorithm, seed=1, evaluations=300)
    assert short.evaluations == evaluations
    assert short.history == [(spent, fitness) for spent, fitness in long.history if spent <= evaluations]


@pytest.mark.parametrize("name", ["u", "y"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_a_finite_number(name, value):
    signals = dict(zip("uy", map(np.copy, system_data()), strict=True))
    signals[name][7] = value
    with pytest.raises(NarxbenchError) as error:
        problem(**signals)
    assert str(error.value) == f"{name}: found {value} at sample 7; allowed: finite numbers"


def test_one_candidate():
    """The constant alone is no choice: the smallest problem has two candidates."""
    with pytest.raises(NarxbenchError, match=r"^n_y and n_u: found 0 and 0; allowed: at least one of them positive$"):
        problem(*system_data(), n_u=0, n_y=0, degree=1)


@pytest.mark.parametrize("samples", [0, 1, 50, 102])
def test_too_few_samples(samples):
    u, y = (signal[:samples] for signal in system_data())
    with pytest.raises(NarxbenchError, match=rf"^u and y: found {samples} samples; needed: more than 102 "):
        problem(u, y)


def test_table_of_the_documentation():
    """Every case is in the table of docs/robustness.md, and the table has no other."""
    text = (ROOT / "docs/robustness.md").read_text(encoding="utf-8")
    rows = text.split("| Case |")[1].split("\n\n")[0].splitlines()[2:]
    named = [row.split("|")[1].strip() for row in rows]
    others = ["nothing found", "budget below one population", "NaN or infinity", "one candidate", "too few samples"]
    assert named == [*CASES, *others]
