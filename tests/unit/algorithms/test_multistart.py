import itertools

import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms import multistart
from narxbench.algorithms.forward_regression import EXACT
from narxbench.algorithms.multistart import Settings, predicted
from narxbench.algorithms.objective import CountedObjective, view_of


def searching(problem, budget=6000, **settings):
    objective = CountedObjective(problem, budget)
    rng = np.random.default_rng(1)
    return multistart._Search(view_of(problem), objective, rng, Settings(**settings)), objective


def structure(*terms, size=15):
    position = np.zeros(size, np.uint8)
    position[list(terms)] = 1
    return position


def one_step_error(view, terms):
    # As np.linalg has it, from the columns themselves.
    columns = view.regressors()[:, terms]
    weights = np.linalg.lstsq(columns, view.outputs(), rcond=None)[0]
    return float(((view.outputs() - columns @ weights) ** 2).sum())


@pytest.mark.parametrize("terms", [[4], [1, 3, 8], [0, 2, 5, 7, 11, 14]])
def test_predicted_changes_are_those_of_least_squares(small_problem, terms):
    view = view_of(small_problem)
    members, flips, swaps = predicted(view.gram, view.moments, view.output_energy, 300.0, 5.0, structure(*terms))
    assert members.tolist() == terms
    before = one_step_error(view, terms)
    for term in range(15):
        changed = sorted({*terms} ^ {term})
        after = one_step_error(view, changed) if changed else view.output_energy
        expected = 300.0 * np.log(after / before) + 5.0 * (len(changed) - len(terms))
        np.testing.assert_allclose(flips[term], expected, rtol=1e-7, atol=1e-7)
    for (row, dropped), added in itertools.product(enumerate(terms), range(15)):
        if added in terms:
            assert swaps[row, added] == np.inf
        else:
            after = one_step_error(view, sorted({*terms} - {dropped} | {added}))
            np.testing.assert_allclose(swaps[row, added], 300.0 * np.log(after / before), rtol=1e-7, atol=1e-7)


def test_predictions_of_the_empty_structure_and_of_dependent_columns():
    gram, moments = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([2.0, 2.0])
    _, flips, swaps = predicted(gram, moments, 8.0, 10.0, 1.0, np.zeros(2, np.uint8))
    np.testing.assert_allclose(flips, 10.0 * np.log(0.5) + 1.0)
    assert swaps.shape == (0, 2)
    # The second column gives nothing next to the first, and costs its penalty; in its place it gives the same.
    _, flips, swaps = predicted(gram, moments, 8.0, 10.0, 1.0, np.array([1, 0], np.uint8))
    np.testing.assert_allclose(flips, [10.0 * np.log(2.0) - 1.0, 1.0])
    np.testing.assert_allclose(swaps, [[np.inf, 0.0]], atol=1e-12)
    # Together one of them is left out: to drop that one changes only the penalty.
    _, flips, _ = predicted(gram, moments, 8.0, 10.0, 1.0, np.ones(2, np.uint8))
    assert flips.min() == -1.0


def test_an_exact_fit_predicts_finite_changes():
    _, flips, swaps = predicted(np.eye(2), np.array([1.0, 0.0]), 1.0, 10.0, 1.0, np.array([1, 0], np.uint8))
    assert np.isfinite(flips).all() and np.isfinite(swaps[0, 1])
    assert flips[0] <= -10.0 * np.log(EXACT)


def test_the_forward_regression_keeps_to_the_allowed_candidates(small_problem):
    run, objective = searching(small_problem)
    allowed = np.arange(15) % 2 == 0
    best, fitness = run.forward(allowed)
    assert not best[~allowed].any() and fitness == objective.best_fitness
    assert objective.evaluations == allowed.sum()
    run, objective = searching(small_problem, path_length=3)
    run.forward(np.ones(15, bool))
    assert objective.evaluations == 3


def test_a_descent_ends_where_no_change_that_it_tries_helps(small_problem):
    run, objective = searching(small_problem)
    start = structure(3)
    best, fitness = run.descend(start, np.inf, np.inf)
    assert fitness == objective.best_fitness == objective.trace().min()
    neighbours = np.array([best ^ structure(term) for term in range(15)])
    assert small_problem.evaluate_positions(neighbours)[0].min() >= fitness


def test_a_descent_evaluates_no_structure_twice(small_problem):
    run, objective = searching(small_problem)
    end = run.descend(*run.kicked(structure(3, 5)), np.inf)
    made = objective.evaluations
    assert made == len(run._known)
    assert run.descend(*end, np.inf)[1] == end[1]
    assert objective.evaluations == len(run._known)


def test_a_descent_around_what_is_not_the_best_gives_up(small_problem):
    spent = {}
    for best in (-np.inf, np.inf):
        run, objective = searching(small_problem, patience=4, batch_size=2)
        end = run.descend(structure(3), np.inf, np.inf)
        run._known.clear()
        before = objective.evaluations
        run.descend(*end, best)
        spent[best] = objective.evaluations - before
    assert spent[-np.inf] == 4 < spent[np.inf]


def test_a_kick_changes_a_few_terms(small_problem):
    run, _ = searching(small_problem, largest_kick=3)
    start = structure(1, 5, 6)
    distances = {int((run.kicked(start)[0] ^ start).sum()) for _ in range(300)}
    # Two changes of the same term cancel.
    assert distances == {0, 1, 2, 3}


def test_worse_ends_are_accepted_by_chance(small_problem):
    run, _ = searching(small_problem, temperature=1.0)
    penalty = view_of(small_problem).penalty
    share = np.mean([run.accepts(penalty, 0.0) for _ in range(4000)])
    assert share == pytest.approx(np.exp(-1.0), abs=0.03)
    assert run.accepts(0.0, 0.0) and not run.accepts(np.inf, 0.0) and run.accepts(np.inf, np.inf)
    cold, _ = searching(small_problem, temperature=0.0)
    assert not any(cold.accepts(1e-9, 0.0) for _ in range(100))


def test_it_finds_the_system_among_a_thousand_candidates_at_once():
    system = load_system("S1").with_candidates(n_u=5, n_y=5, degree=4)
    u, y = system.simulate(1000, snr_db=40)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=4, n_validation=300)
    true = problem.evaluate(system.terms).fitness
    assert search(problem, algorithm="multistart", seed=1, evaluations=300).fitness <= true
