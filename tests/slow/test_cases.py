"""Records of users: kinds of data that tools get wrong, with the right answer for each."""

import numpy as np
import pytest
from tests.lookups import item_with

import narxbench
from narxbench._numerics.random_streams import generator

pytestmark = pytest.mark.slow
FAST = {"effort": 2.0, "test": "25%"}
TRUE = {"y(k-1)", "u(k-1)", "u(k-1)^2"}


def rng_of(name):
    return generator(purpose="records of users", data=name)


def response(u, noise, moving_average=0.0):
    """Return the output of y = .8 y' + .5 u' + .1 u'^2 with noise in its equation."""
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + noise[k] + moving_average * noise[k - 1]
    return y


def statuses(identification):
    by_name = {}
    for finding in identification.summary:
        by_name.setdefault(finding.name, finding.status)
    return by_name


def prediction(identification):
    return next(finding.values for finding in identification.summary if finding.name == "errors")


def test_a_level_of_a_million_changes_nothing():
    rng = rng_of("level")
    u = rng.standard_normal(600)
    y = response(u, 0.02 * rng.standard_normal(600))
    plain = narxbench.identify(u, y, degree=2, **FAST)
    identified = narxbench.identify(u, 1e6 + y, degree=2, **FAST)
    assert set(identified.model.terms) == set(plain.model.terms) >= TRUE
    assert prediction(identified)["rrse"] == pytest.approx(prediction(plain)["rrse"], rel=0.02)
    assert prediction(identified)["rrse"] < 0.1 and statuses(identified)["to_predict"] == "fine"


def test_one_step_is_searched_by_linear_terms_and_not_called_noise():
    rng = rng_of("step")
    u = np.repeat([0.0, 1.0], (20, 100))
    y = np.zeros(120)
    for k in range(2, 120):
        y[k] = 1.6 * y[k - 1] - 0.65 * y[k - 2] + 0.05 * u[k - 1]
    identified = narxbench.identify(u, y + 0.005 * rng.standard_normal(120), **FAST)
    assert max(map(len, identified.model.monomials)) == 1
    assert statuses(identified)["evidence"] == "look" and statuses(identified)["to_predict"] == "look"
    off = identified.model.predict(np.zeros(500), y[-identified.model.initial_samples :], samples=500)
    assert abs(off[-1]) < 0.1


def test_a_moving_average_is_found_and_noise_is_no_fault():
    rng = rng_of("armax")
    u = rng.standard_normal(3000)
    y = response(u, 0.6 * rng.standard_normal(3000), 0.7)
    identified = narxbench.identify(u, y, noise="narmax", **FAST)
    assert set(identified.model.terms) == TRUE
    assert identified.model.moving_average == pytest.approx([0.7], abs=0.1)
    assert statuses(identified)["to_predict"] != "bad"


def test_a_refit_keeps_the_weights_of_a_noise_model():
    rng = rng_of("refit")
    u = rng.standard_normal(800)
    y = response(u, np.zeros(800)) + 0.3 * rng.standard_normal(800)
    identified = narxbench.identify(u, y, noise="noe", degree=2, effort=1.0)
    again = narxbench.refit(identified.model, {"u": u, "y": y}, input="u", output="y")
    np.testing.assert_allclose(again.coefficients, identified.model.coefficients, rtol=0.02)


def test_rest_at_a_constant_input_is_no_limit():
    rng = rng_of("onoff")
    u = np.repeat(rng.permutation([0.0, 1.0] * 8), 60)
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.93 * y[k - 1] + 0.5 * u[k - 1]
    identified = narxbench.identify(u, np.round(y, 1), **FAST)
    assert prediction(identified)["rrse"] < 0.05
    assert statuses(identified)["to_predict"] == "fine" and "saturation" not in statuses(identified)


def test_an_input_without_a_term_makes_nothing_bad():
    rng = rng_of("clock")
    u = np.column_stack([rng.standard_normal(600), np.arange(600.0)])
    y = response(u[:, 0], 0.02 * rng.standard_normal(600))
    identified = narxbench.identify(u, y, **FAST)
    assert statuses(identified)["to_predict"] == "fine" and statuses(identified)["to_control"] != "bad"


def test_where_a_model_was_outside_and_right_is_evidence_for_it():
    rng = rng_of("outside")
    u = np.where(np.arange(800) < 600, 1.0, 2.2) * rng.uniform(-1, 1, 800)
    y = response(u, 0.002 * rng.standard_normal(800))
    identified = narxbench.identify(u, y, **FAST)
    check = item_with(identified.checks, name="test-range")
    assert check.values["output" if "output" in check.values else "y"]["share"] > 0.05
    assert prediction(identified)["rrse"] < 0.02
    assert statuses(identified)["to_predict"] == "fine" and statuses(identified)["to_control"] != "bad"


def test_a_limit_cycle_is_judged_over_its_correlation_time():
    y = np.zeros(800)
    y[:2] = 0.1, 0.105
    for k in range(2, 800):
        y[k] = 2.06 * y[k - 1] - 1.1 * y[k - 2] - 0.1 * y[k - 1] ** 3 + 0.1 * y[k - 1] ** 2 * y[k - 2]
    linear = narxbench.identify(output=y, degree=1, y_lags=2, noise="narx", decimation=1, effort=0.2, test="25%")
    assert prediction(linear)["steps"] >= 25
    # One that loses its way in free run is not fine.
    assert prediction(linear)["free_run"] < 0.6 or statuses(linear)["to_predict"] != "fine"
    include = ["y(k-1)^3", "y(k-1)^2*y(k-2)", "y(k-1)*y(k-2)^2", "y(k-2)^3"]
    settings = {"degree": 1, "y_lags": 2, "include": include, "noise": "narx", "decimation": 1, "effort": 0.5}
    cubic = narxbench.identify(output=y, test="25%", **settings)
    assert prediction(cubic)["free_run"] < 0.05 and statuses(cubic)["to_predict"] == "fine"
