"""Strides: advised where output and inputs are slow, and nowhere else."""

from itertools import zip_longest

import numpy as np
import pytest
from scipy.signal import lfilter

import narxbench
from narxbench._identification.data.sampling import advised_decimations, autocorrelation
from narxbench._model.records import Record, Recording
from narxbench._model.system import system_names


def recording(*pairs, roles=(), **options):
    records = []
    for number, ((u, y), role) in enumerate(zip_longest(pairs, roles), 1):
        records.append(Record(f"record {number}", np.reshape(u, (len(y), -1)), np.asarray(y, np.float64), role))
    return Recording(tuple(records), ("a", "b", "c")[: records[0].u.shape[1]], "out", **options)


def nothing(samples):
    return np.empty((samples, 0))


def slow(u, pole=0.98):
    return lfilter([0.0, 1.0 - pole], [1.0, -pole], u)


def held(rng, samples, duration):
    return np.repeat(rng.uniform(-1, 1, samples // duration + 1), duration)[:samples]


@pytest.mark.parametrize("name", system_names())
def test_systems_with_a_white_input_are_left_as_they_are(name):
    for snr_db in (None, 20):
        sampling = advised_decimations(recording(narxbench.load_system(name).simulate(1000, snr_db=snr_db)))
        assert (sampling.advised, sampling.candidates) == (1, (1,))


@pytest.mark.parametrize("duration", [30, 60, 120, 240])
def test_a_held_input_is_reported_by_its_strides(rng, duration):
    u = held(rng, 40 * duration, duration)
    sampling = advised_decimations(recording((u, slow(u, 1 - 2 / duration))))
    assert (
        1 <= sampling.advised <= duration and sampling.first_minimum / sampling.advised <= 30 and sampling.limit == ""
    )


def test_an_input_held_for_few_samples_limits_the_stride(rng):
    u = held(rng, 6000, 6)
    sampling = advised_decimations(recording((u, slow(u, 0.99))))
    assert sampling.by_output > 6 and (sampling.advised, sampling.limit) == (4, "input")
    # Of several inputs the fastest counts.
    both = np.column_stack([held(rng, 6000, 500), u])
    assert advised_decimations(recording((both, slow(u, 0.99)))).advised == 4


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("stride", [3, 8, 15])
def test_data_sampled_too_fast_by_a_known_factor(rng, stride, noise):
    # Each oscillation of 40 samples is at its minimum after 20.
    y = np.sin(2 * np.pi * np.arange(2000) / (40 * stride) + 0.3)
    sampling = advised_decimations(recording((nothing(2000), y + noise * rng.normal(size=2000))))
    assert sampling.evidence == "minimum"
    # y^2 about a mean of 0 oscillates twice as fast.
    assert abs(sampling.first_minimum - 10 * stride) <= stride
    offset = advised_decimations(recording((nothing(2000), 5 + y + noise * rng.normal(size=2000))))
    assert abs(offset.advised - stride) <= 1
    assert {1, offset.advised} <= set(offset.candidates) and sorted(offset.candidates) == list(offset.candidates)


def test_ripple_is_no_minimum_and_a_slow_decay_may_have_none():
    time = np.arange(4000)
    y = 10 + np.sin(2 * np.pi * time / 400) + 0.1 * np.sin(2 * np.pi * time / 5)
    assert abs(advised_decimations(recording((nothing(4000), y))).first_minimum - 200) <= 10
    sampling = advised_decimations(recording((nothing(2000), 100 + np.linspace(0, 1, 2000))))
    assert sampling.evidence in ("zero", "minimum") and sampling.advised > 10


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_hide_that_a_correlation_has_decayed(seed):
    # That of y^2 is 0.95^(2 lag), below 0.05 from lag 30 on; how long the record is does not matter.
    y = lfilter([1.0], [1.0, -0.95], np.random.default_rng(seed).normal(size=100_000))
    sampling = advised_decimations(recording((nothing(len(y)), y)))
    assert sampling.evidence == "decay" and 24 <= sampling.first_minimum <= 36


def test_some_samples_always_stay():
    y = 5 + np.sin(2 * np.pi * np.arange(150) / 110)
    sampling = advised_decimations(recording((nothing(150), y)))
    assert sampling.by_output > 2 and (sampling.advised, sampling.limit, sampling.candidates) == (2, "length", (1, 2))


def test_records_are_pooled_and_test_records_are_not_looked_at(rng):
    y = 5 + np.sin(2 * np.pi * np.arange(4000) / 400)
    parts = [(nothing(1000), y[i : i + 1000] + 3 * i) for i in range(0, 4000, 1000)]
    assert advised_decimations(recording(*parts)).advised == 10
    # A constant input does not count.
    assert advised_decimations(recording(*[(np.full(1000, 0.3), y) for _, y in parts])).advised == 10
    with_test = recording(parts[0], (nothing(500), rng.normal(size=500)), roles=("estimation", "test"))
    assert advised_decimations(with_test) == advised_decimations(recording(parts[0]))


def test_autocorrelation_against_its_definition(rng):
    pieces = [rng.normal(size=50) + 3, rng.normal(size=20)]
    centred = [piece - piece.mean() for piece in pieces]
    sums = np.zeros(26)
    for lag in range(26):
        for piece in centred:
            sums[lag] += piece[: max(0, len(piece) - lag)] @ piece[lag:]
    assert autocorrelation(pieces) == pytest.approx(sums / sums[0])
