import numpy as np
import pytest

from narxbench.analysis.metrics import final_structure, selection_frequency, selections, spurious_terms


def test_selection_table():
    table = selections([["a", "c"], [], ["b"]], ["a", "b", "c"])
    np.testing.assert_array_equal(table, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("count", "runs", "low", "high"),
    # Wilson's score interval; the first line is Newcombe's (1998) example 81 of 263.
    [(81, 263, 0.2553, 0.3662), (0, 40, 0.0, 0.0876), (40, 40, 0.9124, 1.0), (36, 40, 0.7695, 0.9604)],
)
def test_wilson_interval(count, runs, low, high):
    nu = selection_frequency(count, runs)
    assert nu.value == count / runs
    assert (nu.low, nu.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


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
    assert (found.ratio.value, found.frequency_max.value, found.most_frequent) == (0.0, 0.0, None)
    assert found.ratio.high == found.frequency_max.high == 0.0


def test_bootstrap_limits_of_one_spurious_term_are_those_of_a_proportion():
    # nu_max of a single candidate is a proportion: the bootstrap must agree with the normal approximation.
    found = spurious_terms(
        chosen([40, 20], 40), np.array([True, False]), np.random.default_rng(1), confidence=0.95, resamples=20_000
    )
    half = 1.96 * np.sqrt(0.25 / 40)
    assert found.frequency_max.low == pytest.approx(0.5 - half, abs=0.026)
    assert found.frequency_max.high == pytest.approx(0.5 + half, abs=0.026)


def test_threshold_is_reached_by_36_of_40():
    assert final_structure([40, 36, 35], 40, ["a", "b", "c"], 0.9) == ["a", "b"]
    assert final_structure([40, 36, 0], 40, ["a", "b", "c"], 0.0) == ["a", "b", "c"]
