"""The search by likelihood: against all structures and exact arithmetic, in other orders, and its parts."""

import math
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.lookups import names_of
from tests.regression import numbers_of, parse_terms, probabilities_of, term_probability
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import (
    FILTERS,
    S1,
    WEIGHTS,
    all_criteria,
    data_of,
    noise_models_of,
    pem,
    problem_of,
    small_problem,
)

from narxbench._algorithms.common_factor import common_factor, without_factor
from narxbench._algorithms.likelihood_search import LikelihoodSearch, criterion_of, noise_price, term_penalties
from narxbench._algorithms.orthogonal_search import OrthogonalErrors, OrthogonalRegression, OrthogonalSearch
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model import noise_models
from narxbench._model.noise_models import BoxJenkins, Distribution, Narmax, Narx, Noe, NoiseModel

# Noise that the settings below allow.
FIRST_ORDER = [noise for noise in FILTERS if not noise.startswith(("long", "season", "random", "outliers"))]
LOW_ORDERS = {"largest_order": 1, "tails": False, "drift": False}


def search_of(problem, **settings):
    search = LikelihoodSearch(PredictionErrors(problem), Settings(**settings))
    search.run()
    return search


def row(n_terms, terms):
    structure = np.zeros(n_terms, np.uint8)
    structure[list(terms)] = 1
    return structure


@pytest.mark.parametrize("seed", mostly_slow([1, 2, 3, 4, 5], 1))
@pytest.mark.parametrize("noise", mostly_slow(FIRST_ORDER, "white on the output", "autoregression in the equation"))
def test_of_all_structures_and_noise_models_none_is_better(noise, seed):
    """The noise is so strong that some true terms are not worth their penalty."""
    problem = small_problem(*data_of(noise, 200, seed, deviation=0.3), n_terms=6)
    values = all_criteria(problem, noise_models_of())
    assert len(values) == 8 * 63
    search = search_of(problem, **LOW_ORDERS)
    fit = search.refined(search.best())
    best = fit.noise_model, tuple(fit.terms.tolist())
    # From another start a fit may end in another minimum.
    assert search.value(fit) < min(values.values()) + 0.01
    assert values[best] < min(values.values()) + 0.01 or search.value(fit) < values[best] - 0.01


@pytest.mark.parametrize("noise", ["both on the output", "autoregression in the equation"])
def test_the_order_of_the_candidates_changes_nothing(noise):
    problem, order = problem_of(*data_of(noise, 500)), np.random.default_rng(5).permutation(15)
    permuted = SimpleNamespace(training_u=problem.training_u, training_y=problem.training_y)
    permuted.stretches, permuted.monomials = problem.stretches, list(map(problem.monomials.__getitem__, order))
    plain, permuted = search_of(problem), search_of(permuted)
    weights = []
    for search, numbers in ((plain, np.arange(15)), (permuted, order)):
        best = search.refined(search.best())
        assert best.noise_model == plain.best().noise_model
        weights.append(np.zeros(15))
        weights[-1][numbers[best.terms]] = search.errors.coefficients(best)
    np.testing.assert_allclose(*weights, rtol=0.0, atol=1e-6)
    ranked = plain.ranked()
    values = list(map(plain.value, ranked))
    assert values == sorted(values)
    best_values = {}
    for fit in ranked:
        best_values.setdefault(fit.noise_model.name, plain.value(fit))
    assert {fit.noise_model.name: plain.value(fit) for fit in plain.leaders()} == best_values


class TestParts:
    problem = problem_of(*data_of("white in the equation", 300))

    @pytest.mark.parametrize("gamma", [0.0, 1.25])
    def test_terms_and_noise_have_their_price(self, gamma):
        errors = PredictionErrors(self.problem)
        penalties, samples = term_penalties(errors, gamma), errors.samples
        expected = np.arange(16) * (math.log(samples) + 2.0 * gamma * math.log(15))
        np.testing.assert_allclose(penalties, expected, rtol=1e-12)
        assert noise_price(errors) == pytest.approx(math.log(samples))
        noise_model = BoxJenkins((1, 2), (1,), is_integrated=True, distribution=Distribution(4.0))
        fit = errors.fit(noise_model, [1, 2])
        expected = errors.deviance(fit) + penalties[2] + 5 * math.log(samples)
        assert criterion_of(errors, fit, penalties) == pytest.approx(expected)
        # More terms than half of the samples are no model.
        few = PredictionErrors(problem_of(*data_of("white in the equation", 20), n_validation=5))
        assert np.isfinite(term_penalties(few, gamma)).tolist() == (np.arange(16) <= few.samples // 2).tolist()

    @pytest.mark.parametrize("repeated", [1.0, 3.0])
    def test_changes_of_a_linear_problem_are_predicted_as_fits_have_them(self, repeated):
        """From inner products and from orthogonal columns; samples that repeat each other count as fewer."""
        structure = row(15, numbers_of(self.problem, ["1", "y(k-1)", "u(k-1)", "u(k-2)"]))
        search = OrthogonalSearch(OrthogonalErrors(self.problem), Settings(), repeated)
        assert search.independent == search.errors.samples / repeated
        value = search.fit(Narx(), structure)
        fit = search.fits[Narx(), structure.tobytes()]
        price = math.log(search.independent) + 2.5 * math.log(15)
        assert value == pytest.approx(search.errors.deviance(fit) / repeated + 4 * price)
        members, flips, swaps = search.costs(search.errors.linearised(fit), structure)
        for term in range(15):
            assert search.fit(Narx(), structure ^ row(15, [term])) - value == pytest.approx(flips[term], abs=1e-5)
        for i, member in enumerate(members):
            for term in np.flatnonzero(structure == 0):
                changed = search.fit(Narx(), structure ^ row(15, [member, term])) - value
                assert changed == pytest.approx(swaps[15 * i + term], abs=1e-5)

    @pytest.mark.parametrize("noise_model", [Narx(), Narmax(ma_lags=(1,)), Noe(), Narx(distribution=Distribution(4.0))])
    def test_costs_from_orthogonal_columns_are_those_from_inner_products(self, noise_model):
        problem = small_problem(*data_of("white on the output", 200))
        plain = LikelihoodSearch(PredictionErrors(problem), Settings())
        orthogonal = OrthogonalSearch(OrthogonalErrors(problem), Settings())
        fit = plain.errors.fit(noise_model, [0, 2, 5])
        linear, regression = plain.errors.linearised(fit), orthogonal.errors.linearised(fit)
        for terms in ([0, 2, 5], [1], [0, 1, 2, 3, 4]):
            linear.enter(terms)
            expected = plain.costs(linear, row(8, terms))
            for values, costs in zip(expected, orthogonal.costs(regression, row(8, terms)), strict=True):
                np.testing.assert_allclose(costs, values, atol=1e-6)
            numbers = np.array(terms)
            np.testing.assert_allclose(regression.weights(numbers), linear.weights(numbers), rtol=1e-6)

    def test_a_local_optimum_does_not_take_a_term_that_is_left_out(self):
        search = LikelihoodSearch(PredictionErrors(self.problem), Settings())
        start = row(15, [1])
        search.fit(Narx(), start)
        linear = search.errors.linearised(search.fits[Narx(), start.tobytes()])
        best = search.local_optimum(linear, start)
        assert best.tolist() == row(15, numbers_of(self.problem, S1)).tolist()
        term = self.problem.terms.index("u(k-1)^2")
        assert not search.local_optimum(linear, start, left_out=term)[term]

    def test_lagged_copies_are_the_terms_of_higher_lags(self):
        search = LikelihoodSearch(PredictionErrors(self.problem), Settings())
        terms = ["y(k-1)", "y(k-2)", "u(k-2)", "y(k-1)*u(k-1)", "y(k-2)*u(k-2)", "y(k-1)*u(k-2)", "u(k-2)^2"]
        kept = np.flatnonzero(search.without_copies(row(15, numbers_of(self.problem, terms)))).tolist()
        assert kept == sorted(numbers_of(self.problem, {*terms} - {"y(k-2)", "y(k-2)*u(k-2)"}))

    def test_only_noise_that_is_allowed_is_fitted(self):
        options = {"noise_models": ["narmax", "ararmax"], "largest_order": 2, "tails": False, "drift": False}
        search = search_of(problem_of(*data_of("autoregression on the output", 400)), **options)
        fitted, _ = zip(*search.fits, strict=True)
        assert {*fitted} <= {Narx(), *noise_models_of(("narmax", "ararmax"), 2)}
        assert "ararmax" in names_of(fitted)
        search = search_of(problem_of(*data_of("outliers on the output", 400)), tails=False, drift=False)
        for noise_model, _ in search.fits:
            assert noise_model.distribution.is_gaussian and not noise_model.is_integrated
        search, n_integrated = search_of(problem_of(*data_of("random walk on the output", 400))), 0
        for noise_model, _ in search.fits:
            # Moving averages of drift are short.
            if noise_model.is_integrated:
                assert {*noise_model.ar_lags, *noise_model.ma_lags} <= {1, 2}
                n_integrated += 1
        assert n_integrated > 0


class SeasonalAr(NoiseModel):
    """Noise on the output that comes back after twelve samples."""

    name, title, place = "seasonal", "Seasonal", "output"
    words = "noise on the output that comes back after twelve samples"

    @classmethod
    def filters(cls, largest_order):
        """Yield an autoregression of the one lag."""
        yield (12,), ()


@pytest.mark.parametrize("names", [[*noise_models.NOISE_NAMES, "seasonal"], ["seasonal"], ["noe", "seasonal"]])
def test_a_noise_model_that_is_added_is_chosen_where_the_noise_is_such(monkeypatch, names):
    """To add one: a class in noise_models.py, its name in NOISE_MODELS and in NoiseName. One file, no more."""
    monkeypatch.setitem(noise_models.NOISE_MODELS, "seasonal", SeasonalAr)
    problem = problem_of(*data_of("season on the output", 800))
    # The names that settings allow are checked when they are read: NoiseName is in the same file.
    settings = Settings().model_copy(update={"noise_models": names})
    search = LikelihoodSearch(PredictionErrors(problem), settings)
    search.run()
    best = search.best()
    assert best.terms.tolist() == numbers_of(problem, S1) and best.noise_model.description == "Seasonal (AR 12)"
    np.testing.assert_allclose(search.errors.coefficients(best), WEIGHTS, atol=0.03)
    assert best.noise_weights == pytest.approx([-0.8], abs=0.07)


# ---- Candidates that nearly depend on one another.


def squares(columns, explained, members):
    """Return the sum of squares that is left by least squares."""
    weights = np.linalg.lstsq(columns[:, members], explained, rcond=None)[0]
    return float(np.sum((explained - columns[:, members] @ weights) ** 2))


def test_changes_far_from_zero_are_those_of_least_squares():
    """There, products of the columns have lost the digits that distinguish them."""
    rng = np.random.default_rng(1)
    signals = 1e2 + rng.uniform(-1, 1, (60, 3))
    columns = np.column_stack([np.ones(60), signals, signals**2, signals[:, 0] * signals[:, 1]])
    explained = columns @ np.array([1.0, 0.5, 0.0, -0.3, 0.2, 0.0, 0.0, 0.1]) + 0.1 * rng.normal(size=60)
    inside = [0, 1, 3, 4]
    members, flips, swaps = OrthogonalRegression(columns, explained).changes(row(8, inside), 60.0)
    # Differences of the columns lose no digit.
    centred = columns - columns.mean(axis=0) * (np.arange(8) > 0)
    before = squares(centred, explained, inside)
    assert members.tolist() == inside
    for term in range(1, 8):
        expected = 60 * math.log(squares(centred, explained, sorted({*inside} ^ {term})) / before)
        assert flips[term] == pytest.approx(expected, abs=1e-4)
    for place, dropped in enumerate(inside[1:], start=1):
        for taken in (2, 5, 6, 7):
            changed = sorted({*inside} - {dropped} | {taken})
            expected = 60 * math.log(squares(centred, explained, changed) / before)
            assert swaps[place, taken] == pytest.approx(expected, abs=1e-4)
        assert np.isinf(swaps[place, inside]).all()


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
