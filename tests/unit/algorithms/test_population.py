import numpy as np
import pytest

from narxbench._algorithms.population import initial_positions, roulette


@pytest.mark.parametrize(
    ("weights", "fraction", "chosen"),
    [
        ([1.0, -5.0, 1.0], 0.0, 0),
        ([1.0, -5.0, 1.0], 0.4999, 0),
        ([1.0, -5.0, 1.0], 0.5, 2),
        ([0.0, 0.0, 3.0, 0.0], 0.999999, 2),
        ([0.0, -1.0, 0.0, 0.0], 0.3, 1),
        ([0.0], 0.9, 0),
    ],
)
def test_roulette_counts_negative_weights_as_zero(weights, fraction, chosen):
    assert roulette(np.array(weights), fraction) == chosen


def test_initial_positions(draws):
    bernoulli = initial_positions(draws, 4000, 10, False)
    np.testing.assert_allclose(bernoulli.mean(axis=0), 0.5, atol=0.04)
    uniform = initial_positions(draws, 4000, 10, True)
    np.testing.assert_allclose(np.bincount(uniform.sum(axis=1), minlength=11)[1:] / 4000, 0.1, atol=0.02)
    np.testing.assert_allclose(uniform.mean(axis=0), 0.55, atol=0.04)
