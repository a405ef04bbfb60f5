"""Numbers that are the same on every machine, held against NumPy, SciPy and published values."""

import math

import numpy as np
import pytest
from scipy import stats

from narxbench._numerics.draws import draws_of, skip, uniform, uniform_ahead
from narxbench._numerics.elimination import solved
from narxbench._numerics.intervals import selection_frequency
from narxbench._numerics.logarithm import natural_log
from narxbench._numerics.random_streams import generator, standard_normal


def test_draws_are_those_of_numpy_even_after_an_error():
    rng, expected = np.random.default_rng(3), np.random.default_rng(3).random(300)
    drawn = []
    with pytest.raises(KeyboardInterrupt), draws_of(rng, longest=64) as draws:
        drawn += [uniform(draws) for _ in range(100)]
        drawn += [uniform_ahead(draws, step) for step in range(1, 65)]
        skip(draws, 64)
        skip(draws, 0)
        raise KeyboardInterrupt
    np.testing.assert_array_equal([*drawn, rng.random()], expected[:165])
    with pytest.raises(TypeError, match="found MT19937; allowed: PCG64"):
        draws_of(np.random.Generator(np.random.MT19937(1)), 1).__enter__()


def test_streams_hang_on_names_and_values_only():
    axes = [{"purpose": "search", "seed": 1}, {"purpose": "search", "seed": 2}, {"purpose": "noise", "seed": 1}]
    axes += [{"purpose": "search", "sead": 1}, {"seed": "1", "purpose": "search"}]
    *different, again = (generator(**names).integers(2**63) for names in axes)
    assert len({*different}) == 4 and again == different[0]


def test_normal_draws_are_normal_and_longer_ones_begin_with_the_shorter():
    draws = standard_normal(generator(purpose="test"), 20_000)
    assert stats.kstest(draws, "norm").pvalue > 0.01
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.03
    assert standard_normal(generator(purpose="test"), 9) == draws[:9]


def test_the_natural_logarithm_is_plain_arithmetic(rng):
    for x in [5e-324, 1e-300, 0.70710678, 1.0, 1.0 + 2**-52, 1.7e308, *np.exp(rng.uniform(-700, 700, 500)).tolist()]:
        assert natural_log(x) == natural_log.py_func(x) == pytest.approx(math.log(x), rel=3e-16, abs=1e-17)


@pytest.mark.parametrize("dependence", [1.0, 1e-6])
def test_linear_equations_are_solved_as_by_lapack(dependence, rng):
    columns = rng.normal(size=(90, 30))
    columns[:, 29] = columns[:, 0] + dependence * columns[:, 1]
    matrix = columns.T @ columns
    right = matrix @ rng.normal(size=(30, 3))
    before = matrix.copy(), right.copy()
    assert matrix @ solved(matrix, right) == pytest.approx(right, rel=1e-9, abs=1e-9)
    assert (matrix == before[0]).all() and (right == before[1]).all()


@pytest.mark.parametrize(
    ("count", "runs", "low", "high"),
    # Wilson's score interval; the first line is Newcombe's (1998) example 81 of 263.
    [(81, 263, 0.2553, 0.3662), (0, 40, 0.0, 0.0876), (40, 40, 0.9124, 1.0), (36, 40, 0.7695, 0.9604)],
)
def test_wilson_interval(count, runs, low, high):
    nu = selection_frequency(count, runs)
    assert nu.value == pytest.approx(count / runs, rel=1e-11)
    assert (nu.low, nu.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
