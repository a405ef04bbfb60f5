"""Large sets of candidates and long records: results are checked, times are printed."""

import json
import time
from math import comb

import numpy as np
import pytest

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.settings import IdentificationSettings
from narxbench._numerics.random_streams import generator

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


def timed_identification(**arguments):
    """Return the outcome of an identification and print its time."""
    begin = time.perf_counter()
    identification = narxbench.identify(**arguments)
    print(f"{identification.configuration['candidates']} candidates: {time.perf_counter() - begin:.1f} s")
    json.dumps(identification.to_dict(), allow_nan=False)
    assert set(TERMS) <= set(identification.model.terms)
    return identification


def values_of_true_terms(identification, values):
    """Return the values of the true terms among those of all terms of the model."""
    by_term = dict(zip(identification.model.terms, values, strict=True))
    return [by_term[term] for term in TERMS]


def check_weights(identification):
    weights = values_of_true_terms(identification, identification.model.coefficients)
    assert weights == pytest.approx([0.5, 0.8, -0.3, 0.4], abs=0.02)


def test_a_thousand_candidates_of_ten_thousand_samples():
    u, y = process(10_000)
    identification = timed_identification(
        input=u,
        output=y,
        test="10%",
        decimation=1,
        degree=4,
        y_lags=5,
        u_lags=5,
        effort=5,
    )
    assert identification.configuration["candidates"] == comb(14, 4) == 1001
    # BIC takes one or two spurious terms of a thousand candidates.
    assert len(identification.model.terms) <= 7
    check_weights(identification)
    report = identification.to_dict()
    assert report["metrics"]["test"]["free_run"]["rrse"] < 0.2


def test_all_by_itself_on_a_long_record():
    """Without settings, the planned cost hardly depends on the length of the record."""
    u, y = process(40_000)
    identification = timed_identification(input=u, output=y, test="10%")
    assert identification.model.decimation == 1
    check_weights(identification)


def test_a_long_record_that_is_sampled_far_too_fast():
    """A slow process is held and measured at 20 samples a step: all phases are used, and the lags are the true ones."""
    u, y = process(2_000, noise=0.0)
    fine_u, fine_y = np.repeat(u, 20), np.repeat(y, 20) + 0.01 * generator(purpose="held").standard_normal(40_000)
    identification = timed_identification(
        input=fine_u, output=fine_y, test="10%", decimation=[1, 10, 20], degree=3, y_lags=2, u_lags=2
    )
    assert identification.model.decimation == 20
    assert identification.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.1


def test_an_interrupt_on_a_long_record_is_obeyed_at_once():
    """The best so far is there within 5 s of CPU time, estimated on the stretches that were searched."""
    u, y = process(150_000)
    recording = read_recording(input=u, output=y, test="10%")
    interrupted_at = []

    def interrupt(progress):
        if not interrupted_at and progress.done >= 8:
            interrupted_at.append(time.process_time())
            raise KeyboardInterrupt

    identification = identify_recording(recording, IdentificationSettings(), report_progress=interrupt)
    assert time.process_time() - interrupted_at[0] < 5.0
    assert identification.notes[0].name == "interrupted" and identification.certainty.missing
