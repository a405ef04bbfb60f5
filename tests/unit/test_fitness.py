import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests import plain
from tests.reference import evaluate

from narxbench import NarxbenchError, StructureProblem, load_system
from narxbench.numerics.compilation import natural_log
from narxbench.model.dataset import read_signals
from narxbench.fitness.kernel.simd import LANES

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
CASES = json.loads((VECTORS / "fitness_vectors.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['system']}-{len(case['terms'])}")
@pytest.mark.parametrize("criterion", ["bic", "aic-2", "aic-256"])
def test_independent_fitness_values(case, criterion):
    u, y = read_signals(VECTORS / f"{case['system']}.csv")
    orders = {name: case[name] for name in ("n_u", "n_y", "degree")}
    found = StructureProblem(u, y, **orders, criterion=criterion).evaluate(case["terms"])
    if case["sse"] is None:
        assert found.fitness == found.sse == math.inf
    else:
        assert found.fitness == pytest.approx(case[criterion.replace("-", "_")], rel=1e-8)
        assert found.sse == pytest.approx(case["sse"], rel=1e-8)
    np.testing.assert_allclose(found.coefficients, case["coefficients"], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_kernel_meets_the_readable_reference(name, rng):
    system = load_system(name)
    u, y = system.simulate(2000, snr_db=30)
    problem = StructureProblem(u, y, n_u=system.n_u, n_y=system.n_y, degree=system.degree)
    positions = (rng.random((30, len(problem.terms))) < rng.random((30, 1)) * 0.7).astype(np.uint8)
    fitness, sse, _ = problem.evaluate_positions(positions)
    for position, j, e in zip(positions, fitness, sse, strict=True):
        terms = [t for t, chosen in zip(problem.terms, position, strict=True) if chosen]
        if not terms:
            assert j == math.inf
            continue
        _, expected = evaluate(u, y, terms, n_u=system.n_u, n_y=system.n_y)
        assert e == pytest.approx(expected, rel=1e-6)
        if math.isfinite(expected):
            assert j == pytest.approx(600 * math.log(expected) + math.log(600) * len(terms), rel=1e-8)


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_kernel_gives_the_bytes_of_plain_arithmetic(name, rng):
    system = load_system(name)
    u, y = system.simulate(500, snr_db=30)
    problem = StructureProblem(u, y, n_u=system.n_u, n_y=system.n_y, degree=system.degree, n_validation=150)
    positions = (rng.random((20, len(problem.terms))) < rng.random((20, 1))).astype(np.uint8)
    positions[0] = [term in system.terms for term in problem.terms]
    _, sse, weights = problem.evaluate_positions(positions)
    for position, e, w in zip(positions, sse, weights, strict=True):
        terms = [t for t, chosen in zip(problem.terms, position, strict=True) if chosen]
        coefficients, expected = plain.evaluate(u, y, terms, n_u=system.n_u, n_y=system.n_y, n_validation=150)
        assert float(e) == expected or not terms
        assert w[position == 1].tolist() == coefficients
    assert np.isfinite(sse).sum() > 5


def test_a_result_does_not_depend_on_its_neighbours(rng):
    system = load_system("S4")
    problem = StructureProblem(*system.simulate(2000, snr_db=30), n_u=5, n_y=5, degree=2)
    positions = (rng.random((2 * LANES + 3, 66)) < rng.random((2 * LANES + 3, 1))).astype(np.uint8)
    together = problem.evaluate_positions(positions)
    shuffled = rng.permutation(len(positions))
    for apart in (
        [
            np.concatenate(parts)
            for parts in zip(*(problem.evaluate_positions(p[None]) for p in positions), strict=True)
        ],
        [values[np.argsort(shuffled)] for values in problem.evaluate_positions(positions[shuffled])],
    ):
        for a, b in zip(together, apart, strict=True):
            assert a.tobytes() == b.tobytes()


def test_order_and_spelling_do_not_matter(small_problem):
    a = small_problem.evaluate(["y(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"])
    b = small_problem.evaluate(["u(t-1)**2", "u(k-1) y(k-1)", "y(k-1)"])
    assert a.fitness == b.fitness
    assert a.coefficients == [b.coefficients[i] for i in (2, 1, 0)]


@pytest.mark.parametrize("x", [5e-324, 1e-300, 0.1, 0.70710678, 1.0, 1.0 + 2**-52, 2.0, 600.0, 1e9, 1.7e308])
def test_natural_log(x):
    assert natural_log(x) == pytest.approx(math.log(x), rel=3e-16, abs=1e-17)


def test_natural_log_is_plain_arithmetic(rng):
    for x in np.exp(rng.uniform(-700, 700, 2000)).tolist():
        assert natural_log(x) == natural_log.py_func(x)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_data_does_not_matter(scale):
    u, y = load_system("S3").simulate(1000, snr_db=30)
    terms = ["y(k-1)", "u(k-1)", "u(k-1)^2", "u(k-1)^3"]
    plain = StructureProblem(u, y, n_u=3, n_y=3, degree=3, n_validation=300).evaluate(terms)
    scaled = StructureProblem(u, scale * y, n_u=3, n_y=3, degree=3, n_validation=300).evaluate(terms)
    assert scaled.sse == pytest.approx(scale**2 * plain.sse, rel=1e-9)


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

    def test_an_exact_fit_has_finite_fitness_that_grows_with_cardinality(self):
        problem = self.problem(y=np.full(300, 2.0))
        assert problem.evaluate(["1"]).sse == pytest.approx(0.0, abs=1e-20)
        assert math.isfinite(problem.evaluate(["1"]).fitness)

    def test_more_terms_than_estimation_rows(self):
        problem = self.problem(n_validation=290)
        assert problem.evaluate(problem.terms).fitness == math.inf

    def test_input_only_and_output_only(self):
        assert math.isfinite(self.problem(n_y=0).evaluate(["u(k-1)"]).fitness)
        assert math.isfinite(self.problem(n_u=0).evaluate(["y(k-1)"]).fitness)

    def test_divergence(self):
        y = np.cumprod(np.full(300, 1.5))
        assert self.problem(u=self.u, y=np.minimum(y, 1e40)).evaluate(["y(k-1)^2"]).fitness == math.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"u": [1.0, 2.0]}, "found 2 and 1000 samples"),
        ({"y": [math.nan] * 1000}, "y: found nan at sample 0"),
        ({"y": "text"}, "y: not a sequence of numbers"),
        ({"y": np.zeros((10, 2))}, "one dimension"),
        ({"n_validation": 998}, "needed: more than 1000"),
        ({"n_validation": 0}, "n_validation"),
        ({"criterion": "BIC"}, "did you mean 'bic'"),
        ({"criterion": "aic-0"}, "criterion"),
        ({"criterion": "aic-nan"}, "criterion"),
        ({"criterion": "aic--2"}, "criterion"),
        ({"degree": 0}, "degree: found 0"),
    ],
)
def test_bad_arguments(change, message):
    u, y = load_system("S1").simulate(1000)
    arguments = {"u": u, "y": y, "n_u": 2, "n_y": 2, "degree": 2} | change
    with pytest.raises(NarxbenchError, match=message):
        StructureProblem(arguments.pop("u"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (["y(k-3)"], "not among"),
        (["y(k-1)", "y(t-1)"], "named twice"),
        ("y(k-1)", "a list of term names"),
        ([1], "term"),
    ],
)
def test_bad_terms(small_problem, terms, message):
    with pytest.raises(NarxbenchError, match=message):
        small_problem.evaluate(terms)


@pytest.mark.parametrize("criterion", ["aic-6.5", "aic-2", "aic-1e3", "aic-.5"])
def test_any_positive_penalty(criterion):
    u, y = load_system("S1").simulate(1000, snr_db=30)
    found = StructureProblem(u, y, n_u=2, n_y=2, degree=2, criterion=criterion).evaluate(["y(k-1)", "u(k-1)"])
    assert found.fitness == pytest.approx(600 * math.log(found.sse) + 2 * float(criterion[4:]), rel=1e-12)


def test_prediction_is_the_free_run_behind_the_fitness():
    system = load_system("S4")
    u, y = system.simulate(2000, snr_db=30)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=2)
    predicted = problem.predict(system.terms)
    assert predicted.shape == (600,)
    assert np.sum((y[-600:] - predicted) ** 2) == pytest.approx(problem.evaluate(system.terms).sse, rel=1e-12)
