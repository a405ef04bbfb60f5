"""The search by likelihood: against all structures and exact arithmetic, in other orders, and what it may try."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.lookups import values_of
from tests.regression import numbers_of, parse_terms, probabilities_of, rows_with_lags, term_probability
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

from narxbench import StructureProblem
from narxbench._algorithms.common_factor import common_factor, without_factor
from narxbench._algorithms.orthogonal_search import OrthogonalErrors, OrthogonalSearch
from narxbench._algorithms.pem import Settings
from narxbench._model.noise_models import Narx

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


@pytest.mark.parametrize("noise", ["both on the output", "autoregression in the equation"])
def test_the_order_of_the_candidates_changes_nothing(noise):
    u, y = data_of(noise, 500)
    plain = problem_of(u, y)
    monomials = [plain.monomials[place] for place in np.random.default_rng(5).permutation(15)]
    rows, segments = rows_with_lags((500,), 2), [range(400, 500)]
    permuted = StructureProblem.of_records(u[:, None], y, monomials, rows=rows, segments=segments)
    result, other = pem(plain), pem(permuted)
    assert result.details["noise_model"] == other.details["noise_model"]
    coefficients = pd.Series(other.coefficients, other.terms)
    np.testing.assert_allclose(coefficients[result.terms], result.coefficients, atol=1e-6)


def row(n_terms, terms):
    structure = np.zeros(n_terms, np.uint8)
    structure[list(terms)] = 1
    return structure


@pytest.mark.parametrize("repeated", [1.0, 3.0])
def test_changes_of_a_linear_problem_are_predicted_as_fits_have_them(repeated):
    """From orthogonal columns; samples that repeat each other count as fewer."""
    problem = problem_of(*data_of("white in the equation", 300))
    structure = row(15, numbers_of(problem, ["1", "y(k-1)", "u(k-1)", "u(k-2)"]))
    search = OrthogonalSearch(OrthogonalErrors(problem), Settings(), repeated)
    value = search.fit(Narx(), structure)
    fit = search.fits[Narx(), structure.tobytes()]
    price = math.log(search.errors.samples / repeated) + 2.5 * math.log(15)
    assert value == pytest.approx(search.errors.deviance(fit) / repeated + 4 * price)
    members, flips, swaps = search.costs(search.errors.linearised(fit), structure)
    for term in range(15):
        assert search.fit(Narx(), structure ^ row(15, [term])) - value == pytest.approx(flips[term], abs=1e-5)
    for i, member in enumerate(members):
        for term in np.flatnonzero(structure == 0):
            changed = search.fit(Narx(), structure ^ row(15, [member, term])) - value
            assert changed == pytest.approx(swaps[15 * i + term], abs=1e-5)


def test_only_noise_that_is_allowed_is_fitted():
    options = {"noise_models": ["narmax", "ararmax"], "largest_order": 2, "tails": False, "drift": False}
    described = pem(problem_of(*data_of("outliers on the output", 400)), **options).details["noise_models"]
    noises = pd.DataFrame(values_of(described.values(), "noise"))
    assert "narmax" in described and {*described} <= {"narx", "narmax", "ararmax"}
    assert not noises["is_integrated"].any() and noises["degrees_of_freedom"].isna().all()
    assert noises[["autoregression", "moving_average"]].map(len).to_numpy().max() <= 2


# ---- Candidates that nearly depend on one another.


def exact_probabilities(problem):
    """Return the probability of each term over all structures for white noise in the equation, without rounding."""
    errors, n_terms = OrthogonalErrors(problem), len(problem.terms)
    series = np.column_stack(errors.regression(errors.fit(Narx(), [0])))
    exact = np.vectorize(Fraction, otypes=[object])(series)
    gram, criteria = exact.T @ exact, {}
    price = math.log(errors.samples) + 1.5 * math.log(n_terms)
    for size in range(1, n_terms + 1):
        for terms in combinations(range(n_terms), size):
            rows = gram[np.ix_((*terms, n_terms), (*terms, n_terms))]
            for pivot in range(size):
                for i in range(pivot + 1, size + 1):
                    rows[i] = rows[i] - rows[i, pivot] / rows[pivot, pivot] * rows[pivot]
            criteria[terms] = errors.samples * math.log(float(rows[size, size])) + size * price
    probabilities = probabilities_of(criteria)
    return [term_probability(probabilities, term) for term in range(n_terms)]


@pytest.mark.parametrize(("level", "kind", "seed"), [(0, "", 1), (300, "", 1), (100, "pulses", 1), (1000, "pulses", 3)])
def test_probabilities_far_from_zero_are_those_of_all_structures(level, kind, seed):
    """Of seven candidates of signals whose level is this many times their standard deviation."""
    u, y = data_of("white in the equation", 150, seed, deviation=0.25)
    if kind == "pulses":
        rng = np.random.default_rng(seed)
        u = np.where(rng.random(150) < 0.06, 3.0 * rng.choice([-1.0, 1.0], 150), 0.0)
        e, y = 0.05 * rng.normal(size=150), np.zeros(150)
        for k in range(1, 150):
            y[k] = 0.5 * y[k - 1] + (0.3 + 0.3 * y[k - 1]) * u[k - 1] + 0.5 * u[k - 1] ** 2 + e[k]
    problem = small_problem(u + level * np.std(u), y + level * np.std(y), n_terms=7)
    result = pem(problem, noise_models=["narx"], **LOW_ORDERS)
    reported = pd.Series(result.probabilities).reindex(problem.terms, fill_value=0.0)
    np.testing.assert_allclose(reported, exact_probabilities(problem), atol=0.02)


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
