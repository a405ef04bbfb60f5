"""Exact best subsets, held against all subsets."""

from itertools import combinations

import numpy as np
import pytest

from narxbench import load_system, search
from narxbench._algorithms.best_subset import best_subsets, leaps, sweep
from narxbench._fitness.problem import StructureProblem


def residual(columns, y, terms):
    columns = columns[:, list(terms)]
    return float(((y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]) ** 2).sum())


def products_of(columns, y):
    return columns.T @ columns, columns.T @ y, float(y @ y)


@pytest.fixture
def data(rng):
    """Return columns that are much alike, and an output of three of them with noise."""
    columns = rng.normal(size=(60, 9)) @ rng.normal(size=(9, 9)) * rng.uniform(0.1, 50, 9)
    return columns, columns[:, [1, 4, 7]] @ [1.0, -2.0, 0.5] + rng.normal(size=60)


def test_each_size_has_the_best_of_all_subsets(data):
    columns, y = data
    structures = best_subsets(*products_of(columns, y), 10_000)
    assert structures.sum(axis=1).tolist() == list(range(1, 10))
    for size, structure in enumerate(structures, start=1):
        best = min(combinations(range(9), size), key=lambda terms: residual(columns, y, terms))
        assert np.flatnonzero(structure).tolist() == list(best)


def test_branches_that_cannot_win_are_cut(data):
    columns, y = data
    gram, moments, energy = products_of(columns, y)
    inverse = np.linalg.inv(gram)
    weights = inverse @ moments
    start = np.block([[inverse, weights[:, None]], [weights[None], np.array([[weights @ moments - energy]])]])
    best, subsets = np.empty(10), np.zeros((10, 9), np.uint8)
    n_regressions = leaps(start, 10_000, best, subsets)
    assert 0 < n_regressions < 2**9 - 1
    assert best[3] == pytest.approx(min(residual(columns, y, terms) for terms in combinations(range(9), 3)))
    assert leaps(start, n_regressions - 1, best, subsets) == -1


def test_a_term_that_is_swept_out_leaves_the_regression_on_the_others(data):
    columns, y = data
    gram, moments, energy = products_of(columns, y)
    inverse = np.linalg.inv(gram)
    weights = inverse @ moments
    matrix = np.block([[inverse, weights[:, None]], [weights[None], np.array([[weights @ moments - energy]])]])
    sweep(matrix, 9, 4)
    remaining_terms = [term for term in range(9) if term != 4]
    expected = np.linalg.lstsq(columns[:, remaining_terms], y, rcond=None)[0]
    np.testing.assert_allclose(matrix[remaining_terms, 9], expected, rtol=1e-6)
    assert -matrix[9, 9] == pytest.approx(residual(columns, y, remaining_terms))


def test_dependent_terms_are_in_no_structure(data):
    columns, y = data
    columns = np.column_stack([columns[:, :4], columns[:, 1] + columns[:, 2], np.zeros(60), columns[:, 4:]])
    structures = best_subsets(*products_of(columns, y), 10_000)
    assert len(structures) == 9 and not structures[:, [4, 5]].any()


def test_too_many_candidates_or_regressions_give_no_structure(capfd):
    u, y = load_system("S1").simulate(400, snr_db=40)
    problem = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100)
    assert set(search(problem, algorithm="best_subset", seed=1).terms) >= set(load_system("S1").terms)
    for settings, words in (
        ({"max_candidates": 14}, "candidate terms: found 15; allowed: 14"),
        ({"max_regressions": 3}, "regressions: found more than 3"),
    ):
        assert search(problem, algorithm="best_subset", seed=1, **settings).terms == []
        assert words in capfd.readouterr().err
