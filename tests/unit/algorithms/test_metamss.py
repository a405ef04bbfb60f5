import math

import numpy as np
import pytest
from scipy import stats

from narxbench._algorithms import metamss
from narxbench._algorithms.objective import CountedObjective, view_of
from narxbench._algorithms.significance import drop_insignificant, squared_t_values


def kept(columns, y, position, significance=0.05):
    thresholds = squared_t_values(significance, len(y), columns.shape[1])
    position = np.array(position, np.uint8)
    drop_insignificant(columns.T @ columns, columns.T @ y, float(y @ y), len(y), thresholds, position)
    return position.tolist()


@pytest.mark.parametrize("significance", [0.3, 0.05, 1e-6])
def test_terms_of_large_p_value_are_dropped_together(rng, significance):
    columns = rng.normal(size=(40, 12)) @ rng.normal(size=(12, 12))
    y = columns @ (rng.normal(size=12) * (np.arange(12) % 3)) + rng.normal(size=40)
    position = np.array([1] * 11 + [0])
    design = columns[:, :11]
    weights = np.linalg.lstsq(design, y)[0]
    variance = ((y - design @ weights) ** 2).sum() / (40 - 11) * np.linalg.inv(design.T @ design).diagonal()
    p_values = 2.0 * stats.t.sf(np.abs(weights) / np.sqrt(variance), 40 - 11)
    expected = [*(p_values <= significance).astype(int).tolist(), 0]
    assert 0 < sum(expected) < 11
    assert kept(columns, y, position, significance) == expected


def test_what_cannot_be_tested_stays(rng):
    columns = rng.normal(size=(20, 4))
    columns[:, 3] = columns[:, 0] + columns[:, 1]
    y = columns[:, 0] + 0.01 * rng.normal(size=20)
    # Tested; singular; none significant; empty; no degree of freedom.
    assert kept(columns, y, [1, 1, 1, 0]) == [1, 0, 0, 0]
    assert kept(columns, y, [1, 1, 0, 1]) == [1, 1, 0, 1]
    assert kept(columns, np.zeros(20), [1, 1, 1, 0]) == [1, 1, 1, 0]
    assert kept(columns, y, [0, 0, 0, 0]) == [0, 0, 0, 0]
    assert kept(columns[:3, :3], y[:3], [1, 1, 1]) == [1, 1, 1]


def test_agents_are_drawn_towards_heavier_ones(draws):
    positions = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1]], np.uint8)
    mass, force, sums = np.array([0.0, 2.0, 3.0]), np.empty(4), np.zeros(4)
    for _ in range(4000):
        metamss.attraction(positions, 0, mass, np.array([2, 1]), True, draws, force)
        sums += force
    first, second = 2.0 / math.sqrt(2.0), 3.0 / math.sqrt(3.0)
    np.testing.assert_allclose(sums / 4000, 0.5 * np.array([-second, first + second, -first, second]), atol=0.04)
    metamss.attraction(positions, 0, mass, np.array([0]), True, draws, force)
    assert force.tolist() == [0.0] * 4


def test_the_norm_of_order_minus_two_is_zero_unless_all_terms_differ(draws):
    positions = np.array([[1, 0], [0, 1], [1, 1]], np.uint8)
    mass, force = np.ones(3), np.empty(2)
    metamss.attraction(positions, 0, mass, np.array([2]), False, draws, force)
    assert force[0] == 0.0 and force[1] > 1e10
    metamss.attraction(positions, 0, mass, np.array([1]), False, draws, force)
    assert -2.0 < force[0] < 0.0 < force[1] < 2.0


@pytest.mark.parametrize("velocity", [-2.0, -0.3, 0.1, 1.0])
def test_bits_flip_with_the_hyperbolic_tangent(rng, velocity):
    flips = [metamss.below_tanh(draw, velocity) for draw in rng.random(20_000)]
    assert np.mean(flips) == pytest.approx(math.tanh(abs(velocity)), abs=0.012)


def test_agents_are_tested_before_they_are_evaluated(small_problem):
    """Structures from the toss of a coin have some 7 of 15 terms; S1 has four that are significant."""
    sizes = {}
    for significance in (0.05, None):
        settings = metamss.Settings(significance=significance, agents=100, iterations=1)
        objective = CountedObjective(small_problem, 100)
        metamss.run(view_of(small_problem), objective, np.random.default_rng(1), settings)
        record = objective.compiled[1]
        words = record.known_structures[record.slot_used, 0]
        sizes[significance] = np.mean([int(word).bit_count() for word in words])
    assert sizes[None] == pytest.approx(7.5, abs=0.5)
    assert sizes[0.05] < 6.0


def test_a_search_of_so_many_iterations_starts_anew(small_problem):
    objective = CountedObjective(small_problem, 900)
    metamss.run(view_of(small_problem), objective, np.random.default_rng(1), metamss.Settings())
    long = objective.trace()
    # In the end of a search most agents have met before; then as many structures are new as in the beginning.
    begun, settled, anew = (len(np.unique(long[k : k + 50])) for k in (0, 250, 300))
    assert 2 * settled < min(begun, anew)
