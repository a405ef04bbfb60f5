"""Random draws: which axes they hang on, and their distribution."""

import numpy as np
from scipy import stats

from narxbench._numerics.random_streams import generator, standard_normal


def test_streams_hang_on_names_and_values_only():
    def drawn(**axes):
        return generator(**axes).integers(2**63)

    first = drawn(purpose="search", seed=1)
    assert drawn(seed=1, purpose="search") == drawn(purpose="search", seed="1") == first
    different = {drawn(purpose="search", seed=2), drawn(purpose="noise", seed=1), drawn(purpose="search", sead=1)}
    assert len(different | {first}) == 4


def test_normal_draws_are_normal():
    draws = standard_normal(generator(purpose="test"), 20_000)
    assert stats.kstest(draws, "norm").pvalue > 0.01
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.03


def test_longer_draws_begin_with_the_shorter():
    assert standard_normal(generator(seed=1), 9)[:4] == standard_normal(generator(seed=1), 4)
