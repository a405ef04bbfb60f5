"""Structures whose free runs are equally good, and the likelihood between them."""

import numpy as np
import pytest
from tests.lookups import item_with, values_of

import narxbench
from narxbench._identification.search import choice
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.choice import error_scatter, tied
from narxbench._identification.search.configurations import Configuration
from narxbench._numerics.random_streams import generator

TERMS = {"y(k-1)", "u(k-1)", "u(k-1)^2"}
QUICK = {"decimation": 1, "degree": 2, "y_lags": 3, "u_lags": 3, "effort": 0.3}
FILTERS = {"narx": (0.0, 0.0), "narmax": (0.7, 0.0), "ararx": (0.0, 0.8)}
PARTS = [0.01, 0.02, 0.015, 0.012]


def candidate(fitness, parts, decimation=1, term="u(k-1)"):
    configuration, rrse = Configuration(decimation, 1, (1,), ((1,),)), float(np.sqrt(np.mean(parts)))
    return Candidate(configuration, (term,), "", fitness=fitness, rrse=rrse, candidates=9, parts=tuple(parts))


def with_noise(noise_model, samples=900):
    """Return input and output of a system with noise of a kind in its equation."""
    rng = generator(purpose="ties", kind=noise_model)
    u, e = rng.standard_normal(samples), 0.25 * rng.standard_normal(samples)
    c, d = FILTERS[noise_model]
    y, w = np.zeros(samples), np.zeros(samples)
    for k in range(1, samples):
        w[k] = d * w[k - 1] + e[k] + c * e[k - 1]
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + w[k]
    return u, y


def test_the_scatter_is_that_of_the_difference():
    assert error_scatter(PARTS, [2.0 * part for part in PARTS]) == pytest.approx(0.0, abs=1e-15)
    assert error_scatter(PARTS, PARTS[::-1]) == error_scatter(PARTS[::-1], PARTS) > 0.0
    assert error_scatter(PARTS, PARTS[1:]) == error_scatter([], []) == 0.0


def test_candidates_that_are_equally_good_tie():
    best, near = candidate(-100.0, PARTS), candidate(-98.0, PARTS[::-1])
    worse = candidate(-98.0, [1.2 * part for part in PARTS[::-1]])
    far, coarse = candidate(500.0, PARTS[::-1]), candidate(-98.0, PARTS[::-1], decimation=2)
    assert tied([best, near, worse, far, coarse], 100.0) == [best, near]
    # Errors that go up and down together differ by more than chance.
    assert tied([best, candidate(-99.9, [1.01 * part for part in PARTS])], 100.0) == [best]


def test_the_same_structure_counts_once_among_those_that_tie(monkeypatch):
    monkeypatch.setattr(choice, "MOST_TIED", 2)
    likely, third = candidate(-97.0, PARTS[::-1], term="y(k-1)"), candidate(-96.0, PARTS[::-1], term="u(k-2)")
    same = [candidate(fitness, PARTS[::-1]) for fitness in (-99.0, -98.5, -98.0)]
    best = candidate(-100.0, PARTS)
    assert tied([best, *same, likely, third], 100.0) == [best, *same, likely]


@pytest.mark.slow
@pytest.mark.parametrize("noise_model", FILTERS)
def test_of_equal_free_runs_the_likelihood_decides(noise_model):
    u, y = with_noise(noise_model)
    model = narxbench.identify(u, y, **QUICK).model
    assert set(model.terms) == TERMS and model.noise_model == noise_model


@pytest.mark.slow
def test_without_ties_the_lowest_j_is_taken(monkeypatch):
    monkeypatch.setattr(choice, "STANDARD_ERRORS", 0.0)
    u, y = with_noise("narx", 300)
    identification = narxbench.identify(u, y, **QUICK)
    decided = item_with(identification.notes, name="noise_model")
    assert decided.values["tied"] == 1
    fitness = values_of(decided.values["best"], "fitness")
    assert min(fitness) == fitness[0]
