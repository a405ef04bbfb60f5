"""Simple models that compete with the sparse one, and which of all leaves."""

import math

import numpy as np
import pytest
from tests.lookups import item_with
from tests.regression import parse_terms

import narxbench
from narxbench._identification.search import competitors as competing
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.competitors import leaving_structure
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.ridge import ridge_weights
from narxbench._numerics.random_streams import generator
from narxbench._report.model_page import write_report

QUICK = {"decimation": 1, "effort": 0.05}


def structure(kind, rrse, ahead=None):
    return Candidate(Configuration(1, 1, (1,), ()), ("y(k-1)",), "test", kind=kind, rrse=rrse, ahead=ahead)


@pytest.fixture
def let_hold(monkeypatch):
    """Return a function that says which kinds of models hold over whole records; all of them are bounded."""

    def let_hold(kinds):
        monkeypatch.setattr(competing, "holds", lambda _, competitor: competitor.kind in kinds)
        monkeypatch.setattr(competing, "leaves_all_bounds", lambda *_: False)

    return let_hold


def competition(identification):
    return item_with(identification.summary, name="competitors")


def rrse_on(model, u, y):
    return model.score(u, y).rrse


@pytest.mark.parametrize(
    ("sparse", "linear", "last_value", "holding", "expected"),
    [
        (0.105, 0.1, 0.5, ["linear"], "sparse"),
        (0.106, 0.1, 0.5, ["linear"], "linear"),
        (0.3, 0.1, 0.2, ["linear"], "linear"),
        # A model that does not hold over whole records is passed over; the last value always holds.
        (0.3, 0.1, 0.2, [], "last value"),
        (0.3, 0.1, 0.4, [], "sparse"),
        # Both are exact but for rounding.
        (1e-8, 1e-12, 0.5, ["linear"], "sparse"),
    ],
)
def test_the_sparse_model_leaves_while_its_error_is_within_the_limit(
    let_hold, sparse, linear, last_value, holding, expected
):
    let_hold(holding)
    competitors = [structure("linear", linear), structure("last value", last_value)]
    leaving = leaving_structure(None, structure("sparse", sparse), competitors)
    assert leaving.kind == expected


@pytest.mark.parametrize(
    ("sparse", "linear", "unpruned", "expected"),
    [
        (0.6, 0.58, 0.9, "sparse"),
        (0.6, 0.5, 0.9, "linear"),
        (0.6, 0.5, 0.4, "unpruned"),
        (0.6, None, None, "sparse"),
        # The sparse model diverges that far ahead, or all do.
        (None, 2.0, None, "linear"),
        (None, None, None, "sparse"),
        # Both are exact but for rounding.
        (1e-8, 1e-12, None, "sparse"),
    ],
)
def test_the_sparse_model_of_a_series_is_also_within_the_limit_as_far_ahead_as_it_is_judged(
    let_hold, sparse, linear, unpruned, expected
):
    let_hold(["linear", "unpruned"])
    competitors = [structure("linear", 0.1, linear), structure("unpruned", 0.1, unpruned)]
    leaving = leaving_structure(None, structure("sparse", 0.1, sparse), competitors)
    assert leaving.kind == expected


def slow_series(number):
    rng = generator(purpose="slow series", number=number)
    y, e = np.full(700, 20.0), rng.standard_normal(700)
    for k in range(2, 700):
        y[k] = 0.06 + 1.6 * y[k - 1] - 0.603 * y[k - 2] + 0.1 * e[k]
    return y


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_competitor_of_a_series_as_good_one_step_ahead_is_better_farther_ahead(number):
    """The level of a slow series gains little in one step, and much farther ahead."""
    identification = narxbench.identify({"y": slow_series(number)}, "y", degree=1, y_lags=3, **QUICK)
    note = competition(identification)
    ahead = {row["name"]: row["ahead"] for row in note.values["rows"] if "ahead" in row}
    assert len(ahead) > 1 and note.values["steps_ahead"] > 10
    assert ahead[note.values["leaving"]] <= 1.05 * min(ahead.values())


def dense_record(samples):
    """Return input and output of 20 lags of the input, each of which is little against the noise."""
    rng = generator(purpose="dense linear record", samples=samples)
    u, e = rng.standard_normal(samples), rng.standard_normal(samples)
    signs = np.array([1, 1, -1, 1, -1, -1, 1, -1, -1, -1, 1, 1, 1, -1, 1, 1, -1, 1, -1, -1])
    y = np.convolve(u, np.concatenate([[0.0], 0.2 * signs]))[:samples] + e
    return u, y


@pytest.mark.slow
def test_a_dense_linear_truth_leaves_in_full(tmp_path):
    u, y = dense_record(200)
    identification = narxbench.identify(u, y, degree=1, y_lags=1, u_lags=20, **QUICK)
    model, sparse = identification.model, identification.models["sparse"]
    kind = next(iter(identification.models))
    assert kind in {"linear", "unpruned"}
    assert identification.models[kind] is model
    assert len(sparse.terms) < len(model.terms) == 22
    fresh_u, fresh_y = dense_record(2000)
    assert rrse_on(model, fresh_u, fresh_y) < rrse_on(sparse, fresh_u, fresh_y)

    note = competition(identification)
    errors = {row["name"]: row["rrse"] for row in note.values["rows"]}
    assert note.status == "look"
    assert errors["sparse"] > 1.05 * errors[note.values["leaving"]]
    cost = f"its RRSE is {errors[note.values['leaving']]:.3g}, that of the sparse model"
    page = write_report(identification, tmp_path)
    assert cost in page.read_text().replace("&nbsp;", " ")
    assert set(identification.to_dict()["models"]) == {kind, "sparse"}

    restored = narxbench.Model.load(tmp_path / "model_sparse.json")
    np.testing.assert_array_equal(restored.predict(u, y), sparse.predict(u, y))
    for shown in identification.models.values():
        assert "narx_model" in shown.export("c")


@pytest.mark.parametrize("system", ["S1", "S2"])
def test_a_sparse_nonlinear_truth_leaves(system):
    u, y = narxbench.load_system(system).simulate(400, snr_db=30)
    identification = narxbench.identify(u, y, degree=2, y_lags=2, u_lags=2, **QUICK)
    assert list(identification.models) == ["sparse"]
    assert competition(identification).values["leaving"] == "sparse"


def level_experiments():
    rng = generator(purpose="levels")
    experiments = []
    for level in rng.standard_normal(8):
        y = level + 0.1 * rng.standard_normal(40)
        experiments.append({"u": rng.standard_normal(40), "y": y})
    return experiments


OF_LEVELS = {"input": "u", "degree": 1, "y_lags": 1, "u_lags": 1, "noise": "narx"}


def test_where_nothing_beats_the_last_value_it_leaves():
    experiments = level_experiments()
    identification = narxbench.identify(experiments, "y", **OF_LEVELS, **QUICK)
    assert list(identification.models) == ["last value", "sparse"]
    assert identification.model.equation().startswith("y(k) = 1 y(k-1)")
    run = identification.model.predict(experiments[0]["u"], experiments[0]["y"])
    assert set(run) == {experiments[0]["y"][0]}


def test_a_series_that_is_clearly_better_ahead_leaves():
    identification = narxbench.identify({"y": slow_series(2)}, "y", degree=1, y_lags=3, **QUICK)
    assert next(iter(identification.models)) != "sparse"


def test_ridge_weights_shrink_all_but_the_constant(rng):
    columns = np.column_stack([np.ones(500), 3.0 + rng.standard_normal((500, 2))])
    y = columns @ [5.0, 1.0, -2.0]
    monomials = parse_terms(("1", "y(k-1)", "u(k-1)"))
    products = np.column_stack([columns, y]).T @ np.column_stack([columns, y])
    weights = ridge_weights(products, monomials, 0.0)
    np.testing.assert_allclose(weights, [5.0, 1.0, -2.0], rtol=1e-6)
    shrunk = ridge_weights(products, monomials, 1.0)
    assert np.all(np.abs(shrunk[1:]) < 0.8 * np.abs(weights[1:]))
    # The constant makes up for the mean.
    assert math.isclose(columns.mean(axis=0) @ shrunk, y.mean(), rel_tol=1e-6)
