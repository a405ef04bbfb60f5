"""Tests against values worked out by hand, and against the procedure itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench._study.significance import fisher_exact, holm


def test_holm_by_hand():
    # In order .005 * 4, .01 * 3, .03 * 2, and .04 * 1 is raised to the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_fisher_by_hand():
    # Fisher's tea: of C(8, 4) = 70 outcomes, 1 + 16 + 16 + 1 are at most as likely as three right of four.
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70, rel=1e-5)
    # One run of 40 missing on one side only: both outcomes are equally likely.
    assert fisher_exact(40, 40, 39, 40) == 1


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_rejects_like_the_step_down_procedure(p_values):
    level, rejected = 0.05, set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - step) > level:
            break
        rejected.add(index)
    assert {index for index, p in enumerate(holm(p_values)) if p <= level} == rejected
