"""Random problems: what was ever found, and whether the checks find it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.tiers import mostly_slow

from narxbench import search
from narxbench._algorithms import random_problems
from narxbench._algorithms.random_problems import (
    CRITERIA,
    SIGNALS,
    RandomProblem,
    drawn,
    problem_of,
    signals,
    violation,
)
from narxbench._algorithms.search import prepared
from narxbench._fitness.criteria import parse_criterion

BASE = RandomProblem(
    number=1,
    u="noise",
    y="response",
    samples=100,
    n_validation=30,
    n_u=2,
    n_y=2,
    degree=2,
    criterion="bic",
    estimation="before_validation",
    error="free_run",
    required_terms="nothing",
    rescaled=False,
    evaluations=100,
)
# What was found once stays a case.
KEPT = {
    "a penalty of 0": ("stepwise", BASE._replace(n_validation=1)),
    "a penalty of 0 by HQ": ("stepwise", BASE._replace(n_validation=2, criterion="hq")),
    "the smallest penalty": ("stepwise", BASE._replace(criterion="aic-1e-320")),
    "products that overflow": ("aols", BASE._replace(y="largest")),
    "a ridge that is lost": (
        "stlsq",
        BASE._replace(number=98, u="impulse", y="very far from zero", samples=43, n_validation=10, n_u=3, n_y=3),
    ),
    "infinity times zero": ("frols", BASE._replace(u="zero", y="largest", degree=3)),
    "weights that overflow": (
        "multistart_likelihood",
        BASE._replace(number=1002, u="smallest", y="smallest", samples=15, n_validation=10, n_u=1, n_y=4, degree=4),
    ),
    "J is infinite and e is not": (
        "aols",
        BASE._replace(number=3, u="alternating", y="very far from zero", samples=36, required_terms="output"),
    ),
    "innovations of zeros, and standard errors that overflow": (
        "pem",
        BASE._replace(
            **{
                "number": 152,
                "u": "smallest",
                "y": "outlier",
                "samples": 18,
                "n_validation": 10,
                "n_y": 3,
                "degree": 4,
            },
            **{"criterion": "ebic-0.5", "estimation": "all", "error": "one_step", "evaluations": 300},
        ),
    ),
    "growing data in a package": (
        "sysidentpy_aols",
        BASE._replace(
            **{"number": 144, "u": "outlier", "y": "growing", "samples": 67, "n_validation": 60, "n_y": 0},
            **{"criterion": "ebicl-1.25", "estimation": "all", "rescaled": True, "evaluations": 1},
        ),
    ),
    "a few growing samples in a package": (
        "sysidentpy_frols",
        BASE._replace(
            **{"number": 134, "u": "outlier", "y": "growing", "samples": 7, "n_validation": 1, "n_u": 4, "n_y": 1},
            **{"degree": 4, "criterion": "aic-4.5", "estimation": "all", "required_terms": "input"},
        ),
    ),
}


# A process of a package takes long to begin.
IN_THIS_PROCESS = [name for name in KEPT if "package" not in name]


@pytest.mark.parametrize("name", mostly_slow(KEPT, *IN_THIS_PROCESS))
def test_what_was_found(name):
    algorithm, case = KEPT[name]
    with prepared(algorithm, {}) as runner:
        assert violation(runner, case, time_limit=60.0) == ""


def test_every_case_is_a_problem():
    for name in (*SIGNALS, "copy", "response"):
        u, y = signals(BASE._replace(u=name if name in SIGNALS else "noise", y=name))
        assert len(u) == len(y) == BASE.samples and np.isfinite(u).all() and np.isfinite(y).all()
    for criterion in CRITERIA:
        parse_criterion(criterion)
    n_problems = 0
    for number in range(1, 31):
        case = drawn(number)
        assert drawn(number) == case
        n_problems += not violation_of_problem(case)
    assert n_problems > 20


def violation_of_problem(case):
    """Return whether the choices of a case exclude each other."""
    try:
        problem_of(case)
    except ValueError:
        return True
    return False


def test_the_checks_find_what_is_wrong(monkeypatch):
    result = search(problem_of(BASE), algorithm="stepwise", seed=1, evaluations=100)

    def runner(change):
        return SimpleNamespace(run=lambda *_, **__: SimpleNamespace(result=change()))

    def warn():
        np.log(np.zeros(1))
        return result

    assert violation(runner(lambda: result), BASE) == ""
    assert "divide by zero" in violation(runner(warn), BASE)
    assert "NaN" in violation(runner(lambda: replace(result, details={"a": float("nan")})), BASE)
    assert "weights" in violation(runner(lambda: replace(result, coefficients=[np.nan] * len(result.terms))), BASE)
    assert "no finite J" in violation(runner(lambda: replace(result, fitness=np.inf)), BASE)
    assert "again" in violation(runner(lambda: replace(result, fitness=0.0)), BASE)
    assert random_problems.MOST_TERMS < 1000
