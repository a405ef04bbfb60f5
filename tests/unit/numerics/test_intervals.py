"""Intervals of frequencies, held against published values."""

import pytest

from narxbench._numerics.intervals import selection_frequency


@pytest.mark.parametrize(
    ("count", "runs", "low", "high"),
    # Wilson's score interval; the first line is Newcombe's (1998) example 81 of 263.
    [(81, 263, 0.2553, 0.3662), (0, 40, 0.0, 0.0876), (40, 40, 0.9124, 1.0), (36, 40, 0.7695, 0.9604)],
)
def test_wilson_interval(count, runs, low, high):
    nu = selection_frequency(count, runs)
    assert nu.value == pytest.approx(count / runs, rel=1e-11)
    assert (nu.low, nu.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
