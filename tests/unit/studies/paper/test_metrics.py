import numpy as np
import pytest

from narxbench._numerics.intervals import selection_frequency
from narxbench._studies.paper.metrics import spurious_ratio


@pytest.mark.parametrize(
    ("count", "possible", "low", "high"),
    # The exact interval of Clopper and Pearson; the first line is Newcombe's (1998) example 81 of 263.
    [(81, 263, 0.2527, 0.3676), (0, 40, 0.0, 0.0881), (40, 40, 0.9119, 1.0), (1, 29, 0.0009, 0.1776)],
)
def test_exact_interval_of_spurious_terms(count, possible, low, high):
    # Half of the candidate terms belong to the system: r cannot pass 1/2.
    r = spurious_ratio(count, possible, 2 * possible)
    assert r.value == pytest.approx(count / possible / 2)
    assert (2 * r.low, 2 * r.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize("scale", [0.002, 0.02, 0.2])
def test_intervals_hold_the_expected_values_of_terms_with_unequal_chances(scale):
    # 40 runs, 60 spurious terms of 66, a few of them common and most rare; 400 studies.
    rng = np.random.default_rng(1)
    chances = np.minimum(0.9, scale * rng.exponential(size=60))
    counts = rng.binomial(40, chances, size=(400, 60))
    distinct, largest = np.count_nonzero(counts, axis=1), counts.max(axis=1)
    r_low, r_high = limits([spurious_ratio(int(count), 60, 66) for count in distinct])
    nu_low, nu_high = limits([selection_frequency(int(count), 40) for count in largest])
    expected = (1 - (1 - chances) ** 40).sum() / 66
    assert np.mean((r_low <= expected) & (expected <= r_high)) >= 0.97
    nu_max = largest.mean() / 40
    assert np.mean((nu_low <= nu_max) & (nu_max <= nu_high)) >= 0.95
    # Neither is so wide that it holds anything.
    assert np.max(r_high - r_low) < 0.25
    assert np.max(nu_high - nu_low) < 0.31


def limits(intervals):
    return np.array([(interval.low, interval.high) for interval in intervals]).T
