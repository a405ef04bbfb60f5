import math

import numpy as np
import pytest

from narxbench._algorithms import binary_pso
from narxbench._algorithms.objective import CountedObjective, view_of


@pytest.mark.parametrize("velocity", [-6.0, -1.0, 0.0, 0.5, 4.0])
def test_a_bit_is_set_with_the_sigmoid_of_its_velocity(rng, velocity):
    bits = [binary_pso.below_sigmoid(draw, velocity) for draw in rng.random(20_000)]
    assert np.mean(bits) == pytest.approx(1.0 / (1.0 + math.exp(-velocity)), abs=0.012)


def swarm(problem, **settings):
    objective = CountedObjective(problem, 6000)
    settings = binary_pso.Settings(inertia_start=1.0, inertia_end=1.0, **settings)
    binary_pso.run(view_of(problem), objective, np.random.default_rng(1), settings)
    return objective


def test_a_swarm_that_only_learns_converges_as_far_as_the_bound_lets_it(small_problem):
    """With an inertia weight of 1 velocities reach the bound, where a bit differs with probability 1 - sigmoid(6)."""
    tight, loose = swarm(small_problem), swarm(small_problem, velocity_bound=0.5)
    assert (tight.trace()[-300:] == tight.best_fitness).mean() > 0.3
    assert (loose.trace()[-300:] == loose.best_fitness).mean() < 0.05
