"""Series are judged as far ahead as their values depend on one another."""

import numpy as np
import pytest
from scipy.signal import lfilter

from narxbench._identification.data.seasons import steps_ahead
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator

COUNT = 1200
WHITE = generator(purpose="white series").standard_normal(COUNT)


def horizon(y, decimation=1, test=300):
    known = Record("known", np.empty((len(y) - test, 0)), y[:-test])
    return steps_ahead([known, Record("test", np.empty((test, 0)), y[-test:], "test")], decimation)


def test_noise_is_judged_one_step_ahead():
    assert horizon(WHITE) == 1


@pytest.mark.parametrize("pole", [0.8, 0.95])
def test_a_series_that_forgets_is_judged_until_it_has(pole):
    time = np.log(0.5) / np.log(pole)
    assert 0.4 * time < horizon(lfilter([1.0], [1.0, -pole], WHITE)) < 2.5 * time


def test_an_oscillation_that_goes_on_is_judged_over_half_of_the_test():
    wave = np.sin(2 * np.pi * np.arange(COUNT) / 63)
    assert horizon(wave) == 150
    assert horizon(wave, decimation=5) == 30


def test_a_constant_series_has_a_horizon():
    assert horizon(np.ones(COUNT)) == 1
