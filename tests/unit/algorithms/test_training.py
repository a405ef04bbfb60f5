"""An algorithm's view of all samples, and the problem over all of them."""

import numpy as np
import pytest
from tests.regression import numbers_of

import narxbench
from narxbench._algorithms.objective import view_of
from narxbench._algorithms.training import whole_record


@pytest.fixture(scope="module")
def problem():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)
    return narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100, n_segments=2)


def test_the_view_says_what_j_is_computed_on_and_has_the_rows_of_both(problem):
    view = view_of(problem)
    assert view.segments.tolist() == [[300, 350], [350, 400]]
    assert view.training_rows.tolist() == [*view.rows.tolist(), *range(300, 400)]
    place = view.terms.index("y(k-1)*u(k-2)")
    product = problem.training_y[view.training_rows - 1] * problem.training_u[view.training_rows - 2]
    assert view.training_regressors()[:, place].tolist() == product.tolist()
    assert view.training_outputs().tolist() == problem.training_y[view.training_rows].tolist()
    assert not view.training_outputs().flags.writeable


def test_the_whole_record_is_estimated_and_simulated_over_all_samples(problem):
    view, terms = view_of(problem), ["y(k-1)", "u(k-1)", "u(k-1)^2"]
    evaluation = whole_record(view).evaluate(terms)
    columns = view.training_regressors()[:, numbers_of(view, terms)]
    weights = np.linalg.lstsq(columns, view.training_outputs(), rcond=None)[0]
    assert evaluation.coefficients == pytest.approx(weights.tolist())
    y = list(problem.training_y[:2])
    for u in problem.training_u[1:-1]:
        y.append(weights @ [y[-1], u, u * u])
    errors = np.array(y[2:]) - view.training_outputs()
    assert evaluation.sse == pytest.approx(float(errors @ errors))
    assert evaluation.fitness == pytest.approx(398 * np.log(errors @ errors) + 3 * np.log(398))
