"""Bands about forecasts: as wide as errors that the weights did not see, and of a file as of an identification."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import isotonic_regression

import narxbench
from narxbench import NarxbenchError
from narxbench import _cli as cli
from narxbench._identification.trust.bands import BAND
from narxbench._identification.trust.forecasts import ABOUT, closest_rising, half_widths
from narxbench._identification.trust.refit import refit

QUICK = {"decimation": 1, "effort": 0.1, "degree": 1, "y_lags": 1, "u_lags": 1}
SAMPLES = 600


@pytest.fixture(scope="module")
def data():
    """Return hourly data of a linear system with a slow autoregression on the output."""
    draws = np.random.default_rng(1)
    u, e = draws.normal(size=(2, 2 * SAMPLES))
    x, w = np.zeros((2, 2 * SAMPLES))
    for k in range(1, 2 * SAMPLES):
        x[k] = 0.7 * x[k - 1] + u[k - 1]
        w[k] = 0.95 * w[k - 1] + 0.2 * e[k]
    hours = pd.date_range("2026-10-20", periods=2 * SAMPLES, freq="h", name="time")
    return pd.DataFrame({"u": u, "y": x + w}, index=hours)


@pytest.fixture(scope="module")
def identification(data):
    record = data[:SAMPLES]
    return narxbench.identify(record, "y", input="u", noise="box-jenkins", **QUICK)


def test_bands_widen_as_the_errors_do(identification):
    model = identification.model
    widths = half_widths(model, 60, BAND)
    assert (np.diff(widths) >= 0).all()
    # One step ahead, and as far ahead as the noise goes: 1.645 standard deviations.
    assert widths[0] == pytest.approx(1.645 * 0.2, rel=0.2)
    assert widths[-1] == pytest.approx(1.645 * 0.2 / np.sqrt(1 - 0.95**2), rel=0.4)
    for narrow, wide in ((0.5, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.99)):
        assert (half_widths(model, 60, narrow) < half_widths(model, 60, wide)).all()


@pytest.mark.parametrize("count", [1, 2, 3, 30])
def test_half_widths_rise_as_an_isotonic_regression_does(count):
    draws = np.random.default_rng(count)
    for values in (
        draws.normal(size=count),
        np.sort(draws.normal(size=count)),
        np.ones(count),
        draws.integers(3, size=count),
    ):
        assert closest_rising(values.tolist()) == pytest.approx(isotonic_regression(values).x.tolist(), rel=1e-12)


def test_bands_hold_their_share_of_fresh_samples(identification, data):
    fresh, ahead = data[SAMPLES:], 20
    origins = np.arange(100, SAMPLES - ahead)
    forecaster = identification.model.forecaster(fresh[["u"]].to_numpy(), fresh["y"].to_numpy())
    following = fresh["y"].to_numpy()[origins[:, None] + np.arange(1, ahead + 1)]
    errors = np.abs(following - forecaster.forecasts(origins.tolist(), ahead))
    assert np.mean(errors <= half_widths(identification.model, ahead, BAND)) == pytest.approx(0.9, abs=0.05)


def test_a_forecast_goes_on_after_the_data(identification, data):
    future = data[SAMPLES : SAMPLES + 5]
    forecast = identification.forecast(u_future=future[["u"]])
    assert list(forecast) == ["forecast", "lower", "upper"]
    assert list(forecast.index) == list(future.index)
    record = data[:SAMPLES]
    expected = identification.model.forecast(record["u"], record["y"], future["u"])
    np.testing.assert_allclose(forecast["forecast"], expected, rtol=1e-12)
    np.testing.assert_allclose((forecast["lower"] + forecast["upper"]) / 2, expected, rtol=1e-9, atol=1e-9)
    later = identification.forecast(data["u"][100:700].to_numpy(), data["y"][100:700].to_numpy(), steps=1)
    assert list(later.index) == [600]


def test_the_command_prints_the_same(identification, data, tmp_path, capsys):
    files = {name: str(tmp_path / f"{name}.csv") for name in ("data", "future", "table")}
    data[:SAMPLES].to_csv(files["data"])
    future = data[["u"]][SAMPLES : SAMPLES + 5]
    future.to_csv(files["future"])
    model = str(tmp_path / "model.json")
    identification.model.save(model)
    command = ["forecast", model, files["data"], "--future", files["future"], "--confidence", "0.8"]
    assert cli.main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "time,forecast,lower,upper"
    assert [line.partition(",")[0] for line in printed[1:]] == [str(time) for time in future.index]
    assert cli.main([*command, "-o", files["table"]]) == 0
    frame = pd.read_csv(files["table"], index_col="time", parse_dates=True)
    expected = identification.forecast(u_future=future, confidence=0.8)
    np.testing.assert_allclose(frame, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", "2"], "--future: found 0 samples after the record; needed: 1, to forecast 2"),
        ([], "--steps: found null; needed: how many samples to forecast, or u_future"),
        (["--steps", "1", "--confidence", "0.7"], "--confidence: found 0.7; allowed: 0.5, 0.8, 0.9, 0.95, 0.99"),
    ],
)
def test_a_mistake_names_the_option(identification, data, tmp_path, capsys, words, message):
    data[:SAMPLES].to_csv(tmp_path / "data.csv")
    identification.model.save(tmp_path / "model.json")
    assert cli.main(["forecast", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), *words]) == 2
    assert capsys.readouterr().err == f"narxbench: {message}\n"


def test_inputs_after_a_gap_are_refused(identification, data, tmp_path, capsys):
    data[:SAMPLES].to_csv(tmp_path / "data.csv")
    data[["u"]][SAMPLES + 1 :].to_csv(tmp_path / "late.csv")
    data[["u"]][SAMPLES:].drop(data.index[SAMPLES + 3]).to_csv(tmp_path / "cut.csv")
    identification.model.save(tmp_path / "model.json")
    command = ["forecast", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), "--future"]
    assert cli.main([*command, str(tmp_path / "late.csv")]) == 2
    assert "needed: 2026-11-14 00:00:00 to" in capsys.readouterr().err
    assert cli.main([*command, str(tmp_path / "cut.csv")]) == 2
    assert "inputs without a gap up to line 4 alone" in capsys.readouterr().err


def test_other_weights_have_other_errors(identification, data, tmp_path, capsys):
    model = refit(identification.model, data[SAMPLES:])
    data[:SAMPLES].to_csv(tmp_path / "data.csv")
    model.save(tmp_path / "model.json")
    assert cli.main(["forecast", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), "--steps", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("time,forecast\n") and "no bands" in printed.err
    assert ABOUT in identification.model.about and ABOUT not in model.about
    with pytest.raises(NarxbenchError, match="bands: found a model without errors of its forecasts"):
        half_widths(model, 3, BAND)


def test_bands_end_where_forecasts_diverge(identification):
    about = identification.model.about
    errors = {**about[ABOUT], "free_run": dict.fromkeys(about[ABOUT]["free_run"])}
    model = replace(identification.model, about={**about, ABOUT: errors})
    farthest = errors["steps"][-1]
    assert len(half_widths(model, farthest, BAND)) == farthest
    with pytest.raises(NarxbenchError, match=f"found {farthest + 1} samples ahead; known are {farthest}"):
        half_widths(model, farthest + 1, BAND)
