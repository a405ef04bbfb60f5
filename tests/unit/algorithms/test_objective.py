import copy

import numpy as np
import pytest

from narxbench import NarxbenchError, StructureProblem, load_system
from narxbench.algorithms.contract import BudgetSpentError, Found, checked_found
from narxbench.algorithms.objective import CountedObjective, view_of
from narxbench.model.terms import INPUT, OUTPUT


@pytest.fixture
def positions(small_problem, rng):
    return rng.integers(0, 2, (40, len(small_problem.terms)))


def test_evaluations_are_those_of_the_problem_counted_and_recorded(small_problem, positions):
    objective = CountedObjective(small_problem, 50)
    first = objective.evaluate(positions)
    np.testing.assert_array_equal(first, small_problem.evaluate_positions(positions)[0])
    assert (objective.budget, objective.remaining, objective.evaluations) == (50, 10, 40)
    # What is known already spends the budget again; what is beyond it is not evaluated.
    second = objective.evaluate(positions)
    np.testing.assert_array_equal(second, [*first[:10], *[np.inf] * 30])
    assert objective.remaining == 0
    np.testing.assert_array_equal(objective.trace(), [*first, *first[:10]])
    assert objective.history()[-1] == (first.argmin() + 1, first.min()) == (first.argmin() + 1, objective.best_fitness)
    np.testing.assert_array_equal(objective.best_position, positions[first.argmin()])
    assert objective.known_fitness(positions[3]) == first[3]
    assert objective.known_fitness(np.zeros(objective.n_terms, np.uint8)) is None
    with pytest.raises(BudgetSpentError):
        objective.evaluate(positions[:1])
    assert len(objective.evaluate(positions[:0])) == 0


def test_before_the_first_evaluation(small_problem):
    objective = CountedObjective(small_problem, 5)
    assert objective.best_fitness == np.inf and not objective.best_position.any()
    assert objective.history() == [] and len(objective.trace()) == 0


def test_what_it_returns_is_not_what_it_keeps(small_problem, positions):
    objective = CountedObjective(small_problem, 50)
    objective.evaluate(positions)
    kept = copy.deepcopy((objective.best_position, objective.trace()))
    objective.best_position[:] = 7
    objective.trace()[:] = 0.0
    np.testing.assert_array_equal(objective.best_position, kept[0])
    np.testing.assert_array_equal(objective.trace(), kept[1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda rows: rows[:, 1:], r"positions: found shape \(40, 14\); allowed: \(structures, 15\)"),
        (lambda rows: rows[0], r"positions: found shape \(15,\)"),
        (lambda rows: np.c_[rows, rows[:, :3]], r"positions: found shape \(40, 18\)"),
        (lambda rows: rows * 0.5, "positions: found another entry than 0 and 1"),
        (lambda rows: rows * 2, "positions: found another entry than 0 and 1"),
        (lambda rows: -rows, "positions: found another entry than 0 and 1"),
        (lambda rows: rows * np.nan, "positions: found another entry than 0 and 1"),
        (lambda rows: rows.astype(str), "positions: found another entry than 0 and 1"),
    ],
)
def test_structures_of_another_shape_or_kind(small_problem, positions, changed, message):
    objective = CountedObjective(small_problem, 50)
    with pytest.raises(NarxbenchError, match=message):
        objective.evaluate(changed(positions))
    assert objective.evaluations == 0


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32, float])
def test_structures_of_any_kind_of_numbers(small_problem, positions, kind):
    right = CountedObjective(small_problem, 50).evaluate(positions)
    turned = np.asfortranarray(positions.astype(kind))
    np.testing.assert_array_equal(CountedObjective(small_problem, 50).evaluate(turned), right)
    np.testing.assert_array_equal(CountedObjective(small_problem, 50).evaluate(turned.tolist()), right)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([1, 0, 1], "result: found list; allowed"),
        (Found([1, 0]), r"result: found a structure of shape \(2,\); allowed: \(3,\)"),
        (Found([1, 0, 2]), "found another entry than 0 and 1"),
        (Found([1, 0, 1], [1.0]), "result: coefficients: allowed: 2 finite numbers"),
        (Found([1, 0, 1], [1.0, np.nan]), "result: coefficients: allowed: 2 finite numbers"),
        (Found([1, 0, 1], ["1", "2"]), "result: coefficients: allowed: 2 finite numbers"),
    ],
)
def test_results_of_another_shape_or_kind(found, message):
    with pytest.raises(NarxbenchError, match=message):
        checked_found(found, 3)


def test_results():
    position, weights = checked_found(Found([True, False, True], np.array([1, 2])), 3)
    assert (position.tolist(), position.dtype, weights) == ([1, 0, 1], np.uint8, [1.0, 2.0])
    assert checked_found(Found(np.ones(2)), 2)[1] is None


class TestView:
    u, y = load_system("S1").simulate(500, snr_db=30)
    problem = StructureProblem(u, y, n_u=2, n_y=3, degree=2, n_validation=200, criterion="aic-4")
    view = view_of(problem)

    def test_it_says_what_the_problem_is(self):
        assert list(self.view.terms) == self.problem.terms
        assert (self.view.n_u, self.view.n_y, self.view.degree, self.view.first_row) == (2, 3, 2, 3)
        assert (self.view.criterion, self.view.penalty, self.view.n_validation) == ("aic-4", 4.0, 200)
        assert self.view.monomials[self.view.terms.index("y(k-3)*u(k-1)")] == ((OUTPUT, 3), (INPUT, 1))

    def test_it_ends_where_the_validation_part_begins(self):
        np.testing.assert_array_equal(self.view.u, self.u[:300])
        np.testing.assert_array_equal(self.view.y, self.y[:300])
        np.testing.assert_array_equal(self.view.outputs(), self.y[3:300])
        assert self.view.n_rows == 297

    def test_inner_products_are_those_of_the_regressors(self):
        columns, outputs = self.view.regressors(), self.view.outputs()
        assert columns.shape == (297, len(self.view.terms))
        column = columns[:, self.view.terms.index("y(k-2)*u(k-1)")]
        np.testing.assert_array_equal(column, self.y[1:298] * self.u[2:299])
        np.testing.assert_allclose(self.view.gram, columns.T @ columns, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(self.view.moments, columns.T @ outputs, rtol=1e-12, atol=1e-12)
        assert self.view.output_energy == pytest.approx(float(outputs @ outputs), rel=1e-12)

    def test_it_cannot_be_written_to(self):
        before = self.problem.digest_now()
        view = view_of(self.problem)
        for array in (view.gram, view.moments, view.u, view.y, view.regressors()):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
            array.flags.writeable = True
            array[...] = 0.0
        assert self.problem.digest_now() == before
        np.testing.assert_array_equal(self.problem.estimation_part[1], self.y[:300])
