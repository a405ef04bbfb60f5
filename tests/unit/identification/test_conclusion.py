"""The certainty of the structure of an identification: on its result, its page, and in JSON."""

import json
import re
from html import unescape
from unittest.mock import patch

import numpy as np
import pytest
from tests.lookups import item_with

import narxbench
from narxbench._identification import conclusion
from narxbench._identification.trust.probabilities import structure_certainty
from narxbench._identification.trust.reading import group_sentence
from narxbench._numerics.random_streams import generator
from narxbench._report import model_figures
from narxbench._report.model_page import model_page

QUICK = {"decimation": 1, "degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.5}


@pytest.fixture(scope="module")
def twins():
    """Return an identification from two inputs that are almost the same."""
    rng = generator(purpose="twin inputs")
    first = rng.normal(size=400)
    second = first + 0.1 * rng.normal(size=400)
    y = np.zeros(400)
    for k in range(1, 400):
        y[k] = 0.5 * y[k - 1] + first[k - 1] + rng.normal()
    return narxbench.identify({"a": first, "b": second, "y": y}, "y", input=["a", "b"], test="20%", **QUICK)


@pytest.fixture
def group(twins):
    """Return the only group of exchangeable terms."""
    (group,) = twins.certainty.groups
    return group


def test_exchangeable_terms_are_named_on_the_result(twins, group):
    assert group.terms == ["u1(k-1)", "u2(k-1)"] and sum(group.probabilities) > 0.9
    assert min(group.probabilities) > 0.02
    assert [twins.probabilities[term] for term in group.terms] == group.probabilities
    to_read = item_with(twins.summary, name="to_read")
    assert to_read.status == "look" and group_sentence(*group) in to_read.text


def test_exchangeable_terms_are_named_in_json(twins, group):
    reported = twins.to_dict()
    assert json.loads(json.dumps(reported, allow_nan=False)) == reported
    assert reported["certainty"]["groups"] == [group._asdict()]
    assert reported["certainty"]["rivals"][0]["terms"] == twins.certainty.rivals[0].terms


def test_exchangeable_terms_are_named_on_the_page(twins, group):
    with patch.object(model_figures, "svg", return_value='<svg xmlns="http://www.w3.org/2000/svg"/>'):
        text = re.sub("<[^>]*>", "", unescape(model_page(twins, [])))
    assert group_sentence(*group).replace("(k-", "(k−") in text and "The probability of the structure is" in text


def test_the_evidence_is_that_of_the_samples_that_estimate():
    """Count samples of one phase, and fewer where they follow one another too fast."""
    u, y = np.repeat(narxbench.load_system("S1").simulate(600, snr_db=30), 4, axis=1)
    records = [{"u": u[:1600], "y": y[:1600]}, {"u": u[1600:], "y": y[1600:]}]
    settings = {**QUICK, "degree": 2, "decimation": [2, 4], "roles": {"data 2": "selection"}}
    with patch.object(conclusion, "structure_certainty", side_effect=structure_certainty) as certain:
        identification = narxbench.identify(records, "y", input="u", **settings)
    model = identification.model
    (problem, terms, noise_model, families), options = certain.call_args
    assert (list(terms), noise_model) == (list(model.terms), model.noise) and len(families) == 6
    assert len(problem.training_y) <= (1600 + 800) // model.decimation + 1
    n_predicted = np.diff(problem.stretches).sum()
    assert n_predicted == 1600 // model.decimation - model.max_lag
    assert options["repeated"] >= 1.0
    for names, _ in options["compared"]:
        assert set(names) <= set(problem.terms)
    assert identification.certainty.samples <= n_predicted / options["repeated"]
