"""Identification, scores, comparison and forecasts where outputs are missing in short gaps."""

import numpy as np
import pytest

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._identification.forecast import forecast_after
from narxbench._identification.identify import identify_recording
from narxbench._identification.settings import settings_from_python
from narxbench._identification.trust.refit import refit
from narxbench._identification.trust.validation import FREE_RUN, Case, row_of, validate
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator
from narxbench._report.model_fits import shown_fits
from narxbench._report.predictions import predictions

TRUE = Model(("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.6, 0.5, 0.2), ("u",), "y")
SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "seeds": 1, "effort": 1, "blocks": 4}


@pytest.fixture(scope="module")
def data():
    """Return signals whose outputs miss every fifth sample on average."""
    draws = generator(purpose="missing outputs of a record")
    u = draws.uniform(-1, 1, 600)
    y = TRUE.predict(u, [0.0]) + 0.02 * draws.standard_normal(600)
    y[draws.random(600) < 0.2] = np.nan
    y[0] = 0.0
    return {"u": u, "y": y}


@pytest.fixture(scope="module")
def identification(data):
    return narxbench.identify(data, "y", input="u", test="25%", **SETTINGS)


def test_the_terms_come_from_the_whole_record(identification, data):
    model = identification.model
    assert set(model.terms) == set(TRUE.terms)
    weights = dict(zip(model.terms, model.coefficients, strict=True))
    for term, weight in zip(TRUE.terms, TRUE.coefficients, strict=True):
        assert weights[term] == pytest.approx(weight, abs=0.03)
    records = identification.recording.records
    assert [record.role for record in records] == [None, "test"]
    assert sum(map(len, records)) > 590
    assert any("were left to the model to bridge" in note for note in identification.recording.notes)
    # The model itself stands in for what is missing, not the straight line of the reading.
    line = read_recording(data, input="u", output="y", test="25%").records[0]
    missing = np.flatnonzero(line.is_missing)
    clean = TRUE.predict(data["u"], [0.0])
    errors = {
        name: np.abs(y - clean[: len(y)])[missing].mean() for name, y in (("line", line.y), ("model", records[0].y))
    }
    assert errors["model"] < 0.2 * errors["line"]


def test_only_measured_outputs_are_scored(identification):
    (test,) = identification.recording.of_role("test")
    scored = len(test) - identification.model.initial_samples - int(test.is_missing.sum())
    row = row_of(identification.validation, "test", FREE_RUN)
    assert row["samples"] == scored
    assert identification.to_dict()["bands"]["free_run"]["test_coverage"] > 0.7


def test_a_chart_says_what_it_shows_in_gaps(identification):
    (fit,) = shown_fits(identification)
    (test,) = identification.recording.of_role("test")
    assert f"{test.is_missing.sum()} missing outputs are shown as they were bridged." in fit.note
    assert np.isfinite(fit.y).all() and np.isfinite(fit.predicted).all()


def test_what_stands_in_is_not_scored(data):
    (record,) = read_recording(data, input="u", output="y").records
    frames = []
    for stand_in in (0.0, 1e3):
        y = np.where(record.is_missing, stand_in, record.y)
        other = type(record)(record.name, record.u, y, "test", None, record.is_missing)
        frames.append(validate([Case(other, TRUE, {})], steps=[1, 5]))
    model_rows = [frame[frame["model"] == "model"] for frame in frames]
    assert model_rows[0].equals(model_rows[1])
    assert model_rows[0]["rrse"].max() < 0.2


def test_refit_goes_through_gaps(data):
    start = Model(TRUE.terms, (0.1, 0.1, 0.1), ("u",), "y")
    new = refit(start, data)
    np.testing.assert_allclose(new.coefficients, TRUE.coefficients, atol=0.03)
    cut = refit(start, data, bridge=0)
    assert new.coefficients != cut.coefficients
    assert new.data_digest != cut.data_digest


def test_predictions_and_comparison_know_what_was_measured(data):
    frame = predictions(TRUE, data, 1)
    is_missing = np.isnan(data["y"][: len(frame)])
    assert frame["measured"].isna().tolist() == is_missing.tolist()
    assert frame["predicted"].notna().all()
    table = narxbench.compare({"true": TRUE}, data)
    assert table["samples"][0] == (~is_missing[1:]).sum()
    assert table["one_step_rrse"][0] < 0.2


def test_forecasts_go_on_after_a_gap_close_to_the_end(data):
    late = {name: values[:100].copy() for name, values in data.items()}
    late["y"][95:98] = np.nan
    late["y"][98:] = 0.1
    future = {"u": np.zeros(3)}
    frame, _ = forecast_after(TRUE, late, future, confidence=None)
    expected = TRUE.forecast(late["u"], late["y"], future["u"])
    np.testing.assert_allclose(frame["forecast"], expected)
    with pytest.raises(NarxbenchError):
        # The stretch after the gap is no record.
        forecast_after(TRUE, {name: values[90:] for name, values in late.items()}, future, bridge=0)


def test_a_model_that_diverges_in_a_gap_leaves_the_data_cut(data, monkeypatch):
    def diverging(model, recording):
        raise narxbench.DivergedError("the prediction of missing outputs diverges")

    monkeypatch.setattr("narxbench._identification.identify.filled_by", diverging)
    checked = []
    recording = read_recording({name: values[:200] for name, values in data.items()}, input="u", output="y")
    settings = settings_from_python({**SETTINGS, "noise": "narx", "method": "frols", "effort": 0.1})
    identification = identify_recording(recording, settings, checked.append)
    assert identification.recording.notes[-1].startswith("The model diverges where outputs are missing")
    assert not any(record.is_missing is not None for record in identification.recording.records)
    assert len(checked) == 1
