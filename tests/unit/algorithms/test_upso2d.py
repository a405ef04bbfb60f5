"""The parts of 2D-UPSO against the worked examples of the paper and of the source that it cites."""

import itertools
import math

import numpy as np
import pytest

from narxbench._algorithms import upso2d


def bits(text):
    return np.array([*map(int, text)], np.uint8)


def rows(cardinality, attribute):
    return np.array([bits(cardinality), bits(attribute)])


def learning_set(exemplar, position):
    learned = np.full((2, len(exemplar)), 7, np.uint8)
    upso2d.learn(exemplar, position, learned)
    return learned


X, PBEST, GBEST = bits("10101"), bits("01001"), bits("11010")


def test_learning_sets_of_the_worked_example():
    np.testing.assert_array_equal(learning_set(PBEST, X), rows("01000", "01000"))
    np.testing.assert_array_equal(learning_set(GBEST, X), rows("00100", "01010"))
    np.testing.assert_array_equal(learning_set(X, bits("00000")), rows("00100", "10101"))
    np.testing.assert_array_equal(learning_set(bits("00000"), X), rows("00000", "00000"))


@pytest.mark.parametrize("count", [1, 2, 3, 10, 66, 1001])
def test_nth_largest(count, rng):
    # Many equal values, all different values, and sorted ones both ways.
    for values in (rng.integers(0, 4, count) * 1.0, rng.random(count), np.arange(count) * 1.0, -np.arange(count) * 1.0):
        ranked = sorted(values, reverse=True)
        for n in {1, count // 2 + 1, count}:
            assert upso2d.nth_largest(values, n, np.empty(count)) == ranked[n - 1]


def test_equally_likely_terms_are_chosen_in_the_given_order(draws):
    velocity = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 1.0]])
    for order in itertools.permutations(range(4)):
        position = np.full(4, 7, np.uint8)
        upso2d.update_position(velocity, 0.5, upso2d.ZERO, np.array(order), np.empty(4), position)
        assert set(np.flatnonzero(position)) == {1, next(term for term in order if term != 1)}
    assert upso2d.first_order(4, upso2d.CANONICAL).tolist() == [0, 1, 2, 3]
    assert upso2d.first_order(4, upso2d.REVERSE).tolist() == [3, 2, 1, 0]
    drawn, order = [], np.empty(3, np.int64)
    for _ in range(6000):
        upso2d.random_order(draws, order)
        drawn.append(tuple(order))
    np.testing.assert_allclose([drawn.count(p) / 6000 for p in itertools.permutations(range(3))], 1 / 6, atol=0.02)


@pytest.mark.parametrize(
    ("negative", "likelihood", "shares"),
    [
        (upso2d.ZERO, [1.0, -2.0, 3.0], [1 / 4, 0, 3 / 4]),
        # Sums 1, -1, 2: r in [0, 1) meets the first entry, r in [1, 2) the last.
        (upso2d.CUMULATIVE, [1.0, -2.0, 3.0], [1 / 2, 0, 1 / 2]),
        # Sums 3, 1, 2: the first entry covers more than all.
        (upso2d.CUMULATIVE, [3.0, -2.0, 1.0], [1, 0, 0]),
        (upso2d.CUMULATIVE, [1.0, -2.0, 0.5], [1 / 3, 1 / 3, 1 / 3]),
        (upso2d.SHIFTED, [1.0, -2.0, 3.0], [3 / 8, 0, 5 / 8]),
        (upso2d.SHIFTED, [1.0, 2.0, 1.0], [1 / 4, 1 / 2, 1 / 4]),
        (upso2d.SHIFTED, [-1.0, -1.0, -1.0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_negative_likelihoods_of_cardinalities(negative, likelihood, shares):
    fractions = (np.arange(2400) + 0.5) / 2400
    drawn = [upso2d.draw_cardinality(np.array(likelihood), fraction, negative) for fraction in fractions]
    np.testing.assert_allclose(np.bincount(drawn, minlength=4)[1:] / 2400, shares, atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "different"), [(upso2d.PER_ELEMENT, 8), (upso2d.PER_ROW, 2), (upso2d.PER_PARTICLE, 1)]
)
def test_random_weights_of_elements_rows_and_particles(kind, different, draws):
    weights, learned = np.zeros((2, 4)), np.ones((2, 4), np.uint8)
    upso2d._draw_weights(draws, kind, learned, learned, weights)
    assert len(set(weights.ravel())) == different
    if kind != upso2d.PER_ELEMENT:
        assert (weights == weights[:, :1]).all()


def test_velocity_update_by_hand(rng):
    v, r1, r2, s1, s2 = rng.random((5, 2, 5))
    pbest, gbest, nbest = (learning_set(exemplar, X) for exemplar in (PBEST, GBEST, bits("00011")))
    itself = learning_set(X, bits("00000"))
    velocity = v.copy()
    upso2d.update_velocity(velocity, 0.729, 1.49, 1.49, (r1, r2), (s1, s2), -0.3, 0.4, pbest, gbest, nbest, itself)
    v_g = 0.729 * v + 1.49 * r1 * pbest + 1.49 * r2 * gbest - 0.3 * itself
    v_l = 0.729 * v + 1.49 * s1 * pbest + 1.49 * s2 * nbest - 0.3 * itself
    np.testing.assert_allclose(velocity, 0.4 * v_g + 0.6 * v_l, rtol=1e-14)


class TestSelfFeedback:
    now = np.array([-100.0, -50.0, 0.0, math.inf, 100.0])
    before = np.array([-90.0, -60.0, 10.0, -100.0, math.inf])

    def test_range_normalised(self):
        feedback = upso2d.self_feedback(self.now, self.before, upso2d.RANGE_NORMALISED)
        np.testing.assert_allclose(feedback, [1.0, -0.75, 0.5, 0.0, 0.0])

    def test_literal_formula(self):
        now, before = np.array([50.0, 100.0, math.inf]), np.array([60.0, 80.0, 70.0])
        np.testing.assert_allclose(upso2d.self_feedback(now, before, upso2d.LITERAL), [0.5, 0.0, 0.0])
        # With negative J the ratio of the printed formula turns round: a smaller J counts as worse.
        now, before = np.array([-100.0, -50.0]), np.array([-90.0, -60.0])
        np.testing.assert_allclose(upso2d.self_feedback(now, before, upso2d.LITERAL), [1.0, 0.0])


def test_ring_neighbours():
    fitness = np.array([5.0, 1.0, 4.0, 3.0, 2.0])
    for individual, nearest_best in enumerate([1, 1, 1, 4, 4]):
        assert upso2d.ring_best(fitness, individual, 1) == nearest_best
        assert upso2d.ring_best(fitness, individual, 2) == 1
    assert upso2d.ring_best(np.array([1.0]), 0, 3) == 0


def test_rows_are_scaled_by_what_is_positive_in_them_and_clipped_to_their_bound():
    velocity = np.array([[2.0, 6.0, -4.0], [0.0, -1.0, 0.0]])
    for scaling, scale in ((upso2d.SUM, 8.0), (upso2d.MAXIMUM, 6.0)):
        scaled = velocity.copy()
        upso2d.scale_rows(scaled, scaling)
        np.testing.assert_array_equal(scaled, [velocity[0] / scale, velocity[1]])
    row = np.array([-0.5, 0.0, 1.5, 2.5])
    upso2d.clip_row(row, 1.75)
    np.testing.assert_array_equal(row, [0.0, 0.0, 1.5, 1.75])
