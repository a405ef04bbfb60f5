"""Outputs that are missing: predictions, scores and forecasts go through their gaps."""

import numpy as np
import pandas as pd
import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import DivergedError, Model
from narxbench._numerics.random_streams import generator

TERMS = ("1", "y(k-1)", "y(k-2)", "u(k-1)", "y(k-1)*u(k-2)")
WEIGHTS = (0.1, 0.5, -0.3, 1.0, 0.2)
GAPS = (12, 13, 14, 20, 35, 36, 59)
NOISES = {
    "narx": {},
    "narmax": {"noise_model": "narmax", "moving_average": (0.5, 0.2)},
    "ararx": {"noise_model": "ararx", "autoregression": (-0.6,)},
    "drifting": {"noise_model": "ararmax", "autoregression": (-0.4,), "moving_average": (0.3,), "is_integrated": True},
    "noe": {"noise_model": "noe"},
    "box-jenkins": {"noise_model": "box-jenkins", "autoregression": (-0.7,), "moving_average": (0.4,)},
    "drift on the output": {"noise_model": "box-jenkins", "autoregression": (-0.7,), "is_integrated": True},
}


def _model(**values):
    return Model(TERMS, WEIGHTS, ("u",), "y", **values)


def _signals(model, samples=60):
    draws = generator(purpose="missing outputs")
    u = draws.standard_normal(samples)
    y = model.predict(u, np.zeros(model.initial_samples)) + 0.3 * draws.standard_normal(samples).cumsum() / 4
    return u, y


def _with_gaps(y, places=GAPS):
    gappy = y.copy()
    gappy[list(places)] = np.nan
    return gappy


@pytest.mark.parametrize("scaling", [{}, {"offsets": (0.5, -1.0), "scales": (2.0, 0.5)}], ids=["plain", "scaled"])
@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize("noise", NOISES)
def test_what_is_missing_is_the_forecast_from_before_the_gap(noise, decimation, scaling):
    model = _model(decimation=decimation, **NOISES[noise], **scaling)
    u, y = _signals(model)
    gappy = _with_gaps(y)
    filled = model.filled(u[:, None], gappy)
    expected = gappy.copy()
    for place in GAPS:
        expected[place] = model.forecast(u[:place], expected[:place], u[place : place + 1])[0]
    np.testing.assert_allclose(filled, expected, rtol=1e-9)
    np.testing.assert_array_equal(filled[~np.isnan(gappy)], y[~np.isnan(gappy)])


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("noise", NOISES)
def test_predictions_are_those_from_the_filled_outputs(noise, steps):
    model = _model(**NOISES[noise])
    u, y = _signals(model)
    gappy = _with_gaps(y)
    filled = model.filled(u[:, None], gappy)
    np.testing.assert_array_equal(model.predict(u, gappy, steps), model.predict(u, filled, steps))
    np.testing.assert_array_equal(model.forecast(u, gappy, u[:5]), model.forecast(u, filled, u[:5]))


def test_a_long_gap_is_a_free_run():
    model = _model(offsets=(0.5, -1.0))
    u, y = _signals(model)
    free_run = model.predict(u, y[:2], samples=60)
    np.testing.assert_array_equal(model.filled(u[:, None], _with_gaps(y, range(2, 60))), free_run)
    np.testing.assert_array_equal(model.predict(u, _with_gaps(y, range(2, 60))), free_run)


def test_only_measured_outputs_are_scored():
    model = _model()
    u, y = _signals(model)
    gappy = _with_gaps(y)
    is_scored = np.arange(60) >= 2
    is_scored &= ~np.isnan(gappy)
    for steps in (None, 1):
        errors = (y - model.predict(u, gappy, steps))[is_scored]
        score = model.score(u, gappy, steps)
        assert score.samples == is_scored.sum()
        assert score.mae == pytest.approx(np.abs(errors).mean())
    complete = model.score(u, y)
    assert complete.samples == 58 and complete.rrse != model.score(u, gappy).rrse


def test_series_keep_their_index():
    model = _model()
    u, y = _signals(model)
    index = pd.date_range("2024-05-01", periods=60, freq="h")
    predicted = model.predict(pd.Series(u, index), pd.Series(_with_gaps(y), index), 1)
    assert predicted.index.equals(index) and predicted.notna().all()


def test_the_first_outputs_must_be_measured():
    model = _model()
    u, y = _signals(model)
    for call in (model.predict, model.score, lambda u, y: model.forecast(u, y, steps=1, u_future=[0.0])):
        with pytest.raises(NarxbenchError, match="found nan at sample 2; allowed: the first 2 outputs"):
            call(u, _with_gaps(y, [1, 9]))
        with pytest.raises(NarxbenchError, match="found inf at sample 31; allowed: finite numbers"):
            call(u, np.where(np.arange(60) == 30, np.inf, y))
        with pytest.raises(NarxbenchError, match="u: found nan at sample 1; allowed: finite numbers"):
            call(u * np.nan, y)


def test_a_gap_in_which_the_model_diverges_is_one_line():
    model = Model(("y(k-1)^2",), (1.0,), (), "y")
    y = [3.0, 2.0, *[np.nan] * 20]
    with pytest.raises(DivergedError, match="the prediction of missing outputs diverges"):
        model.predict(None, y, 1)
    with pytest.raises(DivergedError, match="missing outputs"):
        model.forecast(None, y, steps=1)
