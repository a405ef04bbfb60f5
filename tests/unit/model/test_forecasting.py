"""Forecasts against predictions some steps ahead, to the last bit, and against the Kalman filter of statsmodels."""

import numpy as np
import pandas as pd
import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import DivergedError, Model

NOISES = [
    {"noise_model": "narx"},
    {"noise_model": "narmax", "moving_average": (0.5, 0.2)},
    {"noise_model": "ararx", "autoregression": (-0.5, 0.0, 0.2)},
    {"noise_model": "ararmax", "autoregression": (-0.5,), "moving_average": (0.4,)},
    {"noise_model": "ararx", "autoregression": (-0.5,), "is_integrated": True},
    {"noise_model": "noe"},
    {"noise_model": "box-jenkins", "autoregression": (-0.9,), "moving_average": (0.3,)},
    {"noise_model": "box-jenkins", "autoregression": (-0.3,), "is_integrated": True},
]
TERMS = ("y(k-1)", "u(k-2)", "y(k-1)*u(k-1)", "y(k-2)"), (0.5, 1.0, 0.1, 0.2)
SAMPLES, AHEAD = 120, 20


def signals(samples=SAMPLES + AHEAD):
    draws = np.random.default_rng(1)
    u = draws.normal(size=samples)
    return u, u + 0.1 * np.cumsum(draws.normal(size=samples))


def nonlinear(decimation=1, **noise):
    return Model(*TERMS, ("u",), "y", decimation=decimation, offsets=(1.0, 0.5), scales=(2.0, 3.0), **noise)


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise['noise_model']}-{len(noise)}")
def test_a_forecast_is_the_prediction_from_the_last_samples(noise, decimation):
    model = nonlinear(decimation, **noise)
    u, y = signals()
    forecast = model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES:])
    for ahead, value in enumerate(forecast, 1):
        steps = -(-ahead // decimation)
        # Outputs after the record are not looked at.
        expected = model.predict(u, y, steps)[SAMPLES - 1 + ahead]
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_forecast_forgets_nothing_of_white_noise_on_the_output():
    model = nonlinear(noise_model="noe")
    u, y = signals()
    forecast = model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES:])
    np.testing.assert_array_equal(forecast, model.predict(u, y[:SAMPLES])[SAMPLES:])


def test_inputs_that_act_later_need_not_be_known():
    model = Model(("y(k-1)", "u(k-2)"), (0.5, 1.0), ("u",), "y", decimation=2)
    u, y = signals()
    whole = model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES:])
    np.testing.assert_array_equal(model.forecast(u[:SAMPLES], y[:SAMPLES], steps=4), whole[:4])
    np.testing.assert_array_equal(model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES : SAMPLES + 2], 6), whole[:6])
    with pytest.raises(NarxbenchError, match="u_future: found 0 samples after the record; needed: 1, to forecast 5"):
        model.forecast(u[:SAMPLES], y[:SAMPLES], steps=5)


def test_the_shortest_record():
    model = Model(("y(k-1)",), (0.5,), (), "y", noise_model="ararx", autoregression=(-0.5,))
    assert model.forecast(None, [8.0], steps=2).tolist() == [4.0, 2.0]
    assert model.forecast(None, [8.0], steps=0).tolist() == []
    with pytest.raises(NarxbenchError, match="y: found 0 outputs; needed: 1"):
        model.forecast(None, np.zeros(0), steps=1)


@pytest.mark.parametrize("noise", ["narx", "noe"])
def test_a_forecast_that_diverges(noise):
    model = Model(("y(k-1)^2",), (2.0,), (), "y", noise_model=noise)
    with pytest.raises(DivergedError, match=r"diverges [0-9]+ samples? after the record"):
        model.forecast(None, [1.0, 3.0], steps=30)


def test_the_first_outputs_are_estimated():
    model = Model(("y(k-1)", "u(k-1)", "y(k-2)"), (1.5, 1.0, -0.55), ("u",), "y", decimation=2, noise_model="noe")
    draws = np.random.default_rng(2)
    u = draws.normal(size=400)
    clean = model.predict(u, [3.0, -1.0, 2.0, 4.0])
    y = clean + 0.5 * draws.normal(size=400)
    estimated = model.predict(u, y, initial="estimate")
    errors = np.abs(np.array([model.predict(u, y), estimated]) - clean)[:, :30].mean(axis=1)
    assert errors[1] < 0.2 * errors[0]
    forecast = model.forecast(u[:300], y[:300], u[300:], initial="estimate")
    np.testing.assert_array_equal(forecast, model.predict(u, y[:300], initial="estimate")[300:])
    # Exact data have an exact state.
    np.testing.assert_allclose(model.predict(u, clean, initial="estimate"), clean, rtol=1e-6)


def test_the_index_goes_on():
    model = Model(("y(k-1)", "u(k)"), (0.5, 1.0), ("u",), "y")
    u, y = signals(20)
    hours = pd.date_range("2026-03-28 10:00", periods=20, freq="h", tz="Europe/Berlin", name="time")
    frame = pd.DataFrame({"y": y, "u": u}, index=hours)
    past, future = frame[:15], frame[15:]
    expected = model.forecast(u[:15], y[:15], u[15:])
    for later in (future[["u"]], future["u"], future["u"].to_numpy(), future["u"].reset_index(drop=True)):
        forecast = model.forecast(past[["u"]], past["y"], later)
        assert forecast.index.equals(future.index) and forecast.name == "y"
        np.testing.assert_array_equal(forecast, expected)
    assert type(model.forecast(u[:15], y[:15], u[15:])) is np.ndarray
    indexes = [
        pd.date_range("2025-11-01", periods=20, freq="MS"),
        pd.period_range("2025-11", periods=20, freq="M"),
        pd.timedelta_range("1s", periods=20, freq="250ms"),
        pd.RangeIndex(20),
        pd.RangeIndex(100, 140, 2),
        pd.Index(np.arange(20) * 0.5, name="seconds"),
    ]
    for index in indexes:
        forecast = model.forecast(u[:15], pd.Series(y[:15], list(index[:15])), u[15:])
        assert list(forecast.index) == list(index[15:])


@pytest.mark.parametrize(
    ("index", "future", "words"),
    [
        (range(5), range(6, 9), r"u_future: found the index 6 to 8 after a record that ends at 4; needed: 5 to 7.*"),
        ([0.0, 1, 2, 4, 5], range(3), r"y: found the index 2.0, 4.0, where others are 1.0 apart; allowed: even .*"),
        (list("abcde"), range(3), r"y: found an index of type (object|str) with 5 entries; needed: times or numbers.*"),
    ],
)
def test_an_index_that_does_not_go_on_is_refused(index, future, words):
    model = Model(("y(k-1)", "u(k)"), (0.5, 1.0), ("u",), "y")
    record = pd.Series(np.ones(5), index)
    with pytest.raises(NarxbenchError, match=words):
        model.forecast(record, record, pd.Series(np.ones(3), future))


def test_inputs_and_output_have_one_index():
    model = Model(("y(k-1)", "u(k)"), (0.5, 1.0), ("u",), "y")
    u, y = pd.Series(np.ones(5), range(5)), pd.Series(np.ones(5), range(1, 6))
    with pytest.raises(NarxbenchError, match="u and y: found the indexes 0 to 4 and 1 to 5; needed: the same samples"):
        model.forecast(u, y, [1.0])


def arma(model, **exogenous):
    """Return what statsmodels forecasts with an ARMA model of given values."""
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    order, values = model
    y = exogenous.pop("y")
    inputs, later = exogenous.get("inputs"), exogenous.get("later")
    return SARIMAX(y, inputs, order=order).filter(values).forecast(AHEAD, exog=later)


def test_linear_series_against_statsmodels():
    y = np.cumsum(np.random.default_rng(3).normal(size=400)) * 0.3
    autoregressive = Model(("y(k-1)", "y(k-2)"), (1.2, -0.4), (), "y")
    expected = arma(((2, 0, 0), [1.2, -0.4, 1.0]), y=y)
    np.testing.assert_allclose(autoregressive.forecast(None, y, steps=AHEAD), expected, rtol=1e-9)
    mixed = Model(("y(k-1)", "y(k-2)"), (1.2, -0.4), (), "y", noise_model="narmax", moving_average=(0.5,))
    expected = arma(((2, 0, 1), [1.2, -0.4, 0.5, 1.0]), y=y)
    np.testing.assert_allclose(mixed.forecast(None, y, steps=AHEAD), expected, rtol=1e-9)


@pytest.mark.parametrize("is_integrated", [False, True])
def test_linear_box_jenkins_models_against_statsmodels(is_integrated):
    u, y = signals(400 + AHEAD)
    noise = {"autoregression": (-0.7,), "moving_average": (0.4,), "is_integrated": is_integrated}
    model = Model(("u(k)", "u(k-1)"), (2.0, -1.0), ("u",), "y", noise_model="box-jenkins", **noise)
    inputs = np.column_stack([u[1:], u[:-1]])
    order = (1, int(is_integrated), 1)
    values = [2.0, -1.0, 0.7, 0.4, 1.0]
    expected = arma((order, values), y=y[1:400], inputs=inputs[:399], later=inputs[399:])
    np.testing.assert_allclose(model.forecast(u[:400], y[:400], u[400:]), expected, rtol=1e-8)
