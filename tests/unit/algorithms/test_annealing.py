import itertools
import math

import numpy as np
import pytest

from narxbench import search
from narxbench._algorithms import annealing
from narxbench._algorithms.objective import CountedObjective


def test_moves(draws):
    start = np.array([1, 0, 1, 0, 0], np.uint8)
    counts = {}
    for _ in range(9000):
        position = start.copy()
        annealing.move(position, draws)
        key = position.tobytes()
        counts[key] = counts.get(key, 0) + 1
    # A term leaves, is swapped or enters: how many such moves there are, and how many bits each changes.
    n_moves, n_flips = {-1: 2, 0: 6, 1: 3}, {-1: 1, 0: 2, 1: 1}
    counts_by_change = {-1: [], 0: [], 1: []}
    for key, count in counts.items():
        position = np.frombuffer(key, np.uint8)
        change = int(position.sum()) - 2
        assert int((position != start).sum()) == n_flips[change]
        counts_by_change[change].append(count)
    for change, move_counts in counts_by_change.items():
        assert len(move_counts) == n_moves[change]
        np.testing.assert_allclose(move_counts, 3000 / n_moves[change], rtol=0.15)


@pytest.mark.parametrize(("start", "sizes"), [([0, 1, 0], {1, 2}), ([1, 1, 1], {2})])
def test_moves_at_the_borders(start, sizes, draws):
    sizes_after = set()
    for _ in range(300):
        position = np.array(start, np.uint8)
        annealing.move(position, draws)
        assert position.tolist() != start
        sizes_after.add(int(position.sum()))
    assert sizes_after == sizes


def walked(problem, draws, position, temperature, moves, budget=3000):
    objective = CountedObjective(problem, budget)
    current = float(problem.evaluate_positions(position[None])[0][0])
    end, rise = annealing.walk(*objective.compiled, draws, position, current, temperature, moves)
    assert end == problem.evaluate_positions(position[None])[0][0]
    return end, rise, objective


def term(index):
    position = np.zeros(15, np.uint8)
    position[index] = 1
    return position


def test_a_cold_walk_only_descends(small_problem, draws):
    position = term(3)
    end, _, objective = walked(small_problem, draws, position, 1e-12, 2000)
    assert end == objective.best_fitness
    np.testing.assert_array_equal(position, objective.best_position)


def test_a_hot_walk_goes_wherever_j_is_finite(small_problem, draws):
    """Every finite J is accepted, so that the mean rise is that of the trace."""
    position = term(1)
    start = float(small_problem.evaluate_positions(position[None])[0][0])
    end, rise, objective = walked(small_problem, draws, position, math.inf, 500)
    finite = [start, *(j for j in objective.trace().tolist() if j < math.inf)]
    rises = [b - a for a, b in itertools.pairwise(finite) if b > a]
    assert end == finite[-1]
    assert rise == pytest.approx(math.fsum(rises) / len(rises))


def test_acceptance_is_that_of_metropolis(small_problem, draws):
    """One move from the best structure: a rise by d is accepted with probability exp(-d / T)."""
    best = search(small_problem, algorithm="stepwise", seed=1, evaluations=500)
    start = np.isin(small_problem.terms, best.terms).astype(np.uint8)
    temperature, accepted, expected, rounds = 300.0, 0, 0.0, 3000
    for _ in range(rounds):
        objective = CountedObjective(small_problem, 1)
        position = start.copy()
        annealing.walk(*objective.compiled, draws, position, best.fitness, temperature, 5)
        accepted += not np.array_equal(position, start)
        expected += math.exp(-(float(objective.trace()[0]) - best.fitness) / temperature)
    assert 0.1 * rounds < expected < 0.9 * rounds
    assert accepted == pytest.approx(expected, abs=4.0 * math.sqrt(rounds) / 2.0)
