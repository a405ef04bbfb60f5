"""Kernels against their definition: dependent terms, and how far ahead series are judged."""

import string
from itertools import product

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.regression import regressors, term_names

from narxbench._identification.data.collinear import collinear
from narxbench._identification.data.seasons import seasons_beside_inputs, steps_ahead
from narxbench._model.records import Record, Recording
from narxbench._model.terms import monomials_of


def candidates(u, noise, lags, degree):
    y = lfilter([0.0, 1.0], [1.0, -0.8], u[:, 0]) + noise
    monomials = monomials_of(list(product(range(u.shape[1] + 1), range(1, lags + 1))), degree)
    return regressors(u, y, monomials, np.arange(lags, len(y))), term_names(monomials, u.shape[1])


def dependent(columns):
    """Return which columns lie in the span of earlier ones that do not, one by one."""
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    basis, dependent_columns = [], []
    for j in range(scaled.shape[1]):
        weights = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
        distance = np.linalg.norm(scaled[:, j] - scaled[:, basis] @ weights)
        (dependent_columns if distance < 1e-8 else basis).append(j)
    return dependent_columns


DRAWS = {
    "three levels": lambda rng, n: rng.choice([-1.0, 0.0, 2.0], (n, 1)),
    "held": lambda rng, n: rng.choice([1.0, 2.0], (n // 50, 1)).repeat(50, axis=0),
    "rare": lambda rng, n: rng.choice([0.0, 1.0], (n, 1), p=[0.995, 0.005]),
    "twice": lambda rng, n: rng.choice([0.0, 1.0], (n, 1)).repeat(2, axis=1),
    "mixed": lambda rng, n: np.column_stack([rng.normal(size=n), rng.choice([0.0, 1.0], n)]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_columns_that_depend_on_earlier_ones_are_dropped(rng, name):
    columns, terms = candidates(DRAWS[name](rng, 2000), 0.1 * rng.normal(size=2000), 2, 3)
    assert list(collinear(columns, terms)) == list(map(terms.__getitem__, dependent(columns)))


def test_reasons_are_true(rng):
    columns, terms = candidates(rng.choice([2.2, 2.5], (1000, 1)), rng.normal(size=1000), 2, 2)
    assert collinear(columns, terms) == {
        "u(k-1)^2": "u(k-1)^2 is 4.7 u(k-1) - 5.5",
        "u(k-2)^2": "u(k-2)^2 is 4.7 u(k-2) - 5.5",
    }
    twice = np.column_stack([columns[:, 1], 2 * columns[:, 1], 0 * columns[:, 1]])
    assert collinear(twice, ["p", "q", "z"]) == {"q": "q is 2 p", "z": "z is zero in every row"}


def test_rows_that_refute_a_combination_are_found(rng):
    columns = rng.normal(size=(20_000, 3))
    # All but one row say that the last two columns are equal.
    columns[:, 2] = columns[:, 1]
    columns[12_345, 2] += 1.0
    assert collinear(columns, list("abc")) == {}
    # Of norm 1, and elsewhere zero.
    columns[:, 2] = np.arange(20_000) == 77
    assert collinear(columns, list("abc")) == {}
    # Too few rows are no reason to drop.
    assert collinear(rng.normal(size=(30, 52)), list(string.ascii_letters)) == {}


def horizon(y, decimation=1, n_test=300):
    record = Record("known", np.empty((len(y) - n_test, 0)), y[:-n_test])
    return steps_ahead([record, Record("test", np.empty((n_test, 0)), y[-n_test:], "test")], decimation)


def test_series_are_judged_as_far_ahead_as_their_values_depend_on_one_another(rng):
    white = rng.standard_normal(1200)
    assert horizon(white) == horizon(np.ones(1200)) == 1
    for pole in (0.8, 0.95):
        time = np.log(0.5) / np.log(pole)
        assert 0.4 * time < horizon(lfilter([1.0], [1.0, -pole], white)) < 2.5 * time
    # An oscillation that goes on is judged over half of the test.
    wave = np.sin(2 * np.pi * np.arange(1200) / 63)
    assert (horizon(wave), horizon(wave, decimation=5)) == (150, 30)


def seasons_of(u, *outputs):
    """Return the seasons of records of an output that is driven by an input."""
    records = [Record(str(number), u[: len(y), None], y) for number, y in enumerate(outputs)]
    return seasons_beside_inputs(Recording(tuple(records), ("u",), "y"))


def test_seasons_are_found_where_an_output_alone_repeats_itself(rng):
    hours, white, nothing = np.arange(1000), rng.standard_normal(1000), np.zeros(1000)
    load = np.sin(2 * np.pi * hours / 24) ** 3 + 0.05 * white
    assert seasons_of(nothing, load) == seasons_of(nothing, load[:400], load[550:]) == (24,)
    weekend = np.where(hours // 24 % 7 >= 5, 0.6, 1.0)
    assert seasons_of(nothing, load * weekend) == (24, 168)
    # A record has three seasons at least.
    assert seasons_of(nothing, load[:70]) == ()
    damped = lfilter([1.0], [1.0, -1.84, 0.9], white)
    for y in (white, np.cumsum(white), damped, np.ones(1000), 1.0 * hours):
        assert seasons_of(nothing, y) == ()
    # What a periodic test signal drives repeats itself as it does.
    weather = np.sin(2 * np.pi * hours / 24) + 0.2 * white
    assert seasons_of(weather, load) == (24,) and seasons_of(np.resize(white[:24], 1000), load) == ()
