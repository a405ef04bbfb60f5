"""Records that have the same data: copies are found, and repeated measurements are none."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from narxbench._identification.data.copies import LEAST_MOVES, PASSAGE, find_copies
from narxbench._model.records import Record

PERIOD = 100


def record(u, y) -> Record:
    return Record("r", np.asarray(u, float).reshape(len(y), -1), np.asarray(y, float))


def response(u, noise, draw):
    """Return the output of x(k) = 0.8 x(k-1) + 0.2 u(k-1) + 0.05 u(k-1)^2 with noise."""
    x = lfilter([0.0, 1.0], [1.0, -0.8], 0.2 * u + 0.05 * u**2)
    return x + noise * draw.standard_normal(len(u))


def input_of(kind, n, draw):
    if kind == "white":
        return draw.standard_normal(n)
    if kind == "on/off":
        return np.repeat(draw.integers(0, 2, n // 8 + 1), 8)[:n].astype(float)
    if kind == "long rests":
        return np.repeat(draw.integers(0, 2, n // 60 + 1), draw.integers(20, 100, n // 60 + 1))[:n].astype(float)
    return np.resize(np.random.default_rng(1).standard_normal(PERIOD), n)  # periodic, and equal in all records


KINDS, SEEDS = st.sampled_from(["white", "on/off", "periodic"]), st.integers(0, 999)


@given(KINDS, st.integers(0, 300), st.integers(150, 300), st.integers(0, 120), st.sampled_from([1e-9, 1.0, 1e7]), SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_stretch_of_another_record_is_found(kind, start, length, before, unit, seed):
    draw = np.random.default_rng(seed)
    u = input_of(kind, 600, draw)
    y = unit * response(u, 0.05, draw)
    u_before = draw.standard_normal(before)
    u_copy = np.append(u_before, u[start : start + length])
    y_copy = np.append(unit * response(u_before, 0.05, draw), y[start : start + length])
    (copy,) = find_copies([record(u, y), record(u_copy, y_copy)], ["a", "b"])
    assert (copy.records, copy.starts, copy.length) == ((0, 1), (start, before), length)


def test_the_rule_counts_moves():
    draw = np.random.default_rng(3)
    y = draw.standard_normal(400)
    signals = record(draw.standard_normal(400), y)

    def copies_of_part(start, end, n_before):
        new = draw.standard_normal((n_before, 2))
        copy = record(np.append(new[:, 0], signals.u[start:end, 0]), np.append(new[:, 1], y[start:end]))
        return find_copies([signals, copy], [0, 1])

    assert len(copies_of_part(0, PASSAGE, PASSAGE)) == 1
    # Fewer moves than a passage, and less than half of the shorter record.
    assert copies_of_part(0, PASSAGE - 1, PASSAGE) == []
    assert copies_of_part(100, 100 + PASSAGE, PASSAGE + 1) == []
    # Whole records need fewer moves.
    assert len(find_copies([record(y[:LEAST_MOVES], y[:LEAST_MOVES])] * 2, [0, 1])) == 1
    assert find_copies([record(y[: LEAST_MOVES - 1], y[: LEAST_MOVES - 1])] * 2, [0, 1]) == []
    # Samples at rest are no moves, and how long they rest belongs to the data.
    held = record(np.repeat(y, 3), np.repeat(y, 3))
    (copy,) = find_copies([held, record(held.u[300:900], held.y[300:900])], [0, 1])
    assert (copy.starts, copy.length) == ((300, 0), 600)
    assert find_copies([held, record(y, y)], [0, 1]) == []


@given(KINDS | st.just("long rests"), st.sampled_from([None, 8, 64, 4096]), st.sampled_from([60, 300, 2000]), SEEDS)
@settings(max_examples=120, deadline=None)
def test_a_repeated_measurement_is_no_copy(kind, levels, n, seed):
    """Measure twice, without rounding or with the noise of a converter of so many levels."""
    draw = np.random.default_rng(seed)
    records = []
    for _ in range(2):
        u = np.resize(input_of(kind, n, draw), n)
        if levels is None:
            y = response(u, 0.01, draw)
        else:
            y = np.round(response(u, 1 / levels, draw) * levels / 2)
        records.append(record(u, y))
    assert find_copies(records, [0, 1]) == []


def test_data_that_repeat_themselves_are_copies_as_a_whole_only():
    draw = np.random.default_rng(0)
    u = np.resize(draw.standard_normal(PERIOD), 10 * PERIOD)
    y = response(u, 0, draw)
    first, later, same = record(u[300:700], y[300:700]), record(u[750:], y[750:]), record(u[600:], y[600:])
    assert find_copies([first, later], [0, 1]) == []
    (copy,) = find_copies([first, same], [0, 1])
    assert copy.length == 400


def test_rest_is_no_evidence():
    draw = np.random.default_rng(0)
    assert find_copies([record(np.ones(500), np.ones(500))] * 2, [0, 1]) == []
    u = np.repeat([0.0, 1.0], 250)
    y = np.round(response(u, 0, draw), 1)
    assert find_copies([record(u, y), record(u[40:], y[40:])], [0, 1]) == []


def test_two_experiments_have_one_copy_at_most():
    y = np.random.default_rng(0).standard_normal(300)
    copies = find_copies([record(y, y)] * 3, ["a", "b", "c"])
    assert [copy.records for copy in copies] == [(0, 1), (0, 2), (1, 2)]
    # The longer of two stretches.
    parts = [record(part, part) for part in (y, y[:80], y[100:250])]
    (copy,) = find_copies(parts, ["known", "test", "test"])
    assert (copy.records, copy.starts, copy.length) == ((0, 2), (100, 0), 150)
    assert find_copies([parts[0], parts[0]], ["same", "same"]) == []
