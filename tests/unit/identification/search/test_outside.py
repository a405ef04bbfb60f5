"""Models are tried where the records do not go: with inputs that are off, or held at the ends of their ranges."""

import numpy as np
import pytest

import narxbench
from narxbench._identification.search import choice as choosing
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.choice import _bounded_first
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.outside import leaves_all_bounds
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator

U = generator(purpose="inputs to hold").uniform(-1, 1, (300, 1))


def model(terms, coefficients, inputs=("u",)):
    return Model(terms=terms, coefficients=coefficients, inputs=inputs, output="y")


def run_of(tried, u=U):
    return tried.predict(u if tried.n_inputs else None, np.full(4, 0.1), samples=len(u))


@pytest.mark.parametrize(
    ("terms", "coefficients", "leaves"),
    [
        (("y(k-1)", "u(k-1)"), (0.8, 0.2), False),
        # An integrator stays near for long.
        (("y(k-1)", "u(k-1)"), (1.0, 0.1), False),
        (("y(k-1)", "u(k-1)"), (1.02, 0.2), True),
        # Stable on average, but not where the input is held at the end of its range.
        (("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.8, 0.1, 0.3), True),
        (("y(k-1)", "u(k-1)", "y(k-1)^3"), (0.8, 0.1, 1.5), True),
    ],
)
def test_a_model_that_explodes_where_inputs_are_held_leaves_all_bounds(terms, coefficients, leaves):
    y = run_of(model(("y(k-1)", "u(k-1)"), (0.8, 0.2)))
    assert leaves_all_bounds(model(terms, coefficients), U, y) is leaves


@pytest.mark.parametrize(("weight", "leaves"), [(0.99, False), (1.02, True)])
def test_a_series_runs_by_itself(weight, leaves):
    series = model(("y(k-1)",), (weight,), ())
    assert leaves_all_bounds(series, np.empty((50, 0)), np.sin(np.arange(50.0))) is leaves


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_true_models_of_systems_stay_within_bounds(name):
    system = narxbench.load_system(name)
    u, y = system.simulate(500, snr_db=30)
    true_model = model(tuple(system.terms), tuple(system.coefficients))
    assert not leaves_all_bounds(true_model, np.reshape(u, (-1, 1)), y)


def structure(name, rrse, fitness=0.0):
    return Candidate(Configuration(1, 1, (1,), ()), ("y(k-1)",), name, fitness=fitness, rrse=rrse, candidates=3)


@pytest.mark.parametrize(
    ("bounded", "holding", "first"),
    [
        ("a", "abc", "a"),
        ("bc", "abc", "b"),
        ("bc", "ac", "c"),
        # The error of the next one is far larger, or there is none: the process may leave the bounds.
        ("d", "abcd", "a"),
        ("", "abcd", "a"),
    ],
)
def test_one_that_leaves_all_bounds_is_passed_over_for_one_that_is_nearly_as_good(bounded, holding, first, monkeypatch):
    monkeypatch.setattr(choosing, "leaves_all_bounds", lambda _, tried: tried.found_by not in bounded)
    monkeypatch.setattr(choosing, "holds", lambda _, tried: tried.found_by in holding)
    structures = [structure(name, rrse) for name, rrse in zip("abcd", (0.1, 0.12, 0.14, 0.3), strict=True)]
    ordered = _bounded_first(None, structures)
    assert [tried.found_by for tried in ordered] == list("abcd")["abcd".index(first) :]
