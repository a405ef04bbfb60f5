"""Common factors: zeros that all polynomials of a model share, and the shorter model without them."""

import numpy as np
import pytest
from tests.regression import parse_terms
from tests.unit.algorithms.likelihood import pem, problem_of

from narxbench._algorithms.common_factor import common_factor, without_factor
from narxbench._model.terms import parse_term

# A linear model with an input, and a nonlinear one.
SHORT = {
    "linear": {"y(k-1)": 0.7, "y(k-2)": -0.5, "u(k-1)": 1.0, "u(k-2)": 0.4},
    "products": {"y(k-1)": 0.5, "y(k-1)*u(k-1)": 0.3, "u(k-1)": 0.3, "u(k-1)^2": 0.5},
    "delayed": {"y(k-2)": 0.6, "u(k-3)": 2.0, "u(k-1)*u(k-2)": -1.0},
}
ZEROS = {
    "real": [0.8],
    "slow": [0.99],
    "pair": [0.6 + 0.5j, 0.6 - 0.5j],
    "on the circle": [np.exp(0.1j), np.exp(-0.1j)],
}


def times(weights, zeros):
    """Return a model whose polynomials are those of another one times the factor with these zeros."""
    factor = np.real(np.poly(zeros))
    longer = {}
    output = ((0, 0),)
    polynomial = {output: -1.0} | dict(zip(parse_terms(weights), weights.values(), strict=True))
    for monomial, weight in polynomial.items():
        for delay, coefficient in enumerate(factor.tolist()):
            delayed = tuple((signal, lag + delay) for signal, lag in monomial)
            longer[delayed] = longer.get(delayed, 0.0) + weight * coefficient
    del longer[output]
    return list(longer), list(longer.values())


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("zeros", ZEROS)
def test_the_zeros_of_a_factor_are_found_and_divided_out(name, zeros):
    monomials, weights = times(SHORT[name], ZEROS[zeros])
    factor = common_factor(monomials, weights)
    np.testing.assert_allclose(sorted(factor, key=np.imag), sorted(ZEROS[zeros], key=np.imag), atol=1e-5)
    assert {*without_factor(monomials, weights, factor)} == {*parse_terms(SHORT[name])}


@pytest.mark.parametrize("name", SHORT)
def test_a_short_model_has_none(name):
    assert common_factor(parse_terms(SHORT[name]), list(SHORT[name].values())) == []


@pytest.mark.parametrize("changed", ["y(k-1)", "u(k-2)"])
def test_another_weight_is_no_factor(changed):
    monomials, weights = times(SHORT["linear"], ZEROS["real"])
    place = monomials.index(parse_term(changed, 1))
    weights[place] *= 1.1
    assert common_factor(monomials, weights) == []


def test_a_constant_shares_only_the_zero_at_one():
    monomials, weights = times(SHORT["linear"], [1.0])
    assert common_factor(monomials, weights) == [1.0]
    assert common_factor([*monomials, ()], [*weights, 0.5]) == []


def test_without_an_input_there_is_none():
    monomials = parse_terms(("y(k-1)", "y(k-2)"), 0)
    assert common_factor(monomials, [1.4, -0.45]) == []


@pytest.mark.parametrize("period", [60.0, 150.0])
def test_slow_oscillation_of_the_level_is_no_mode_of_the_model(period):
    """It could be one without damping: the model times the factor of a sine."""
    rng = np.random.default_rng(5)
    samples = 800
    u, x = rng.uniform(-1.0, 1.0, samples), np.zeros(samples)
    for k in range(2, samples):
        x[k] = 0.7 * x[k - 1] - 0.5 * x[k - 2] + u[k - 1] + 0.4 * u[k - 2]
    y = x + np.sin(2.0 * np.pi * np.arange(samples) / period) + 0.05 * rng.normal(size=samples)
    result = pem(problem_of(u, y, n_y=4, n_u=4))
    assert set(result.terms) - {"1"} == set(SHORT["linear"])
    assert "share a factor" in " ".join(model["reason"] for model in result.details["passed_over"])
    assert result.probabilities["y(k-1)"] > 0.9 and "y(k-4)" not in result.probabilities
