"""Data and budgets at the edge of what a search is defined for: what each gives.

The table in docs/robustness.md says the same in words; its first column names these cases. That no algorithm fails on
them, ``test_conformance.py`` checks.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.tiers import mostly_slow

from narxbench import StructureProblem, search
from narxbench._algorithms.conformance import corner_cases
from narxbench._algorithms.registry import algorithm, packaged_names

EVALUATIONS = 900
ROBUSTNESS = Path(__file__).parents[3] / "docs/robustness.md"


def nothing(result):
    """Whether a result says that no structure could be judged."""
    return (result.terms, result.fitness, result.sse, result.history) == ([], math.inf, math.inf, [])


def no_error_and_no_weights(result):
    return result.sse == 0.0 and not any(result.coefficients)


def at_most_one_of(*terms):
    return lambda result: len({*terms} & {*result.terms}) <= 1


# What must hold of every result that is not nothing.
HOLDS = {
    "constant input": at_most_one_of("1", "u(k-1)", "u(k-2)", "u(k-1)^2"),
    "zero input": lambda result: "u" not in "".join(result.terms),
    "constant output": lambda result: result.sse < 1e-20,
    "zero output": no_error_and_no_weights,
    "all zero": lambda result: result.terms == ["1"],
    "collinear candidates": at_most_one_of("u(k-1)", "u(k-3)"),
    "input repeats output": at_most_one_of("u(k-1)", "y(k-1)"),
    "more candidates than rows": lambda result: len(result.terms) <= 12,
    "one row": lambda result: len(result.terms) == 1,
    "divergent structures": lambda result: result.terms == ["1"],
    "huge numbers": nothing,
    "tiny numbers": lambda result: result.sse == 0.0,
}
# On these a search may find nothing that can be judged; on all others one that adds, drops and swaps terms does.
MAYBE_NOTHING = {"all zero", "one row", "divergent structures", "huge numbers"}
HERE = [name for name in packaged_names() if algorithm(name).in_process]


def problem(u, y, **orders):
    with np.errstate(over="ignore"):
        return StructureProblem(
            u, y, rescaled=False, **{"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, **orders}
        )


def test_the_cases_are_those_of_the_documentation():
    assert set(HOLDS) == set(corner_cases())
    documented = set(re.findall(r"^\| ([^|]*?) +\|", ROBUSTNESS.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(HOLDS) <= documented


@pytest.mark.parametrize("name", HOLDS)
@pytest.mark.parametrize("searching", mostly_slow(HERE, "frols", "multistart", "pem", "stepwise", "upso2d"))
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_case(searching, name):
    u, y, orders = corner_cases()[name]
    result = search(problem(u, y, **orders), algorithm=searching, seed=1, evaluations=EVALUATIONS)
    assert nothing(result) or HOLDS[name](result), result
    if searching == "stepwise" and name not in MAYBE_NOTHING:
        assert not nothing(result)
    assert all(map(math.isfinite, result.coefficients))
    again = problem(u, y, **orders).evaluate(result.terms)
    assert (again.fitness, again.sse) == (result.fitness, result.sse)
