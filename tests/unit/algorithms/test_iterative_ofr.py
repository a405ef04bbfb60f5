import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms import forward_regression, iterative_ofr
from narxbench.algorithms.forward_regression import nested
from narxbench.algorithms.objective import view_of
from narxbench.algorithms.training import whole_record

# Terms from the estimation part, models by J: each evaluation counts.
BY_J = {"rows": "estimation"}


@pytest.fixture(scope="module")
def hard_problem():
    """S4 has 23 terms, and the one that explains most of the output is not the best to begin with."""
    u, y = load_system("S4").simulate(2000, snr_db=40)
    return StructureProblem(u, y, n_u=5, n_y=5, degree=2)


def press_of(columns, y):
    """Return the sum of squared errors of the prediction of each row from all others."""
    rows, total = np.arange(len(y)), 0.0
    for k in rows:
        weights = np.linalg.lstsq(columns[rows != k], y[rows != k])[0]
        total += float(y[k] - columns[k] @ weights) ** 2
    return total


def forward(columns, y, steps, first=-1):
    order, press = np.empty(steps, np.int64), np.empty(steps)
    gram, moments = columns.T @ columns, columns.T @ y
    entered = iterative_ofr.forward_by_press(gram, moments, columns, y, first, order, press)
    return order[:entered].tolist(), press[:entered]


@pytest.mark.parametrize("first", [-1, 5])
def test_the_term_of_lowest_press_enters(rng, first):
    columns = rng.normal(size=(25, 6)) @ rng.normal(size=(6, 6))
    y = columns[:, :2] @ np.ones(2) + rng.normal(size=25)
    order, press = forward(columns, y, 6, first)
    expected = []
    for step in range(6):
        candidates = [first] if step == 0 and first >= 0 else [j for j in range(6) if j not in expected]
        sums = {j: press_of(columns[:, [*expected, j]], y) for j in candidates}
        expected.append(min(sums, key=lambda j: sums[j]))
        assert press[step] == pytest.approx(sums[expected[-1]], rel=1e-8)
    assert order == expected


def test_what_depends_on_earlier_terms_never_enters(rng):
    columns = rng.normal(size=(30, 5))
    columns[:, 2] = 0.0
    columns[:, 4] = columns[:, 0] - 2.0 * columns[:, 1]
    order, _ = forward(columns, rng.normal(size=30), 5)
    assert len(order) == 3 and 2 not in order and len({0, 1, 4} & {*order}) == 2
    assert forward(columns, rng.normal(size=30), 5, first=2)[0] == []


def test_the_first_rise():
    assert iterative_ofr.first_rise(np.array([3.0, 3.0, 1.0])) == 1
    assert iterative_ofr.first_rise(np.array([3.0, 2.0, 1.0])) == 3
    assert iterative_ofr.first_rise(np.array([3.0])) == 1


@pytest.mark.parametrize("selection", ["press", "err"])
def test_other_first_terms_lead_to_a_better_structure(hard_problem, selection):
    found = search(hard_problem, algorithm="iterative_ofr", seed=1, **BY_J, selection=selection)
    frols = search(hard_problem, algorithm="frols", seed=1, **BY_J)
    assert found.fitness < frols.fitness - 10.0
    # All paths end before the budget does.
    assert 31 * 30 <= found.evaluations < 6000


def test_every_term_of_the_result_has_been_first(small_problem):
    """With all candidates as first terms, no path is left: the result is the best structure along any of them."""
    found = search(small_problem, algorithm="iterative_ofr", seed=1, **BY_J, first_terms="all", max_terms=8)
    view = view_of(small_problem)
    fitness = [
        small_problem.evaluate_positions(
            nested(np.array(forward(view.regressors().copy(), view.outputs().copy(), 8, first)[0]), 15)
        )[0].min()
        for first in range(15)
    ]
    assert found.evaluations == 15 * 8
    assert found.fitness == min(fitness)


@pytest.mark.parametrize("selection", ["press", "err"])
def test_a_path_by_the_prediction_one_step_ahead_costs_one_evaluation(hard_problem, selection):
    found = search(hard_problem, algorithm="iterative_ofr", seed=1, **BY_J, selection=selection, length="one_step")
    assert 31 <= found.evaluations <= 67


@pytest.mark.parametrize("selection", ["press", "err"])
def test_over_all_samples_no_first_term_leads_to_a_better_free_run(small_problem, selection):
    found = search(
        small_problem, algorithm="iterative_ofr", seed=1, selection=selection, first_terms="all", max_terms=6
    )
    view = view_of(small_problem)
    columns, y, whole = view.training_regressors(), view.training_outputs(), whole_record(view)
    plain = {"press": forward, "err": forward_by_err}[selection]
    values = [
        whole.evaluate_positions(nested(np.array(plain(columns.copy(), y.copy(), 6, first)[0]), 15))[0].min()
        for first in range(15)
    ]
    assert whole.evaluate(found.terms).fitness == min(values) and found.evaluations == 1
    assert found.coefficients == whole.evaluate(found.terms).coefficients


def forward_by_err(columns, y, steps, first):
    order, values = np.empty(steps, np.int64), np.empty(steps)
    entered = forward_regression.forward(columns.T @ columns, columns.T @ y, first, order, values)
    return order[:entered].tolist(), values
