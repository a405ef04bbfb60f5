"""Uniform draws in compiled code against those of NumPy."""

import numpy as np
import pytest

from narxbench._numerics.draws import draws_of, skip, uniform, uniform_ahead


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_the_draws_are_those_of_numpy(seed):
    rng, expected = np.random.default_rng(seed), np.random.default_rng(seed).random(5000)
    with draws_of(rng, longest=64) as draws:
        one_by_one = [uniform(draws) for _ in range(2000)]
        ahead = [uniform_ahead(draws, step) for step in range(1, 65)]
        skip(draws, 64)
        skip(draws, 0)
        behind = [uniform(draws) for _ in range(100)]
    np.testing.assert_array_equal([*one_by_one, *ahead, *behind, rng.random()], expected[:2165])


def test_the_generator_stands_where_an_error_left_it():
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    with pytest.raises(KeyboardInterrupt), draws_of(rng, longest=10) as draws:
        skip(draws, 7)
        raise KeyboardInterrupt
    same.random(7)
    assert rng.random() == same.random()


def test_another_kind_of_generator_is_refused():
    with pytest.raises(TypeError, match="found MT19937; allowed: PCG64"):
        draws_of(np.random.Generator(np.random.MT19937(1)), 1).__enter__()
