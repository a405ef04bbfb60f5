"""Which records are the same data: copies in other forms are, what was measured again is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.identification.data.copies import copies
from narxbench.model.records import Record

PERIOD = 100


def record(u, y) -> Record:
    return Record("r", np.asarray(u, float).reshape(len(y), -1), np.asarray(y, float))


def response(u, noise, draw):
    x = np.zeros(len(u))
    for k in range(1, len(u)):
        x[k] = 0.8 * x[k - 1] + 0.2 * u[k - 1] + 0.05 * u[k - 1] ** 2
    return x + noise * draw.standard_normal(len(u))


def signals(kind, n, draw):
    if kind == "white":
        return draw.standard_normal(n)
    if kind == "on/off":
        return np.repeat(draw.integers(0, 2, n // 8 + 1), 8)[:n].astype(float)
    if kind == "long rests":
        return np.repeat(draw.integers(0, 2, n // 60 + 1), draw.integers(20, 100, n // 60 + 1))[:n].astype(float)
    return np.resize(np.random.default_rng(1).standard_normal(PERIOD), n)  # periodic, and the same in all records


KINDS, SEEDS = st.sampled_from(["white", "on/off", "periodic"]), st.integers(0, 999)


@given(KINDS, st.integers(0, 300), st.integers(150, 300), st.integers(0, 200), st.sampled_from([None, 3, 4]), SEEDS)
@settings(max_examples=60, deadline=None)
def test_copies_are_found_where_they_are(kind, start, length, before, digits, seed):
    draw = np.random.default_rng(seed)
    u = signals(kind, 600, draw)
    y = response(u, 0.05, draw)
    other = signals("white", before, draw)
    v = np.append(other, u[start : start + length])
    z = np.append(response(other, 0.05, draw), y[start : start + length])
    if digits:
        v, z = np.round(v, digits), np.array([float(f"{value:.{digits}g}") for value in z])
    (found,) = copies([record(u, y), record(v, z)], [0, 1])
    assert found.sure and found.records == (0, 1)
    assert found.starts[0] - found.starts[1] == start - before
    assert found.length == pytest.approx(length, abs=2 if digits is None else 10)


@given(KINDS | st.just("long rests"), st.sampled_from([None, 8, 64, 4096]), st.sampled_from([60, 300, 2000]), SEEDS)
@settings(max_examples=120, deadline=None)
def test_what_was_measured_again_is_no_copy(kind, levels, n, seed):
    """The noise is that of a converter of so many levels."""
    draw = np.random.default_rng(seed)
    records = []
    for _ in range(2):
        u = np.resize(signals(kind, n, draw), n)
        y = response(u, 0.01 if levels is None else 1 / levels, draw)
        records.append(record(u, y if levels is None else np.round(y * levels / 2)))
    assert not any(found.sure for found in copies(records, [0, 1]))


def test_periods_without_noise_are_reported_as_such_and_equal_records_are_one():
    draw = np.random.default_rng(0)
    u = np.resize(draw.standard_normal(PERIOD), 10 * PERIOD)
    y = response(u, 0, draw)
    known, test, same = record(u[300:700], y[300:700]), record(u[700:], y[700:]), record(u[600:], y[600:])
    assert [found.sure for found in copies([known, test], [0, 1])] == [False]
    assert [found.sure for found in copies([known, same], [0, 1])] == [True]


def test_rest_is_no_evidence():
    draw = np.random.default_rng(0)
    ones = [record(np.ones(500), np.ones(500)) for _ in range(2)]
    assert copies(ones, [0, 1]) == []
    step = np.repeat([0.0, 1.0], 250)
    again = [record(step[i:], response(step, 0, draw)[i:]) for i in (0, 40)]
    assert copies(again, [0, 1]) == []
    assert copies([again[0], again[0]], [0, 0]) == []
