"""Terms that are combinations of earlier ones are dropped, and no others."""

from itertools import product

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.regression import regressors, term_names

from narxbench._identification.data.collinear import collinear, near_pairs
from narxbench._model.terms import monomials_of


def answer(u):
    return lfilter([0.0, 1.0], [1.0, -0.8], u)


def candidates(u, y, lags, degree):
    u = np.reshape(u, (len(y), -1))
    monomials = monomials_of(list(product(range(u.shape[1] + 1), range(1, lags + 1))), degree)
    rows = np.arange(lags, len(y))
    return regressors(u, y, monomials, rows), term_names(monomials, u.shape[1])


def dependent(columns):
    """Return which columns lie in the span of earlier ones that do not, one by one."""
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    basis, dependent_columns = [], []
    for j in range(scaled.shape[1]):
        weights = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
        distance = np.linalg.norm(scaled[:, j] - scaled[:, basis] @ weights)
        (dependent_columns if distance < 1e-8 else basis).append(j)
    return dependent_columns


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.choice([0.0, 5.0], n),
        lambda rng, n: rng.choice([-1.0, 0.0, 2.0], n),
        lambda rng, n: rng.choice([1.0, 2.0], n // 50).repeat(50),
        lambda rng, n: rng.choice([0.0, 1.0], n, p=[0.995, 0.005]),
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: np.zeros(n),
        lambda rng, n: np.column_stack([rng.choice([0.0, 1.0], n)] * 2),
        lambda rng, n: np.column_stack([rng.normal(size=n), rng.choice([0.0, 1.0], n)]),
    ],
)
def test_columns_that_depend_on_earlier_ones_are_dropped(rng, draw):
    u = draw(rng, 2000)
    y = answer(u.reshape(2000, -1)[:, 0]) + 0.1 * rng.normal(size=2000)
    columns, terms = candidates(u, y, 2, 3)
    assert list(collinear(columns, terms)) == [terms[j] for j in dependent(columns)]


def test_reasons_are_true(rng):
    u = rng.choice([2.2, 2.5], 1000)
    columns, terms = candidates(u, answer(u) + rng.normal(size=1000), 2, 2)
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
    assert collinear(rng.normal(size=(30, 100)), [f"x{i}" for i in range(100)]) == {}


def test_nearly_alike_is_reported_and_not_dropped(rng):
    x = rng.normal(size=(1000, 3))
    columns = np.column_stack([np.ones(1000), x, x[:, 1] + 0.01 * rng.normal(size=1000)])
    terms = ["1", "a", "b", "c", "d"]
    assert collinear(columns, terms) == {}
    pairs = near_pairs(columns, terms)
    assert (pairs.number, pairs.worst[:2]) == (1, ("b", "d"))
    assert near_pairs(columns[:, :4], terms[:4]) == (0, None)
