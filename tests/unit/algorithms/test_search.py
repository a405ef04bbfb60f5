"""Results of searches, whichever the algorithm is; ``test_conformance.py`` checks what each algorithm must do."""

import itertools
import math

import numpy as np
import pytest
from tests.regression import regressors
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import problem_of

from narxbench import AlgorithmFailedError, StructureProblem, load_system, search
from narxbench._model.terms import monomials_of

# One that is compiled, one that is not, and one in a separate process.
KINDS = ("upso2d", "random_search", "honest_annealing")
# Those of this package that need no other package.
HERE = ("aols", "frols", "ga", "iterative_ofr", "metamss", "multistart", "multistart_likelihood", "osf", "pem")
HERE += ("random_search", "stepwise", "stlsq", "upso2d")


@pytest.mark.parametrize("algorithm", mostly_slow(KINDS, "upso2d", "random_search"))
def test_a_result_is_consistent_and_seed_criterion_and_axes_determine_every_draw(plugins, small_problem, algorithm):
    def result_of(problem=small_problem, **options):
        options = {"seed": 1, "evaluations": 700} | options
        return search(problem, algorithm=algorithm, **options)

    result = result_of()
    again = small_problem.evaluate(result.terms)
    assert (result.fitness, result.sse, result.coefficients) == (again.fitness, again.sse, again.coefficients)
    assert sorted({*result.terms}, key=small_problem.terms.index) == result.terms
    evaluations, best = zip(*result.history, strict=True)
    assert evaluations[0] >= 1 and evaluations[-1] <= 700 and [*evaluations] == sorted({*evaluations})
    assert [*best] == sorted({*best}, reverse=True) and best[-1] == result.fitness
    assert (result.algorithm, result.seed, result.evaluations) == (algorithm, 1, 700)
    np.random.seed(2)
    assert result == result_of() == result_of(seed=np.int64(1).item(), axes={}) == result_of(time_limit=60)
    histories = [result.history, result_of(seed=2).history, result_of(axes={"system": "S9"}).history]
    assert len(set(map(str, histories))) == 3
    # The penalties of both criteria are nearly the same, so that equal draws would give nearly the same J.
    u, y = load_system("S1").simulate(1000, snr_db=40)
    by_aic = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300, criterion="aic-5.70")
    assert result_of(by_aic, evaluations=1).fitness != pytest.approx(result_of(evaluations=1).fitness, abs=1.0)


def test_the_best_individual_of_the_last_generation(small_problem):
    """The best of all generations is in the history all the same; what differs is which structure is the run's."""
    options = {"algorithm": "ga", "seed": 1, "evaluations": 600, "mutation_probability": 0.3}
    ever = search(small_problem, **options, result="best_ever")
    last = search(small_problem, **options, result="last_generation")
    assert last.history == ever.history and last.fitness > ever.fitness


@pytest.mark.parametrize(
    ("algorithm", "settings"), [("upso2d", {}), ("ga", {"selection": "tournament", "elitism": True}), ("stepwise", {})]
)
def test_known_optimum_is_found(algorithm, settings):
    u, y = load_system("S1").simulate(1000, snr_db=40)
    problem = StructureProblem(u, y, n_u=1, n_y=2, degree=2, n_validation=300)
    structures = np.array([*itertools.product((0, 1), repeat=len(problem.terms))], np.uint8)
    optimum = problem.evaluate_positions(structures)[0].min()
    assert problem.evaluate(load_system("S1").terms).fitness == optimum
    assert search(problem, algorithm=algorithm, seed=1, **settings).fitness == optimum


@pytest.mark.parametrize("name", ["ga", "multistart", "stepwise", "random_search", "upso2d"])
def test_a_search_that_meets_its_limit_gives_the_best_so_far(name, small_problem, caplog):
    search(small_problem, algorithm=name, seed=1, evaluations=1)  # compiles
    caplog.clear()
    result = search(small_problem, algorithm=name, seed=1, evaluations=10_000_000, time_limit=0.3)
    assert result.terms and math.isfinite(result.fitness)
    assert 0 < result.evaluations < 10_000_000
    assert result.history[-1] == (result.history[-1][0], result.fitness)
    (warning,) = result.warnings
    assert warning.kind == "limit"
    assert warning.message == "not done after the time limit of 0.3 s: this is the best structure so far"
    text = f"narxbench: algorithm {name!r}: seed 1: not done after the time limit of 0.3 s"
    assert caplog.messages == [f"{text}; the result is the best structure so far"]


def test_pem_gives_the_best_model_so_far_or_one_line():
    u, y = load_system("S1").simulate(2000, snr_db=40, noise="output")
    problem = problem_of(u, y, n_u=5, n_y=5, degree=3)
    limit = 1e-3
    with pytest.raises(
        AlgorithmFailedError, match=r"^algorithm 'pem': seed 1: not done after the time limit of 0\.001 s$"
    ):
        search(problem, seed=1, time_limit=limit)
    result = None
    while result is None:
        limit *= 2
        try:
            result = search(problem, seed=1, time_limit=limit)
        except AlgorithmFailedError as error:
            assert "time limit" in str(error)
    assert result.terms and result.warnings[-1].kind == "limit"
    assert "noise_model" in result.details and "probabilities" not in result.details


@pytest.fixture(scope="module")
def records():
    """Measured records, with estimation rows that are not all and two inputs, and the problem of them."""
    rng = np.random.default_rng(7)
    u, noise, y = rng.standard_normal((300, 2)), 0.1 * rng.standard_normal(300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k, 0] + 0.4 * y[k - 1] * u[k - 1, 1] / (1 + abs(y[k - 1])) + noise[k]
    factors = [(0, 1), (0, 2), (1, 0), (2, 1)]
    monomials = monomials_of(factors, 2)
    rows, segments = np.sort(rng.choice(np.r_[2:100, 152:300], 220)), [range(60, 150), range(180, 250)]
    return u, y, StructureProblem.of_records(u, y, monomials, rows=rows, segments=segments)


def test_an_algorithm_sees_the_estimation_part_and_all_samples_and_nothing_else(plugins, records):
    """It tells what it sees by sums with growing weights."""
    u, y, problem = records
    result = search(problem, algorithm="sees_all", seed=1, evaluations=10)
    rows = problem.estimation_rows
    columns, reached = regressors(u, y, problem.monomials, rows), np.zeros(300, bool)
    for lag in range(3):
        reached[rows - lag] = True
    arrays = [columns.T @ columns, columns.T @ y[rows], u * reached[:, None], y * reached, rows, u, y]
    arrays += [problem.stretches, [(60, 150), (180, 250)], np.arange(7) * math.log(160), columns, y[rows]]
    expected = [np.ravel(array) @ np.arange(1.0, 1.0 + np.size(array)) for array in arrays]
    np.testing.assert_allclose(result.coefficients[: len(arrays)], expected, rtol=1e-9)
    assert (~reached).sum() > 40


# SysIdentPy takes one input; what needs other packages imports them in a process of its own.
@pytest.mark.parametrize("name", mostly_slow((*HERE, "adaptive_lasso", "fastcan"), *HERE))
def test_every_algorithm_finds_the_structure_of_records_or_one_near(name, records):
    if name not in HERE:
        pytest.importorskip({"adaptive_lasso": "sklearn"}.get(name, name))
    _, y, problem = records
    result = search(problem, algorithm=name, seed=1, evaluations=400)
    again = problem.evaluate(result.terms)
    assert (again.fitness, again.sse, again.status) == (result.fitness, result.sse, "finite")
    measured = y[[*itertools.chain(*problem.segments)]]
    assert result.sse < 0.1 * np.sum((measured - measured.mean()) ** 2)
    assert {"y(k-1)", "u1(k)", "y(k-1)*u2(k-1)"} <= set(result.terms)
