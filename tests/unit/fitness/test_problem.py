import math
import pickle

import numpy as np
import pytest

from narxbench import StructureProblem, load_system


def test_order_and_spelling_do_not_matter(small_problem):
    a = small_problem.evaluate(["y(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"])
    b = small_problem.evaluate(["u(t-1)**2", "u(k-1) y(k-1)", "y(k-1)"])
    assert a.fitness == b.fitness
    assert a.coefficients == [b.coefficients[i] for i in (2, 1, 0)]


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_data_does_not_matter(scale):
    u, y = load_system("S3").simulate(1000, snr_db=30)
    terms = ["y(k-1)", "u(k-1)", "u(k-1)^2", "u(k-1)^3"]
    plain = StructureProblem(u, y, n_u=3, n_y=3, degree=3, n_validation=300).evaluate(terms)
    scaled = StructureProblem(u, scale * y, n_u=3, n_y=3, degree=3, n_validation=300).evaluate(terms)
    assert scaled.sse == pytest.approx(scale**2 * plain.sse, rel=1e-9)


def test_one_step_prediction_and_estimation_on_all_rows_by_lstsq():
    u, y = load_system("S1").simulate(600, snr_db=20)
    columns = np.column_stack([y[:-1], u[:-1], y[:-1] * u[:-1]])
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=200, error="one_step", estimation="all")
    terms = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"]
    evaluation, weights = problem.evaluate(terms), np.linalg.lstsq(columns, y[1:], rcond=None)[0]
    np.testing.assert_allclose(evaluation.coefficients, weights, rtol=1e-9)
    np.testing.assert_allclose(problem.predict(terms), (columns @ weights)[-200:], rtol=1e-9)
    assert evaluation.sse == pytest.approx(np.sum((y[1:] - columns @ weights)[-200:] ** 2), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "terms", "is_finite"),
    [
        ({}, [], False),
        ({"u": np.ones(300)}, ["1", "u(k-1)"], False),
        ({"u": np.ones(300)}, ["1", "y(k-1)"], True),
        ({"u": np.zeros(300), "y": np.zeros(300)}, ["y(k-1)"], False),
        # An exact fit.
        ({"u": np.zeros(300), "y": np.zeros(300)}, ["1"], True),
        ({"y": np.full(300, 2.0)}, ["1"], True),
        # More terms than rows to estimate from.
        ({"n_validation": 290}, None, False),
        ({"n_y": 0}, ["u(k-1)"], True),
        ({"n_u": 0}, ["y(k-1)"], True),
    ],
)
def test_a_corner_is_infinite_or_a_number(change, terms, is_finite):
    u, y = load_system("S1").simulate(300)
    problem = StructureProblem(**{"u": u, "y": y, "n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100} | change)
    evaluation = problem.evaluate(problem.terms if terms is None else terms)
    if is_finite:
        assert math.isfinite(evaluation.fitness)
    else:
        assert evaluation.fitness == math.inf and not any(evaluation.coefficients)


def test_a_problem_goes_to_another_process(small_problem):
    """Machine code has no address there, but the problem does not hold any."""
    assert small_problem.evaluate(["y(k-1)"]) == pickle.loads(pickle.dumps(small_problem)).evaluate(["y(k-1)"])
    assert "kernel" not in pickle.loads(pickle.dumps(small_problem)).__dict__


def test_the_status_tells_why_j_is_infinite():
    rng = np.random.default_rng(5)
    u, y = np.where(rng.random(300) < 0.5, 0.0, 5.0), rng.standard_normal(300)
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
    for expected, terms in {"finite": ["y(k-1)", "u(k-1)"], "empty": [], "singular": ["u(k-1)", "u(k-1)^2"]}.items():
        evaluation = problem.evaluate(terms)
        assert evaluation.status == expected and math.isfinite(evaluation.fitness) == (expected == "finite")
    growing = np.minimum(np.cumprod(np.full(300, 1.5)), 1e40)
    diverging = StructureProblem(np.ones(300), growing, n_u=1, n_y=1, degree=2, n_validation=100)
    evaluation = diverging.evaluate(["y(k-1)^2"])
    assert evaluation.status == "divergent" and evaluation.fitness == math.inf and any(evaluation.coefficients)
