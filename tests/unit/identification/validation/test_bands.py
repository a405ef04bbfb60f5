"""Bands hold the share of samples that they say, and come from errors on data that the weights did not know."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import narxbench
from narxbench import NarxbenchError
from narxbench import _cli as cli

QUICK = {"decimation": 1, "effort": 0.1}
SAMPLES = 600


@pytest.fixture(scope="module")
def data():
    return narxbench.load_system("S1").simulate(1600, snr_db=30)


@pytest.fixture(scope="module")
def identification(data):
    u, y = np.array(data)[:, :800]
    return narxbench.identify(input=u, output=y, test="25%", degree=2, y_lags=2, u_lags=2, **QUICK)


@pytest.mark.parametrize("steps", [None, 1])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_a_band_holds_its_share_of_fresh_samples(identification, data, steps, confidence):
    u, y = np.array(data)[:, 800:]
    lower, upper = identification.bands(u, y, confidence, steps=steps)
    first = identification.model.initial_samples
    assert np.mean((lower <= y) & (y <= upper)) == pytest.approx(confidence, abs=0.06)
    np.testing.assert_allclose((lower + upper) / 2, identification.model.predict(u, y, steps), rtol=1e-12, atol=1e-12)
    assert (lower[:first] == y[:first]).all() and (upper[:first] == y[:first]).all()
    assert (upper[first:] > lower[first:]).all()


def test_the_result_tells_width_and_coverage_of_the_test_data(identification, data):
    reported = identification.to_dict()["bands"]
    u, y = np.array(data)[:, 600:800]
    lower, upper = identification.bands(u, y, reported["confidence"])
    first = identification.model.initial_samples
    assert reported["free_run"]["half_width"] == pytest.approx((upper - lower)[-1] / 2)
    assert reported["free_run"]["test_coverage"] == np.mean(((lower <= y) & (y <= upper))[first:])
    assert reported["one_step"]["parts"] == 8


def test_how_much_wider_than_the_quantile_a_band_is(identification, data):
    """Compare independent samples with four parts of which one is ten times as wrong as the others."""

    def half_width(errors, confidence=0.9):
        lower, upper = replace(identification, unseen={"free_run": tuple(np.sort(errors))}).bands(*data, confidence)
        return (upper - lower)[-1] / 2

    errors = np.abs(np.random.default_rng(1).normal(size=(8, 500)))
    assert half_width(errors) == pytest.approx(np.quantile(errors, 0.9), rel=0.03)
    errors = errors[:4] * [[1.0], [1.0], [1.0], [10.0]]
    assert half_width(errors) > 1.3 * np.quantile(errors, 0.9)
    for none in (np.empty((0, 10)), np.array([[1.0, 2.0], [np.inf, np.inf]])):
        with pytest.raises(NarxbenchError, match=r"no unseen data whose predictions stay finite; no band holds 0\.9"):
            half_width(none)


def test_records_of_the_role_selection_are_judged_by_the_whole_model(data):
    u, y = data
    frames = [{"u": u[i : i + 400], "y": y[i : i + 400]} for i in (0, 400)]
    roles = {"data 1": "estimation", "data 2": "selection"}
    options = {"degree": 2, "y_lags": 2, "u_lags": 2, "roles": roles, **QUICK}
    identified = narxbench.identify(frames, input="u", output="y", **options)
    errors = np.abs(y[400:800] - identified.model.predict(u[400:800], y[400:800]))
    errors = np.sort(errors[identified.model.initial_samples :])
    lower, upper = identified.bands(u, y, 0.8)
    # The value that the next one does not exceed with this probability.
    assert (upper - lower)[-1] / 2 == pytest.approx(errors[np.ceil(0.8 * (len(errors) + 1)).astype(int) - 1])


def test_bands_of_forecasts_end_where_these_diverge(forecasting):
    about = forecasting.model.about
    errors = {**about["forecast_errors"], "free_run": dict.fromkeys(about["forecast_errors"]["free_run"])}
    model = replace(forecasting.model, about={**about, "forecast_errors": errors})
    diverging, farthest = replace(forecasting, model=model), errors["steps"][-1]
    assert len(half_widths(diverging, farthest, 0.9)) == farthest
    with pytest.raises(NarxbenchError, match=f"found {farthest + 1} samples ahead; known are {farthest}"):
        half_widths(diverging, farthest + 1, 0.9)


@pytest.fixture(scope="module")
def hourly():
    """Return hourly data of a linear system with a slow autoregression on the output."""
    u, e = np.random.default_rng(1).normal(size=(2, 2 * SAMPLES))
    y = lfilter([0.0, 1.0], [1.0, -0.7], u) + lfilter([0.2], [1.0, -0.95], e)
    hours = pd.date_range("2026-10-20", periods=2 * SAMPLES, freq="h", name="time")
    return pd.DataFrame({"u": u, "y": y}, index=hours)


@pytest.fixture(scope="module")
def forecasting(hourly):
    options = {"noise": "box-jenkins", "degree": 1, "y_lags": 1, "u_lags": 1}
    return narxbench.identify(hourly[:SAMPLES], "y", input="u", **options, **QUICK)


@pytest.fixture
def files(hourly, forecasting, tmp_path):
    """Return the beginning of the command, with files of the model and of the first half of the data."""
    hourly[:SAMPLES].to_csv(tmp_path / "data.csv")
    forecasting.model.save(tmp_path / "model.json")
    return ["forecast", str(tmp_path / "model.json"), str(tmp_path / "data.csv")]


def half_widths(forecasting, steps, confidence):
    inputs = np.zeros((steps, 1))
    forecast = forecasting.forecast(u_future=inputs, steps=steps, confidence=confidence)
    return ((forecast["upper"] - forecast["lower"]) / 2).to_numpy()


def test_bands_of_forecasts_widen_and_hold_their_share_of_fresh_samples(forecasting, hourly):
    widths = {share: half_widths(forecasting, 60, share) for share in (0.5, 0.8, 0.9, 0.95, 0.99)}
    for narrow, wide in pairwise(widths.values()):
        assert (narrow < wide).all() and (np.diff(wide) >= -1e-9).all()
    # One step ahead, and as far ahead as the noise goes: 1.645 standard deviations.
    assert widths[0.9][0] == pytest.approx(1.645 * 0.2, rel=0.2)
    assert widths[0.9][-1] == pytest.approx(1.645 * 0.2 / np.sqrt(1 - 0.95**2), rel=0.4)
    fresh, origins = hourly[SAMPLES:], np.arange(100, SAMPLES - 20)
    forecaster = forecasting.model.forecaster(fresh[["u"]].to_numpy(), fresh["y"].to_numpy())
    following = fresh["y"].to_numpy()[origins[:, None] + np.arange(1, 21)]
    errors = np.abs(following - forecaster.forecasts(origins.tolist(), 20))
    assert np.mean(errors <= widths[0.9][:20]) == pytest.approx(0.9, abs=0.05)


def test_a_forecast_goes_on_after_the_data_also_by_the_command(forecasting, hourly, files, tmp_path):
    future, table = hourly[["u"]][SAMPLES : SAMPLES + 5], tmp_path / "table.csv"
    forecast = forecasting.forecast(u_future=future, confidence=0.8)
    assert (list(forecast), list(forecast.index)) == (["forecast", "lower", "upper"], list(future.index))
    record = hourly[:SAMPLES]
    expected = forecasting.model.forecast(record["u"], record["y"], future["u"])
    np.testing.assert_allclose(forecast["forecast"], expected, rtol=1e-12)
    np.testing.assert_allclose((forecast["lower"] + forecast["upper"]) / 2, expected, rtol=1e-9, atol=1e-9)
    future.to_csv(tmp_path / "future.csv")
    words = ["--future", str(tmp_path / "future.csv"), "--confidence", "0.8", "-o", str(table)]
    assert cli.main([*files, *words]) == 0
    written = pd.read_csv(table, index_col="time", parse_dates=True)
    assert (list(written), list(written.index)) == (list(forecast), list(forecast.index))
    np.testing.assert_allclose(written, forecast, rtol=1e-9, atol=1e-9)
    later = forecasting.forecast(hourly["u"][100:700].to_numpy(), hourly["y"][100:700].to_numpy(), steps=1)
    assert list(later.index) == [600]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", "1", "--confidence", "0.7"], "--confidence: found 0.7; allowed: 0.5, 0.8, 0.9, 0.95, 0.99"),
        (["--future", "late.csv"], "needed: 2026-11-14 00:00:00 to"),
        (["--future", "cut.csv"], "inputs without a gap up to line 4 alone"),
    ],
)
def test_a_mistake_names_the_option(hourly, files, tmp_path, capsys, monkeypatch, words, message):
    hourly[["u"]][SAMPLES + 1 :].to_csv(tmp_path / "late.csv")
    hourly[["u"]][SAMPLES:].drop(hourly.index[SAMPLES + 3]).to_csv(tmp_path / "cut.csv")
    monkeypatch.chdir(tmp_path)
    assert cli.main([*files, *words]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("narxbench: ") and message in printed


def test_other_weights_have_other_errors(forecasting, hourly, files, tmp_path, capsys):
    model = narxbench.refit(forecasting.model, hourly[SAMPLES:])
    model.save(tmp_path / "model.json")
    assert cli.main([*files, "--steps", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("time,forecast\n") and "no bands" in printed.err
    assert "forecast_errors" not in json.loads((tmp_path / "model.json").read_text())["about"]
    with pytest.raises(NarxbenchError, match="bands: found a model without errors of its forecasts"):
        replace(forecasting, model=model).forecast(steps=1)
