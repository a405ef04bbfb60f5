"""The search by likelihood: against all structures, in other orders of the candidates, and its parts."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.regression import numbers_of
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import (
    FILTERS,
    S1,
    all_criteria,
    data_of,
    noise_models_of,
    pem,
    problem_of,
    small_problem,
)

from narxbench._algorithms.likelihood_search import LikelihoodSearch, criterion_of, noise_price, term_penalties
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model.noise_models import Ararmax, BoxJenkins, Distribution, Narmax, Narx, Noe

# Noise that the settings below allow.
FIRST_ORDER = [noise for noise in FILTERS if not noise.startswith(("long", "season", "random", "outliers"))]
LOW_ORDERS = {"largest_order": 1, "tails": False, "drift": False}


def search_of(problem, **settings):
    search = LikelihoodSearch(PredictionErrors(problem), Settings(**settings))
    search.run()
    return search


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


def test_pem_returns_the_best_of_all_structures():
    problem = small_problem(*data_of("white on the output", 300))
    values = all_criteria(problem, noise_models_of(("narx", "noe")))
    noise_model, terms = min(values, key=values.get)
    result = pem(problem, noise_models=["narx", "noe"], **LOW_ORDERS)
    assert len(values) == 2 * 255
    assert (numbers_of(problem, result.terms), result.details["noise_model"]) == ([*terms], noise_model.name)
    assert result.details["criterion"] == pytest.approx(values[noise_model, terms], abs=1e-5)


class Permuted(SimpleNamespace):
    """The data of a problem with the candidates in another order."""

    def __init__(self, problem, order):
        monomials = [problem.monomials[term] for term in order]
        super().__init__(
            training_u=problem.training_u,
            training_y=problem.training_y,
            stretches=problem.stretches,
            monomials=monomials,
        )


@pytest.mark.parametrize("noise", ["white on the output", "both on the output", "autoregression in the equation"])
def test_the_order_of_the_candidates_changes_nothing(noise):
    problem = problem_of(*data_of(noise, 500))
    plain = search_of(problem)
    best = plain.refined(plain.best())
    order = np.random.default_rng(5).permutation(15)
    permuted = search_of(Permuted(problem, order))
    permuted_best = permuted.refined(permuted.best())
    assert permuted_best.noise_model == best.noise_model
    compare_weights(plain.errors, best, permuted.errors, permuted_best, order, tolerance=1e-6)
    # From the same start rounding is all that differs.
    fit = plain.errors.fit(best.noise_model, best.terms.tolist())
    permuted_fit = permuted.errors.fit(best.noise_model, permuted_best.terms.tolist())
    compare_weights(plain.errors, fit, permuted.errors, permuted_fit, order, tolerance=1e-9)


def compare_weights(errors, fit, permuted_errors, permuted_fit, order, tolerance):
    """Assert that two fits have the same terms and weights, the second one by candidates in this order."""
    terms = order[permuted_fit.terms]
    ascending = np.argsort(terms)
    assert terms[ascending].tolist() == fit.terms.tolist()
    weights = permuted_errors.coefficients(permuted_fit)[ascending]
    np.testing.assert_allclose(weights, errors.coefficients(fit), rtol=0.0, atol=tolerance)


class TestCosts:
    problem = problem_of(*data_of("white in the equation", 300))

    def test_changes_of_a_linear_problem_are_predicted_as_fits_have_them(self):
        search = LikelihoodSearch(PredictionErrors(self.problem), Settings())
        structure = np.zeros(15, np.uint8)
        structure[numbers_of(self.problem, ["1", "y(k-1)", "u(k-1)", "u(k-2)"])] = 1
        value = search.fit(Narx(), structure)
        linear = search.errors.linearised(search.fits[Narx(), structure.tobytes()])
        members, flips, swaps = search.costs(linear, structure)
        for term in range(15):
            changed = structure.copy()
            changed[term] ^= 1
            assert search.fit(Narx(), changed) - value == pytest.approx(flips[term], abs=1e-5)
        for i, member in enumerate(members):
            for term in np.flatnonzero(structure == 0):
                changed = structure.copy()
                changed[[member, term]] ^= 1
                assert search.fit(Narx(), changed) - value == pytest.approx(swaps[15 * i + term], abs=1e-5)

    def test_a_local_optimum_does_not_take_a_term_that_is_left_out(self):
        search = LikelihoodSearch(PredictionErrors(self.problem), Settings())
        start, structure = np.zeros(15, np.uint8), np.zeros(15, np.uint8)
        structure[numbers_of(self.problem, S1)] = 1
        start[1] = 1
        search.fit(Narx(), start)
        linear = search.errors.linearised(search.fits[Narx(), start.tobytes()])
        assert search.local_optimum(linear, start).tolist() == structure.tolist()
        term = self.problem.terms.index("u(k-1)^2")
        assert not search.local_optimum(linear, start, left_out=term)[term]

    @pytest.mark.parametrize("gamma", [0.0, 1.25])
    def test_terms_and_noise_have_their_price(self, gamma):
        errors = PredictionErrors(self.problem)
        penalties, samples = term_penalties(errors, gamma), errors.samples
        sizes = np.arange(16)
        np.testing.assert_allclose(penalties, sizes * (math.log(samples) + 2.0 * gamma * math.log(15)), rtol=1e-12)
        assert noise_price(errors) == pytest.approx(math.log(samples))
        noise_model = BoxJenkins((1, 2), (1,), is_integrated=True, distribution=Distribution(4.0))
        fit = errors.fit(noise_model, [1, 2])
        expected = errors.deviance(fit) + penalties[2] + 5 * math.log(samples)
        assert criterion_of(errors, fit, penalties) == pytest.approx(expected)

    def test_more_terms_than_half_of_the_samples_are_no_model(self):
        problem = problem_of(*data_of("white in the equation", 20), n_validation=5)
        errors = PredictionErrors(problem)
        penalties = term_penalties(errors, 1.0)
        assert np.isfinite(penalties).tolist() == (np.arange(16) <= errors.samples // 2).tolist()


def test_lagged_copies_are_the_terms_of_higher_lags():
    problem = problem_of(*data_of("white in the equation", 150))
    search = LikelihoodSearch(PredictionErrors(problem), Settings())
    structure = np.zeros(15, np.uint8)
    terms = ["y(k-1)", "y(k-2)", "u(k-2)", "y(k-1)*u(k-1)", "y(k-2)*u(k-2)", "y(k-1)*u(k-2)", "u(k-2)^2"]
    structure[numbers_of(problem, terms)] = 1
    kept = np.flatnonzero(search.without_copies(structure)).tolist()
    assert kept == sorted(numbers_of(problem, {*terms} - {"y(k-2)", "y(k-2)*u(k-2)"}))
    assert search.errors.advanced(problem.terms.index("y(k-2)*u(k-2)")) == numbers_of(problem, ["y(k-1)*u(k-1)"])
    assert search.errors.advanced(problem.terms.index("1")) == []


class TestAllowedNoise:
    def test_only_families_and_orders_that_are_allowed_are_fitted(self):
        problem = problem_of(*data_of("autoregression on the output", 400))
        search = search_of(problem, noise_models=["narmax", "ararmax"], largest_order=2, tails=False, drift=False)
        allowed = {Narx(), *noise_models_of(("narmax", "ararmax"), 2)}
        noise_models, _ = zip(*search.fits, strict=True)
        assert {*noise_models} <= allowed
        assert Ararmax in map(type, noise_models)

    def test_tails_and_drift_need_permission(self):
        problem = problem_of(*data_of("outliers on the output", 400))
        for allowed in (False, True):
            search = search_of(problem, tails=allowed, drift=allowed)
            kinds = {"drift": False, "tails": False}
            for noise_model, _ in search.fits:
                kinds["drift"] |= noise_model.is_integrated
                kinds["tails"] |= not noise_model.distribution.is_gaussian
            assert kinds == {"drift": allowed, "tails": allowed}

    def test_moving_averages_of_drift_are_short(self):
        problem = problem_of(*data_of("random walk on the output", 400, deviation=0.02))
        n_integrated = 0
        for noise_model, _ in search_of(problem).fits:
            if noise_model.is_integrated:
                n_integrated += 1
                assert {*noise_model.ar_lags, *noise_model.ma_lags} <= {1, 2}
        assert n_integrated > 0


def test_fits_are_ranked_by_their_criterion():
    search = search_of(problem_of(*data_of("white on the output", 300)))
    ranked = search.ranked()
    values = [search.value(fit) for fit in ranked]
    assert values == sorted(values) and ranked[0].noise_model == Noe()
    best_values = {}
    for fit in ranked:
        best_values.setdefault(fit.noise_model.name, search.value(fit))
    leaders = search.leaders()
    leading_values = {leader.noise_model.name: search.value(leader) for leader in leaders}
    assert len(leading_values) == len(leaders) and leading_values.items() <= best_values.items()


def test_a_moving_average_alone_is_a_noise_model_to_begin_with():
    search = search_of(problem_of(*data_of("moving average in the equation", 400)), noise_models=["narmax"])
    best = search.best()
    assert isinstance(best.noise_model, Narmax) and [search.errors.n_terms, len(best.terms)] == [15, 4]
