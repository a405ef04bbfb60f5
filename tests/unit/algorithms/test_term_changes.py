import itertools

import numpy as np
import pytest

from narxbench._algorithms.objective import view_of
from narxbench._algorithms.term_changes import predicted


def structure(*terms):
    position = np.zeros(15, np.uint8)
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
