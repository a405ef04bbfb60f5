"""Which samples validate, and where the free run starts, against a plain evaluation."""

import numpy as np
import pytest
from tests import regression
from tests.reference import factors

from narxbench import StructureProblem, load_system
from narxbench._fitness.problem import FreeRunStart, ValidationPart

TERMS = ["y(k-1)", "y(k-2)", "u(k-1)", "y(k-1)*u(k-2)"]
SAMPLES, N_VALIDATION, LONGEST_LAG = 300, 100, 5
STARTS: dict[ValidationPart, int] = {"last": 200, "first": 5, "middle": 102}


def problem_of_s2(**arguments):
    u, y = load_system("S2").simulate(SAMPLES, snr_db=20)
    return StructureProblem(u, y, n_u=5, n_y=5, degree=2, n_validation=N_VALIDATION, rescaled=False, **arguments)


def product(signals, term, k):
    return regression.product(factors(term), signals, k)


def plain_error(u, y, start, from_zero):
    """Return the weights, and the squared error of a free run that starts before the sample ``start``."""
    measured = {"u": u, "y": y}
    rows = np.setdiff1d(np.arange(LONGEST_LAG, SAMPLES), np.arange(start, start + N_VALIDATION))
    columns = [[product(measured, term, k) for term in TERMS] for k in rows]
    weights = np.linalg.lstsq(np.array(columns), y[rows], rcond=None)[0]
    simulated = {"u": u, "y": y.copy()}
    if from_zero:
        simulated["y"][:start] = 0.0
    error = 0.0
    for k in range(start, start + N_VALIDATION):
        simulated["y"][k] = weights @ [product(simulated, term, k) for term in TERMS]
        error += (y[k] - simulated["y"][k]) ** 2
    return weights, error


@pytest.mark.parametrize("part", STARTS)
@pytest.mark.parametrize("start", ["measured", "zero"])
def test_the_error_is_that_of_a_plain_free_run(part: ValidationPart, start: FreeRunStart) -> None:
    problem = problem_of_s2(validation_part=part, free_run_start=start)
    weights, error = plain_error(problem.training_u, problem.training_y, STARTS[part], start == "zero")
    evaluation = problem.evaluate(TERMS)
    np.testing.assert_allclose(evaluation.coefficients, weights, rtol=1e-9)
    assert evaluation.sse == pytest.approx(error, rel=1e-9)
    assert len(problem.predict(TERMS)) == N_VALIDATION


def test_one_step_ahead_nothing_starts():
    from_measured = problem_of_s2(error="one_step", free_run_start="measured").evaluate(TERMS)
    assert problem_of_s2(error="one_step", free_run_start="zero").evaluate(TERMS) == from_measured


def test_weights_from_all_samples_do_not_hang_on_the_validation_part():
    weights = []
    for part in STARTS:
        weights.append(problem_of_s2(estimation="all", validation_part=part).evaluate(TERMS).coefficients)
    np.testing.assert_array_equal(weights, [weights[0]] * len(STARTS))
