import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.analysis.metrics import selection_frequency, selections, spurious_terms


def test_selection_table():
    np.testing.assert_array_equal(selections([[0, 2], [], [1]], 3), [[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("count", "runs", "low", "high"),
    # Wilson's score interval; the first line is Newcombe's (1998) example 81 of 263.
    [(81, 263, 0.2553, 0.3662), (0, 40, 0.0, 0.0876), (40, 40, 0.9124, 1.0), (36, 40, 0.7695, 0.9604)],
)
def test_wilson_interval(count, runs, low, high):
    nu = selection_frequency(count, runs)
    assert nu.value == pytest.approx(count / runs, rel=1e-11)
    assert (nu.low, nu.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@settings(max_examples=30)
@given(st.integers(1, 200).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_wilson_limits_are_the_chances_that_a_score_test_just_rejects(drawn):
    count, runs = drawn
    nu = selection_frequency(count, runs)
    assert 0 <= nu.low <= nu.value <= nu.high <= 1
    for limit in (nu.low, nu.high):
        if 0 < limit < 1:
            assert abs(count / runs - limit) / np.sqrt(limit * (1 - limit) / runs) == pytest.approx(
                1.959963985, rel=1e-6
            )


def chosen(counts, runs):
    return np.array([[run < count for count in counts] for run in range(runs)])


def test_r_and_nu_max_by_hand(rng):
    # Terms 0 and 1 belong; 2 is never chosen, 3 once, 4 in three of four runs: r = 2/5, nu_max = .75.
    found = spurious_terms(chosen([4, 3, 0, 1, 3], 4), np.array([1, 1, 0, 0, 0], bool), rng)
    assert (found.ratio.value, found.frequency_max.value, found.most_frequent) == (0.4, 0.75, 4)
    for interval in (found.ratio, found.frequency_max):
        assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert found.frequency_max.low < 0.75 < found.frequency_max.high


def test_no_spurious_terms(rng):
    found = spurious_terms(chosen([4, 4, 0], 4), np.array([1, 1, 0], bool), rng)
    assert (found.ratio, found.frequency_max, found.most_frequent) == ((0, 0, 0), (0, 0, 0), None)


def test_bootstrap_limits_of_one_spurious_term_are_those_of_a_proportion():
    # nu_max of a single candidate is a proportion: the bootstrap must agree with the normal approximation.
    found = spurious_terms(
        chosen([40, 20], 40), np.array([True, False]), np.random.default_rng(1), confidence=0.95, resamples=20_000
    )
    half = 1.96 * np.sqrt(0.25 / 40)
    assert found.frequency_max.low == pytest.approx(0.5 - half, abs=0.026)
    assert found.frequency_max.high == pytest.approx(0.5 + half, abs=0.026)
