"""Terms that a model lacks: one degree higher, and of later lags than its candidates have."""

import numpy as np
import pytest
from tests.unit.identification.search.test_search import settings_of

from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.plan import plan_search
from narxbench._identification.search.scores import scored, scored_under
from narxbench._identification.trust.fit import ModelFit
from narxbench._identification.trust.lack_of_fit import (
    MOST_ADDED,
    MOST_TESTED,
    extended_candidates,
    richer_structure,
)
from narxbench._model.narx import Model
from narxbench._model.records import Record, Recording
from narxbench._model.terms import OUTPUT, monomials_of, parse_term
from narxbench._numerics.random_streams import generator

SETTINGS = {"decimation": 1, "degree": 2, "y_lags": 1, "u_lags": 1}


def richer(weights):
    """Return the richer structure of a linear one, on data that a model of these weights made."""
    rng = generator(purpose="lack of fit")
    model = Model(tuple(weights), tuple(weights.values()), inputs=("u",), output="y")
    u = rng.normal(size=(400, 1))
    y = model.predict(u, np.zeros(model.initial_samples)) + 0.02 * rng.normal(size=400)
    plan = plan_search(Recording((Record("a", u, y),), ("u",), "y"), settings_of(**{**SETTINGS, "noise": "noe"}))
    (configuration,) = [configuration for configuration in plan.configurations if not configuration.centred]
    (proposal,) = scored(plan, [Candidate(configuration, ("y(k-1)", "u(k-1)"), "true")], 1)
    candidate = scored_under(plan, proposal, ("noe",), 1)
    return richer_structure(ModelFit(plan, candidate), candidate, ("noe",), 1)


@pytest.mark.parametrize("missing", ["u(k-1)^3", "y(k-1)*u(k-1)^2", "u(k-3)"])
def test_a_missing_term_is_named(missing):
    lack = richer({"y(k-1)": 0.6, "u(k-1)": 0.5, missing: -0.05})
    assert lack.added == [missing] and lack.is_complete
    assert set(lack.structure.terms) == {"y(k-1)", "u(k-1)", missing}


def test_a_true_structure_lacks_nothing():
    assert richer({"y(k-1)": 0.6, "u(k-1)": 0.5}) is None


def test_a_structure_that_lacks_too_many_terms_stays_incomplete():
    weights = {"u(k-2)": 0.3, "u(k-3)": 0.2, "u(k-1)^2": 0.2, "u(k-2)^2": 0.1, "y(k-1)*u(k-1)": 0.1, "u(k-1)^3": -0.05}
    lack = richer({"y(k-1)": 0.6, "u(k-1)": 0.5, **weights})
    assert len(lack.added) == MOST_ADDED and not lack.is_complete


def test_extended_candidates_have_one_degree_more_and_later_lags():
    structure = [parse_term(term, 1, current=True) for term in ("y(k-1)", "u(k-2)", "y(k-1)*u(k-2)")]
    extended = extended_candidates(structure, Configuration(1, 2, (1,), ((1, 2),)))
    names = ("y(k-1)^3", "y(k-3)", "u(k-4)", "y(k-1)*u(k-4)")
    assert {parse_term(name, 1, current=True) for name in names} <= set(extended)
    assert parse_term("u(k-4)^3", 1, current=True) not in extended and len(set(extended)) == len(extended)
    # Of many lags there are fewer terms of each.
    series = Configuration(1, 2, tuple(range(1, 25)), ())
    wide = monomials_of([(OUTPUT, lag) for lag in range(1, 25)], 2)
    assert len(set(extended_candidates(wide, series)) - set(wide)) <= MOST_TESTED
    assert parse_term("y(k-26)", 1, current=True) in extended_candidates(wide, series)
