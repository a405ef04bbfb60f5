"""Identification, scores, comparison and refits where outputs are missing in short gaps."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from tests.command import run, succeeded
from tests.lookups import roles_of

import narxbench

TRUE = narxbench.Model(("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.6, 0.5, 0.2), ("u",), "y")
SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 1}


@pytest.fixture(scope="module")
def data():
    """Return signals whose outputs miss every fifth sample on average."""
    draws = np.random.default_rng(8)
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
    assert roles_of(records) == [None, "test"] and sum(map(len, records)) > 590
    assert "were left to the model to bridge" in " ".join(identification.recording.notes)
    # The model itself replaces what is missing, not the straight line of the reading.
    clean, (estimation, _) = TRUE.predict(data["u"], [0.0]), records
    missing, measured = np.flatnonzero(estimation.is_missing), np.flatnonzero(~estimation.is_missing)
    line = np.interp(missing, measured, estimation.y[measured])
    errors = np.abs(np.array([estimation.y[missing], line]) - clean[missing]).mean(axis=1)
    assert errors[0] < 0.2 * errors[1]


def test_only_measured_outputs_are_scored(identification, tmp_path):
    (test,) = identification.recording.of_role("test")
    n_missing = int(test.is_missing.sum())
    validation = identification.validation
    of_test = validation[(validation["role"] == "test") & (validation["model"] == "model")]
    assert set(of_test["samples"]) == {len(test) - identification.model.initial_samples - n_missing}
    assert identification.to_dict()["bands"]["free_run"]["test_coverage"] > 0.7
    page = narxbench.write_report(identification, tmp_path).read_text(encoding="utf-8").replace("&nbsp;", " ")
    assert f"{n_missing} missing outputs are shown as they were bridged." in page


def test_refit_and_comparison_know_what_was_measured(data):
    start = narxbench.Model(TRUE.terms, (0.1, 0.1, 0.1), ("u",), "y")
    new, cut = narxbench.refit(start, data), narxbench.refit(start, data, bridge=0)
    np.testing.assert_allclose(new.coefficients, TRUE.coefficients, atol=0.03)
    assert new.coefficients != cut.coefficients and new.data_digest != cut.data_digest
    table = narxbench.compare({"true": TRUE}, data)
    assert table["samples"][0] == np.isfinite(data["y"][1:]).sum()
    assert table["one_step_rrse"][0] < 0.2


def test_a_forecast_goes_on_after_a_gap_close_to_the_end(data, tmp_path):
    late = pd.DataFrame(data)[:100]
    late.loc[95:97, "y"] = np.nan
    late.loc[98:, "y"] = 0.1
    late.to_csv(tmp_path / "late.csv", index=False)
    pd.DataFrame({"u": np.zeros(3)}).to_csv(tmp_path / "future.csv", index=False)
    TRUE.save(tmp_path / "model.json")
    words = ["forecast", tmp_path / "model.json", tmp_path / "late.csv", "--future", tmp_path / "future.csv"]
    frame = pd.read_csv(io.StringIO(succeeded(*words)))
    np.testing.assert_allclose(frame["forecast"], TRUE.forecast(late["u"], late["y"], np.zeros(3)), rtol=1e-5)
    late[90:].to_csv(tmp_path / "late.csv", index=False)
    # The stretch after the gap is no record.
    outcome = run(*words, "--bridge", "0")
    assert outcome.code == 2 and "found no record of at least 10 samples" in outcome.err


def test_data_stay_cut_where_the_model_diverges_in_a_gap(data, tmp_path, monkeypatch):
    def diverging(model, recording):
        raise narxbench.DivergedError("the prediction of missing outputs diverges")

    monkeypatch.setattr("narxbench._identification.identify.filled_by", diverging)
    pd.DataFrame(data)[:200].to_csv(tmp_path / "data.csv", index=False)
    words = ["--degree", "2", "--y-lags", "2", "--u-lags", "2", "--decimation", "1", "--effort", "0.1", "--json"]
    printed = json.loads(succeeded("identify", tmp_path / "data.csv", "--input", "u", "--output", "y", *words))
    assert "The model diverges where outputs are missing" in " ".join(printed["warnings"])
