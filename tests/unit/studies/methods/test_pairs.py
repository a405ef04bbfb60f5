"""The test of methods on forged values, in which the truth is known, and against statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW
from tests.lookups import values_of

from narxbench._studies.methods.metrics import EXACT, FRESH, mean_limits, share_limits
from narxbench._studies.methods.pairs import (
    BETTER,
    EQUAL,
    UNDECIDED,
    WORSE,
    compared_with_best,
    detectable,
    enough_systems,
    fewest_systems,
)

ALPHA = 0.05


def compared(values, metric=EXACT):
    """Return the comparisons of the method of the best mean with the others."""
    by_system = pd.DataFrame(values, columns=[f"m{number:02}" for number in range(values.shape[1])])
    means = by_system.mean()
    best = means.idxmax() if metric.larger_is_better else means.idxmin()
    return compared_with_best(by_system, best, metric, ALPHA)


def recoveries(rng, n_systems, n_methods):
    """Return exact recovery in six runs on each system, some of which are hard for all methods."""
    return rng.binomial(6, rng.beta(0.5, 0.5, (n_systems, 1)), (n_systems, n_methods)) / 6


def errors(rng, n_systems, n_methods):
    """Return logarithms of errors with heavy tails and a part that is common to all methods."""
    return rng.normal(size=(n_systems, 1)) + rng.standard_t(2, (n_systems, n_methods))


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "metric"), [(recoveries, EXACT), (errors, FRESH)])
@pytest.mark.parametrize(("n_systems", "n_methods"), [(27, 6), (27, 18), (9, 3)])
def test_equal_methods_are_rarely_told_apart(draw, metric, n_systems, n_methods):
    rng, n_studies, n_false = np.random.default_rng(2), 150, 0
    for _ in range(n_studies):
        verdicts = set(values_of(compared(draw(rng, n_systems, n_methods), metric), "verdict"))
        n_false += not verdicts.isdisjoint({BETTER, WORSE})
    # Two standard deviations of chance above 5 %.
    assert n_false / n_studies <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / n_studies)


def test_a_clear_lead_is_seen_and_has_its_direction():
    rng = np.random.default_rng(1)
    n = 27
    good = np.clip(0.95 + 0.05 * rng.normal(size=(n, 1)), 0, 1)
    (of_recovery,) = compared(np.hstack([good, good - 0.4 - 0.1 * rng.random((n, 1))]))
    assert of_recovery.verdict == BETTER and 0.4 < of_recovery.difference < 0.5
    (of_error,) = compared(np.hstack([np.log(good / 100), np.log(good / 50)]), FRESH)
    assert of_error.verdict == BETTER and of_error.difference == pytest.approx(0.5)


def test_alike_methods_are_practically_equal_and_scattered_ones_undecided():
    rng = np.random.default_rng(1)
    common = rng.random((27, 1))
    (alike,) = compared(np.hstack([common, common + 0.02 * rng.normal(size=(27, 1))]))
    assert alike.verdict == EQUAL
    (scattered,) = compared(np.random.default_rng(5).random((27, 2)))
    assert scattered.verdict == UNDECIDED and abs(scattered.difference) < scattered.detectable
    # Most systems alike and a few without any recovery: that is no equality.
    uneven = np.ones((27, 2))
    uneven[:3, 1] = 0.0
    (pair,) = compared(uneven)
    assert pair.verdict == UNDECIDED
    assert compared(np.ones((27, 2)))[0].verdict == EQUAL


def test_too_few_systems_say_nothing():
    for n_methods in (2, 18):
        needed = fewest_systems(n_methods, ALPHA)
        assert enough_systems(needed, n_methods, ALPHA) and not enough_systems(needed - 1, n_methods, ALPHA)
        values = np.hstack([np.ones((needed - 1, 1)), np.zeros((needed - 1, n_methods - 1))])
        values[:, 1:] += np.arange(needed - 1)[:, None] / 100
        assert set(values_of(compared(values), "verdict")) == {UNDECIDED}
    assert fewest_systems(2, ALPHA) == 6


def test_limits_power_and_equality_are_those_of_statsmodels():
    values = np.random.default_rng(4).random(27)
    expected = proportion_confint(values.sum(), 27, alpha=ALPHA, method="beta")
    assert share_limits(values, ALPHA) == pytest.approx(expected)
    assert share_limits(np.ones(13), ALPHA) == (pytest.approx(0.753, abs=1e-3), 1.0)
    assert mean_limits(values, ALPHA) == pytest.approx(DescrStatsW(values).tconfint_mean(ALPHA))
    effect = detectable(values, 0.001) / np.std(values, ddof=1)
    assert TTestPower().power(effect, 27, 0.001) == pytest.approx(0.8, abs=0.02)
    small = 0.03 * values
    (pair,) = compared(np.column_stack([small, np.zeros(27)]))
    p, *_ = DescrStatsW(small).ttost_mean(-0.05, 0.05)
    assert (pair.verdict == EQUAL) == (p <= ALPHA)
