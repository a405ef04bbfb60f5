"""The JSON of a result: exactly its keys, in shapes that fit each other, and no NaN."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.lookups import item_with, names_of, values_of

import narxbench
from narxbench import load_system
from narxbench._identification.settings import IdentificationSettings

KEYS = [
    *("format", "version", "equation", "model", "models", "competitors", "terms", "coefficients", "standard_errors"),
    *("degree", "lags", "certainty"),
    *("noise", "offsets", "scales", "units", "decimation", "sampling_time"),
    *("method", "settings", "metrics", "bands", "dynamics", "warnings", "checks", "summary", "notes", "data_digest"),
]
FIGURES = {"rrse", "nrmse", "fit_percent", "rmse", "max_error"}
QUICK = {"effort": 0.3, "degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 2}


def identified(**changes):
    u, y = load_system("S1").simulate(400, snr_db=30)
    return narxbench.identify(
        **{"input": u, "output": np.repeat(y[::2], 2), "test": "20%", "sampling_time": 0.5, **QUICK, **changes}
    )


@pytest.fixture(scope="module")
def identification():
    return identified()


def test_the_keys_and_one_entry_for_each_term(identification):
    reported, model = identification.to_dict(), identification.model
    assert list(reported) == list(identification.to_dict()) == KEYS
    json.dumps(identification.to_dict(), allow_nan=False)
    assert json.loads(json.dumps(reported, allow_nan=False)) == reported
    assert reported["terms"] == list(model.terms) and reported["coefficients"] == list(model.coefficients)
    assert len(reported["standard_errors"]) == len(model.terms)
    np.testing.assert_allclose(reported["standard_errors"], model.standard_errors, rtol=1e-6)


def test_how_sure_the_terms_are(identification):
    certainty, probabilities = identification.to_dict()["certainty"], identification.probabilities
    assert certainty == identification.certainty.as_dict() and certainty["probabilities"] == probabilities
    assert certainty["missing"] == "" and set(identification.model.terms) <= set(probabilities)
    assert min(probabilities.values()) >= 0.0 and max(probabilities.values()) <= 1.0
    assert 0 < len(certainty["rivals"]) <= 10
    for rival in certainty["rivals"]:
        assert rival["terms"] != list(identification.model.terms)


def test_settings(identification):
    settings = dict(identification.to_dict()["settings"])
    assert settings.pop("found") == identification.configuration
    # The settings are read back unchanged.
    assert IdentificationSettings(**settings).model_dump(mode="json") == settings
    assert identification.configuration["candidates"] + len(identification.configuration["dropped"]) == 15


def test_the_summary(identification):
    summary = identification.to_dict()["summary"]
    assert len(set(names_of(summary))) == len(summary) > 3
    for entry in [*summary, *identification.to_dict()["checks"]]:
        assert set(entry) == {"name", "title", "status", "values", "text", "advice"}


def test_the_parts_agree(identification):
    tried, model, weights = identification.tried, identification.model, identification.weights
    assert list(tried["chosen"]).count(True) == 1 and bool(tried["chosen"][0])
    assert tried["configuration"][0] == identification.configuration["name"]
    assert tried["terms"][0] == len(model.terms) == len(weights)
    assert tuple(values_of(weights, "term")) == model.terms == identification.structures["best"].terms
    assert set(identification.structures) == {"best", "iterative_ofr"}
    assert model.data_digest == identification.recording.digest == identification.to_dict()["data_digest"]
    assert (model.step_time, model.decimation) == (1.0, 2)
    for frame in (tried, identification.validation):
        json.dumps(frame.to_dict("records"), allow_nan=False)
    json.dumps([weights, identification.alike], allow_nan=False)


def test_a_run_that_diverges_is_none_not_nan():
    """Test on data whose free run diverges: all other figures are reported."""
    u, y = load_system("S1").simulate(300, snr_db=40)
    test = (60.0 * u[:100], 60.0 * y[:100])
    reported = narxbench.identify(input=u, output=y, test=test, **{**QUICK, "decimation": 1}).to_dict()
    json.dumps(reported, allow_nan=False)
    free = reported["metrics"]["test"]["free_run"]
    assert free == dict.fromkeys(FIGURES) and reported["metrics"]["test"]["one_step"]["rrse"] > 0
    assert "bad" in values_of(reported["summary"], "status")


def test_a_terminal_shows_the_equation_the_error_and_the_findings_by_status(identification):
    shown = repr(identification)
    assert identification.model.equation() in shown and len(shown) < 1500
    error = item_with(identification.summary, name="errors").values
    assert f"RRSE {error['rrse']:.3g}" in shown and "data of test" in shown
    titles_by_status = {}
    for finding in identification.summary:
        titles_by_status.setdefault(finding.status, []).append(finding.title)
    for status, titles in titles_by_status.items():
        assert f"{status.capitalize()}: {'; '.join(titles)}" in shown
    assert values_of(identification.summary, "title") == values_of(identification.to_dict()["summary"], "title")


def test_a_notebook_shows_escaped_html(identification):
    page = identification._repr_html_()
    assert page.startswith("<table>") and "<td" in page and "NaN" not in page
    hostile = replace(identification, recording=replace(identification.recording, notes=("<b>u</b>",)))._repr_html_()
    assert "<b>" not in hostile and "&lt;b&gt;" in hostile
