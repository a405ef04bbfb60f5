"""Cases of users: kinds of data that tools get wrong, with the right answer for each."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, succeeded
from tests.lookups import items_by_name

import narxbench

pytestmark = pytest.mark.slow


def rng_of(number):
    return np.random.default_rng([20261, number])


def response(u, noise, moving_average=0.0):
    """Return the output of y = .8 y' + .5 u' + .1 u'^2 with noise in its equation."""
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + noise[k] + moving_average * noise[k - 1]
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


TRUE = {"y(k-1)", "u(k-1)", "u(k-1)^2"}


def test_a_level_of_a_million_changes_nothing():
    rng = rng_of(1)
    u = rng.standard_normal(600)
    y = response(u, 0.02 * rng.standard_normal(600))
    _, error, plain = identified({"u": u, "y": y}, degree=2)
    findings, raised_error, raised = identified({"u": u, "y": 1e6 + y}, degree=2)
    assert set(raised.model.terms) == set(plain.model.terms) >= TRUE
    assert raised_error == pytest.approx(error, rel=0.02) and raised_error < 0.1
    assert findings["to_predict"].status == "fine"


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


def test_a_moving_average_is_found_and_noise_is_no_fault():
    rng = rng_of(3)
    u = rng.standard_normal(3000)
    columns = {"u": u, "y": response(u, 0.6 * rng.standard_normal(3000), 0.7)}
    findings, _, identification = identified(columns, noise="narmax")
    assert set(identification.model.terms) == TRUE
    assert identification.model.moving_average == pytest.approx([0.7], abs=0.1)
    assert findings["to_predict"].status != "bad"


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


def test_a_limit_cycle_is_judged_over_its_correlation_time():
    y = np.zeros(800)
    y[:2] = 0.1, 0.105
    for k in range(2, 800):
        y[k] = 2.06 * y[k - 1] - 1.1 * y[k - 2] - 0.1 * y[k - 1] ** 3 + 0.1 * y[k - 1] ** 2 * y[k - 2]
    settings = {"degree": 1, "y_lags": 2, "noise": "narx", "decimation": 1}
    findings, error, _ = identified({"y": y}, effort=0.2, **settings)
    # One that loses its way in free run is not fine.
    assert findings["errors"].values["steps"] >= 25 and (error < 0.6 or findings["to_predict"].status != "fine")
    include = ["y(k-1)^3", "y(k-1)^2*y(k-2)", "y(k-1)*y(k-2)^2", "y(k-2)^3"]
    findings, error, _ = identified({"y": y}, effort=0.5, include=include, **settings)
    assert findings["errors"].values["free_run"] < 0.05 and findings["to_predict"].status == "fine"


def test_two_inputs_that_hide_each_other_act_at_once():
    rng = rng_of(6)
    difference, total = slow(0.4 * rng.standard_normal(1500), 0.8), slow(0.08 * rng.standard_normal(1500), 0.8)
    hot, cold = total + difference, total - difference
    early = 0.5 * (hot + cold) - 0.3 * np.roll(hot + cold, 1) + 0.2 * np.roll(hot - cold, 2)
    y = slow(early, 0.85) + 0.02 * rng.standard_normal(1500)
    _, error, identification = identified({"hot": hot, "cold": cold, "y": y}, effort=4.0)
    inputs = {f"u{signal}({lag})" for signal in (1, 2) for lag in ("k", "k-1", "k-2")}
    assert set(identification.model.terms) == {"y(k-1)", *inputs} and error < 0.05


def test_a_test_inside_the_known_range_has_no_other_unit():
    """A steep curve, whose last part, the test, stays on the flat side."""
    rng = rng_of(7)
    base = np.repeat(np.append(rng.choice([0.0, 0.3, 0.6, 1.0, 2.0], 63), rng.uniform(1.05, 2.0, 27)), 10)
    acid = rng.uniform(8.0, 12.0, 90).repeat(10)
    steep = 7.5 + 4.0 * np.tanh(2.0 * (slow(0.2 * np.roll(base, 1), 0.8) - 0.7)) - 0.03 * np.roll(acid, 1)
    columns = {"acid": acid, "base": base, "pH": steep + 0.02 * rng.standard_normal(900)}
    findings, _, _ = identified(columns, "pH", effort=4.0, test="30%")
    assert not findings["to_predict"].values["other_unit"]


def test_a_linear_system_far_from_zero_is_linear():
    rng = rng_of(8)
    u = 1000 + slow(60 * rng.standard_normal(1500), 0.95)
    y = 30 + slow(0.02 * np.roll(u, 1) - 20 + 4.0 * rng.standard_normal(1500), 0.6)
    _, _, identification = identified({"u": u, "y": y}, effort=4.0)
    assert set(identification.model.terms) - {"1"} == {"y(k-1)", "u(k-1)"}


def test_a_gain_lies_inside_its_interval():
    """Rain, 0 on most days, and the flow out of a store that empties faster the fuller it is."""
    rng = rng_of(9)
    rain = np.where(rng.random(2500) < 0.3, rng.exponential(8.0, 2500), 0.0)
    store, flow = 20.0, np.zeros(2500)
    for k in range(1, 2500):
        store += rain[k - 1]
        flow[k] = min(0.01 * store + 0.0015 * store**2, 0.8 * store)
        store = max(store - flow[k] - 0.4 * min(1.0, store / 20), 0.5)
    flow *= 1 + 0.05 * rng.standard_normal(2500)
    _, _, identification = identified({"rain": rain[1:], "flow": flow[1:]}, "flow", effort=4.0)
    gain = identification.dynamics.inputs["rain"].gain
    assert gain.low <= gain.value <= gain.high


def write(path, columns):
    pd.DataFrame(columns).round(5).to_csv(path, index=False)
    return str(path)


def test_a_bad_output_of_joint_models_is_called_bad(tmp_path):
    """The gain of the second output changes its sign in the test."""
    rng = rng_of(10)
    u = np.repeat(rng.uniform(-1, 1, 150), 6)
    a = slow(0.5 * np.roll(u, 1) + 0.02 * rng.standard_normal(900), 0.8)
    gain = np.where(np.arange(900) < 630, 0.6, -0.6)
    b = slow(gain * np.roll(u, 1) + 0.1 * np.roll(a, 1) + 0.05 * rng.standard_normal(900), 0.7)
    words = ["--input", "u", "--output", "a", "--output", "b", "--joint", "--effort", "3", "--test", "30%"]
    lines = succeeded("identify", write(tmp_path / "data.csv", {"u": u, "a": a, "b": b}), *words).splitlines()
    assert any(line.startswith("BAD") and "b" in line.split() for line in lines)


@pytest.mark.parametrize("horizon", ["auto", "3"])
def test_a_series_is_judged_at_the_horizon_that_matters_and_compared_with_its_last_season(tmp_path, horizon):
    rng = rng_of(11)
    k = np.arange(24 * 7 * 6)
    pattern = 2000 * np.sin(2 * np.pi * (k % 24 - 7) / 24) + 600 * np.sin(4 * np.pi * (k % 24) / 24)
    noise = slow(np.where(k < 0.8 * len(k), 250, 60) * rng.standard_normal(len(k)), 0.6)
    path = write(tmp_path / "data.csv", {"load": 3000 + pattern - 700 * (k // 24 % 7 >= 5) + noise})
    words = ["--output", "load", "--test", "20%", "--effort", "4", "--horizon", horizon, "--json"]
    findings = items_by_name(json.loads(succeeded("identify", path, *words))["summary"])
    assert findings["competitors"]["values"]["last_value"]["season"] == 24
    steps = findings["errors"]["values"]["steps"]
    assert steps in {"auto": [24]}.get(horizon, [1, 2, 3])


def test_recordings_at_several_levels_give_one_system(tmp_path):
    rng, files = rng_of(12), []
    for level in range(4):
        u = np.repeat(rng.uniform(0, 4, 50), 8) + level
        y = np.zeros(400)
        for k in range(2, 400):
            y[k] = 0.5 * y[k - 1] + 0.2 * y[k - 2] + 0.3 * u[k - 1] - 0.02 * u[k - 1] * y[k - 1]
        columns = {"u": u[4:], "y": (y + 0.02 * rng.standard_normal(400))[4:]}
        files.append(write(tmp_path / f"record{level}.csv", columns))
    words = ["--input", "u", "--output", "y", "--test", "20%", "--effort", "4", "--json"]
    content = json.loads(succeeded("identify", *files, *words))
    assert content["metrics"]["test"]["free_run"]["rrse"] < 0.05


def test_six_samples_of_each_repeat_are_refused_in_one_line(tmp_path):
    files = []
    for number in range(3):
        values = 0.8 ** np.arange(6) + 0.02 * rng_of(number).standard_normal(6)
        files.append(
            write(tmp_path / f"repeat{number}.csv", {"hour": range(6), "stimulus": [0, 0, 1, 1, 1, 1], "a": values})
        )
    assert "found no record of at least 10 samples" in failed(
        "identify", *files, "--input", "stimulus", "--output", "a", "--time", "hour"
    )


@pytest.mark.parametrize("date", ["{day:02d} 01 2018", "2018-01-{day:02d}"])
def test_dates_and_names_with_blanks_do_not_separate(tmp_path, date):
    rows = [
        f"{date.format(day=1 + k // 144)} {k % 144 // 6:02d}:{k % 6 * 10:02d},{k * k % 7},{k * k % 11}"
        for k in range(300)
    ]
    (tmp_path / "data.csv").write_text("\n".join(["Date/Time,Wind Speed (m/s),Active Power (kW)", *rows]) + "\n")
    assert "--output 'Active Power'" in " ".join(succeeded("look", tmp_path / "data.csv").split())
