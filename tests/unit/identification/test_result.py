"""The JSON of a result: exactly its keys, in shapes that fit each other, and no NaN."""

import json
from dataclasses import replace

import numpy as np
import pytest

import narxbench
from narxbench import load_system
from narxbench._identification.settings import IdentificationSettings
from narxbench._report.findings import as_json

KEYS = [
    *("equation", "terms", "coefficients", "standard_errors", "certainty", "selection_frequency"),
    *("noise", "offsets", "scales", "decimation", "sampling_time"),
    *("method", "settings", "metrics", "bands", "warnings", "summary", "data_digest"),
]
FIGURES = {"rrse", "nrmse", "fit_percent", "rmse", "max_error"}
QUICK = {"effort": 1.0, "seeds": 2, "resamples": 3, "blocks": 4, "degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 2}


def identified(**changes):
    u, y = load_system("S1").simulate(400, snr_db=30)
    return narxbench.identify(
        **{"input": u, "output": np.repeat(y[::2], 2), "test": "20%", "sampling_time": 0.5, **QUICK, **changes}
    )


@pytest.fixture(scope="module")
def found():
    return identified()


def test_the_keys_and_one_entry_for_each_term(found):
    reported, n_terms = found.to_dict(), len(found.model.terms)
    assert list(reported) == list(as_json(found)) == KEYS
    assert all({"name", "status", "text", "advice"} <= set(entry) for entry in as_json(found)["summary"])
    json.dumps(as_json(found), allow_nan=False)
    assert json.loads(json.dumps(reported, allow_nan=False)) == reported
    assert reported["terms"] == list(found.model.terms) and reported["coefficients"] == list(found.model.coefficients)
    assert len(reported["standard_errors"]) == n_terms
    np.testing.assert_allclose(reported["standard_errors"], found.model.standard_errors, rtol=1e-6)
    frequency = dict(zip(found.selection["term"], found.selection["resample_frequency"], strict=True))
    assert reported["selection_frequency"] == [frequency.get(term, 0.0) for term in reported["terms"]]


def test_how_sure_the_terms_are(found):
    certainty = found.to_dict()["certainty"]
    assert certainty == found.certainty.as_dict() and certainty["probabilities"] == found.probabilities
    assert certainty["missing"] == "" and set(found.model.terms) <= set(found.probabilities)
    assert all(0.0 <= probability <= 1.0 for probability in found.probabilities.values())
    assert 0 < len(certainty["rivals"]) <= 10
    assert all(rival["terms"] != list(found.model.terms) for rival in certainty["rivals"])
    # Without resampled data there is no frequency.
    alone = identified(resamples=0)
    assert alone.to_dict()["selection_frequency"] is None and alone.to_dict()["certainty"] == certainty
    assert set(alone.structures) == {"best", "iterative_ofr"} and alone.structures_made == {}


def test_settings(found):
    settings = dict(found.to_dict()["settings"])
    assert settings.pop("found") == found.configuration
    # They make the same again.
    assert IdentificationSettings(**settings).model_dump(mode="json") == settings
    assert found.configuration["candidates"] + len(found.configuration["dropped"]) == 15


def test_the_summary(found):
    summary = as_json(found)["summary"]
    assert summary and all({"name", "status", "text", "advice"} <= set(entry) for entry in summary)
    assert ["values" in entry for entry in summary[:4]] == [True, True, True, False]
    assert all(set(entry) == {"name", "status", "values"} for entry in found.to_dict()["summary"])
    assert len({entry["name"] for entry in summary}) == len(summary)


def test_the_parts_agree(found):
    tried = found.tried
    assert list(tried["chosen"]).count(True) == 1 and bool(tried["chosen"][0])
    assert tried["configuration"][0] == found.configuration["name"]
    assert tried["terms"][0] == len(found.model.terms) == len(found.weights)
    assert [row["term"] for row in found.weights] == list(found.model.terms) == found.structures["best"].terms
    assert set(found.structures) == {"best", "threshold", "most_frequent", "iterative_ofr"}
    assert found.model.data_digest == found.recording.digest == found.to_dict()["data_digest"]
    assert (found.model.step_time, found.model.decimation) == (1.0, 2)
    tables = [frame.to_dict("records") for frame in (found.tried, found.selection, found.validation)]
    json.dumps([*tables, found.weights, found.alike], allow_nan=False)


def test_a_run_that_diverges_is_none_not_nan():
    """Of the test data the free run diverges; the rest is reported all the same."""
    u, y = load_system("S1").simulate(300, snr_db=40)
    test = (60.0 * u[:100], 60.0 * y[:100])
    reported = narxbench.identify(input=u, output=y, test=test, **{**QUICK, "decimation": 1, "centre": False}).to_dict()
    json.dumps(reported, allow_nan=False)
    free = reported["metrics"]["test"]["free_run"]
    assert free == dict.fromkeys(FIGURES) and reported["metrics"]["test"]["one_step"]["rrse"] > 0
    assert any(entry["status"] == "bad" for entry in reported["summary"])


def test_what_a_terminal_and_a_notebook_show_is_short_and_escaped(found):
    shown, page = repr(found), found._repr_html_()
    assert found.model.equation() in shown and len(shown) < 1000
    error = next(finding for finding in found.summary if finding.name == "prediction").values
    assert f"RRSE {error['rrse']:.3g}" in shown and "data of test" in shown
    for status in ("bad", "look", "fine"):
        names = [finding.name.replace("_", " ") for finding in found.summary if finding.status == status]
        assert not names or f"{status.capitalize()}: {', '.join(names)}" in shown
    assert page.startswith("<table>") and "<td" in page and "NaN" not in page
    hostile = replace(found, recording=replace(found.recording, notes=("<b>u</b>",)))._repr_html_()
    assert "<b>" not in hostile and "&lt;b&gt;" in hostile
