import numpy as np
import pytest

from narxbench.algorithms import random_search
from narxbench.algorithms.contract import Objective
from narxbench.algorithms.objective import CountedObjective, view_of


class Structures(Objective):
    """An objective of 20 terms that keeps what it is asked."""

    n_terms, budget, best_fitness = 20, 5000, 0.0
    best_position = np.zeros(20, np.uint8)

    def __init__(self):
        self.seen = np.zeros((0, 20), np.uint8)

    @property
    def remaining(self):
        return self.budget - len(self.seen)

    def _evaluated(self, positions):
        self.seen = np.vstack([self.seen, positions])
        return np.zeros(len(positions))


@pytest.mark.parametrize(("positions", "spread"), [("uniform_cardinality", 5.77), ("bernoulli", 2.24)])
def test_how_many_terms_a_structure_has(small_problem, positions, spread):
    """Uniform on 1 to 20, or binomial: standard deviations of sqrt(399 / 12) and sqrt(5)."""
    objective = Structures()
    settings = random_search.Settings(positions=positions)
    random_search.run(view_of(small_problem), objective, np.random.default_rng(1), settings)
    assert len(objective.seen) == 5000
    assert objective.seen.sum(axis=1).std() == pytest.approx(spread, abs=0.1)
    assert np.ptp(objective.seen.mean(axis=0)) < 0.08


def test_the_best_structure_is_found(small_problem):
    objective = CountedObjective(small_problem, 1000)
    found = random_search.run(view_of(small_problem), objective, np.random.default_rng(1), random_search.Settings())
    assert small_problem.evaluate_positions(np.array([found.position]))[0][0] == objective.trace().min()
