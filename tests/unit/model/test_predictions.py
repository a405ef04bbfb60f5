"""Predictions, forecasts and gaps: against plain loops, one another to the last bit, and statsmodels."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.model.models import ARX, models, signals

from narxbench import DivergedError, Model, load_system

quick = settings(max_examples=80, deadline=None)
NOISES = {
    "narx": {},
    "narmax": {"noise_model": "narmax", "moving_average": (0.6, -0.3)},
    "ararx": {"noise_model": "ararx", "autoregression": (-0.5, 0.0, 0.2)},
    "ararmax": {"noise_model": "ararmax", "autoregression": (-0.8,), "moving_average": (0.0, 0.4)},
    "noe": {"noise_model": "noe"},
    "box-jenkins": {"noise_model": "box-jenkins", "autoregression": (0.0, -0.6), "moving_average": (0.5,)},
}
NOISES |= {f"integrated {name}": {**noise, "is_integrated": True} for name, noise in NOISES.items()}
TERMS = ("y(k-1)", "u(k-2)", "y(k-1)*u(k-1)", "y(k-2)"), (0.5, 1.0, 0.1, 0.2)
SAMPLES, AHEAD = 120, 20


def plain_prediction(model, u, y, steps):
    """Return the prediction of each sample, made one by one in plain floats from what was measured before."""
    offsets = model.offsets or [0.0] * (1 + model.n_inputs)
    scales = model.scales or [1.0] * (1 + model.n_inputs)

    @cache
    def predicted(k, start):
        """Return the output at sample k where those before the sample ``start`` are measured."""
        if k < max(model.initial_samples, start):
            return float(y[k])
        value = 0.0
        for weight, monomial in zip(model.coefficients, model.monomials, strict=True):
            product = weight
            for signal, lag in monomial:
                j = k - lag * model.decimation
                past = float(u[j, signal - 1]) if signal else predicted(j, start)
                product *= (past - offsets[signal]) / scales[signal]
            value += product
        return value * scales[0] + offsets[0]

    return [predicted(k, 0 if steps is None else k - (steps - 1) * model.decimation) for k in range(len(u))]


@quick
@given(models(), st.integers(0, 2**32), st.sampled_from([None, 1, 2, 3, 7]), st.integers(0, 40))
def test_predictions_of_a_plain_loop(model, seed, steps, n_predicted):
    u, y = signals(model, model.initial_samples + n_predicted, seed)
    expected = plain_prediction(model, u, y, steps)
    if max(map(abs, expected), default=0) > 1e5:
        return
    assert model.predict(u, y, steps).tolist() == expected
    if steps is None:
        # A free run sees the first outputs alone, and is what is predicted more steps ahead than there are.
        assert model.predict(u, y[: model.initial_samples], samples=len(u)).tolist() == expected
        assert model.predict(u, y, steps=10**9).tolist() == expected


@pytest.mark.parametrize("name", ["S1", "S4"])
def test_a_system_is_predicted_to_the_last_bit(name):
    system = load_system(name)
    u, y = system.simulate(500)
    assert Model(system.terms, system.coefficients, ("u",), "y").predict(u, y).tobytes() == y.tobytes()


# y - x of y(k) = 0.8 y(k-1) + u(k-1), x being the free run, is an ARIMA process: its autoregression and moving average.
ARIMA = [
    ("narx", {}, [0.8], []),
    ("narmax", {"moving_average": (-0.7,), "is_integrated": True}, [0.8], [-0.7]),
    ("ararx", {"autoregression": (-0.5,)}, [1.3, -0.4], []),
    ("box-jenkins", {"autoregression": (-0.9, 0.2), "moving_average": (0.5,)}, [0.9, -0.2], [0.5]),
    ("box-jenkins", {"autoregression": (-0.5,), "moving_average": (0.3,), "is_integrated": True}, [0.5], [0.3]),
]


@pytest.mark.parametrize(("name", "noise", "autoregression", "moving_average"), ARIMA)
def test_predictions_with_noise_are_those_of_statsmodels(name, noise, autoregression, moving_average):
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    model = Model(("y(k-1)", "u(k-1)"), (0.8, 1.0), ("u",), "y", noise_model=name, **noise)
    rng = np.random.default_rng(1)
    u, innovations = rng.standard_normal((2, 300))
    y = model.predict(u, [0.0], samples=300) + np.cumsum(innovations)
    errors = y - model.predict(u, y)
    order = (len(autoregression), int(model.is_integrated), len(moving_average))
    for steps in (1, 2, 5):
        process = SARIMAX(errors[: 300 - steps], order=order)
        forecast = process.filter([*autoregression, *moving_average, 1.0]).forecast(steps)[-1]
        predicted = model.predict(u, y, steps)[-1] - model.predict(u, y)[-1]
        assert predicted == pytest.approx(forecast, rel=1e-5, abs=1e-7)


def test_the_bound_of_predictions_is_a_multiple_of_the_largest_output():
    growing = Model(("y(k-1)",), (10.0,), (), "y")
    # It is 2e6, and 2e7 lies outside.
    assert growing.predict(None, [2.0] * 20, steps=6)[-1] == 2e6
    for steps in (7, None):
        with pytest.raises(DivergedError):
            growing.predict(None, [2.0] * 20, steps=steps, samples=20)
    # How large outputs are may not be known.
    assert growing.predict(None, [1.0], samples=13)[-1] == 1e12
    with pytest.raises(DivergedError, match="at sample 14"):
        growing.predict(None, [1.0], samples=14)
    assert ARX.predict([1e9, 0.0, 0.0], [0.0, 0.0, 0.0]).tolist() == [0.0, 1e9, 5e8]


# Forecasts.


def nonlinear(decimation=1, **noise):
    return Model(*TERMS, ("u",), "y", decimation=decimation, offsets=(1.0, 0.5), scales=(2.0, 3.0), **noise)


def long_signals(samples=SAMPLES + AHEAD):
    draws = np.random.default_rng(1)
    u = draws.normal(size=samples)
    return u, u + 0.1 * np.cumsum(draws.normal(size=samples))


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_forecast_is_the_prediction_from_the_last_samples(noise, decimation):
    model = nonlinear(decimation, **noise)
    u, y = long_signals()
    forecast = model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES:])
    for ahead, value in enumerate(forecast, 1):
        steps = -(-ahead // decimation)
        # Outputs after the record are not examined.
        expected = model.predict(u, y, steps)[SAMPLES - 1 + ahead]
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_inputs_that_act_later_need_not_be_known():
    model = Model(("y(k-1)", "u(k-2)"), (0.5, 1.0), ("u",), "y", decimation=2)
    u, y = long_signals()
    whole = model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES:])
    np.testing.assert_array_equal(model.forecast(u[:SAMPLES], y[:SAMPLES], steps=4), whole[:4])
    np.testing.assert_array_equal(model.forecast(u[:SAMPLES], y[:SAMPLES], u[SAMPLES : SAMPLES + 2], 6), whole[:6])


def test_the_shortest_record():
    model = Model(("y(k-1)",), (0.5,), (), "y", noise_model="ararx", autoregression=(-0.5,))
    assert model.forecast(None, [8.0], steps=2).tolist() == [4.0, 2.0]
    assert model.forecast(None, [8.0], steps=0).tolist() == []


@pytest.mark.parametrize("noise", ["narx", "noe"])
def test_what_diverges_after_a_record_or_in_a_gap(noise):
    model = Model(("y(k-1)^2",), (2.0,), (), "y", noise_model=noise)
    with pytest.raises(DivergedError, match=r"diverges [0-9]+ samples? after the record"):
        model.forecast(None, [1.0, 3.0], steps=30)
    for call in (lambda y: model.predict(None, y, 1), lambda y: model.forecast(None, y, steps=1)):
        with pytest.raises(DivergedError, match="the prediction of missing outputs diverges"):
            call([3.0, 2.0, *[np.nan] * 20])


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


INDEXES = [
    pd.date_range("2025-11-01", periods=20, freq="MS"),
    pd.date_range("2026-03-28 10:00", periods=20, freq="h", tz="Europe/Berlin", name="time"),
    pd.period_range("2025-11", periods=20, freq="M"),
    pd.timedelta_range("1s", periods=20, freq="250ms"),
    pd.RangeIndex(20),
    pd.Index(np.arange(20) * 0.1, name="seconds"),
]


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: type(index).__name__)
def test_the_index_goes_on(index):
    model = Model(("y(k-1)", "u(k)"), (0.5, 1.0), ("u",), "y")
    u, y = long_signals(20)
    frame = pd.DataFrame({"y": y, "u": u}, index=index)
    past, future = frame[:15], frame[15:]
    expected = model.forecast(u[:15], y[:15], u[15:])
    assert type(expected) is np.ndarray
    for later in (future[["u"]], future["u"], future["u"].to_numpy(), future["u"].reset_index(drop=True)):
        forecast = model.forecast(past[["u"]], past["y"], later)
        assert forecast.name == "y"
        if index.dtype.kind == "f":
            np.testing.assert_allclose(forecast.index, index[15:])
        else:
            assert forecast.index.equals(future.index)
        np.testing.assert_array_equal(forecast, expected)


# Gaps: outputs that are missing.

GAPS = (12, 13, 14, 20, 35, 36, 59)


def with_gaps():
    """Return inputs, outputs, and outputs with gaps."""
    u, y = long_signals(60)
    gappy = y.copy()
    gappy[list(GAPS)] = np.nan
    return u, y, gappy


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_what_is_missing_is_the_forecast_from_before_the_gap(noise, decimation):
    model = nonlinear(decimation, **noise)
    u, y, gappy = with_gaps()
    filled = model.filled(u[:, None], gappy)
    expected = gappy.copy()
    for place in GAPS:
        expected[place] = model.forecast(u[:place], expected[:place], u[place : place + 1])[0]
    np.testing.assert_allclose(filled, expected, rtol=1e-9)
    np.testing.assert_array_equal(filled[~np.isnan(gappy)], y[~np.isnan(gappy)])
    for steps in (1, 4):
        np.testing.assert_array_equal(model.predict(u, gappy, steps), model.predict(u, filled, steps))
    np.testing.assert_array_equal(model.forecast(u, gappy, u[:5]), model.forecast(u, filled, u[:5]))


def test_only_measured_outputs_are_scored():
    model = nonlinear()
    u, y, gappy = with_gaps()
    is_scored = ~np.isnan(gappy)
    is_scored[:2] = False
    for steps in (None, 1):
        errors = (y - model.predict(u, gappy, steps))[is_scored]
        score = model.score(u, gappy, steps)
        assert score.samples == is_scored.sum()
        assert score.mae == pytest.approx(np.abs(errors).mean())
