"""Tests and effect sizes against values worked out by hand, by brute force, and against the formulas themselves."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.studies.paper.summaries import make_summary

from narxbench._studies.paper.frames import runs_frame
from narxbench._studies.paper.performance import comparisons
from narxbench._study.significance import a12, fisher_exact, holm, magnitude, mann_whitney

INF = math.inf
values = st.lists(st.sampled_from([-2.0, 0.0, 1.0, 1.5, 3.0, INF]), min_size=1, max_size=7)


def test_mann_whitney_by_hand():
    # Of C(4, 2) = 6 ways to deal the ranks, two are as extreme as {1, 2}; a run without a structure has the last one.
    for a, b in (([3.0, 4.0], [1.0, 2.0]), ([1.0, 2.0], [3.0, INF])):
        assert mann_whitney(a, b) == (pytest.approx(2 / 6, rel=1e-5), "exact")


@settings(max_examples=40)
@given(values, values)
def test_a12_counts_pairs(a, b):
    halves = 0
    for x, y in product(a, b):
        halves += (x < y) + (x <= y)
    assert a12(a, b) == Fraction(halves, 2 * len(a) * len(b))


def test_magnitude():
    names = {"0.5599": "negligible", "0.56": "small", "0.44": "small", "0.2901": "medium", "0.29": "large"}
    for effect, name in names.items():
        assert magnitude(Fraction(effect)) == name


def test_holm_by_hand():
    # In order .005 * 4, .01 * 3, .03 * 2, and .04 * 1 is raised to the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_fisher_by_hand():
    # Fisher's tea: of C(8, 4) = 70 outcomes, 1 + 16 + 16 + 1 are at most as likely as three right of four.
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70, rel=1e-5)
    # One run of 40 missing on one side only: both outcomes are equally likely.
    assert fisher_exact(40, 40, 39, 40) == 1


def test_comparisons_of_all_pairs():
    # All of a's runs but for one tie are better than b's: 8.5 of 9 pairs.
    a = make_summary(histories=[[(1, -10.0)], [(1, -19.5)], [(1, -20.0)]])
    b = make_summary(method="ga", histories=[[], [(1, 80.0)], [(1, -10.0)]])
    c = make_summary(method="wide", histories=[[], []])
    at_30_db = [make_summary(snr_db=30, method=name, histories=[[(1, 1.0)], [(1, 2.0)]]) for name in ("upso2d", "ga")]
    frame = comparisons(runs_frame([a, b, *at_30_db, c]))
    assert list(zip(frame["snr_db"], frame["a"], frame["b"], strict=True)) == [
        *((50, "upso2d", "ga"), (50, "upso2d", "wide"), (50, "ga", "wide"), (30, "upso2d", "ga"))
    ]
    first = frame.iloc[0]
    assert (first["n_a"], first["n_b"], first["median_a"], first["median_b"]) == (3, 3, -19.5, 80.0)
    assert (first["a12"], first["magnitude"], first["distribution"]) == (8.5 / 9, "large", "asymptotic")
    assert math.isnan(frame["median_b"][1])
    assert list(frame["p_holm"]) == pytest.approx(list(holm(frame["p_value"])), rel=1e-5)
    assert comparisons(runs_frame([a])).empty


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_rejects_like_the_step_down_procedure(p_values):
    level, rejected = 0.05, set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - step) > level:
            break
        rejected.add(index)
    assert {index for index, p in enumerate(holm(p_values)) if p <= level} == rejected
