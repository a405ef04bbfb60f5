"""The rules of the summary: what is fine, what to look at, what is bad."""

import pandas as pd
import pytest
from tests.unit.identification.trust.known_model import model, record

from narxbench.identification.finding import Finding
from narxbench.identification.trust.residuals import correlation_tests
from narxbench.identification.trust.steady_state import FixedPoint, Rest
from narxbench.identification.trust.validation import ALL, ARX, COLUMNS, DECIMATED, INCOMING, LAST_VALUE, MODEL
from narxbench.identification.trust.verdicts import summary
from narxbench.model.records import Record
from narxbench.numerics.random_streams import generator


def frame_of(free, one_step=None, arx=0.5, last=0.5, diverged=()):
    """Return a frame of the model's RRSE by role, in free run and one step ahead; None is a run that diverges."""
    rows = []
    for role, rrse in free.items():
        for kind, name, value in (
            ("free_run", MODEL, rrse),
            ("free_run", ARX, arx),
            ("one_step", MODEL, 0.1 if one_step is None else one_step),
            ("one_step", LAST_VALUE, last),
        ):
            for sampling in (DECIMATED, INCOMING):
                fit = None if value is None else 100 * (1 - value)
                for place in (ALL, "a.csv"):
                    steps = 1 if kind == "one_step" else None
                    figures = (value, value, fit, value, value, value)
                    rows.append((role, place, name, sampling, kind, steps, *figures, 9, value is None))
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def lights(frame, tests=(), curve=(), rests=(), checks=()):
    return {check.name: check for check in summary(model(), frame, tests, curve, rests, checks)}


@pytest.mark.parametrize(
    ("rrse", "status"), [(0.05, "fine"), (0.25, "fine"), (0.26, "look"), (0.6, "look"), (0.61, "bad"), (None, "bad")]
)
def test_light_of_the_prediction(rrse, status):
    light = lights(frame_of({"estimation": 0.2, "test": rrse}))["prediction"]
    assert light.status == status
    assert (light.values["rrse"], light.values["diverged"]) == (rrse, [] if rrse else ["a.csv"])


def test_data_that_the_model_has_seen_prove_nothing():
    light = lights(frame_of({"estimation": 0.2, "selection": 0.1}))["prediction"]
    assert (light.status, light.values["role"]) == ("look", "selection")


@pytest.mark.parametrize(
    ("own", "baseline", "status"),
    [
        (0.2, 0.5, "fine"),
        (0.2, None, "fine"),
        (0.2, 0.21, "look"),
        (0.2, 0.19, "look"),
        (0.2, 0.1, "bad"),
        (None, 0.1, "bad"),
        # Errors that nobody would notice.
        (0.002, 0.001, "look"),
    ],
)
def test_lights_of_the_baselines(own, baseline, status):
    found = lights(frame_of({"test": own}, arx=baseline))["against_linear_arx"]
    assert found.status == status
    if own is not None:
        found = lights(frame_of({"test": 0.2}, one_step=own, last=baseline))["against_last_value"]
        assert found.status == status


@pytest.mark.parametrize(
    ("seen", "new", "status"),
    [(0.2, 0.3, "fine"), (0.2, 0.31, "look"), (0.2, 0.61, "bad"), (0.001, 0.04, "fine"), (0.2, 0.1, "fine")],
)
def test_light_of_the_gap(seen, new, status):
    assert lights(frame_of({"estimation": 0.0, "selection": seen, "test": new}))["gap"].status == status
    assert lights(frame_of({"estimation": seen, "test": new}))["gap"].status == status
    assert "gap" not in lights(frame_of({"estimation": seen, "selection": new}))


def test_lights_of_the_residuals():
    one = record("residuals", 800, "estimation")
    right = lights(frame_of({"test": 0.1}), correlation_tests(model(), [one]))
    assert (right["residuals_linear"].status, right["residuals_nonlinear"].status) == ("fine", "fine")

    without_square = model(terms=("y(k-1)", "u(k-1)", "1"))
    wrong = lights(frame_of({"test": 0.4}), correlation_tests(without_square, [one]))
    assert (wrong["residuals_linear"].status, wrong["residuals_nonlinear"].status) == ("fine", "bad")
    worst = wrong["residuals_nonlinear"].values["failed"][0]
    assert (worst["title"], worst["lag"]) == ("residuals and the square of u", 2)

    without_input = model(terms=("y(k-1)", "u(k-3)", "u(k-2)^2"))
    tests = correlation_tests(without_input, [one])
    assert lights(frame_of({"test": 0.4}), tests)["residuals_linear"].status == "bad"
    # Next to a free run that is good they are to be looked at.
    other = lights(frame_of({"test": 0.1}), tests)["residuals_linear"]
    assert (other.status, other.values["free_run"]) == ("look", 0.1)


def test_what_is_exact_is_called_exact_with_the_terms_that_are_rounding():
    weights = [{"term": "u(k-3)", "err": 1.0}, {"term": "y(k-1)", "err": 1e-33}]
    frame = frame_of({"estimation": 1e-16, "test": 1e-16}, one_step=1e-16)
    exact = {f.name: f for f in summary(model(), frame, [], [], weights=weights)}["exact"]
    assert (exact.status, exact.values["superfluous"]) == ("look", ["y(k-1)"])
    assert "exact" not in lights(frame_of({"estimation": 0.1, "test": 0.1}))


def test_coloured_noise_is_to_be_looked_at():

    coloured = record("coloured", 800, "estimation", noise=0.0)
    e = generator(purpose="validation", seed="colour").standard_normal(801)
    y = coloured.y.copy()
    for k in range(2, 800):
        y[k] = 0.6 * y[k - 1] + coloured.u[k - 1, 0] + 0.4 * coloured.u[k - 2, 0] ** 2 + e[k + 1] + 0.25 * e[k]
    tests = correlation_tests(model(), [Record("c", coloured.u, y)])
    light = lights(frame_of({"test": 0.1}), tests)["residuals_linear"]
    assert light.status == "look" and "phi_xixi" in {test["name"] for test in light.values["failed"]}


def test_a_correlation_that_is_small_is_fine_though_many_samples_show_it():
    one = record("many", 20000, "estimation", noise=1.0)
    tests = correlation_tests(model(weights=(0.6, 1.0, 0.36)), [one])
    assert not all(test.passed for test in tests)
    light = lights(frame_of({"test": 0.1}), tests)["residuals_nonlinear"]
    assert light.status == "fine" and light.values["failed"]


def test_light_of_the_fixed_points():
    def point(u, y=1.0, size=0.5, inside=True):
        return FixedPoint("u", u, y, size is not None and size < 1, size, 4.0 if size and size < 1 else None, inside)

    fine = lights(frame_of({"test": 0.1}), curve=[point(0.0), point(1.0), point(1.0, size=1.5)])["fixed_points"]
    assert (fine.status, fine.values["at_rest"], fine.values["cases"]) == ("fine", 2, 2)
    for wrong in (point(1.0, size=1.5), point(1.0, inside=False), point(1.0, None, None, False)):
        light = lights(frame_of({"test": 0.1}), curve=[point(0.0), wrong])["fixed_points"]
        assert (light.status, light.values["at_rest"]) == ("look", 1)
    light = lights(frame_of({"test": 0.1}), curve=[point(0.0), point(0.0, 2.0)])["fixed_points"]
    assert (light.status, light.values["several"]) == ("look", 1)
    assert "fixed_points" not in lights(frame_of({"test": 0.1}))


@pytest.mark.parametrize(("deviation", "status"), [(0.1, "fine"), (0.11, "look"), (None, "look")])
def test_light_of_the_rests(deviation, status):
    rests = [Rest("a", (1.0,), 2.0, 50, 2.0, 0.0), Rest("a", (2.0,), 4.0, 50, 4.5, deviation)]
    assert lights(frame_of({"test": 0.1}), rests=rests)["static"].status == status
    assert "static" not in lights(frame_of({"test": 0.1}))


def test_checks_of_the_data_that_are_not_fine_are_repeated():
    checks = [Finding("delay", "fine"), Finding("levels", "look")]
    assert list(lights(frame_of({"test": 0.1}), checks=checks))[-1] == "levels"
