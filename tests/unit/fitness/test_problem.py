"""A problem: its criterion, its validation part, its corners, and the terms that a structure must have."""

import math
import pickle
from itertools import compress

import numpy as np
import pytest
from tests.regression import parse_terms, product

from narxbench import StructureProblem, load_system, search


def problem_of(system, samples=300, snr_db=30, **options):
    u, y = load_system(system).simulate(samples, snr_db=snr_db)
    return StructureProblem(u, y, **{"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, "rescaled": False} | options)


def test_order_and_spelling_do_not_matter(small_problem):
    a = small_problem.evaluate(["y(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"])
    b = small_problem.evaluate(["u(t-1)**2", "u(k-1) y(k-1)", "y(k-1)"])
    assert a.fitness == b.fitness
    assert a.coefficients == b.coefficients[::-1]


def test_a_problem_goes_to_another_process(small_problem):
    """Machine code has no address there, but the problem does not hold any."""
    assert small_problem.evaluate(["y(k-1)"]) == pickle.loads(pickle.dumps(small_problem)).evaluate(["y(k-1)"])
    assert "kernel" not in pickle.loads(pickle.dumps(small_problem)).__dict__


@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("bic", lambda n: n * math.log(100)),
        ("aic-6.5", lambda n: 6.5 * n),
        ("aicc", lambda n: 2 * n * 100 / (100 - n - 1)),
        ("hq", lambda n: 2 * n * math.log(math.log(100))),
        ("ebic-1", lambda n: n * math.log(100) + 2 * math.log(math.comb(15, n))),
        ("ebic-0.25", lambda n: n * math.log(100) + math.log(math.comb(15, n)) / 2),
        ("ebicl-2", lambda n: n * math.log(100) + 4 * n * math.log(15)),
    ],
)
def test_penalties_are_those_of_the_literature(name, penalty):
    problem = problem_of("S1", criterion=name, error="one_step")
    assert problem.criterion == name
    for n in range(1, 11):
        evaluation = problem.evaluate(problem.terms[1 : n + 1])
        assert evaluation.fitness - 100 * math.log(evaluation.sse) == pytest.approx(penalty(n), abs=1e-9)


@pytest.mark.parametrize("rho", [2.0, 6.5, 0.1, 1e-300, 1e22, 123456789.125])
def test_names_of_a_criterion_that_mean_the_same_give_the_same_problem(rho):
    first = problem_of("S1", criterion=f"aic-{rho!r}")
    assert float(first.criterion.removeprefix("aic-")) == rho
    for text in (f"0{rho!r}", f"{rho:.17e}"):
        problem = problem_of("S1", criterion=f"aic-{text}")
        assert (problem.criterion, problem.digest) == (first.criterion, first.digest)


def test_a_structure_with_more_terms_than_the_criterion_allows_has_no_finite_fitness():
    problem = problem_of("S1", 400, n_validation=8, criterion="aicc")
    assert problem.evaluate(problem.terms[:6]).status == "finite"
    large = problem.evaluate(problem.terms[:7])
    assert (large.status, large.fitness) == ("large", math.inf) and math.isfinite(large.sse)
    assert len(search(problem, algorithm="ga", seed=1, evaluations=200).terms) <= 6


@pytest.mark.parametrize(
    ("change", "terms", "status"),
    [
        ({}, ["y(k-1)", "u(k-1)"], "finite"),
        ({}, [], "empty"),
        ({"u": np.ones(300)}, ["1", "u(k-1)"], "singular"),
        ({"u": np.where(np.arange(300) % 5, 0.0, 5.0)}, ["u(k-1)", "u(k-1)^2"], "singular"),
        ({"u": np.ones(300)}, ["1", "y(k-1)"], "finite"),
        ({"u": np.zeros(300), "y": np.zeros(300)}, ["y(k-1)"], "singular"),
        # An exact fit.
        ({"u": np.zeros(300), "y": np.zeros(300)}, ["1"], "finite"),
        ({"y": np.full(300, 2.0)}, ["1"], "finite"),
        # More terms than rows to estimate from.
        ({"n_validation": 290}, None, "singular"),
        ({"n_y": 0}, ["u(k-1)"], "finite"),
        ({"n_u": 0}, ["y(k-1)"], "finite"),
        ({"y": np.minimum(np.cumprod(np.full(300, 1.5)), 1e40)}, ["y(k-1)^2"], "divergent"),
        # The squares of its errors overflow.
        ({"y": np.array([*np.zeros(299), 1e160])}, ["1"], "singular"),
    ],
)
def test_a_corner_has_a_status_and_is_infinite_or_a_number(change, terms, status):
    u, y = load_system("S1").simulate(300)
    arguments = {"u": u, "y": y, "n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, "rescaled": False} | change
    problem = StructureProblem(**arguments)
    evaluation = problem.evaluate(problem.terms if terms is None else terms)
    assert evaluation.status == status
    assert math.isfinite(evaluation.fitness) == (status == "finite") and evaluation.fitness > -math.inf
    assert any(evaluation.coefficients) or status != "divergent"


# What the validation parts begin with, of 300 samples and lags up to 5.
STARTS = {"last": 200, "first": 5, "middle": 102}
TERMS = ["y(k-1)", "y(k-2)", "u(k-1)", "y(k-1)*u(k-2)"]


@pytest.mark.parametrize("part", STARTS)
@pytest.mark.parametrize("error", ["free_run", "one_step"])
@pytest.mark.parametrize("start", ["measured", "zero"])
@pytest.mark.parametrize("estimation", ["before_validation", "all"])
def test_weights_and_error_are_those_of_plain_loops(part, error, start, estimation):
    options = {"validation_part": part, "error": error, "free_run_start": start, "estimation": estimation}
    problem = problem_of("S2", snr_db=20, n_u=5, n_y=5, **options)
    y, monomials = problem.training_y, parse_terms(TERMS)
    validation, rows = np.arange(STARTS[part], STARTS[part] + 100), np.arange(5, 300)
    if estimation == "before_validation":
        rows = np.setdiff1d(rows, validation)

    def row(past, k):
        return [product(monomial, [past, problem.training_u], k) for monomial in monomials]

    weights = np.linalg.lstsq(np.array([row(y, k) for k in rows]), y[rows], rcond=None)[0]
    simulated = np.where(np.arange(300) < STARTS[part], 0.0, y) if start == "zero" else y.copy()
    outputs = []
    for k in validation:
        outputs.append(weights @ row(y if error == "one_step" else simulated, k))
        simulated[k] = outputs[-1]
    evaluation = problem.evaluate(TERMS)
    np.testing.assert_allclose(evaluation.coefficients, weights, rtol=1e-9)
    np.testing.assert_allclose(problem.predict(TERMS), outputs, rtol=1e-7)
    assert evaluation.sse == pytest.approx(np.sum((y[validation] - outputs) ** 2), rel=1e-9)


KINDS = ("linear_output", "output", "input", "linear_output_and_input", "output_and_input")


def is_complete(required_terms, terms):
    """Return whether a structure has a term of each required kind."""
    present = set()
    for term in terms:
        present |= {name for name, signal in (("output", "y("), ("input", "u(")) if signal in term}
        if term in ("y(k-1)", "y(k-2)"):
            present.add("linear_output")
    return {*required_terms.split("_and_")} <= present


@pytest.mark.parametrize("kind", KINDS)
def test_j_is_infinite_exactly_without_a_required_term(kind, rng):
    free, constrained = problem_of("S4", 400), problem_of("S4", 400, required_terms=kind)
    positions = (rng.random((300, 15)) < rng.uniform(0.05, 0.3, (300, 1))).astype(np.uint8)
    fitness, sse, weights = free.evaluate_positions(positions)
    values = constrained.evaluate_positions(positions)
    terms = [list(compress(free.terms, position)) for position in positions]
    complete = np.array([is_complete(kind, names) for names in terms])
    finite = np.isfinite(fitness)
    assert (finite & complete).sum() > 30 and (finite & ~complete).sum() > 10
    for after, expected in zip(values, (np.where(complete, fitness, math.inf), sse, weights), strict=True):
        np.testing.assert_array_equal(after, expected)
    incomplete = terms[int(np.flatnonzero(finite & ~complete)[0])]
    assert constrained.evaluate(incomplete).status == "incomplete"
