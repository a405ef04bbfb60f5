"""Large sets of candidates and long records: the result is held, the time is printed."""

import json
import time
from math import comb

import numpy as np
import pytest

import narxbench
from narxbench.numerics.random_streams import generator

pytestmark = pytest.mark.slow


def process(samples, noise=0.05):
    """Return a cubic process with two lags of both signals."""
    rng = generator(purpose="large identification")
    u, y = rng.uniform(-1.0, 1.0, samples), np.zeros(samples)
    e = noise * rng.standard_normal(samples)
    for k in range(2, samples):
        y[k] = 0.5 * y[k - 1] + 0.8 * u[k - 2] + 0.4 * u[k - 1] * u[k - 2] ** 2 - 0.3 * y[k - 1] * u[k - 1] ** 2 + e[k]
    return u, y


TERMS = ("y(k-1)", "u(k-2)", "y(k-1)*u(k-1)^2", "u(k-1)*u(k-2)^2")


def timed(**arguments):
    """Return what is found, and the weights of the true terms."""
    begin = time.perf_counter()
    found = narxbench.identify(**arguments)
    print(f"{found.configuration['candidates']} candidates: {time.perf_counter() - begin:.1f} s")
    json.dumps(found.to_dict(), allow_nan=False)
    weights = dict(zip(found.model.terms, found.model.coefficients, strict=True))
    return found, [weights[term] for term in TERMS]


def test_a_thousand_candidates_of_twenty_thousand_samples():
    u, y = process(20_000)
    found, weights = timed(
        input=u, output=y, test="10%", decimation=1, degree=4, y_lags=5, u_lags=5, centre=False, resamples=10, seeds=2
    )
    assert found.configuration["candidates"] == comb(14, 4) == 1001
    # Of a thousand candidates, BIC takes one or two for more than they are.
    assert len(found.model.terms) <= 7 and weights == pytest.approx([0.5, 0.8, -0.3, 0.4], abs=0.02)
    assert found.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.2
    frequency = dict(zip(found.model.terms, found.to_dict()["selection_frequency"], strict=True))
    assert [frequency[term] for term in TERMS] == [1.0] * 4
    assert set(TERMS) <= set(found.structures["threshold"].terms)


def test_all_by_itself_on_a_long_record():
    """Nothing is given: what is planned for stays about the same, however long the record."""
    u, y = process(80_000)
    found, weights = timed(input=u, output=y, test="10%", resamples=5)
    assert found.model.decimation == 1 and weights == pytest.approx([0.5, 0.8, -0.3, 0.4], abs=0.02)


def test_a_long_record_that_is_sampled_far_too_fast():
    """A slow process, held and seen at 20 samples a step: all phases are used, and the model has the true lags."""
    u, y = process(3_000, noise=0.0)
    fine_u, fine_y = np.repeat(u, 20), np.repeat(y, 20) + 0.01 * generator(purpose="held").standard_normal(60_000)
    found, _ = timed(
        input=fine_u, output=fine_y, test="10%", decimation=[1, 10, 20], degree=3, y_lags=2, u_lags=2, resamples=3
    )
    assert found.model.decimation == 20
    assert found.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.1
