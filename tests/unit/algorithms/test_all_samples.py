"""Methods that hold nothing out for J, held against plain regressions and simulations over all samples."""

from itertools import combinations

import numpy as np
import pytest

from narxbench import load_system, search
from narxbench._algorithms import aols, frols, osf, stlsq
from narxbench._algorithms.objective import view_of
from narxbench._algorithms.training import Products, whole_record


def products_of(columns, y):
    return Products(columns.T @ columns, columns.T @ y, float(y @ y), len(y))


def squared_residuals(columns, y, terms):
    """Return the sum of squared residuals of a least-squares fit."""
    design = columns[:, list(terms)]
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - design @ weights) ** 2).sum())


@pytest.fixture
def data(rng):
    """Return columns that are much alike, and an output of three of them with noise."""
    columns = rng.normal(size=(80, 9)) @ rng.normal(size=(9, 9))
    return columns, columns[:, [1, 4, 7]] @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=80)


@pytest.mark.parametrize("at_once", [1, 3])
def test_aols_takes_what_explains_most_by_itself(data, at_once):
    columns, y = data
    order: list[int] = []
    while len(order) < 6:
        candidates = {*range(9)} - {*order}
        order += sorted(candidates, key=lambda j: squared_residuals(columns, y, [*order, j]))[:at_once]
    assert aols.entered(products_of(columns, y), at_once, 6) == order[:6]


def test_entering_and_leaving_terms_are_the_best_ones(data):
    columns, y = data
    sets, terms = osf.Sets(products_of(columns, y)), [0, 2, 5]
    assert sets.score(terms) == pytest.approx(1 - squared_residuals(columns, y, terms) / (y @ y))
    assert sets.to_enter(terms) == min({*range(9)} - {*terms}, key=lambda j: squared_residuals(columns, y, [*terms, j]))
    assert sets.to_leave(terms) == min(terms, key=lambda j: squared_residuals(columns, y, {*terms} - {j}))


def test_floating_sets_are_never_worse_than_those_of_forward_regression(rng):
    n_optimal = {"floating": 0, "forward": 0}
    for _ in range(12):
        columns = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
        y = columns @ rng.normal(size=8) + rng.normal(size=60)
        sets = osf.Sets(products_of(columns, y))
        forward: list[int] = []
        for terms in osf.floating(sets, 6):
            forward.append(sets.to_enter(forward))
            assert len({*terms}) == len(terms) == len(forward)
            assert sets.score(terms) >= sets.score(forward) - 1e-9
            optimum = max(sets.score(list(subset)) for subset in combinations(range(8), len(terms)))
            n_optimal["floating"] += sets.score(terms) > optimum - 1e-9
            n_optimal["forward"] += sets.score(forward) > optimum - 1e-9
    assert n_optimal["floating"] > n_optimal["forward"]


def test_stlsq_drops_what_is_below_the_threshold_until_nothing_is(data):
    columns, y = data
    columns = columns / np.linalg.norm(columns, axis=0)
    rows = stlsq.structures(products_of(columns, y), stlsq.Settings(thresholds=30, smallest=0.01))
    structures = {row.tobytes() for row in rows}
    assert len(structures) == len(rows) > 3
    whole = np.linalg.lstsq(columns, y, rcond=None)[0]
    for threshold in abs(whole).max() * np.geomspace(1.0, 0.01, 30):
        terms = np.arange(9)
        while True:
            kept = terms[abs(np.linalg.lstsq(columns[:, terms], y, rcond=None)[0]) >= threshold]
            if len(kept) in (0, len(terms)):
                break
            terms = kept
        assert np.isin(np.arange(9), terms).astype(np.uint8).tobytes() in structures


@pytest.mark.parametrize("method", [aols, frols, osf, stlsq])
def test_true_terms_are_found_with_weights_of_all_samples(small_problem, method):
    result = search(small_problem, algorithm=method.__name__.rpartition(".")[2], seed=1)
    assert {*result.terms} >= {*load_system("S1").terms}
    assert result.coefficients == whole_record(view_of(small_problem)).evaluate(result.terms).coefficients
    assert result.coefficients != small_problem.evaluate(result.terms).coefficients
