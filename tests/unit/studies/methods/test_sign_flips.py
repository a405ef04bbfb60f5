"""The sign-flip test against all sign patterns, its intervals against the test itself, limits of shares by coverage."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench._studies.methods.sign_flips import LARGEST, SignFlips, fewest_systems, least_p, share_limits

# Sixteenths are exact in binary.
SIXTEENTHS = st.lists(st.integers(-8, 8).map(lambda n: n / 16), min_size=1, max_size=7)


def flips_of(*columns):
    return SignFlips.of(np.array(columns, float).T, np.random.default_rng(1))


def p_by_hand(differences, delta=0.0):
    """Return the two-sided p-value that the mean is delta, from all sign patterns."""
    shifted = np.array(differences) - delta
    sums = np.array(list(product((-1, 1), repeat=len(shifted)))) @ shifted
    observed = sum(shifted)
    as_high = np.count_nonzero(sums >= observed - 1e-9)
    as_low = np.count_nonzero(sums <= observed + 1e-9)
    return min(1.0, 2 * min(as_high, as_low) / len(sums))


@settings(max_examples=60, deadline=None)
@given(SIXTEENTHS)
def test_p_counts_all_sign_patterns(differences):
    assert flips_of(differences).p_values == [pytest.approx(p_by_hand(differences))]


@settings(max_examples=60, deadline=None)
@given(SIXTEENTHS, st.sampled_from([0.02, 0.05, 0.2, 0.5]))
def test_the_interval_has_what_the_test_does_not_reject(differences, level):
    tests = flips_of(differences)
    low, high = tests.limits(0, level)
    if math.isinf(low):
        assert least_p(len(differences)) > level
        return
    assert p_by_hand(differences, low) > level and p_by_hand(differences, high) > level
    assert p_by_hand(differences, low - 1e-3) <= level and p_by_hand(differences, high + 1e-3) <= level
    # Of zero both say the same.
    assert (low <= 0 <= high) == (tests.p_values[0] > level)


def test_by_hand():
    # Twelve of thirteen systems agree: of 2^13 patterns 14 are as high, with none or one minus.
    assert flips_of([1.0] * 12 + [-1.0]).p_values == [pytest.approx(2 * 14 / 2**13)]
    # Systems without a difference are no evidence.
    assert flips_of([0.5] * 6 + [0.0] * 7).p_values == [pytest.approx(2 / 2**6)]
    assert flips_of([0.0] * 5).p_values == [1.0]
    assert flips_of([0.2] * 6).limits(0, 0.05) == (pytest.approx(0.2), pytest.approx(0.2))


def test_the_least_p_is_that_of_all_systems_agreeing():
    assert least_p(13) == pytest.approx(2 / 2**13)
    assert fewest_systems(0.05) == 6 and least_p(6) <= 0.05 < least_p(5)
    assert flips_of([1.0] * 9).p_values == [least_p(9)]
    assert least_p(LARGEST + 1) == least_p(30) == pytest.approx(2 / 2**15)


def test_many_systems_are_tested_by_random_subsets():
    draws = np.random.default_rng(3).normal(0.1, 1.0, (20, 100))
    tests = SignFlips.of(draws, np.random.default_rng(4))
    again = SignFlips.of(draws, np.random.default_rng(4))
    assert tests.p_values == again.p_values
    exact = SignFlips.of(draws[:LARGEST], np.random.default_rng(4))
    shares = {alpha: np.mean(np.array(tests.p_values) <= alpha) for alpha in (0.05, 0.2)}
    # The mean of 20 draws is 0.45 standard errors from zero.
    assert 0.03 < shares[0.05] < 0.2 and 0.15 < shares[0.2] < 0.45
    assert len(exact.means) == 2**LARGEST - 1


def test_limits_of_shares_hold_near_one():
    assert share_limits(np.ones(13), 0.05) == (pytest.approx(0.025 ** (1 / 13)), 1.0)
    assert share_limits(np.zeros(13), 0.05) == (0.0, pytest.approx(1 - 0.025 ** (1 / 13)))
    # Clopper and Pearson for 12 of 13.
    low, high = share_limits(np.array([1.0] * 12 + [0.0]), 0.05)
    assert (round(low, 3), round(high, 3)) == (0.640, 0.998)
    assert all(map(math.isnan, share_limits(np.array([]), 0.05)))


@pytest.mark.parametrize("rare", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("worst", [0.0, 0.5])
def test_limits_of_shares_cover_the_mean(rare, worst):
    rng = np.random.default_rng(5)
    n_covered, mean = 0, 1 - rare * (1 - worst)
    for _ in range(1000):
        low, high = share_limits(np.where(rng.random(13) < rare, worst, 1.0), 0.05)
        n_covered += low <= mean <= high
    assert n_covered >= 950
