"""The search by likelihood: against all structures, what it may try, and factors that a model has in common."""

import numpy as np
import pandas as pd
import pytest
from tests.lookups import values_of
from tests.regression import parse_terms
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import (
    FILTERS,
    LOW_ORDERS,
    all_criteria,
    data_of,
    noise_models_of,
    pem,
    problem_of,
    small_problem,
)

from narxbench._algorithms.common_factor import common_factor, without_factor

# Noise that the lowest orders have.
FIRST_ORDER = [noise for noise in FILTERS if not noise.startswith(("long", "season", "random", "outliers"))]


@pytest.mark.parametrize("seed", mostly_slow([1, 2, 3, 4, 5], 1))
@pytest.mark.parametrize("noise", mostly_slow(FIRST_ORDER, "white on the output", "autoregression in the equation"))
def test_of_all_structures_and_noise_models_none_is_better(noise, seed):
    """The noise is so strong that some true terms are not worth their penalty."""
    problem = small_problem(*data_of(noise, 200, seed, deviation=0.3), n_terms=6)
    values = all_criteria(problem, noise_models_of())
    assert len(values) == 8 * 63
    details = pem(problem, **LOW_ORDERS).details
    # From another start a fit may end in another minimum.
    assert min(values_of([details, *details["passed_over"]], "criterion")) < min(values.values()) + 0.01


def test_only_noise_that_is_allowed_is_fitted():
    options = {"noise_models": ["narmax", "ararmax"], "largest_order": 2, "tails": False, "drift": False}
    described = pem(problem_of(*data_of("outliers on the output", 400)), **options).details["noise_models"]
    noises = pd.DataFrame(values_of(described.values(), "noise"))
    assert "narmax" in described and {*described} <= {"narx", "narmax", "ararmax"}
    assert not noises["is_integrated"].any() and noises["degrees_of_freedom"].isna().all()
    assert noises[["autoregression", "moving_average"]].map(len).to_numpy().max() <= 2


# ---- Common factors: a linear model with an input, and nonlinear ones.

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
    longer, output = {}, ((0, 0),)
    polynomial = {output: -1.0} | dict(zip(parse_terms(weights), weights.values(), strict=True))
    for monomial, weight in polynomial.items():
        for delay, coefficient in enumerate(np.real(np.poly(zeros)).tolist()):
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
    # None of a short model, nor with another weight; a constant shares the zero at 1 only.
    assert common_factor(parse_terms(SHORT[name]), list(SHORT[name].values())) == []
    assert common_factor(monomials, [1.1 * weights[0], *weights[1:]]) == []
    assert common_factor([*monomials, ()], [*weights, 0.5]) == []
    # Without an input there is none.
    assert common_factor(parse_terms(("y(k-1)", "y(k-2)"), 0), [1.4, -0.45]) == []
