"""The parts of 2D-UPSO, the GA and MetaMSS against worked examples, formulas and frequencies."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from narxbench import search
from narxbench._algorithms import ga, metamss, upso2d
from narxbench._algorithms.population import roulette
from narxbench._algorithms.significance import drop_insignificant, squared_t_values
from narxbench._numerics.draws import draws_of


@pytest.fixture
def draws(rng):
    with draws_of(rng, longest=200) as draws:
        yield draws


def shares(drawn, count):
    """Return the share of each of the numbers below a count."""
    return np.bincount(drawn, minlength=count) / len(drawn)


def test_roulette_counts_negative_weights_as_zero():
    for weights, expected in (([1.0, -5.0, 3.0], [1 / 4, 0, 3 / 4]), ([0.0, -1.0], [1 / 2, 1 / 2])):
        drawn = [roulette(np.array(weights), (i + 0.5) / 2400) for i in range(2400)]
        np.testing.assert_allclose(shares(drawn, len(weights)), expected, atol=1e-3)


def bits(text):
    return np.array([*map(int, text)], np.uint8)


def learning_set(exemplar, position):
    learned = np.full((2, len(exemplar)), 7, np.uint8)
    upso2d.learn(exemplar, position, learned)
    return learned


X, PBEST, GBEST, NBEST, NOTHING = map(bits, ("10101", "01001", "11010", "00011", "00000"))


class TestSwarm:
    """The worked examples of the paper and of the source that it cites."""

    def test_learning_sets_and_velocity(self, rng):
        sets = [learning_set(exemplar, X) for exemplar in (PBEST, GBEST, NBEST, NOTHING)]
        expected = [("01000", "01000"), ("00100", "01010"), ("01000", "00010"), ("00000", "00000")]
        itself = learning_set(X, NOTHING)
        for learned, rows in zip([*sets, itself], [*expected, ("00100", "10101")], strict=True):
            np.testing.assert_array_equal(learned, [*map(bits, rows)])
        velocity, r1, r2, s1, s2 = rng.random((5, 2, 5))
        v_g = 0.729 * velocity + 1.49 * r1 * sets[0] + 1.49 * r2 * sets[1] - 0.3 * itself
        v_l = 0.729 * velocity + 1.49 * s1 * sets[0] + 1.49 * s2 * sets[2] - 0.3 * itself
        upso2d.update_velocity(velocity, 0.729, 1.49, 1.49, (r1, r2), (s1, s2), -0.3, 0.4, *sets[:3], itself)
        np.testing.assert_allclose(velocity, 0.4 * v_g + 0.6 * v_l, rtol=1e-14)

    @pytest.mark.parametrize(
        ("way", "likelihood", "expected"),
        [
            # Sums 1, -1, 2: r in [0, 1) meets the first entry, r in [1, 2) the last.
            ("cumulative", [1.0, -2.0, 3.0], [1 / 2, 0, 1 / 2]),
            # Sums 3, 1, 2: the first entry covers more than all.
            ("cumulative", [3.0, -2.0, 1.0], [1, 0, 0]),
            ("cumulative", [1.0, -2.0, 0.5], [1 / 3, 1 / 3, 1 / 3]),
            ("shifted", [1.0, -2.0, 3.0], [3 / 8, 0, 5 / 8]),
            ("zero", [1.0, -2.0, 3.0], [1 / 4, 0, 3 / 4]),
        ],
    )
    def test_negative_likelihoods_of_cardinalities(self, way, likelihood, expected):
        likelihoods, choice = np.array(likelihood), (way == "cumulative", way == "shifted")
        drawn = [upso2d.draw_cardinality(likelihoods, (i + 0.5) / 2400, *choice) for i in range(2400)]
        np.testing.assert_allclose(shares(drawn, 4)[1:], expected, atol=1e-3)

    def test_self_feedback(self):
        now, before = np.array([-100.0, -50.0, 0.0, np.inf, 100.0]), np.array([-90.0, -60.0, 10.0, -100.0, np.inf])
        np.testing.assert_allclose(upso2d.self_feedback(now, before, False), [1.0, -0.75, 0.5, 0.0, 0.0])
        now, before = np.array([50.0, 100.0, np.inf]), np.array([60.0, 80.0, 70.0])
        np.testing.assert_allclose(upso2d.self_feedback(now, before, True), [0.5, 0.0, 0.0])
        # With negative J the ratio of the printed formula turns round: a smaller J counts as worse.
        feedback = upso2d.self_feedback(np.array([-100.0, -50.0]), np.array([-90.0, -60.0]), True)
        np.testing.assert_allclose(feedback, [1.0, 0.0])


class TestGenetics:
    def test_weights_where_individuals_diverge(self):
        """A huge J of theirs makes selection even. One that is not the largest changes nothing."""
        fitness, proportional = np.array([-10.0, 5.0, np.inf, 0.0, 0.0]), int(ga.ParentSelection.proportional)
        even = ga.selection_weights(fitness, proportional, 1e10)
        plain = ga.selection_weights(fitness, proportional, 1.0)
        np.testing.assert_allclose(even, [1e10 + 10, 1e10 - 5, 0.0, 1e10, 1e10])
        np.testing.assert_allclose(plain, [15.0, 0.0, 0.0, 5.0, 5.0])

    @pytest.mark.parametrize(
        ("scheme", "expected"),
        [
            (ga.ParentSelection.proportional, [3 / 6, 2 / 6, 1 / 6, 0.0]),
            (ga.ParentSelection.linear_rank, [0.4, 0.3, 0.2, 0.1]),
            (ga.ParentSelection.tournament, [7 / 16, 5 / 16, 3 / 16, 1 / 16]),
        ],
    )
    def test_better_individuals_are_selected_more_often(self, scheme, expected, draws):
        fitness = np.array([0.0, 10.0, 20.0, 30.0])
        weights = ga.selection_weights(fitness, int(scheme), math.inf)
        drawn = [ga.select_parent(fitness, weights, int(scheme), draws) for _ in range(20_000)]
        np.testing.assert_allclose(shares(drawn, 4), expected, atol=0.015)

    @pytest.mark.parametrize(("n_points", "cuts"), [(1, {1}), (2, {0, 2}), (0, {*range(8)})])
    def test_crossover_exchanges_and_keeps_every_bit(self, n_points, cuts, draws):
        numbers_of_cuts = set()
        for _ in range(1000):
            a, b = np.zeros(8, np.uint8), np.ones(8, np.uint8)
            ga.cross_over(a, b, n_points, draws)
            np.testing.assert_array_equal(a + b, 1)
            numbers_of_cuts.add(int(np.abs(np.diff(a.astype(int))).sum()))
        assert numbers_of_cuts == cuts


def kept(columns, y, position, significance=0.05):
    thresholds = squared_t_values(significance, len(y), columns.shape[1])
    position = np.array(position, np.uint8)
    drop_insignificant(columns.T @ columns, columns.T @ y, float(y @ y), len(y), thresholds, position)
    return position.tolist()


class TestGravity:
    @pytest.mark.parametrize("significance", [0.3, 0.05, 1e-6])
    def test_terms_of_large_p_value_are_dropped_together(self, rng, significance):
        columns = rng.normal(size=(40, 12)) @ rng.normal(size=(12, 12))
        y = columns @ (rng.normal(size=12) * (np.arange(12) % 3)) + rng.normal(size=40)
        design = columns[:, :11]
        weights = np.linalg.lstsq(design, y)[0]
        variance = ((y - design @ weights) ** 2).sum() / (40 - 11) * np.linalg.inv(design.T @ design).diagonal()
        p_values = 2.0 * stats.t.sf(np.abs(weights) / np.sqrt(variance), 40 - 11)
        expected = [*(p_values <= significance).astype(int).tolist(), 0]
        assert 0 < sum(expected) < 11
        assert kept(columns, y, [1] * 11 + [0], significance) == expected

    def test_what_cannot_be_tested_stays(self, rng):
        columns = rng.normal(size=(20, 4))
        columns[:, 3] = columns[:, 0] + columns[:, 1]
        y = columns[:, 0] + 0.01 * rng.normal(size=20)
        # Tested; singular; none significant; empty; no degree of freedom.
        assert kept(columns, y, [1, 1, 1, 0]) == [1, 0, 0, 0]
        assert kept(columns, y, [1, 1, 0, 1]) == [1, 1, 0, 1]
        assert kept(columns, np.zeros(20), [1, 1, 1, 0]) == [1, 1, 1, 0]
        assert kept(columns, y, [0, 0, 0, 0]) == [0, 0, 0, 0]
        assert kept(columns[:3, :3], y[:3], [1, 1, 1]) == [1, 1, 1]

    def test_agents_are_drawn_towards_heavier_ones(self, draws):
        positions = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1]], np.uint8)
        mass, force, sums = np.array([0.0, 2.0, 3.0]), np.empty(4), np.zeros(4)
        for _ in range(4000):
            metamss.attraction(positions, 0, mass, np.array([2, 1, 0]), draws, force)
            sums += force
        first, second = 2.0 / math.sqrt(2.0), 3.0 / math.sqrt(3.0)
        np.testing.assert_allclose(sums / 4000, 0.5 * np.array([-second, first + second, -first, second]), atol=0.04)

    @pytest.mark.parametrize("velocity", [-2.0, 0.1, 1.0])
    def test_bits_flip_with_the_hyperbolic_tangent(self, rng, velocity):
        flips = list(map(metamss.below_tanh, rng.random(20_000), itertools.repeat(velocity)))
        assert np.mean(flips) == pytest.approx(math.tanh(abs(velocity)), abs=0.012)

    def test_the_test_leaves_the_true_terms(self, small_problem):
        true = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
        settings = {"algorithm": "metamss", "seed": 1, "evaluations": 100, "agents": 100}
        tested = search(small_problem, **settings, significance=0.05)
        untested = search(small_problem, **settings, significance=None)
        assert {*true} <= {*tested.terms} and len(tested.terms) <= 6
        assert tested.fitness < untested.fitness
