"""Gaps of signals: short ones are bridged where that is hardly wrong, others cut."""

from typing import Any

import numpy as np
import pytest

from narxbench._identification.data.gaps import LARGEST_ERROR
from narxbench._identification.data.reading import read_recording
from narxbench._identification.data.stand_ins import cut_at_gaps, filled_by, has_gaps
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator

N = 100
SLOW = np.sin(np.arange(N) / 8)
NOISE = generator(purpose="gaps").standard_normal(N)
Y = np.arange(float(N)) ** 2


def _with_gaps(signal: Any, *rows: int) -> Any:
    gappy = np.array(signal, np.float64)
    gappy[list(rows)] = np.nan
    return gappy


def _read(u: Any, y: Any, **reading: Any) -> Any:
    return read_recording({"u": u, "y": y}, input="u", output="y", **reading)


def _notes(recording: Any) -> str:
    return " ".join(recording.notes)


def test_short_gaps_of_the_output_are_left_to_the_model():
    y = _with_gaps(Y, 20, 21, 22, 50)
    recording = _read(NOISE, y)
    (record,) = recording.records
    assert np.flatnonzero(record.is_missing).tolist() == [20, 21, 22, 50]
    np.testing.assert_array_equal(record.measured(), y)
    np.testing.assert_array_equal(record.measured(22)[:22], record.y[:22])
    assert record.y[50] == (Y[49] + Y[51]) / 2 and np.isfinite(record.y).all()
    assert (
        "data: 4 missing values of y in 2 gaps, the longest of 3 samples, were left to the model to bridge: rows 21"
        in (_notes(recording))
    )


def test_longer_gaps_cut():
    y = _with_gaps(Y, 12, *range(40, 44))
    assert list(map(len, _read(NOISE, y, bridge=3).records)) == [40, 56]
    assert "4 rows with missing values were left out, and the data cut there: rows 41, 42, 43, 44" in _notes(
        _read(NOISE, y, bridge=3)
    )
    assert list(map(len, _read(NOISE, y, bridge=0).records)) == [12, 27, 56]
    (record,) = _read(NOISE, y).records
    assert record.is_missing.sum() == 5
    assert len(_read(NOISE, _with_gaps(Y, *range(40, 51))).records) == 2


def test_short_gaps_of_a_slow_input_are_interpolated():
    recording = _read(_with_gaps(SLOW, 30, 31, 70), Y)
    (record,) = recording.records
    np.testing.assert_allclose(record.u[:, 0], SLOW, atol=0.03)
    assert record.is_missing is None and not has_gaps(recording)
    assert "3 missing values of u in 2 gaps, the longest of 2 samples, were interpolated, which is off by" in _notes(
        recording
    )


def test_gaps_of_an_input_that_are_too_long_for_a_line_cut():
    recording = _read(_with_gaps(SLOW, 20, *range(50, 59)), Y)
    assert [len(record) for record in recording.records] == [50, 41]
    np.testing.assert_allclose(recording.records[0].u[20, 0], SLOW[20], atol=0.01)
    assert "1 missing value of u in 1 gap was interpolated" in _notes(recording)
    assert "9 rows with missing values were left out" in _notes(recording)


def test_an_input_that_changes_seldom_is_held():
    levels = np.where(np.arange(5000) < 2500, 1.0, -1.0)
    recording = _read(_with_gaps(levels, 30, 31, 2499), np.arange(5000.0))
    (record,) = recording.records
    np.testing.assert_array_equal(record.u[:, 0], levels)
    assert "3 missing values of u in 2 gaps, the longest of 2 samples, were held at the value before" in _notes(
        recording
    )


def test_gaps_of_an_input_that_cannot_be_told_cut():
    recording = _read(_with_gaps(NOISE, 40), Y)
    assert list(map(len, recording.records)) == [40, 59]
    assert f"{LARGEST_ERROR:.0%}" == "5%"


def test_a_record_begins_and_ends_with_measured_samples():
    (record,) = _read(NOISE, _with_gaps(Y, 0, 1, 98, 99)).records
    assert len(record) == 96 and record.is_missing is None
    shares = _read(NOISE, _with_gaps(Y, 78, 79, 80, 81), bridge=5, test="20%").records
    assert [(len(record), record.role) for record in shares] == [(82, None), (18, "test")]


def test_a_jump_of_the_time_and_a_missing_time_cut():
    time = np.arange(float(N))
    time[50:] += 5
    recording = read_recording({"t": time, "y": _with_gaps(Y, 20, 49, 50)}, output="y")
    assert [len(record) for record in recording.records] == [49, 49]
    assert recording.records[0].is_missing.sum() == 1 and recording.records[1].is_missing is None
    recording = read_recording({"t": _with_gaps(time, 20), "y": Y}, output="y")
    assert [len(record) for record in recording.records] == [20, 29, 50]


def test_the_digest_does_not_know_what_stands_in():
    model = Model(("y(k-1)",), (0.5,), ("u",), "y")
    recording = _read(NOISE, _with_gaps(Y, 30, 31))
    filled = filled_by(model, recording)
    assert filled.records[0].y[30:32].tolist() == [Y[29] / 2, Y[29] / 4]
    assert filled.digest == recording.digest != _read(NOISE, Y).digest


def test_cut_at_gaps():
    recording = cut_at_gaps(_read(NOISE, _with_gaps(Y, 30, 31, 35, 60), test="20%"))
    assert [(len(record), record.role) for record in recording.records] == [
        (30, None),
        (24, None),
        (19, None),
        (20, "test"),
    ]
    assert not has_gaps(recording)
    every_fifth = _with_gaps(Y, *range(5, 95, 5))
    with pytest.raises(NarxbenchError, match="found no stretch of 10 samples between missing outputs"):
        cut_at_gaps(_read(NOISE, every_fifth))


@pytest.mark.parametrize("bridge", [-1, 101, 1.5, "x", True])
def test_other_limits_are_refused(bridge: Any):
    with pytest.raises(NarxbenchError, match=r"bridge: found .*; allowed: a whole number of samples from 0 to 100"):
        _read(NOISE, Y, bridge=bridge)
