import math

import numpy as np
import pytest

from narxbench._algorithms import ga

FITNESS = np.array([-10.0, 5.0, math.inf, 0.0])


@pytest.mark.parametrize(
    ("fitness", "divergent_fitness", "weights"),
    [
        # Distances to the worst finite J.
        (FITNESS, math.inf, [15.0, 0.0, 0.0, 5.0]),
        # A huge J of divergent individuals makes selection even; one that is not the largest changes nothing ...
        (FITNESS, 1e10, [1e10 + 10, 1e10 - 5, 0.0, 1e10]),
        (FITNESS, 1.0, [15.0, 0.0, 0.0, 5.0]),
        # ... nor does any without a divergent individual.
        (FITNESS[:2], 1e10, [15.0, 0.0]),
    ],
)
def test_proportional_weights(fitness, divergent_fitness, weights):
    np.testing.assert_allclose(ga.selection_weights(fitness, ga.PROPORTIONAL, divergent_fitness), weights)


def test_rank_weights():
    fitness = np.array([-10.0, 5.0, math.inf, 0.0, 0.0])
    np.testing.assert_allclose(ga.selection_weights(fitness, ga.LINEAR_RANK, math.inf), [5.0, 2.0, 0.0, 4.0, 3.0])


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (ga.PROPORTIONAL, [3 / 6, 2 / 6, 1 / 6, 0.0]),
        (ga.LINEAR_RANK, [0.4, 0.3, 0.2, 0.1]),
        (ga.TOURNAMENT, [7 / 16, 5 / 16, 3 / 16, 1 / 16]),
    ],
)
def test_better_individuals_are_selected_more_often(scheme, expected, draws):
    fitness = np.array([0.0, 10.0, 20.0, 30.0])
    weights = ga.selection_weights(fitness, scheme, math.inf)
    drawn = [ga.select_parent(fitness, weights, scheme, draws) for _ in range(20_000)]
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 20_000, expected, atol=0.015)


@pytest.mark.parametrize(("scheme", "cuts"), [(ga.ONE_POINT, {1}), (ga.TWO_POINT, {0, 2}), (ga.UNIFORM, {*range(8)})])
def test_crossover_exchanges_and_keeps_every_bit(scheme, cuts, draws):
    numbers_of_cuts = set()
    for _ in range(1000):
        a, b = np.zeros(8, np.uint8), np.ones(8, np.uint8)
        ga.cross_over(a, b, scheme, draws)
        np.testing.assert_array_equal(a + b, 1)
        numbers_of_cuts.add(int(np.abs(np.diff(a.astype(int))).sum()))
    assert numbers_of_cuts == cuts


def test_mutation_rate(draws):
    individual = np.zeros(100_000, np.uint8)
    ga.mutate(individual, 0.01, draws)
    assert individual.mean() == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize(("elite", "n_drawn"), [(-1, 2), (3, 1)])
def test_survivors_are_distinct_and_hold_the_elite(elite, n_drawn, draws):
    survivals = np.zeros(6)
    for _ in range(3000):
        kept = ga.random_survivors(6, 2, elite, draws)
        assert len(set(kept)) == 2
        assert elite < 0 or elite in kept
        survivals[kept] += 1
    is_drawn = np.arange(6) != elite
    np.testing.assert_allclose(survivals[is_drawn] / 3000, n_drawn / is_drawn.sum(), atol=0.05)
