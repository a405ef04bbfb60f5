import math

import pytest

from narxbench import NarxbenchError
from narxbench.fitness.criteria import parse_criterion, penalty_per_term


@pytest.mark.parametrize(("criterion", "rho"), [("aic-6.5", 6.5), ("aic-2", 2.0), ("aic-1e3", 1000.0), ("aic-.5", 0.5)])
def test_any_positive_penalty(criterion, rho):
    assert parse_criterion(criterion) == penalty_per_term(criterion, 600) == rho


def test_penalty_of_bic_is_the_logarithm_of_the_samples():
    assert parse_criterion("bic") is None
    assert penalty_per_term("bic", 600) == pytest.approx(math.log(600), rel=1e-15)


@pytest.mark.parametrize("text", ["BIC", "aic", "aic-", "aic-0", "aic-nan", "aic--2", "aic-1e999", "aic-２", 2])
def test_no_criterion(text):
    with pytest.raises(NarxbenchError, match=r"^criterion: found .*; allowed: 'bic', or 'aic-'"):
        parse_criterion(text)
