import math
import pickle

import numpy as np
import pytest

from narxbench import NarxbenchError, StructureProblem, load_system
from narxbench.algorithms.objective import CountedObjective

NO_POSITIONS = [
    *(np.zeros(15, np.uint8), np.zeros((2, 14), np.uint8), np.full((1, 15), 2, np.uint8), np.full((1, 15), 0.5)),
    *(np.full((1, 15), -1), np.full((1, 15), math.nan), [["1"] * 15]),
]


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


@pytest.mark.parametrize("error", ["free_run", "one_step"])
@pytest.mark.parametrize("estimation", ["before_validation", "all"])
def test_error_is_that_of_the_prediction(error, estimation):
    system = load_system("S4")
    u, y = system.simulate(2000, snr_db=30)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=2, error=error, estimation=estimation, criterion="aic-2")
    predicted, found = problem.predict(system.terms), problem.evaluate(system.terms)
    assert predicted.shape == (600,)
    assert found.sse == pytest.approx(np.sum((y[-600:] - predicted) ** 2), rel=1e-12)
    assert found.fitness == pytest.approx(600 * math.log(found.sse) + 2 * len(system.terms), rel=1e-12)


def test_one_step_prediction_and_estimation_on_all_rows_by_lstsq():
    u, y = load_system("S1").simulate(600, snr_db=20)
    rows = np.arange(1, 600)
    columns = np.column_stack([y[rows - 1], u[rows - 1], y[rows - 1] * u[rows - 1]])
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=200, error="one_step", estimation="all")
    found = problem.evaluate(["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"])
    weights = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
    np.testing.assert_allclose(found.coefficients, weights, rtol=1e-9)
    assert found.sse == pytest.approx(np.sum((y[rows] - columns @ weights)[-200:] ** 2), rel=1e-9)


class TestCorners:
    """Each corner is +inf or a number, never an exception of arithmetic and never NaN."""

    u, y = load_system("S1").simulate(300)

    def problem(self, u=None, y=None, **orders):
        orders = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100} | orders
        return StructureProblem(self.u if u is None else u, self.y if y is None else y, **orders)

    def test_the_empty_structure(self):
        assert self.problem().evaluate([]).fitness == math.inf

    def test_collinear_candidates(self):
        problem = self.problem(u=np.ones(300))
        found = problem.evaluate(["1", "u(k-1)"])
        assert found.fitness == math.inf and found.coefficients == [0.0, 0.0]
        assert math.isfinite(problem.evaluate(["1", "y(k-1)"]).fitness)

    def test_all_zero_data(self):
        problem = self.problem(u=np.zeros(300), y=np.zeros(300))
        assert problem.evaluate(["y(k-1)"]).fitness == math.inf
        assert math.isfinite(problem.evaluate(["1"]).fitness)

    def test_an_exact_fit_has_finite_fitness(self):
        found = self.problem(y=np.full(300, 2.0)).evaluate(["1"])
        assert found.sse == pytest.approx(0.0, abs=1e-20)
        assert math.isfinite(found.fitness)

    def test_more_terms_than_estimation_rows(self):
        problem = self.problem(n_validation=290)
        assert problem.evaluate(problem.terms).fitness == math.inf

    def test_input_only_and_output_only(self):
        assert math.isfinite(self.problem(n_y=0).evaluate(["u(k-1)"]).fitness)
        assert math.isfinite(self.problem(n_u=0).evaluate(["y(k-1)"]).fitness)

    def test_divergence(self):
        y = np.cumprod(np.full(300, 1.5))
        assert self.problem(y=np.minimum(y, 1e40)).evaluate(["y(k-1)^2"]).fitness == math.inf


@pytest.mark.parametrize("positions", NO_POSITIONS)
def test_the_kernel_never_sees_what_is_no_structure(small_problem, positions):
    objective = CountedObjective(small_problem, 10)
    for evaluates in (small_problem.evaluate_positions, objective.evaluate):
        with pytest.raises(NarxbenchError):
            evaluates(positions)
    assert objective.evaluations == 0


def test_a_problem_goes_to_another_process(small_problem):
    """Machine code has no address there, but the problem does not hold any."""
    assert small_problem.evaluate(["y(k-1)"]) == pickle.loads(pickle.dumps(small_problem)).evaluate(["y(k-1)"])
    assert "kernel" not in pickle.loads(pickle.dumps(small_problem)).__dict__


def test_the_status_tells_why_j_is_infinite():
    rng = np.random.default_rng(5)
    u = np.where(rng.random(300) < 0.5, 0.0, 5.0)
    y = np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + 0.1 * u[k - 1] + 0.01 * rng.standard_normal()
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
    status = {
        "finite": ["y(k-1)", "u(k-1)"],
        "empty": [],
        "singular": ["u(k-1)", "u(k-1)^2"],
    }
    for expected, terms in status.items():
        found = problem.evaluate(terms)
        assert found.status == expected and math.isfinite(found.fitness) == (expected == "finite")
    growing = np.minimum(np.cumprod(np.full(300, 1.5)), 1e40)
    diverging = StructureProblem(np.ones(300), growing, n_u=1, n_y=1, degree=2, n_validation=100)
    found = diverging.evaluate(["y(k-1)^2"])
    assert found.status == "divergent" and found.fitness == math.inf and any(found.coefficients)
