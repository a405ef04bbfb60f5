"""Identification, scores, comparison and forecasts where outputs are missing in short gaps."""

import numpy as np
import pandas as pd
import pytest
from tests.lookups import roles_of

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
SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 1}


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
    assert set(TRUE.terms) <= set(model.terms) and len(model.terms) <= 4
    weights = dict(zip(model.terms, model.coefficients, strict=True))
    for term, weight in zip(TRUE.terms, TRUE.coefficients, strict=True):
        assert weights[term] == pytest.approx(weight, abs=0.03)
    records = identification.recording.records
    assert roles_of(records) == [None, "test"]
    assert sum(map(len, records)) > 590
    assert "were left to the model to bridge" in " ".join(identification.recording.notes)
    # The model itself stands in for what is missing, not the straight line of the reading.
    line = read_recording(data, input="u", output="y", test="25%").records[0]
    missing = np.flatnonzero(line.is_missing)
    clean = TRUE.predict(data["u"], [0.0])
    error_of_line = np.abs(line.y - clean[: len(line)])[missing].mean()
    error_of_model = np.abs(records[0].y - clean[: len(records[0])])[missing].mean()
    assert error_of_model < 0.2 * error_of_line


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
    model_rows = []
    for stand_in in (0.0, 1e3):
        y = np.where(record.is_missing, stand_in, record.y)
        other = type(record)(record.name, record.u, y, "test", None, record.is_missing)
        frame = validate([Case(other, TRUE, {})], steps=[1, 5])
        model_rows.append(frame[frame["model"] == "model"])
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
    late = pd.DataFrame(data)[:100]
    late.loc[95:97, "y"] = np.nan
    late.loc[98:, "y"] = 0.1
    future = {"u": np.zeros(3)}
    frame, _ = forecast_after(TRUE, late, future, confidence=None)
    expected = TRUE.forecast(late["u"], late["y"], future["u"])
    np.testing.assert_allclose(frame["forecast"], expected)
    with pytest.raises(NarxbenchError):
        # The stretch after the gap is no record.
        forecast_after(TRUE, late[90:].reset_index(drop=True), future, bridge=0)


def test_a_model_that_diverges_in_a_gap_leaves_the_data_cut(data, monkeypatch):
    def diverging(model, recording):
        raise narxbench.DivergedError("the prediction of missing outputs diverges")

    monkeypatch.setattr("narxbench._identification.identify.filled_by", diverging)
    checked = []
    recording = read_recording(pd.DataFrame(data)[:200], input="u", output="y")
    settings = settings_from_python({**SETTINGS, "noise": "narx", "effort": 0.1})
    identification = identify_recording(recording, settings, checked.append)
    assert identification.recording.notes[-1].startswith("The model diverges where outputs are missing")
    for record in identification.recording.records:
        assert record.is_missing is None
    assert len(checked) == 1
