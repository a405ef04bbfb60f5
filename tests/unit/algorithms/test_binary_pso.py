import math

import numpy as np
import pytest

from narxbench.algorithms import binary_pso
from narxbench.algorithms.objective import CountedObjective, view_of


@pytest.mark.parametrize("velocity", [-6.0, -1.0, 0.0, 0.5, 4.0])
def test_a_bit_is_set_with_the_sigmoid_of_its_velocity(rng, velocity):
    bits = [binary_pso.below_sigmoid(draw, velocity) for draw in rng.random(20_000)]
    assert np.mean(bits) == pytest.approx(1.0 / (1.0 + math.exp(-velocity)), abs=0.012)


def structures(problem, budget, **settings):
    """Return the share of the recorded structures that have each term."""
    objective = CountedObjective(problem, budget)
    view = view_of(problem)
    binary_pso.run(view, objective, np.random.default_rng(1), binary_pso.Settings(**settings))
    assert objective.remaining == 0
    record = objective.compiled[1]
    words = record.known_structures[record.slot_used, 0]
    return (words[:, None] >> np.arange(15, dtype=np.uint64) & np.uint64(1)).mean(axis=0), objective


def test_a_swarm_that_learns_nothing_tosses_coins(small_problem):
    share, _ = structures(small_problem, 3000, cognitive_acceleration=0.0, social_acceleration=0.0)
    np.testing.assert_allclose(share, 0.5, atol=0.05)


def test_a_swarm_that_only_learns_converges_as_far_as_the_bound_lets_it(small_problem):
    """With an inertia weight of 1 velocities reach the bound, where a bit differs with probability 1 - sigmoid(6)."""
    _, objective = structures(small_problem, 6000, inertia_start=1.0, inertia_end=1.0)
    _, loose = structures(small_problem, 6000, inertia_start=1.0, inertia_end=1.0, velocity_bound=0.5)
    best = objective.best_fitness
    assert (objective.trace()[-300:] == best).mean() > 0.3
    assert (loose.trace()[-300:] == loose.best_fitness).mean() < 0.05
