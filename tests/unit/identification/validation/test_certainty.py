"""How sure an identification is: probabilities against those of all structures, and terms outside the candidates."""

import json
import math
from itertools import chain, combinations

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.lookups import values_of
from tests.unit.identification.quick import identified

import narxbench

CANDIDATES = ("1", "y(k-1)", "u(k-1)", "u(k-2)")


def all_probabilities(u, y, samples):
    """Return the probability of each structure of white noise in the equation, on the last samples."""
    columns = dict(
        zip(CANDIDATES, np.array([np.ones(len(y) - 2), y[1:-1], u[1:-1], u[:-2]])[:, -samples:], strict=True)
    )
    criteria = {}
    for terms in chain(*map(combinations, [CANDIDATES] * 5, range(5))):
        x = np.column_stack([np.zeros(samples), *map(columns.get, terms)])
        residuals = y[-samples:] - x @ np.linalg.lstsq(x, y[-samples:])[0]
        # Extended BIC with a gamma of 0.75.
        costs = len(terms) * (math.log(samples) + 1.5 * math.log(len(CANDIDATES)))
        criteria[terms] = samples * math.log(residuals @ residuals / samples) + costs
    weights = np.exp(-0.5 * (np.array(list(criteria.values())) - min(criteria.values())))
    return dict(zip(criteria, weights / weights.sum(), strict=True))


@pytest.mark.parametrize("weight", [0.0, 0.06, 0.15])
def test_probabilities_are_those_of_all_structures(weight):
    u, e = np.random.default_rng(1).normal(size=(2, 200))
    y = lfilter([0.0, 0.5, weight], [1.0, -0.6], u) + lfilter([0.3], [1.0, -0.6], e)
    identification = identified(u, y, u_lags=2)
    certainty = identification.to_dict()["certainty"]
    assert json.loads(json.dumps(certainty, allow_nan=False)) == certainty and certainty["missing"] == ""
    probabilities = all_probabilities(u, y, certainty["samples"])
    # Heavy tails would be further noise models.
    terms = identification.model.terms
    assert certainty["probability"] == pytest.approx(probabilities[terms], abs=0.03)
    for candidate in CANDIDATES:
        expected = sum(value for structure, value in probabilities.items() if candidate in structure)
        assert certainty["probabilities"].get(candidate, 0.0) == pytest.approx(expected, abs=0.03)
    shown = values_of(certainty["rivals"], "probability")
    assert shown == sorted(shown, reverse=True) and list(terms) not in values_of(certainty["rivals"], "terms")
    for rival in certainty["rivals"][:3]:
        expected = -2 * math.log(probabilities[tuple(rival["terms"])] / probabilities[terms])
        assert rival["difference"] == pytest.approx(expected, abs=0.2)


def test_an_exact_model_has_no_probability():
    u = np.random.default_rng(3).normal(size=200)
    y = lfilter([0.0, 0.5], [1.0, -0.8], u)
    certainty = identified(u, y, u_lags=1).certainty
    assert certainty.missing.startswith("its terms explain the data to the last digit")
    assert certainty.probability is None and not (certainty.probabilities or certainty.rivals or certainty.groups)


def lack_of(weights):
    """Return what the candidates of a linear model lack, on data that a model of further terms made."""
    rng = np.random.default_rng(4)
    terms = {"y(k-1)": 0.6, "u(k-1)": 0.5, **weights}
    model = narxbench.Model(tuple(terms), tuple(terms.values()), inputs=("u",), output="y")
    u = rng.normal(size=400)
    y = model.predict(u, np.zeros(model.initial_samples)) + 0.02 * rng.normal(size=400)
    return identified(u, y, u_lags=1, noise="noe").dynamics


@pytest.mark.parametrize("missing", ["u(k-1)^2", "y(k-1)*u(k-1)", "u(k-3)"])
def test_a_term_that_is_no_candidate_is_named(missing):
    dynamics = lack_of({missing: -0.05})
    assert dynamics.lacking == [missing] and "residuals and further terms" not in dynamics.unexplained


def test_a_true_structure_lacks_nothing_and_a_poor_one_more_than_is_named():
    assert lack_of({}).lacking == []
    weights = {"u(k-2)": 0.3, "u(k-3)": 0.2, "u(k-1)^2": 0.2, "u(k-2)^2": 0.1, "y(k-1)*u(k-1)": 0.1, "u(k-3)^2": 0.1}
    dynamics = lack_of(weights)
    assert len(dynamics.lacking) == 4 and "residuals and further terms" in dynamics.unexplained
