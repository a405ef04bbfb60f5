"""Changes of structures are predicted as least squares gives them, also where candidates nearly depend on others."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.regression import probabilities_of, term_probability
from tests.unit.algorithms.likelihood import data_of, pem, small_problem

from narxbench._algorithms.certainty import GAMMA, Window, certainty
from narxbench._algorithms.likelihood_search import LikelihoodSearch
from narxbench._algorithms.orthogonal_search import (
    OrthogonalErrors,
    OrthogonalRegression,
    OrthogonalSearch,
    checked_certainty,
)
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model.noise_models import GAUSSIAN, Distribution, Narmax, Narx, Noe

SETTINGS = Settings(noise_models=["narx", "narmax", "noe"], largest_order=2)


def search_of(problem, repeated=1.0):
    return OrthogonalSearch(OrthogonalErrors(problem), SETTINGS, repeated)


def row(n_terms, terms):
    structure = np.zeros(n_terms, np.uint8)
    structure[list(terms)] = 1
    return structure


def squares(columns, explained, members):
    """Return the sum of squares that is left by least squares."""
    weights = np.linalg.lstsq(columns[:, members], explained, rcond=None)[0]
    return float(np.sum((explained - columns[:, members] @ weights) ** 2))


@pytest.mark.parametrize("level", [0.0, 1e2])
def test_changes_are_those_of_least_squares(level):
    """At a level far from zero, products of the columns have lost the digits that tell them apart."""
    rng = np.random.default_rng(1)
    signals = level + rng.uniform(-1, 1, (60, 3))
    columns = np.column_stack([np.ones(60), signals, signals**2, signals[:, 0] * signals[:, 1]])
    explained = columns @ np.array([1.0, 0.5, 0.0, -0.3, 0.2, 0.0, 0.0, 0.1]) + 0.1 * rng.normal(size=60)
    structure = row(8, [0, 1, 3, 4])
    members, flips, swaps = OrthogonalRegression(columns, explained).changes(structure, 60.0)
    # Differences of the columns lose no digit.
    centred = columns - columns.mean(axis=0) * (np.arange(8) > 0)
    inside = [0, 1, 3, 4]
    before = squares(centred, explained, inside)
    assert members.tolist() == inside
    for term in range(1, 8):
        changed = sorted({*inside} ^ {term})
        assert flips[term] == pytest.approx(60 * math.log(squares(centred, explained, changed) / before), abs=1e-4)
    for place, dropped in enumerate(inside[1:], start=1):
        for taken in (2, 5, 6, 7):
            changed = sorted({*inside} - {dropped} | {taken})
            expected = 60 * math.log(squares(centred, explained, changed) / before)
            assert swaps[place, taken] == pytest.approx(expected, abs=1e-4)
        assert np.isinf(swaps[place, inside]).all()


@pytest.mark.parametrize("noise_model", [Narx(), Narmax(ma_lags=(1,)), Noe(), Narx(distribution=Distribution(4.0))])
def test_costs_are_those_of_the_plain_search(noise_model):
    problem = small_problem(*data_of("white on the output", 200))
    plain, search = LikelihoodSearch(PredictionErrors(problem), SETTINGS), search_of(problem)
    fit = plain.errors.fit(noise_model, [0, 2, 5])
    for structure in (row(8, [0, 2, 5]), row(8, [1]), row(8, [0, 1, 2, 3, 4])):
        linear = plain.errors.linearised(fit)
        linear.enter(np.flatnonzero(structure).tolist())
        expected = plain.costs(linear, structure)
        costs = search.costs(search.errors.linearised(fit), structure)
        assert costs[0].tolist() == expected[0].tolist()
        np.testing.assert_allclose(costs[1], expected[1], atol=1e-6)
        np.testing.assert_allclose(costs[2], expected[2], atol=1e-6)
        np.testing.assert_allclose(
            search.errors.linearised(fit).weights(np.array([0, 2, 5])), linear.weights(np.array([0, 2, 5])), rtol=1e-6
        )


def test_a_column_that_depends_on_others_gets_no_weight():
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(30, 3))
    columns = np.column_stack([columns, columns[:, 0] + columns[:, 1]])
    regression = OrthogonalRegression(columns, columns @ [1.0, 2.0, 0.5, 0.0] + 0.1 * rng.normal(size=30))
    assert regression.weights(np.array([0, 1, 3]))[2] == 0.0
    _, flips, swaps = regression.changes(row(4, [0, 1, 3]), 30.0)
    assert flips[3] == 0.0 and flips[0] > 1.0 and flips[2] < -10.0
    assert not np.isnan(flips).any() and not np.isnan(swaps).any()
    empty = OrthogonalRegression(np.column_stack([np.zeros(30), columns]), columns[:, 0])
    assert empty.finite and empty.changes(row(5, [0]), 30.0)[1][1] < -100.0
    assert not OrthogonalRegression(columns * np.inf, columns[:, 0]).finite


@pytest.mark.parametrize("repeated", [1.0, 3.0])
def test_samples_that_repeat_each_other_count_as_fewer(repeated):
    problem = small_problem(*data_of("white in the equation", 300))
    search, errors = search_of(problem, repeated), PredictionErrors(problem)
    independent = errors.samples / repeated
    assert search.independent == independent
    fit = search.errors.fit(Narmax(ma_lags=(1, 2)), [0, 1, 3])
    expected = errors.deviance(fit) / repeated + 3 * (math.log(independent) + 2.5 * math.log(8))
    assert search.criterion(fit) == pytest.approx(expected + 2 * math.log(independent))
    search.run()
    best = search.best()
    linear = search.errors.linearised(best)
    flips = search.costs(linear, search.structure(best))[1]
    if best.noise_model == Narx(distribution=GAUSSIAN):
        for term in range(8):
            structure = search.structure(best)
            structure[term] ^= 1
            assert search.fit(Narx(), structure) - search.value(best) == pytest.approx(flips[term], abs=1e-3)


def test_exact_fits_are_told():
    u, y = data_of("white in the equation", 100, deviation=0.0)
    errors = OrthogonalErrors(small_problem(u, y))
    assert errors.is_exact(errors.fit(Narx(), range(8)))
    noisy = OrthogonalErrors(small_problem(*data_of("white in the equation", 100)))
    assert not noisy.is_exact(noisy.fit(Narx(), range(8)))


WHITE = {"noise_models": ["narx"], "tails": False, "drift": False, "largest_order": 1}


def far_from_zero(level, kind, seed, samples=150):
    """Return a problem of seven candidates of signals whose level is so many times their standard deviation."""
    u, y = data_of("white in the equation", samples, seed, deviation=0.25)
    if kind == "pulses":
        rng = np.random.default_rng(seed)
        u = np.where(rng.random(samples) < 0.06, 3.0 * rng.choice([-1.0, 1.0], samples), 0.0)
        e, y = 0.05 * rng.normal(size=samples), np.zeros(samples)
        for k in range(1, samples):
            y[k] = 0.5 * y[k - 1] + (0.3 + 0.3 * y[k - 1]) * u[k - 1] + 0.5 * u[k - 1] ** 2 + e[k]
    return small_problem(u + level * np.std(u), y + level * np.std(y), n_terms=7)


as_fractions = np.vectorize(Fraction, otypes=[object])


def exact_squares(columns, explained):
    """Return the sum of squares that each structure leaves, computed without rounding."""
    series = as_fractions(np.column_stack([columns, explained]))
    n_terms = series.shape[1] - 1
    gram = series.T @ series
    squares = {}
    for size in range(1, n_terms + 1):
        for terms in combinations(range(n_terms), size):
            rows = gram[np.ix_((*terms, n_terms), (*terms, n_terms))]
            for pivot in range(size):
                for i in range(pivot + 1, size + 1):
                    rows[i] = rows[i] - rows[i, pivot] / rows[pivot, pivot] * rows[pivot]
            squares[terms] = float(rows[size, size])
    return squares


def exact_probabilities(problem):
    """Return the probability of each term over all structures, for white noise in the equation."""
    errors, n_terms = OrthogonalErrors(problem), len(problem.terms)
    columns, explained = errors.regression(errors.fit(Narx(), [0]))
    price = math.log(errors.samples) + 2 * GAMMA * math.log(n_terms)
    squares = exact_squares(columns, explained)
    criteria = {terms: errors.samples * math.log(sse) + len(terms) * price for terms, sse in squares.items()}
    probabilities = probabilities_of(criteria)
    return [term_probability(probabilities, term) for term in range(n_terms)]


@pytest.mark.parametrize(
    ("level", "kind", "seed"), [(300, "uniform", 1), (300, "uniform", 2), (100, "pulses", 1), (1000, "pulses", 3)]
)
def test_probabilities_far_from_zero_are_those_of_all_structures(level, kind, seed):
    problem = far_from_zero(level, kind, seed)
    expected = exact_probabilities(problem)
    search = LikelihoodSearch(PredictionErrors(problem), Settings(**WHITE))
    search.run()
    window = Window(search)
    fits = dict(search.fits)
    # Inner products predict others.
    assert np.abs(certainty(window).terms - expected).max() > 0.5
    np.testing.assert_allclose(checked_certainty(problem, window).terms, expected, atol=0.02)
    assert search.fits == fits
    result = pem(problem, **WHITE)
    reported = [result.details["probabilities"].get(name, 0.0) for name in problem.terms]
    np.testing.assert_allclose(reported, expected, atol=0.02)


def test_probabilities_near_zero_are_those_of_the_inner_products():
    problem = far_from_zero(0, "uniform", 1)
    search = LikelihoodSearch(PredictionErrors(problem), Settings(**WHITE))
    search.run()
    window = Window(search)
    certain, checked = certainty(window), checked_certainty(problem, window)
    assert checked.terms.tolist() == certain.terms.tolist() and checked.structures == certain.structures
