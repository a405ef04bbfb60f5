"""Problems of measured records against least squares of NumPy and free runs in plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.regression import measured_records, parse_terms, product, regressors, rows_with_lags, term_names

from narxbench import StructureProblem

quick = settings(max_examples=20, deadline=None)


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


def products_of(factors, degree):
    """Return the products of up to this many factors, the constant first."""
    return [m for size in range(degree + 1) for m in itertools.combinations_with_replacement(factors, size)]


LENGTHS = (90, 40, 70)
SEGMENTS = [range(20, 50), range(92, 130), range(190, 200)]
ROWS = rows_with_lags(LENGTHS, 2)


@pytest.mark.parametrize("error", ["free_run", "one_step"])
@pytest.mark.parametrize("n_inputs", [0, 1, 2, 3])
@given(data=st.data())
@quick
def test_any_candidates_of_any_inputs(n_inputs, error, data):
    """Lags may be 0 for inputs, and the set need not be closed: neither a constant nor the parts of a product."""
    u, y = measured_records(n_inputs, LENGTHS)
    factors = [(0, 1), (0, 2), *itertools.product(range(1, n_inputs + 1), (0, 1, 2))]
    products = products_of(factors, 3)
    places = data.draw(st.lists(st.integers(0, len(products) - 1), min_size=1, max_size=12, unique=True))
    monomials = list(map(products.__getitem__, sorted(places)))
    problem = StructureProblem.of_records(u, y, monomials, rows=ROWS, segments=SEGMENTS, error=error)
    assert problem.terms == term_names(monomials, n_inputs)
    chosen = data.draw(st.lists(st.sampled_from(problem.terms), min_size=1, max_size=5, unique=True))
    checked_evaluation(problem, u, y, ROWS, SEGMENTS, chosen, penalty=math.log(78), one_step=error == "one_step")


@pytest.mark.parametrize(("criterion", "penalty"), [("bic", 4 * math.log(78 / 4)), ("aic-5", 20.0)])
def test_samples_that_tell_the_same_raise_the_penalty(criterion, penalty):
    u, y = measured_records(1, LENGTHS)
    options = {"rows": ROWS, "segments": SEGMENTS, "criterion": criterion}
    problem = StructureProblem.of_records(u, y, products_of([(0, 1), (1, 1)], 2), **options, repeated=4)
    checked_evaluation(problem, u, y, ROWS, SEGMENTS, ["y(k-1)", "u(k-1)"], penalty=penalty)


def test_the_lags_before_each_stretch_lie_in_none():
    rng, shorter = np.random.default_rng(7), 0
    u, y = measured_records(1, (120,))
    for _ in range(40):
        rows, first = np.sort(rng.choice(np.arange(4, 90), 80, replace=False)), int(rng.integers(91, 97))
        segments = [range(first, first + 8), range(first + 10, 118)]
        monomials = products_of([(0, 1), (0, 4), (1, 2)], 1)
        problem = StructureProblem.of_records(u, y, monomials, rows=rows, segments=segments)
        samples = np.concatenate([rows, *segments])
        covered = np.concatenate([np.arange(begin, end) for begin, end in problem.stretches])
        assert len(covered) == len({*covered}) and np.isin(covered, samples).all()
        assert not np.isin(np.subtract.outer(problem.stretches[:, 0], [1, 2, 3, 4]), covered).any()
        # What is left out is a lag of the stretch behind it.
        left_out = np.setdiff1d(samples, covered)
        assert np.isin(left_out, np.add.outer(problem.stretches[:, 1], [0, 1, 2, 3])).all()
        shorter += len(left_out) > 0
    assert shorter > 20
