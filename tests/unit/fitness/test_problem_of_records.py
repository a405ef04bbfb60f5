"""Problems of measured records against least squares of NumPy and free runs in plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.regression import parse_terms, product, regressors, rows_with_lags, term_names

from narxbench import StructureProblem, load_system
from narxbench._fitness.kernel.problem_data import products_over
from narxbench._model.terms import monomials_of
from narxbench._numerics.random_streams import generator

quick = settings(max_examples=20, deadline=None)


def measured(n_inputs, lengths, seed=1):
    """Return inputs and output of records that stand one behind the other."""
    rng = generator(purpose="records problem", seed=seed, inputs=n_inputs)
    u, outputs = rng.standard_normal((sum(lengths), n_inputs)), []
    for start, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        y = rng.standard_normal(length)
        for k in range(2, length):
            y[k] = 0.4 * y[k - 1] - 0.3 * y[k - 2] + 0.05 * y[k - 1] * y[k - 2] + 0.2 * rng.standard_normal()
            for i in range(n_inputs):
                y[k] += 0.3 * u[start + k - i, i] + 0.1 * u[start + k - 1, i] * np.tanh(y[k - 1])
        outputs.append(y)
    return u, np.concatenate(outputs)


def plain_error(u, y, monomials, weights, segments, one_step=False):
    """Return the sum of squares of each segment, run freely from the measured outputs before it."""
    total = 0.0
    for segment in segments:
        simulated = list(map(float, y[: segment.start]))
        for k in segment:
            past = y if one_step else simulated
            value = 0.0
            for monomial, weight in zip(monomials, weights, strict=True):
                value += weight * product(monomial, [past, *u.T], k)
            if not abs(value) <= 1e6 * np.abs(y).max():
                return math.inf
            simulated.append(value)
            total += (y[k] - value) ** 2
    return total


def checked_evaluation(problem, u, y, rows, segments, names, *, penalty, one_step=False):
    """Return the evaluation of a structure, held against NumPy and plain loops."""
    monomials = parse_terms(names, u.shape[1])
    columns = regressors(u, y, monomials, rows)
    weights = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
    evaluation = problem.evaluate(names)
    np.testing.assert_allclose(evaluation.coefficients, weights, rtol=1e-7, atol=1e-9)
    expected = plain_error(u, y, monomials, evaluation.coefficients, segments, one_step)
    assert evaluation.sse == pytest.approx(expected, rel=1e-6)
    if math.isinf(expected):
        assert evaluation.status == "divergent"
        return evaluation
    assert evaluation.status == "finite"
    samples = np.concatenate(segments)
    fitness = len(samples) * math.log(expected) + penalty * len(names)
    assert evaluation.fitness == pytest.approx(fitness, rel=1e-8, abs=1e-6)
    assert np.sum((y[samples] - problem.predict(names)) ** 2) == pytest.approx(expected, rel=1e-6)
    return evaluation


LENGTHS = (90, 40, 70)
SEGMENTS = [range(20, 50), range(92, 130), range(190, 200)]


@pytest.mark.parametrize("error", ["free_run", "one_step"])
@pytest.mark.parametrize("n_inputs", [0, 1, 2, 3])
@given(data=st.data())
@quick
def test_any_candidates_of_any_inputs(n_inputs, error, data):
    """Lags may be 0 for inputs, and the set need not be closed: neither a constant nor the parts of a product."""
    u, y = measured(n_inputs, LENGTHS)
    factors = [(0, 1), (0, 2), *itertools.product(range(1, n_inputs + 1), (0, 1, 2))]
    products = monomials_of(factors, 3)
    places = data.draw(st.lists(st.integers(0, len(products) - 1), min_size=1, max_size=12, unique=True))
    monomials = [products[place] for place in sorted(places)]
    rows = rows_with_lags(LENGTHS, 2)
    problem = StructureProblem.of_records(u, y, monomials, rows=rows, segments=SEGMENTS, error=error)
    assert problem.terms == term_names(monomials, n_inputs)
    chosen = data.draw(st.lists(st.sampled_from(problem.terms), min_size=1, max_size=5, unique=True))
    checked_evaluation(problem, u, y, rows, SEGMENTS, chosen, penalty=math.log(78), one_step=error == "one_step")


@pytest.mark.parametrize("estimation", ["before_validation", "all"])
@pytest.mark.parametrize("error", ["free_run", "one_step"])
def test_one_record_gives_the_bytes_of_the_plain_problem(estimation, error):
    u, y = load_system("S4").simulate(500, snr_db=30)
    options = {"criterion": "aic-3", "error": error}
    orders = {"n_u": 3, "n_y": 4, "degree": 2, "n_validation": 150, "n_segments": 3}
    simple = StructureProblem(u, y, **orders, **options, estimation=estimation)
    of_records = StructureProblem.of_records(
        u[:, None], y, simple.monomials, rows=simple.estimation_rows, segments=simple.segments, **options
    )
    for name, array in simple.data._asdict().items():
        assert np.asarray(array).tobytes() == np.asarray(getattr(of_records.data, name)).tobytes(), name
    assert of_records.terms == simple.terms and (of_records.n_u, of_records.n_y, of_records.degree) == (3, 4, 2)


def test_a_row_that_occurs_twice_counts_twice():
    u, y = measured(2, LENGTHS)
    rows = rows_with_lags(LENGTHS, 2)
    drawn = np.sort(generator(purpose="rows", seed=3).choice(rows, len(rows)))
    monomials = monomials_of([(0, 1), (0, 2), (1, 0), (2, 1)], 2)
    problem = StructureProblem.of_records(u, y, monomials, rows=drawn, segments=SEGMENTS)
    names = ["y(k-1)", "y(k-2)", "u1(k)", "u2(k-1)"]
    twice = checked_evaluation(problem, u, y, drawn, SEGMENTS, names, penalty=math.log(78))
    once = StructureProblem.of_records(u, y, monomials, rows=np.unique(drawn), segments=SEGMENTS).evaluate(names)
    assert not np.allclose(once.coefficients, twice.coefficients, rtol=1e-4)


@pytest.mark.parametrize("segments", [[range(20, 50)] * 3, [range(20, 50), range(30, 40)]])
def test_a_segment_that_occurs_twice_counts_twice(segments):
    u, y = measured(1, LENGTHS)
    rows = rows_with_lags(LENGTHS, 2)
    problem = StructureProblem.of_records(u, y, monomials_of([(0, 1), (1, 1)], 2), rows=rows, segments=segments)
    penalty = math.log(sum(map(len, segments)))
    checked_evaluation(problem, u, y, rows, segments, ["y(k-1)", "u(k-1)"], penalty=penalty)


def test_products_that_are_given_are_those_that_are_computed():
    u, y = measured(2, LENGTHS)
    rows = rows_with_lags(LENGTHS, 2)
    monomials = monomials_of([(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)], 3)
    options = {"rows": rows, "segments": SEGMENTS}
    products = products_over(u, y, monomials, rows)
    columns = np.column_stack([regressors(u, y, monomials, rows), y[rows]])
    np.testing.assert_allclose(products, columns.T @ columns, rtol=1e-11, atol=1e-11)
    before = products.tobytes()
    computing = StructureProblem.of_records(u, y, monomials, **options)
    taking = StructureProblem.of_records(u, y, monomials, **options, products=products)
    for computed, taken in zip(computing.data, taking.data, strict=True):
        assert np.asarray(computed).tobytes() == np.asarray(taken).tobytes()
    assert products.tobytes() == before
    # Sums over parts may be added, up to rounding.
    parts = [products_over(u, y, monomials, part) for part in np.array_split(rows, 4)]
    np.testing.assert_allclose(np.sum(parts, axis=0), products, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(("criterion", "penalty"), [("bic", 4 * math.log(78 / 4)), ("aic-5", 20.0)])
def test_samples_that_tell_the_same_raise_the_penalty(criterion, penalty):
    u, y = measured(1, LENGTHS)
    rows, monomials = rows_with_lags(LENGTHS, 2), monomials_of([(0, 1), (1, 1)], 2)
    options = {"rows": rows, "segments": SEGMENTS, "criterion": criterion}
    problem = StructureProblem.of_records(u, y, monomials, **options, repeated=4)
    checked_evaluation(problem, u, y, rows, SEGMENTS, ["y(k-1)", "u(k-1)"], penalty=penalty)


def test_the_estimation_part_has_nothing_but_what_rows_reach():
    u, y = measured(2, LENGTHS)
    rows = rows_with_lags(LENGTHS, 3)
    rows = rows[(rows < 60) | (rows > 150)]
    monomials = monomials_of([(0, 1), (1, 0), (2, 3)], 2)
    problem = StructureProblem.of_records(u, y, monomials, rows=rows, segments=SEGMENTS)
    shown_u, shown_y = problem.estimation_part
    reached = np.unique(np.subtract.outer(rows, np.arange(4)))
    hidden = np.setdiff1d(np.arange(200), reached)
    assert len(hidden) > 50 and not shown_u[hidden].any() and not shown_y[hidden].any()
    np.testing.assert_array_equal(shown_u[reached], u[reached])
    np.testing.assert_array_equal(shown_y[reached], y[reached])
    assert (problem.n_u, problem.n_y, problem.degree, problem.n_inputs) == (3, 1, 2, 2)
