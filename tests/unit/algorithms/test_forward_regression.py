"""FROLS and iterative OFR, held against plain regressions and evaluations of every length."""

import numpy as np
import pytest
from tests.regression import terms_at

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms import forward_regression, iterative_ofr
from narxbench._algorithms.forward_regression import nested
from narxbench._algorithms.objective import view_of
from narxbench._algorithms.training import products, whole_record


@pytest.fixture(scope="module")
def noisy_problem():
    """S2 with 66 candidate terms: its true structure has less of the output than what noise adds to a longer one."""
    u, y = load_system("S2").simulate(800, snr_db=30)
    return StructureProblem(u, y, n_u=5, n_y=5, degree=2, n_validation=300)


@pytest.fixture(scope="module")
def hard_problem():
    """S4 has 23 terms, and the one that explains most of the output is not the best to begin with."""
    u, y = load_system("S4").simulate(2000, snr_db=40)
    return StructureProblem(u, y, n_u=5, n_y=5, degree=2)


def squares_left(columns, y):
    """Return the sum of squared residuals of a least-squares fit."""
    return float(((y - columns @ np.linalg.lstsq(columns, y)[0]) ** 2).sum())


def press_of(columns, y):
    """Return the sum of squared errors of the prediction of each row from all others."""
    rows, total = np.arange(len(y)), 0.0
    for k in rows:
        weights = np.linalg.lstsq(columns[rows != k], y[rows != k])[0]
        total += float(y[k] - columns[k] @ weights) ** 2
    return total


def forward(columns, y, steps, first=-1):
    order, explained = np.empty(steps, np.int64), np.empty(steps)
    entered = forward_regression.forward(columns.T @ columns, columns.T @ y, first, order, explained)
    return order[:entered].tolist(), y @ y - explained[:entered].cumsum()


def forward_by_press(columns, y, steps, first=-1):
    order, press = np.empty(steps, np.int64), np.empty(steps)
    gram, moments = columns.T @ columns, columns.T @ y
    entered = iterative_ofr.forward_by_press(gram, moments, columns.copy(), y.copy(), first, order, press)
    return order[:entered].tolist(), press[:entered]


@pytest.mark.parametrize("first", [-1, 4])
@pytest.mark.parametrize(("way", "left"), [(forward, squares_left), (forward_by_press, press_of)])
def test_the_term_that_leaves_the_least_enters(rng, way, left, first):
    columns = rng.normal(size=(40, 8)) @ rng.normal(size=(8, 8))
    y = columns @ rng.normal(size=8) + rng.normal(size=40)
    order, values = way(columns, y, 8, first)
    expected = []
    for step in range(8):
        candidates = {*range(8)} - {*expected}
        if step == 0 and first >= 0:
            candidates = {first}
        expected.append(min(candidates, key=lambda j: left(columns[:, [*expected, j]], y)))
        assert values[step] == pytest.approx(left(columns[:, expected], y), rel=1e-6)
    assert order == expected


def test_what_depends_on_earlier_terms_never_enters(rng):
    columns = rng.normal(size=(30, 5))
    columns[:, 2] = 0.0
    columns[:, 4] = columns[:, 0] - 2.0 * columns[:, 1]
    order, _ = forward(columns, rng.normal(size=30), 5)
    assert len(order) == 3 and 2 not in order and len({0, 1, 4} & {*order}) == 2
    assert forward(columns, rng.normal(size=30), 5, first=2)[0] == []


def test_of_candidates_that_explain_the_same_the_first_enters():
    columns = np.outer(np.ones(50), [1.0, 0.7, 0.49, 0.1])
    columns[:, 3] = np.arange(50.0) % 2
    order, _ = forward(columns, np.full(50, 0.7), 4)
    assert order == [0, 3]


def test_the_free_run_chooses_the_number_of_terms(noisy_problem):
    result = search(noisy_problem, algorithm="frols", seed=1, max_terms=12)
    whole = whole_record(view_of(noisy_problem))
    structures = nested(np.array(path(noisy_problem, 12, "all")), 66)
    values = whole.evaluate_positions(structures)[0]
    best = int(values.argmin())
    assert {*result.terms} == {*terms_at(noisy_problem, np.flatnonzero(structures[best]))} and 0 < best < 11
    assert (result.evaluations, result.coefficients) == (1, whole.evaluate(result.terms).coefficients)


def path(problem, steps, rows):
    view = products(view_of(problem), rows)
    order = np.empty(steps, np.int64)
    assert forward_regression.forward(view.gram, view.moments, -1, order, np.empty(steps)) == steps
    return order.tolist()


@pytest.mark.parametrize("selection", ["press", "err"])
def test_other_first_terms_lead_to_a_better_structure(hard_problem, selection):
    iterative = search(hard_problem, algorithm="iterative_ofr", seed=1, rows="estimation", selection=selection)
    first_path = nested(np.array(path(hard_problem, 30, "estimation")), 66)
    assert iterative.fitness < hard_problem.evaluate_positions(first_path)[0].min() - 10.0
    # All paths end before the budget does.
    assert 31 * 30 <= iterative.evaluations < 6000


def test_over_all_samples_no_first_term_leads_to_a_better_free_run(small_problem):
    result = search(small_problem, algorithm="iterative_ofr", seed=1, first_terms="all", max_terms=6)
    view = view_of(small_problem)
    columns, y, whole = view.training_regressors(), view.training_outputs(), whole_record(view)
    paths = [nested(np.array(forward_by_press(columns, y, 6, first)[0]), 15) for first in range(15)]
    values = whole.evaluate_positions(np.concatenate(paths))[0]
    assert whole.evaluate(result.terms).fitness == values.min() and result.evaluations == 1
    assert result.coefficients == whole.evaluate(result.terms).coefficients
