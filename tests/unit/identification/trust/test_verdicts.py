"""The rules of the summary: fine, to be looked at, or bad."""

from itertools import product

import pandas as pd
import pytest
from tests.lookups import items_by_name
from tests.unit.identification.trust.known_model import model

from narxbench._identification.finding import Finding, worst
from narxbench._identification.trust.residuals import CorrelationTest
from narxbench._identification.trust.steady_state import FixedPoint, Rest
from narxbench._identification.trust.validation import (
    ALL,
    ARX,
    COLUMNS,
    DECIMATED,
    INCOMING,
    LAST_VALUE,
    MODEL,
    SeasonErrors,
)
from narxbench._identification.trust.verdicts import summary
from narxbench._model.narx import Model


def frame_of(free, one_step=0.1, arx=0.5, last=0.5):
    """Return a frame of the model's RRSE by role, in free run and one step ahead; None is a run that diverges."""
    rows = []
    for role, rrse in free.items():
        errors = (
            *(("free_run", None, MODEL, rrse), ("free_run", None, ARX, arx)),
            *(("one_step", 1, MODEL, one_step), ("one_step", 1, LAST_VALUE, last)),
        )
        for sampling, place, (kind, steps, name, value) in product((DECIMATED, INCOMING), (ALL, "a.csv"), errors):
            rows.append((role, place, name, sampling, kind, steps, *[value] * 6, 9, value is None))
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def lights(frame, tests=(), curve=(), rests=(), checks=()):
    return items_by_name(summary(model(), frame, tests, curve, rests, checks))


@pytest.mark.parametrize(
    ("rrse", "status"), [(0.05, "fine"), (0.25, "fine"), (0.26, "look"), (0.6, "look"), (0.61, "bad"), (None, "bad")]
)
def test_light_of_the_prediction(rrse, status):
    light = lights(frame_of({"estimation": 0.2, "test": rrse}))["errors"]
    assert light.status == status
    assert (light.values["rrse"], light.values["diverged"]) == (rrse, [] if rrse else ["a.csv"])
    # Data of the selection prove nothing.
    light = lights(frame_of({"estimation": 0.2, "selection": rrse}))["errors"]
    assert (light.status, light.values["role"]) == ("look" if status == "fine" else status, "selection")


@pytest.mark.parametrize(
    ("rrse", "baseline", "status"),
    [
        *((0.2, 0.5, "fine"), (0.2, None, "fine"), (0.2, 0.21, "look"), (0.2, 0.19, "look"), (0.2, 0.1, "bad")),
        # One diverges; errors that nobody would notice.
        *((None, 0.1, "bad"), (0.002, 0.001, "look")),
    ],
)
def test_lights_of_the_baselines(rrse, baseline, status):
    against_arx = lights(frame_of({"test": rrse}, arx=baseline))["competitors"]
    against_last = lights(frame_of({"test": 0.2}, one_step=rrse, last=baseline))["competitors"]
    assert against_arx.values["linear_arx"]["status"] == against_last.values["last_value"]["status"] == status
    assert against_arx.status == against_last.status == status


def test_a_simple_model_that_is_taken_is_to_be_looked_at():
    competition = {"leaving": "linear OE", "sparse": "y(k) = u(k-1)"}
    competition["rows"] = [{"name": name, "terms": 2, "rrse": 0.1} for name in ("sparse", "linear OE")]
    findings = summary(model(), frame_of({"test": 0.1}), [], [], competition=competition)
    assert items_by_name(findings)["competitors"].status == "look"


@pytest.mark.parametrize(
    ("earlier_rrse", "new_rrse", "status"),
    [(0.2, 0.3, "fine"), (0.2, 0.31, "look"), (0.2, 0.61, "bad"), (0.001, 0.04, "fine"), (0.2, 0.1, "fine")],
)
def test_light_of_the_gap(earlier_rrse, new_rrse, status):
    frame = frame_of({"estimation": 0.0, "selection": earlier_rrse, "test": new_rrse})
    errors = lights(frame)["errors"]
    assert errors.values["gap"]["status"] == status
    # It is no reason to call an error bad that is not.
    assert errors.status == worst(errors.values["error_status"], "fine" if status == "fine" else "look")
    assert lights(frame_of({"estimation": earlier_rrse, "test": new_rrse}))["errors"].values["gap"]["status"] == status
    assert lights(frame_of({"estimation": earlier_rrse, "selection": new_rrse}))["errors"].values["gap"] is None


@pytest.mark.parametrize(
    ("largest", "passed", "free_run", "status"),
    [
        *((0.05, True, 0.4, "fine"), (-0.2, False, 0.4, "look"), (0.31, False, 0.4, "bad")),
        # Many samples show it, though it is small; next to a free run that is good it is to be looked at.
        *((0.09, False, 0.4, "fine"), (0.31, False, 0.1, "look")),
    ],
)
@pytest.mark.parametrize("kind", ["linear", "nonlinear"])
def test_lights_of_the_residuals(largest, passed, free_run, status, kind):
    tests = [
        CorrelationTest("a", "A", kind, (1, 2), (0.01, 0.03), 0.02, 0.04, True, 2, 0.03),
        CorrelationTest("a", "A", kind, (1, 2), (0.01, largest), 0.02, 0.04, passed, 2, largest),
    ]
    light = lights(frame_of({"test": free_run}), tests)["residuals"]
    values = light.values[kind]
    assert (light.status, values["status"], values["largest"], values["tests"]) == (status, status, largest, 2)
    assert [failure["worst"] for failure in values["failed"]] == ([] if passed else [largest])


def test_a_bias_of_free_runs_is_to_be_looked_at():
    for seen, status in ((False, "fine"), (True, "look")):
        of_part = {"error": 0.1, "seen": seen}
        bias = {"rising": of_part, "falling": of_part, "drift": of_part, "rms": 0.3, "deviation": 1.0}
        residuals = items_by_name(summary(model(), frame_of({"test": 0.1}), [], [], bias=bias))["residuals"]
        assert (residuals.status, residuals.values["linear"]) == (status, None)
    assert "residuals" not in lights(frame_of({"test": 0.1}))


def test_the_same_error_of_an_output_that_spreads_less_is_no_gap():
    frame = frame_of({"estimation": 0.08, "selection": 0.08, "test": 0.45})
    assert lights(frame)["errors"].values["gap"]["status"] == "bad"
    frame.loc[frame["role"] == "selection", "rmse"] = 0.16
    frame.loc[frame["role"] == "test", "rmse"] = 0.2
    gap = lights(frame)["errors"].values["gap"]
    assert (gap["status"], gap["test_rmse"], gap["seen_rmse"]) == ("fine", 0.2, 0.16)
    # Where it spreads more, a larger error in its unit is none either.
    frame.loc[frame["role"] == "test", ["rrse", "rmse"]] = [0.08, 0.9]
    assert lights(frame)["errors"].values["gap"]["status"] == "fine"


def series_frame(rrse, last):
    rows = []
    for kind, steps, name, value in (
        *(("one_step", 1, MODEL, 0.1), ("one_step", 1, LAST_VALUE, 0.3)),
        *(("k_step", 24, MODEL, rrse), ("k_step", 24, LAST_VALUE, last), ("free_run", None, MODEL, 0.5)),
    ):
        for sampling in (DECIMATED, INCOMING):
            rows.append(("test", ALL, name, sampling, kind, steps, *[value] * 6, 9, False))
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def test_a_series_is_compared_with_the_last_value_as_far_ahead_as_it_is_judged():
    series = Model(("y(k-1)",), (0.5,), (), "y")
    for season, expected in (
        (None, ("fine", 0.2, 0.3, 24)),
        (SeasonErrors(168, 0.21, 0.1), ("bad", 0.21, 0.1, 24)),
        (SeasonErrors(24, None, 0.1), ("bad", None, 0.1, 24)),
    ):
        findings = items_by_name(summary(series, series_frame(0.2, 0.3), [], [], season=season))
        values = findings["competitors"].values["last_value"]
        assert (values["status"], values["rrse"], values["baseline"], values["steps"]) == expected
        assert values["season"] == (season.season if season else None)


def test_the_free_run_does_not_count_where_a_horizon_is_set():
    """Not that it diverges, nor that a series loses its way."""
    frame = series_frame(0.2, 0.3)
    lost = frame["kind"] == "free_run"
    frame.loc[lost, ["rrse", "diverged"]] = [None, True]
    frame.loc[lost, "record"] = "a.csv"
    series = Model(("y(k-1)",), (0.5,), (), "y")
    frame = pd.concat([frame, series_frame(0.2, 0.3)[lost]])
    assert items_by_name(summary(series, frame, [], []))["errors"].status == "look"
    for judged in (series, model()):
        findings = items_by_name(summary(judged, series_frame(0.2, 0.3), [], [], horizon=24))
        assert (findings["errors"].status, findings["errors"].values["steps"]) == ("fine", 24)
    assert items_by_name(summary(model(), series_frame(0.9, 0.3), [], [], horizon=24))["errors"].status == "bad"


def test_an_exact_model_is_called_exact_with_the_terms_that_are_rounding():
    weights = [{"term": "u(k-3)", "err": 1.0}, {"term": "y(k-1)", "err": 1e-33}]
    frame = frame_of({"estimation": 1e-16, "test": 1e-16}, one_step=1e-16)
    values = items_by_name(summary(model(), frame, [], [], weights=weights))["errors"].values
    assert (values["exact"], values["superfluous"]) == (True, ["y(k-1)"])
    values = lights(frame_of({"estimation": 0.1, "test": 0.1}))["errors"].values
    assert (values["exact"], values["superfluous"]) == (False, [])


def test_light_of_the_steady_states():
    def point(u, y=1.0, size=0.5, inside=True):
        is_stable = size is not None and size < 1
        return FixedPoint("u", u, y, is_stable, size, 4.0 if is_stable else None, inside)

    fine = lights(frame_of({"test": 0.1}), curve=[point(0.0), point(1.0), point(1.0, size=1.5)])["steady_states"]
    assert (fine.status, fine.values["at_rest"], fine.values["cases"]) == ("fine", 2, 2)
    for wrong in (point(1.0, size=1.5), point(1.0, inside=False), point(1.0, None, None, False)):
        light = lights(frame_of({"test": 0.1}), curve=[point(0.0), wrong])["steady_states"]
        assert (light.status, light.values["at_rest"]) == ("look", 1)
    for unlike, status in ({"inside": False}, "look"), ({"size": 1.5}, "bad"):
        light = lights(frame_of({"test": 0.1}), curve=[point(0.0), *(point(u, **unlike) for u in (1.0, 2.0))])
        beyond = 2 * (status == "look")
        assert (light["steady_states"].status, light["steady_states"].values["beyond"]) == (status, beyond)
    light = lights(frame_of({"test": 0.1}), curve=[point(0.0), point(0.0, 2.0)])["steady_states"]
    assert (light.status, light.values["several"]) == ("look", 1)
    assert "steady_states" not in lights(frame_of({"test": 0.1}))


@pytest.mark.parametrize(("deviation", "status"), [(0.1, "fine"), (0.11, "look"), (None, "look")])
def test_light_of_the_rests(deviation, status):
    rests = [Rest("a", (1.0,), 2.0, 50, 2.0, 0.0), Rest("a", (2.0,), 4.0, 50, 4.5, deviation)]
    values = lights(frame_of({"test": 0.1}), rests=rests)["steady_states"]
    assert (values.status, values.values["rests"], values.values["largest"]) == (status, 2, deviation or 0.0)


def test_a_model_that_leaves_all_bounds_at_held_inputs_is_to_be_looked_at():
    findings = items_by_name(summary(model(), frame_of({"test": 0.1}), [], [], is_bounded=False))
    assert findings["steady_states"].status == "look"


def test_checks_of_the_data_that_are_not_fine_are_repeated():
    checks = [Finding("drift", "fine"), Finding("outliers", "look")]
    assert list(lights(frame_of({"test": 0.1}), checks=checks))[-1] == "outliers"


def test_a_test_that_rests_is_judged_by_the_deviation_that_is_known():
    frame = frame_of({"estimation": 0.2, "test": 1.5})
    # The output of the test moves by a thousandth of what is known.
    frame.loc[frame["role"] == "test", "rmse"] = 0.0015
    frame.loc[frame["role"] == "estimation", "rmse"] = 0.2
    prediction = lights(frame)["errors"]
    assert (prediction.status, prediction.values["rests"]) == ("look", True)
    assert prediction.values["relative"] == pytest.approx(0.0015)
    assert prediction.values["gap"] is None


@pytest.mark.parametrize(("avoidable", "status"), [(0.0, "look"), (0.02, "look"), (0.8, "bad"), (None, "bad")])
def test_noise_that_no_model_foresees_is_no_fault_of_the_model(avoidable, status):
    frame = frame_of({"estimation": 0.7, "test": 0.7}, arx=0.75)
    findings = summary(model(), frame, [], [], avoidable=avoidable)
    assert findings[0].status == status
    # What a simpler model foresees is no noise.
    frame = frame_of({"estimation": 0.7, "test": 0.7}, arx=0.5)
    assert summary(model(), frame, [], [], avoidable=avoidable)[0].status == "bad"
    # Where nothing is explained, a model is of no use.
    useless = summary(model(), frame_of({"estimation": 0.97, "test": 0.97}), [], [], avoidable=avoidable)
    assert useless[0].status == "bad"


def range_check(unit, used=True):
    about = {"term": "y", "share": 1.0, "known": [0.0, 1.0], "beyond": 9.0, "used": used, "unit": unit}
    return Finding("test-range", "bad", {"out": about})


def test_a_test_in_another_unit_is_quoted_and_bad_only_for_a_bad_model():
    unit = {"scale": 1000.0, "shift": 0.0, "units": "powers of ten"}
    frame = frame_of({"estimation": 0.1, "selection": 0.2, "test": 900.0})
    prediction = lights(frame, checks=[range_check(unit)])["errors"]
    assert (prediction.status, prediction.values["role"], prediction.values["rrse"]) == ("look", "test", 900.0)
    assert prediction.values["other_unit"] == "out"
    diverged = frame_of({"estimation": 0.1, "selection": 0.2, "test": None})
    assert lights(diverged, checks=[range_check(unit)])["errors"].status == "look"
    useless = frame_of({"estimation": 0.1, "selection": 0.9, "test": 900.0})
    assert lights(useless, checks=[range_check(unit)])["errors"].status == "bad"
    for check in (range_check(None), range_check(unit, used=False)):
        assert lights(frame, checks=[check])["errors"].status == "bad"
    # Where the model is right there, the unit is.
    assert lights(frame_of({"test": 0.1}), checks=[range_check(unit)])["errors"].status == "fine"
