"""Ranks and tests against published examples, SciPy, values worked out by hand, and brute force."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from narxbench._numerics.intervals import Interval
from narxbench._studies.methods.metrics import EXACT, GAP, Difference
from narxbench._studies.methods.rank_tests import bootstrap_means, friedman, rank_rows, signed_rank, verdict

INF = math.inf
# Demšar (2006), Table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. The 0.9749 is printed as 0.975,
# but ranked below its neighbour.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_ranks_by_hand():
    # What differs by less than nine decimals is equal.
    assert rank_rows(np.array([[0.2, INF, 0.0, INF, 0.2 + 1e-12]])).tolist() == [[2.5, 4.5, 1.0, 4.5, 2.5]]


def test_ranks_of_a_published_example():
    ranks = rank_rows(-AUC)
    assert [round(mean, 3) for mean in ranks.mean(axis=0)] == [3.143, 2.000, 2.893, 1.964]
    # The published statistic, 9.28, has no correction for ties; that divides by 1 - sum (t^3 - t) / (N k (k^2 - 1)).
    k, n = 4, 14
    plain = 12 * n / (k * (k + 1)) * ((ranks.mean(axis=0) ** 2).sum() - k * (k + 1) ** 2 / 4)
    assert round(plain, 2) == 9.28
    ties = sum(t**3 - t for row in ranks for t in np.unique(row, return_counts=True)[1].tolist())
    statistic, p = friedman(-AUC)
    assert statistic == pytest.approx(plain / (1 - ties / (n * k * (k * k - 1))))
    assert p == pytest.approx(stats.chi2.sf(statistic, k - 1), rel=1e-5)
    assert friedman(np.full((4, 3), INF)) == (0.0, 1.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_signed_ranks_count_all_signs(differences):
    ranks = stats.rankdata([abs(d) for d in differences])
    kept = [(rank, d) for rank, d in zip(ranks, differences, strict=True) if d]
    observed = sum(rank * np.sign(d) for rank, d in kept)
    sums = [
        sum(s * rank for s, (rank, _) in zip(signs, kept, strict=True)) for signs in product((-1, 1), repeat=len(kept))
    ]
    expected = sum(abs(total) >= abs(observed) - 1e-9 for total in sums) / len(sums)
    p, effect = signed_rank([0.1 * d for d in differences])
    assert p == pytest.approx(expected, rel=1e-5)
    assert effect == pytest.approx(observed / sum(ranks))


def test_signed_ranks_by_hand():
    # All of 20 systems agree: two of 2^20 ways are as extreme.
    assert signed_rank([-1.0 - n for n in range(20)]) == (pytest.approx(2 / 2**20, rel=1e-5), -1.0)
    assert signed_rank([0.0, 0.0, 1e-12]) == (1.0, 0.0)
    # Demšar (2006), Table 2: C4.5+m against C4.5, R+ = 93 and R- = 12.
    assert signed_rank((AUC[:, 1] - AUC[:, 0]).tolist())[1] == pytest.approx((93 - 12) / 105)


def intervals(values, seed=1, **changes):
    rng = np.random.default_rng(seed)
    return bootstrap_means(np.array(values), rng, **{"confidence": 0.95, "resamples": 400, **changes})


def test_the_bootstrap_resamples_rows():
    # Of two rows, a quarter of the resamples has only the first, a quarter only the second.
    assert intervals([[0.0, 3.0], [1.0, 3.0]]) == [(0.5, 0.0, 1.0), (3.0, 3.0, 3.0)]
    assert intervals([[0.0], [1.0]], confidence=0.4) == [(0.5, 0.5, 0.5)]
    # Standard error of a mean of 50 draws from (0, 1): 0.0707, which 1.96 times is 0.139.
    (found,) = intervals([[float(n % 2)] for n in range(50)], resamples=4000)
    assert found == (0.5, pytest.approx(0.5 - 0.139, abs=0.02), pytest.approx(0.5 + 0.139, abs=0.02))


def test_the_bootstrap_is_reproducible_and_columns_share_it():
    values = np.random.default_rng(5).random((9, 3))
    assert intervals(values) == intervals(values) != intervals(values, seed=2)
    assert intervals(values[:, ::-1]) == intervals(values)[::-1]
    (found,) = intervals([[1 / 3]] * 7)
    assert found == (0.333333333333,) * 3
    (single,) = intervals([[0.5]])
    assert single.value == 0.5 and math.isnan(single.low) and math.isnan(single.high)
    assert intervals(np.empty((0, 0))) == []


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        *(((0.30, 0.10, 0.50), "a"), ((-0.30, -0.50, -0.001), "b"), ((0.03, 0.01, 0.05), "equivalent")),
        *(((0.03, -0.01, 0.06), "open"), ((0.30, 0.00, 0.60), "open"), ((0.30, math.nan, math.nan), "open")),
    ],
)
def test_verdicts_look_at_the_interval_and_at_what_matters(interval, expected):
    of = Difference(EXACT, float, 0.05, "")
    assert verdict(Interval(*interval), of) == expected
    swapped = Interval(-interval[0], -interval[2], -interval[1])
    assert verdict(swapped, of) == {"a": "b", "b": "a"}.get(expected, expected)
    # Of errors the lower one is better.
    assert verdict(swapped, Difference(GAP, float, 0.05, "")) == expected
