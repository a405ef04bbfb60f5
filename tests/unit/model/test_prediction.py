"""Free runs against the simulation of systems to the last bit, and against plain loops; filters of noise."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from narxbench._model.prediction import NoiseFilter, simulated
from narxbench._model.system import System, load_system
from narxbench._model.terms import parse_term


def free_run(*model, **bound):
    """Return the whole free run, or None where it diverges."""
    y, end = simulated(*model, **bound)
    return y if end == len(y) else None


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_a_system_is_simulated_to_the_last_bit(name):
    system = load_system(name)
    model = system.monomials, system.coefficients
    u, y = system.simulate(500, washout=0)
    assert free_run(*model, u).tobytes() == y.tobytes()
    # After its first outputs, as many as the largest lag, nothing before the record matters.
    u, y = system.simulate(500)
    assert free_run(*model, u, y[:5]).tobytes() == y.tobytes()


def test_the_bound_itself_is_allowed():
    doubling = System("doubling", "y(k) = 2*y(k-1)", n_u=0, n_y=1, degree=1)
    model = doubling.monomials, doubling.coefficients
    assert free_run(*model, np.zeros(4), [1.0], bound=8.0).tolist() == [1.0, 2.0, 4.0, 8.0]
    assert free_run(*model, np.zeros(4), [1.0], bound=math.nextafter(8.0, 0.0)) is None
    assert free_run(*model, np.zeros(4), [-1.0], bound=math.nextafter(8.0, 0.0)) is None
    assert free_run(*model, np.zeros(4), [math.nan]) is None


def test_the_first_sample_that_diverges():
    y, end = simulated([parse_term("y(k-1)")], [2.0], np.zeros((8, 0)), [1.0], bound=9.0)
    assert (y[:end].tolist(), end) == ([1.0, 2.0, 4.0, 8.0], 4)


@pytest.mark.parametrize(
    ("autoregression", "moving_average"), [((), (0.5,)), ((0.3, -0.2, 0.1), ()), ((-0.6,), (0.0, 0.4))]
)
@pytest.mark.parametrize("samples", [1, 2, 200])
def test_innovations_are_the_filtered_noise(autoregression, moving_average, samples):
    noise = np.random.default_rng(samples).normal(size=samples)
    innovations = NoiseFilter(autoregression, moving_average).innovations(noise)
    assert innovations == pytest.approx(lfilter([1.0, *autoregression], [1.0, *moving_average], noise), abs=1e-12)
