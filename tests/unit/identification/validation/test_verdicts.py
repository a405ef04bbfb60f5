"""The rules of the summary: fine, to be examined, or bad."""

from itertools import product

import pandas as pd
import pytest
from tests.lookups import items_by_name, values_of

from narxbench import Model
from narxbench._identification.finding import Finding, worst
from narxbench._identification.validation.error_table import COLUMNS
from narxbench._identification.validation.residuals import CorrelationTest
from narxbench._identification.validation.steady_state import FixedPoint, Rest
from narxbench._identification.validation.verdicts import summary

DRIVEN = Model(("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4), inputs=("u",), output="y")
SERIES = Model(("y(k-1)",), (0.5,), (), "y")


def frame(*errors, role="test"):
    """Return a frame of errors: the kind, the steps, the model and its RRSE; None is a run that diverges."""
    rows = []
    for sampling, record, (kind, steps, name, rrse) in product(("decimated", "incoming"), ("all", "a.csv"), errors):
        rows.append((role, record, name, sampling, kind, steps, *[rrse] * 6, 9, rrse is None))
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def frame_of(free, one_step=0.1, arx=0.5, last=0.5):
    """Return a frame of the model's RRSE by role, in free run and one step ahead, and of simpler models."""
    frames = []
    for role, rrse in free.items():
        of_free_run = (("free_run", None, "model", rrse), ("free_run", None, "linear ARX", arx))
        of_one_step = (("one_step", 1, "model", one_step), ("one_step", 1, "last value", last))
        frames.append(frame(*of_free_run, *of_one_step, role=role))
    return pd.concat(frames, ignore_index=True)


TESTED = frame_of({"test": 0.1})


def findings_of(errors=TESTED, tests=(), curve=(), model=DRIVEN, **more):
    return items_by_name(summary(model, errors, tests, curve, **more))


@pytest.mark.parametrize(
    ("rrse", "status"), [(0.05, "fine"), (0.25, "fine"), (0.26, "look"), (0.6, "look"), (0.61, "bad"), (None, "bad")]
)
def test_errors(rrse, status):
    errors = findings_of(frame_of({"estimation": 0.2, "test": rrse}))["errors"]
    assert (errors.status, errors.values["rrse"]) == (status, rrse)
    assert errors.values["diverged"] == ["a.csv"] * (not rrse)
    # Data of the selection prove nothing.
    errors = findings_of(frame_of({"estimation": 0.2, "selection": rrse}))["errors"]
    assert (errors.status, errors.values["role"]) == ("look" if status == "fine" else status, "selection")


@pytest.mark.parametrize(
    ("rrse", "baseline", "status"),
    [
        *((0.2, 0.5, "fine"), (0.2, None, "fine"), (0.2, 0.21, "look"), (0.2, 0.19, "look"), (0.2, 0.1, "bad")),
        # One diverges; errors that nobody would notice.
        *((None, 0.1, "bad"), (0.002, 0.001, "look")),
    ],
)
def test_competitors(rrse, baseline, status):
    against_arx = findings_of(frame_of({"test": rrse}, arx=baseline))["competitors"]
    against_last = findings_of(frame_of({"test": 0.2}, one_step=rrse, last=baseline))["competitors"]
    assert against_arx.values["linear_arx"]["status"] == against_last.values["last_value"]["status"] == status
    assert against_arx.status == against_last.status == status


def test_a_simple_model_that_is_taken_is_to_be_looked_at():
    competition = {"selected": "linear OE", "sparse": "y(k) = u(k-1)"}
    competition["rows"] = [{"name": name, "terms": 2, "rrse": 0.1} for name in ("sparse", "linear OE")]
    assert findings_of(competition=competition)["competitors"].status == "look"


@pytest.mark.parametrize(
    ("earlier", "new", "status"),
    [(0.2, 0.3, "fine"), (0.2, 0.31, "look"), (0.001, 0.02, "fine"), (0.2, 0.1, "fine")],
)
def test_a_gap_between_new_and_known_data(earlier, new, status):
    errors = findings_of(frame_of({"estimation": 0.0, "selection": earlier, "test": new}))["errors"]
    assert errors.values["gap"]["status"] == status
    # It is no reason to call an error bad that is not.
    assert errors.status == worst(errors.values["error_status"], "fine" if status == "fine" else "look")
    without_test = findings_of(frame_of({"estimation": earlier, "selection": new}))["errors"]
    assert without_test.values["gap"] is None


def test_the_same_error_of_an_output_that_spreads_less_is_no_gap():
    errors = frame_of({"selection": 0.08, "test": 0.45})
    errors.loc[errors["role"] == "selection", "rmse"] = 0.16
    errors.loc[errors["role"] == "test", "rmse"] = 0.2
    gap = findings_of(errors)["errors"].values["gap"]
    assert (gap["status"], gap["test_rmse"], gap["seen_rmse"]) == ("fine", 0.2, 0.16)
    # Where it spreads more, a larger error in its unit is none either.
    errors.loc[errors["role"] == "test", ["rrse", "rmse"]] = [0.08, 0.9]
    assert findings_of(errors)["errors"].values["gap"]["status"] == "fine"


@pytest.mark.parametrize(
    ("largest", "limit", "free_run", "status"),
    [
        *((0.05, 0.06, 0.4, "fine"), (-0.2, 0.04, 0.4, "look"), (0.31, 0.04, 0.4, "bad")),
        # Many samples show it, though it is small; next to a free run that is good it deserves a look.
        *((0.09, 0.04, 0.4, "fine"), (0.31, 0.04, 0.1, "look")),
    ],
)
@pytest.mark.parametrize("kind", ["linear", "nonlinear"])
def test_residuals(largest, limit, free_run, status, kind):
    tests = [
        CorrelationTest("a", "A", kind, (1, 2), (0.01, 0.03), 0.02, limit),
        CorrelationTest("a", "A", kind, (1, 2), (0.01, largest), 0.02, limit),
    ]
    residuals = findings_of(frame_of({"test": free_run}), tests)["residuals"]
    values = residuals.values[kind]
    assert (residuals.status, values["status"], values["largest"], values["tests"]) == (status, status, largest, 2)
    assert values_of(values["failed"], "worst") == [largest] * (abs(largest) > limit)
    assert "residuals" not in findings_of()


def test_a_series_is_judged_and_compared_as_far_ahead_as_it_is_predicted():
    for season, expected in (
        (None, ("fine", 0.2, 0.3, 24)),
        ((168, 0.21, 0.1), ("bad", 0.21, 0.1, 24)),
        ((24, None, 0.1), ("bad", None, 0.1, 24)),
    ):
        findings = findings_of(ahead(0.2), model=SERIES, season=season)
        last = findings["competitors"].values["last_value"]
        assert (last["status"], last["rrse"], last["baseline"], last["steps"]) == expected
        assert findings["errors"].status == "fine"


def ahead(rrse, free_run=0.5):
    """Return errors one step and 24 steps ahead, and in free run."""
    one_step = (("one_step", 1, "model", 0.1), ("one_step", 1, "last value", 0.3))
    farther = (("k_step", 24, "model", rrse), ("k_step", 24, "last value", 0.3))
    return frame(*one_step, *farther, ("free_run", None, "model", free_run))


def test_the_free_run_does_not_count_where_a_horizon_is_set():
    """Not that it diverges, nor that a series loses its way."""
    assert findings_of(ahead(0.2, None), model=SERIES)["errors"].status == "look"
    assert findings_of(ahead(0.2, 0.7), model=SERIES)["errors"].status == "look"
    for model in (SERIES, DRIVEN):
        errors = findings_of(ahead(0.2, 0.7), model=model, horizon=24)["errors"]
        assert (errors.status, errors.values["steps"]) == ("fine", 24)
    assert findings_of(ahead(0.9), horizon=24)["errors"].status == "bad"


def test_an_exact_model_is_called_exact_with_the_terms_that_are_rounding():
    weights = [{"term": "u(k-3)", "err": 1.0}, {"term": "y(k-1)", "err": 1e-33}]
    exact = frame_of({"estimation": 1e-16, "test": 1e-16}, one_step=1e-16)
    values = findings_of(exact, weights=weights)["errors"].values
    assert (values["exact"], values["superfluous"]) == (True, ["y(k-1)"])
    values = findings_of(frame_of({"estimation": 0.1, "test": 0.1}), weights=weights)["errors"].values
    assert (values["exact"], values["superfluous"]) == (False, [])


def point(u, y=1.0, size=0.5, inside=True):
    is_stable = size is not None and size < 1
    return FixedPoint("u", u, y, is_stable, size, 4.0 if is_stable else None, inside)


UNSTABLE, BEYOND, NOWHERE = point(1.0, size=1.5), point(1.0, inside=False), point(1.0, None, None, False)


@pytest.mark.parametrize(
    ("curve", "status", "values"),
    [
        ([point(1.0), UNSTABLE], "fine", {"cases": 2, "at_rest": 2}),
        ([UNSTABLE], "look", {"at_rest": 1}),
        ([BEYOND], "look", {"at_rest": 1, "beyond": 1}),
        ([NOWHERE], "look", {"at_rest": 1}),
        ([BEYOND, point(2.0, inside=False)], "look", {"at_rest": 1, "beyond": 2}),
        ([UNSTABLE, point(2.0, size=1.5)], "bad", {"at_rest": 1, "beyond": 0}),
        ([point(0.0, 2.0)], "look", {"several": 1}),
    ],
)
def test_steady_states(curve, status, values):
    steady_states = findings_of(curve=[point(0.0), *curve])["steady_states"]
    assert steady_states.status == status and values.items() <= steady_states.values.items()


@pytest.mark.parametrize(("deviation", "status"), [(0.1, "fine"), (0.11, "look"), (None, "look")])
def test_rests_of_the_data(deviation, status):
    rests = [Rest("a", (1.0,), 2.0, 50, 2.0, 0.0), Rest("a", (2.0,), 4.0, 50, 4.5, deviation)]
    steady_states = findings_of(rests=rests)["steady_states"]
    values = steady_states.values
    assert (steady_states.status, values["rests"], values["largest"]) == (status, 2, deviation or 0.0)


def test_what_else_is_told():
    assert findings_of(is_bounded=False)["steady_states"].status == "look"
    assert "steady_states" not in findings_of()
    # Checks of the data that are not fine are repeated.
    checks = [Finding("drift", "fine"), Finding("outliers", "look")]
    findings = findings_of(checks=checks)
    assert list(findings)[-1] == "outliers" and "drift" not in findings


def test_a_test_that_rests_is_judged_by_the_deviation_that_is_known():
    errors = frame_of({"estimation": 0.2, "test": 1.5})
    # The output of the test moves by a thousandth of what is known.
    errors.loc[errors["role"] == "test", "rmse"] = 0.0015
    errors.loc[errors["role"] == "estimation", "rmse"] = 0.2
    finding = findings_of(errors)["errors"]
    assert (finding.status, finding.values["rests"], finding.values["gap"]) == ("look", True, None)
    assert finding.values["relative"] == pytest.approx(0.0015)


@pytest.mark.parametrize(("avoidable", "status"), [(0.0, "look"), (0.02, "look"), (0.8, "bad"), (None, "bad")])
def test_noise_that_no_model_foresees_is_no_fault_of_the_model(avoidable, status):
    rrse = {"estimation": 0.7, "test": 0.7}
    assert findings_of(frame_of(rrse, arx=0.75), avoidable=avoidable)["errors"].status == status
    # What a simpler model foresees is no noise.
    assert findings_of(frame_of(rrse, arx=0.4), avoidable=avoidable)["errors"].status == "bad"
    # Where nothing is explained, a model is of no use.
    useless = frame_of({"estimation": 0.97, "test": 0.97})
    assert findings_of(useless, avoidable=avoidable)["errors"].status == "bad"


UNIT = {"scale": 1000.0, "shift": 0.0, "units": "powers of ten"}


@pytest.mark.parametrize(
    ("known", "test", "unit", "used", "status"),
    [
        *((0.2, 900.0, UNIT, True, "look"), (0.2, None, UNIT, True, "look"), (0.9, 900.0, UNIT, True, "bad")),
        *((0.2, 900.0, None, True, "bad"), (0.2, 900.0, UNIT, False, "bad")),
        # Where the model is right there, the unit is.
        (0.2, 0.1, UNIT, True, "fine"),
    ],
)
def test_a_test_in_another_unit_is_quoted_and_bad_only_for_a_bad_model(known, test, unit, used, status):
    about = {"term": "y", "share": 1.0, "known": [0.0, 1.0], "beyond": 9.0, "used": used, "unit": unit}
    check = Finding("test-range", "bad", {"out": about})
    errors = frame_of({"estimation": 0.1, "selection": known, "test": test})
    finding = findings_of(errors, checks=[check])["errors"]
    assert (finding.status, finding.values["role"], finding.values["rrse"]) == (status, "test", test)
    assert finding.values["other_unit"] == ("out" if unit and used and test != 0.1 else "")
