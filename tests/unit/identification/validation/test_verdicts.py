"""The rules of the summary: fine, to be examined, or bad."""

from itertools import product

import pandas as pd
import pytest
from tests.lookups import items_by_name

from narxbench import Model
from narxbench._identification.finding import Finding
from narxbench._identification.validation.error_table import COLUMNS
from narxbench._identification.validation.residuals import CorrelationTest
from narxbench._identification.validation.steady_state import FixedPoint, Rest
from narxbench._identification.validation.verdicts import summary

DRIVEN = Model(("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4), inputs=("u",), output="y")
SERIES = Model(("y(k-1)",), (0.5,), (), "y")


def table(role, *errors, rmse=None):
    """Return a frame of errors: the kind, the steps, the model and its RRSE; None is a run that diverges."""
    rows = []
    for sampling, record, (kind, steps, name, rrse) in product(("decimated", "incoming"), ("all", "a.csv"), errors):
        figures = (rrse, rrse, rrse, rrse, rrse if rmse is None else rmse, rrse)
        rows.append((role, record, name, sampling, kind, steps, *figures, 9, rrse is None))
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def rrse(one_step=0.1, arx=0.5, last=0.5, rmse=(), **free):
    """Return a frame of RRSE of free runs by role, one step ahead, and of simpler models."""
    tables = []
    for role, value in free.items():
        of_free_run = (("free_run", None, "model", value), ("free_run", None, "linear ARX", arx))
        of_one_step = (("one_step", 1, "model", one_step), ("one_step", 1, "last value", last))
        tables.append(table(role, *of_free_run, *of_one_step, rmse=dict(rmse).get(role)))
    return pd.concat(tables, ignore_index=True)


def ahead(value, free_run):
    """Return a frame of RRSE one step and 24 steps ahead, and in free run."""
    one_step = (("one_step", 1, "model", 0.1), ("one_step", 1, "last value", 0.3))
    farther = (("k_step", 24, "model", value), ("k_step", 24, "last value", 0.3))
    return table("test", *one_step, *farther, ("free_run", None, "model", free_run))


TESTED = rrse(test=0.1)


def findings_of(errors=TESTED, tests=(), curve=(), model=DRIVEN, **more):
    return items_by_name(summary(model, errors, tests, curve, **more))


def other_unit(used=True, unit="powers of ten"):
    """Return a check that finds an output in another unit in the test."""
    return {"checks": [Finding("test-range", "bad", {"out": {"used": used, "unit": unit}})]}


def correlated(kind, largest, limit):
    return {"tests": [CorrelationTest("a", "A", kind, (1, 2), (0.01, largest), 0.02, limit)]}


def point(u, y=1.0, size=0.5, inside=True):
    is_stable = size is not None and size < 1
    return FixedPoint("u", u, y, is_stable, size, 4.0 if is_stable else None, inside)


UNSTABLE, BEYOND, NOWHERE = point(1.0, size=1.5), point(1.0, inside=False), point(1.0, None, None, False)


def rests_of(*curve):
    return {"curve": [point(0.0), *curve]}


def rests_off(deviation):
    return {"rests": [Rest("a", (1.0,), 2.0, 50, 2.0, 0.0), Rest("a", (2.0,), 4.0, 50, 4.5, deviation)]}


COMPETITION = {"selected": "linear OE", "sparse": "y(k) = u(k-1)"}
COMPETITION["rows"] = [{"name": "sparse", "terms": 2, "rrse": 0.1}, {"name": "linear OE", "terms": 2, "rrse": 0.1}]
NOISY, USELESS = {"estimation": 0.7, "test": 0.7}, {"estimation": 0.97, "test": 0.97}


@pytest.mark.parametrize(
    ("name", "errors", "options", "status"),
    [
        ("errors", rrse(test=0.25), {}, "fine"),
        ("errors", rrse(test=0.26), {}, "look"),
        ("errors", rrse(test=0.61), {}, "bad"),
        ("errors", rrse(test=None), {}, "bad"),
        # Data of the selection are no proof.
        ("errors", rrse(estimation=0.2, selection=0.2), {}, "look"),
        # New data may have twice the error, or one that is larger by very little.
        ("errors", rrse(selection=0.1, test=0.2), {}, "fine"),
        ("errors", rrse(selection=0.1, test=0.21), {}, "look"),
        ("errors", rrse(selection=0.001, test=0.02), {}, "fine"),
        # The output spreads less in the test, or more.
        ("errors", rrse(selection=0.05, test=0.25, rmse={"selection": 0.16, "test": 0.2}), {}, "fine"),
        ("errors", rrse(selection=0.08, test=0.08, rmse={"selection": 0.16, "test": 0.9}), {}, "fine"),
        # The free run does not count where a horizon is set, and of a series it is no reason to call it bad.
        ("errors", ahead(0.2, None), {"model": SERIES}, "look"),
        ("errors", ahead(0.2, 0.7), {"model": SERIES}, "look"),
        ("errors", ahead(0.2, 0.7), {"model": SERIES, "horizon": 24}, "fine"),
        ("errors", ahead(0.9, 0.1), {"horizon": 24}, "bad"),
        # Noise that no model can predict is not a fault, unless a simpler model predicts it, or nothing is explained.
        ("errors", rrse(arx=0.75, **NOISY), {"avoidable": 0.02}, "look"),
        ("errors", rrse(arx=0.75, **NOISY), {"avoidable": 0.8}, "bad"),
        ("errors", rrse(arx=0.4, **NOISY), {"avoidable": 0.0}, "bad"),
        ("errors", rrse(**USELESS), {"avoidable": 0.0}, "bad"),
        # A test in another unit says little of a model that is good on other data.
        ("errors", rrse(selection=0.2, test=900.0), other_unit(), "look"),
        ("errors", rrse(selection=0.2, test=None), other_unit(), "look"),
        ("errors", rrse(selection=0.9, test=900.0), other_unit(), "bad"),
        ("errors", rrse(selection=0.2, test=900.0), other_unit(unit=None), "bad"),
        ("errors", rrse(selection=0.2, test=900.0), other_unit(used=False), "bad"),
        ("errors", rrse(selection=0.2, test=0.1), other_unit(), "fine"),
        ("competitors", rrse(test=0.2, arx=None), {}, "fine"),
        ("competitors", rrse(test=0.2, arx=0.19), {}, "look"),
        ("competitors", rrse(test=0.2, arx=0.1), {}, "bad"),
        ("competitors", rrse(test=None, arx=0.1), {}, "bad"),
        ("competitors", rrse(test=0.002, arx=0.001), {}, "look"),
        ("competitors", rrse(test=0.2, one_step=0.2, last=0.1), {}, "bad"),
        ("competitors", TESTED, {"competition": COMPETITION}, "look"),
        # A series is compared with the value of the last season.
        ("competitors", ahead(0.2, 0.5), {"model": SERIES}, "fine"),
        ("competitors", ahead(0.2, 0.5), {"model": SERIES, "season": (168, 0.21, 0.1)}, "bad"),
        ("competitors", ahead(0.2, 0.5), {"model": SERIES, "season": (24, None, 0.1)}, "bad"),
        # Many samples show a correlation that is small, and one does little harm to a good free run.
        ("residuals", rrse(test=0.4), correlated("linear", 0.05, 0.06), "fine"),
        ("residuals", rrse(test=0.4), correlated("linear", 0.09, 0.04), "fine"),
        ("residuals", rrse(test=0.4), correlated("nonlinear", -0.2, 0.04), "look"),
        ("residuals", rrse(test=0.4), correlated("nonlinear", 0.31, 0.04), "bad"),
        ("residuals", rrse(test=0.1), correlated("linear", 0.31, 0.04), "look"),
        ("steady_states", TESTED, rests_of(point(1.0), UNSTABLE), "fine"),
        ("steady_states", TESTED, rests_of(UNSTABLE), "look"),
        ("steady_states", TESTED, rests_of(BEYOND), "look"),
        ("steady_states", TESTED, rests_of(NOWHERE), "look"),
        ("steady_states", TESTED, rests_of(UNSTABLE, point(2.0, size=1.5)), "bad"),
        ("steady_states", TESTED, rests_of(point(0.0, 2.0)), "look"),
        ("steady_states", TESTED, rests_off(0.1), "fine"),
        ("steady_states", TESTED, rests_off(0.11), "look"),
        ("steady_states", TESTED, rests_off(None), "look"),
        ("steady_states", TESTED, {"is_bounded": False}, "look"),
    ],
)
def test_rules(name, errors, options, status):
    assert findings_of(errors, **options)[name].status == status


@pytest.mark.parametrize(
    ("name", "errors", "options", "values"),
    [
        ("errors", rrse(estimation=0.2, test=None), {}, {"role": "test", "diverged": ["a.csv"]}),
        ("errors", rrse(selection=0.2, test=900.0), other_unit(), {"other_unit": "out", "rrse": 900.0}),
        # The output of the test moves by a thousandth of what it does in the other data.
        (
            "errors",
            rrse(estimation=0.2, test=1.5, rmse={"test": 0.0015}),
            {},
            {"rests": True, "gap": None, "relative": pytest.approx(0.0015), "error_status": "look"},
        ),
        (
            "errors",
            rrse(estimation=1e-16, test=1e-16, one_step=1e-16),
            {"weights": [{"term": "u(k-3)", "err": 1.0}, {"term": "y(k-1)", "err": 1e-33}]},
            {"exact": True, "superfluous": ["y(k-1)"]},
        ),
        ("steady_states", TESTED, rests_of(BEYOND, UNSTABLE), {"cases": 2, "at_rest": 1, "beyond": 1, "several": 0}),
    ],
)
def test_values(name, errors, options, values):
    assert values.items() <= findings_of(errors, **options)[name].values.items()


def test_a_check_is_only_in_the_summary_where_it_says_something():
    findings = findings_of(checks=[Finding("drift", "fine"), Finding("outliers", "look")])
    assert list(findings) == ["errors", "competitors", "outliers"]
