"""Gaps of signals: short ones are bridged where that is hardly wrong, others cut."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.readings import lengths, notes, read

import narxbench
from narxbench import NarxbenchError

N = 100
SLOW = np.sin(np.arange(N) / 8)
NOISE = np.random.default_rng(5).standard_normal(N)
Y = np.arange(float(N)) ** 2


def _with_gaps(signal: Any, *rows: int) -> Any:
    gappy = np.array(signal, np.float64)
    gappy[list(rows)] = np.nan
    return gappy


def _read(u: Any, y: Any, **reading: Any) -> Any:
    return read({"u": u, "y": y}, input="u", output="y", **reading)


@given(
    missing=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 1)), max_size=12),
    jumps=st.sets(st.integers(1, 99), max_size=8),
)
@settings(max_examples=30, deadline=None)
def test_pieces_are_the_runs_without_gaps(missing: list[tuple[int, int]], jumps: set[int]) -> None:
    steps = np.ones(100)
    steps[list(jumps)] = 3.0
    columns = np.arange(200.0).reshape(100, 2)
    for row, column in missing:
        columns[row, column] = np.nan
    is_missing = np.isnan(columns).any(axis=1)
    pieces = np.cumsum(is_missing | (steps > 1))
    runs = [np.flatnonzero((pieces == piece) & ~is_missing).tolist() for piece in np.unique(pieces)]
    runs = [run for run in runs if len(run) >= 10]
    assume(runs)
    data = {"t": np.cumsum(steps), "u": columns[:, 0], "y": columns[:, 1]}
    recording = read(data, input="u", output="y", bridge=0)
    for record, run in zip(recording.records, runs, strict=True):
        assert (record.y // 2).tolist() == run
        assert record.name == ("data" if len(run) == 100 else f"data, samples {run[0] + 1} to {run[-1] + 1}")
    assert recording.sampling_time == 1 and ("missing" in notes(recording)) == bool(missing)


def test_short_gaps_of_the_output_are_left_to_the_model():
    y = _with_gaps(Y, 20, 21, 22, 50)
    recording = _read(NOISE, y)
    (record,) = recording.records
    assert np.flatnonzero(record.is_missing).tolist() == [20, 21, 22, 50]
    np.testing.assert_array_equal(record.measured(), y)
    np.testing.assert_array_equal(record.measured(22)[:22], record.y[:22])
    assert record.y[50] == (Y[49] + Y[51]) / 2 and np.isfinite(record.y).all()
    gaps = "data: 4 missing values of y in 2 gaps, the longest of 3 samples, were left to the model to bridge: rows 21"
    assert gaps in notes(recording)


def test_longer_gaps_cut():
    y = _with_gaps(Y, 12, *range(40, 44))
    words = "4 rows with missing values were left out, and the data cut there: rows 41, 42, 43, 44"
    assert words in notes(_read(NOISE, y, bridge=3))
    for bridge, samples in ((3, [40, 56]), (0, [12, 27, 56]), (None, [N])):
        assert lengths(_read(NOISE, y, bridge=bridge)) == samples
    for end, samples in ((50, [N]), (51, [40, 49])):
        assert lengths(_read(NOISE, _with_gaps(Y, *range(40, end)))) == samples


def test_gaps_of_an_input_are_interpolated_held_or_cut():
    recording = _read(_with_gaps(SLOW, 30, 31, 70), Y)
    (record,) = recording.records
    np.testing.assert_allclose(record.u[:, 0], SLOW, atol=0.03)
    assert record.is_missing is None
    gaps = "3 missing values of u in 2 gaps, the longest of 2 samples, were"
    assert f"{gaps} interpolated, which is off by" in notes(recording)
    # Some are too long for a line.
    recording = _read(_with_gaps(SLOW, 20, *range(50, 59)), Y)
    assert lengths(recording) == [50, 41]
    np.testing.assert_allclose(recording.records[0].u[20, 0], SLOW[20], atol=0.01)
    assert "1 missing value of u in 1 gap was interpolated" in notes(recording)
    assert "9 rows with missing values were left out" in notes(recording)
    # What changes seldom is held, and what cannot be told cuts.
    levels = np.where(np.arange(5000) < 2500, 1.0, -1.0)
    recording = _read(_with_gaps(levels, 30, 31, 2499), np.arange(5000.0))
    np.testing.assert_array_equal(recording.records[0].u[:, 0], levels)
    assert f"{gaps} held at the value before" in notes(recording)
    assert lengths(_read(_with_gaps(NOISE, 40), Y)) == [40, 59]
    # Of a signal that nowhere has enough samples, nothing can be told.
    with pytest.raises(NarxbenchError, match="found no record of at least 10 samples"):
        _read(_with_gaps(SLOW, *range(2, N, 3)), Y)


def test_a_record_begins_and_ends_with_measured_samples():
    (record,) = _read(NOISE, _with_gaps(Y, 0, 1, 98, 99)).records
    assert len(record) == 96 and record.is_missing is None
    recording = _read(NOISE, _with_gaps(Y, 78, 79, 80, 81), bridge=5, test="20%")
    assert lengths(recording) == [82, 18] and recording.records[1].role == "test"


def test_too_many_gaps_to_estimate_a_model_that_bridges_them():
    data = {"u": NOISE, "y": _with_gaps(Y, *range(5, 80, 5))}
    with pytest.raises(NarxbenchError, match="found no stretch of 10 samples between missing outputs"):
        narxbench.identify(data, "y", input="u", test="20%", effort=0.1)


def test_a_longest_gap_that_is_no_number_of_samples():
    for bridge in (-1, 1.5, "x", True):
        with pytest.raises(NarxbenchError, match=r"bridge: found .*; allowed: a whole number of samples"):
            _read(NOISE, Y, bridge=bridge)
