"""Cases of users: kinds of data that tools get wrong, with the right answer for each."""

import numpy as np
import pytest
from tests.lookups import items_by_name

import narxbench

pytestmark = pytest.mark.slow


def rng_of(number):
    return np.random.default_rng([20261, number])


def response(u, noise):
    """Return the output of y = .8 y' + .5 u' + .1 u'^2 with noise in its equation."""
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + noise[k]
    return y


def slow(values, pole):
    """Return values behind a filter of the first order."""
    filtered = np.zeros(len(values))
    for k in range(1, len(values)):
        filtered[k] = pole * filtered[k - 1] + values[k]
    return filtered


def identified(columns, output="y", **settings):
    """Return the findings of a model by name, the error of its free run over the test, and the identification."""
    inputs = [name for name in columns if name != output]
    identification = narxbench.identify(columns, output, input=inputs, **{"effort": 2.0, "test": "25%", **settings})
    findings = items_by_name(identification.summary)
    return findings, identification.to_dict()["metrics"]["test"]["free_run"]["rrse"], identification


def test_one_step_is_searched_by_linear_terms_and_not_called_noise():
    u = np.repeat([0.0, 1.0], (20, 100))
    y = np.zeros(120)
    for k in range(2, 120):
        y[k] = 1.6 * y[k - 1] - 0.65 * y[k - 2] + 0.05 * u[k - 1]
    findings, _, identification = identified({"u": u, "y": y + 0.005 * rng_of(2).standard_normal(120)})
    model = identification.model
    assert max(map(len, model.monomials)) == 1
    assert findings["evidence"].status == findings["to_predict"].status == "look"
    assert abs(model.predict(np.zeros(500), y[-model.initial_samples :], samples=500)[-1]) < 0.1


def test_an_input_without_a_term_and_rest_at_a_constant_input_make_nothing_bad():
    rng = rng_of(4)
    u = np.repeat(rng.permutation([0.0, 1.0] * 8), 60)
    y = np.round(slow(0.5 * np.roll(u, 1), 0.93), 1)
    findings, error, _ = identified({"u": u, "clock": np.arange(960.0), "y": y})
    assert error < 0.05 and findings["to_predict"].status == "fine" and "saturation" not in findings
    assert findings["to_control"].status != "bad"


def test_where_a_model_was_outside_and_right_is_evidence_for_it():
    rng = rng_of(5)
    u = np.where(np.arange(800) < 600, 1.0, 2.2) * rng.uniform(-1, 1, 800)
    findings, error, identification = identified({"u": u, "y": response(u, 0.002 * rng.standard_normal(800))})
    outside = items_by_name(identification.checks)["test-range"].values
    assert outside["output" if "output" in outside else "y"]["share"] > 0.05
    assert error < 0.02 and findings["to_predict"].status == "fine" and findings["to_control"].status != "bad"


def test_two_inputs_that_hide_each_other_act_at_once():
    rng = rng_of(6)
    difference, total = slow(0.4 * rng.standard_normal(1500), 0.8), slow(0.08 * rng.standard_normal(1500), 0.8)
    hot, cold = total + difference, total - difference
    early = 0.5 * (hot + cold) - 0.3 * np.roll(hot + cold, 1) + 0.2 * np.roll(hot - cold, 2)
    y = slow(early, 0.85) + 0.02 * rng.standard_normal(1500)
    _, error, identification = identified({"hot": hot, "cold": cold, "y": y}, effort=4.0)
    inputs = {f"u{signal}({lag})" for signal in (1, 2) for lag in ("k", "k-1", "k-2")}
    assert set(identification.model.terms) == {"y(k-1)", *inputs} and error < 0.05


def test_recordings_at_several_levels_give_one_system():
    rng, records = rng_of(12), []
    for level in range(4):
        u = np.repeat(rng.uniform(0, 4, 50), 8) + level
        y = np.zeros(400)
        for k in range(2, 400):
            y[k] = 0.5 * y[k - 1] + 0.2 * y[k - 2] + 0.3 * u[k - 1] - 0.02 * u[k - 1] * y[k - 1]
        records.append({"u": u[4:], "y": (y + 0.02 * rng.standard_normal(400))[4:]})
    identification = narxbench.identify(records, "y", input="u", test="20%", effort=4.0)
    assert identification.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.05
