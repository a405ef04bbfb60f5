import numpy as np
import pytest
from tests.unit.algorithms.plugins.cheats import sees_all

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms.contract import BudgetSpentError, Found, as_found, checked_found
from narxbench._algorithms.objective import CountedObjective, view_of
from narxbench._algorithms.registry import algorithm, packaged_names
from narxbench._io.errors import NarxbenchError
from narxbench._model.terms import INPUT, OUTPUT, monomials_of


@pytest.fixture
def positions(small_problem, rng):
    return rng.integers(0, 2, (40, len(small_problem.terms)))


def test_evaluations_are_those_of_the_problem_counted_and_recorded(small_problem, positions):
    objective = CountedObjective(small_problem, 50)
    assert (objective.best_fitness, objective.history()) == (np.inf, [])
    assert not objective.best_position.any() and len(objective.trace()) == 0
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


def test_results():
    position, weights, details = checked_found(Found([True, False, True], np.array([1, 2]), {"order": 2}), 3)
    assert (position.tolist(), position.dtype, weights) == ([1, 0, 1], np.uint8, [1.0, 2.0])
    assert details == {"order": 2}
    assert checked_found(Found(np.ones(2)), 2)[1:] == (None, {})
    assert as_found(["u(k-1)", "1"], ["1", "y(k-1)", "u(k-1)"]) == Found([1, 0, 1])
    assert as_found((), ["1"]) == Found([0])


@pytest.mark.parametrize(
    "details", [{"rng": np.random.default_rng(1)}, {"sse": float("nan")}, [1], {"x": "x" * 100_000}]
)
def test_details_are_plain_data(details):
    with pytest.raises(NarxbenchError, match="details"):
        checked_found(Found(np.ones(2), None, details), 2)


class TestView:
    u, y = load_system("S1").simulate(500, snr_db=30)
    problem = StructureProblem(u, y, n_u=2, n_y=3, degree=2, n_validation=200, criterion="aic-4")
    view = view_of(problem)

    def test_it_says_what_the_problem_is(self):
        assert list(self.view.terms) == self.problem.terms
        assert (self.view.n_u, self.view.n_y, self.view.degree) == (2, 3, 2)
        np.testing.assert_array_equal(self.view.rows, np.arange(3, 300))
        assert (self.view.criterion, self.view.penalty, self.view.n_validation) == ("aic-4", 4.0, 200)
        np.testing.assert_array_equal(self.view.penalties, 4.0 * np.arange(len(self.problem.terms) + 1))
        assert self.view.monomials[self.view.terms.index("y(k-3)*u(k-1)")] == ((OUTPUT, 3), (INPUT, 1))

    def test_it_ends_where_the_validation_part_begins(self):
        np.testing.assert_array_equal(self.view.u, self.u[:300])
        np.testing.assert_array_equal(self.view.y, self.y[:300])
        np.testing.assert_array_equal(self.view.outputs(), self.y[3:300])
        column = self.view.regressors()[:, self.view.terms.index("y(k-2)*u(k-1)")]
        np.testing.assert_array_equal(column, self.y[1:298] * self.u[2:299])

    def test_it_cannot_be_written_to(self):
        before = self.problem.digest_now()
        view = view_of(self.problem)
        for array in (view.gram, view.moments, view.u, view.y, view.rows, view.regressors(), view.outputs()):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
            array.flags.writeable = True
            array[...] = 0.0
        assert self.problem.digest_now() == before
        np.testing.assert_array_equal(self.problem.estimation_rows, np.arange(3, 300))
        np.testing.assert_array_equal(self.problem.estimation_part[1], self.y[:300])


class TestProblemsOfRecords:
    """Problems of measured records: rows that are not all, and two inputs."""

    rng = np.random.default_rng(7)
    u, noise, y = rng.standard_normal((300, 2)), 0.1 * rng.standard_normal(300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k, 0] + 0.4 * y[k - 1] * u[k - 1, 1] / (1 + abs(y[k - 1])) + noise[k]
    rows = np.sort(rng.choice(np.r_[2:100, 152:300], 220))
    problem = StructureProblem.of_records(
        u, y, monomials_of([(0, 1), (0, 2), (1, 0), (2, 1)], 2), rows=rows, segments=[range(60, 150), range(180, 250)]
    )

    def test_the_view_has_the_rows_that_estimate(self):
        view = view_of(self.problem)
        np.testing.assert_array_equal(view.rows, self.rows)
        np.testing.assert_array_equal(view.outputs(), self.y[self.rows])
        columns = view.regressors()
        expected = self.y[self.rows - 1] * self.u[self.rows - 1, 1]
        np.testing.assert_array_equal(columns[:, view.terms.index("y(k-1)*u2(k-1)")], expected)
        np.testing.assert_array_equal(columns[:, view.terms.index("u1(k)")], self.u[self.rows, 0])
        np.testing.assert_allclose(view.gram, columns.T @ columns, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(view.moments, columns.T @ view.outputs(), rtol=1e-11, atol=1e-11)
        assert view.n_rows == 220 and view.output_energy == pytest.approx(float(self.y[self.rows] @ self.y[self.rows]))
        # What no row reaches stays hidden.
        hidden = np.setdiff1d(np.arange(300), np.concatenate([self.rows, self.rows - 1, self.rows - 2]))
        assert len(hidden) > 40 and not view.y[hidden].any() and not view.u[hidden].any()

    def test_an_algorithm_in_a_process_of_its_own_sees_the_same(self, plugins):
        objective = CountedObjective(self.problem, 10)
        right = sees_all(view_of(self.problem), objective, None, None).coefficients
        result = search(self.problem, algorithm="sees_all", seed=1, evaluations=10)
        np.testing.assert_allclose(result.coefficients, right, rtol=1e-12)

    # SysIdentPy takes one input; what needs other packages imports them in a process of its own.
    @pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[pytest.mark.slow] * bool(algorithm(name).about.requires))
            for name in packaged_names()
            if not name.startswith("sysidentpy")
        ],
    )
    def test_every_algorithm_finds_the_structure_or_one_near(self, name):
        for package in algorithm(name).about.requires:
            pytest.importorskip({"scikit-learn": "sklearn"}.get(package, package))
        result = search(self.problem, algorithm=name, seed=1, evaluations=400)
        again = self.problem.evaluate(result.terms)
        assert (again.fitness, again.sse, again.status) == (result.fitness, result.sse, "finite")
        energy = np.sum((self.problem.data.measured - self.problem.data.measured.mean()) ** 2)
        assert result.sse < 0.1 * energy
        assert {"y(k-1)", "u1(k)", "y(k-1)*u2(k-1)"} <= set(result.terms)
