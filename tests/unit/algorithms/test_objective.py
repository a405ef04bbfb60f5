import numpy as np

from narxbench.algorithms.objective import Objective


def test_an_interpreted_algorithm_sees_the_same_objective(small_problem, rng):
    objective = Objective(small_problem, 50)
    positions = (rng.random((40, objective.n_terms)) < 0.5).astype(np.uint8)
    first = objective.evaluate(positions)
    np.testing.assert_array_equal(first, small_problem.evaluate_positions(positions)[0])
    second = objective.evaluate(positions)
    assert objective.remaining == 0
    np.testing.assert_array_equal(second[:10], first[:10])
    assert np.isinf(second[10:]).all()
    assert objective.history()[-1] == (first.argmin() + 1, first.min())
    np.testing.assert_array_equal(objective.record.best_position, positions[first.argmin()])
