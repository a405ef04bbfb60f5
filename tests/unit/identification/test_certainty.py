"""Resamples hold whole blocks of one record; frequencies and structures are counted anew."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.identification.certainty import block_length, moving_blocks, resample, selection_table, structures

CANDIDATES = ["1", "y(k-1)", "u(k-1)", "y(k-1)^2"]


def records(sizes):
    """Rows of records that stand one behind the other, each with two initial samples."""
    starts = np.cumsum([0, *(size + 2 for size in sizes)])
    return [np.arange(start + 2, start + 2 + size) for start, size in zip(starts, sizes, strict=False)]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=7), st.integers(1, 30), st.integers(0, 99))
def test_a_resample_consists_of_blocks_of_one_record(sizes, block, number):
    rows = records(sizes)
    drawn = moving_blocks(rows, block, number=number, data="d")
    assert len(drawn) == sum(sizes)
    assert drawn.tolist() == moving_blocks(rows, block, number=number, data="d").tolist()
    position = 0
    while position < len(drawn):
        own = next(record for record in rows if drawn[position] in record)
        length = min(block, len(own), len(drawn) - position)
        whole = drawn[position : position + length]
        assert whole.tolist() == list(range(whole[0], whole[0] + length))
        assert whole[-1] <= own[-1]
        position += length


def test_records_are_drawn_as_often_as_they_are_long():
    rows = records([300, 30, 5])
    counts = np.zeros(400)
    for number in range(400):
        np.add.at(counts, moving_blocks(rows, 20, number=number), 1)
    assert [counts[own].mean() / 400 for own in rows] == pytest.approx([1, 1, 1], abs=0.1)


def test_other_numbers_and_axes_draw_other_rows():
    rows = records([200])
    drawn = [moving_blocks(rows, 10, number=i, data=data).tolist() for i in range(3) for data in "ab"]
    assert len(set(map(tuple, drawn))) == 6


def test_many_records_alike_are_drawn_whole():
    rows = records([10, 11, 12, 10, 13, 14, 15, 10])
    drawn = resample(rows, 3, number=1).tolist()
    whole = [own.tolist() for own in rows]
    count = 0
    while drawn:
        own = next(own for own in whole if drawn[: len(own)] == own)
        drawn, count = drawn[len(own) :], count + 1
    assert count == 8
    for few in (rows[:7], [*rows, *records([200])]):
        assert resample(few, 3, number=1).tolist() == moving_blocks(few, 3, number=1).tolist()


def test_block_length():
    assert block_length(10**6, 3) == 100
    assert block_length(1000, 24) == 48
    assert block_length(1000, 24, correlation=60) == 60
    assert block_length(1, 0) == 1


def test_selection_table():
    runs = [["1", "y(k-1)"], ["y(k-1)"], ["y(k-1)", "u(k-1)"]]
    resampled = [["u(k-1)"], ["u(k-1)", "y(k-1)"], ["1"], []]
    table = selection_table(CANDIDATES, runs, resampled)
    assert table["term"].tolist() == ["u(k-1)", "1", "y(k-1)"]
    assert table["resample_count"].tolist() == [2, 1, 1]
    assert table["seed_count"].tolist() == [1, 1, 3]
    assert table["resample_frequency"].tolist() == [0.5, 0.25, 0.25]
    # Wilson's limits of 2 of 4, by his formula.
    z, centre = 1.959963984540054, 0.5
    half = z * np.sqrt(0.25 / 4 + z * z / 64) / (1 + z * z / 4)
    limits = table.loc[0, ["resample_low", "resample_high"]].tolist()
    assert limits == pytest.approx([centre - half, centre + half], rel=1e-9)
    json.dumps(table.to_dict("records"), allow_nan=False)


def test_one_run_and_no_resample_have_no_interval():
    table = selection_table(CANDIDATES, [["y(k-1)^2", "1"]], [])
    assert table.to_dict("records")[0] == {
        **{"term": "1", "seed_count": 1, "seed_runs": 1, "seed_frequency": 1.0, "seed_low": None, "seed_high": None},
        **{"resample_count": 0, "resample_runs": 0, "resample_frequency": None},
        **{"resample_low": None, "resample_high": None},
    }
    assert table["term"].tolist() == ["1", "y(k-1)^2"]
    found = structures(table, CANDIDATES, ["1"], [["y(k-1)^2", "1"]])
    assert found.structures["threshold"] == ["1", "y(k-1)^2"]
    assert "over seeds" in found.note


def test_structures_side_by_side():
    resampled = [["u(k-1)", "1"], ["1", "u(k-1)"], ["u(k-1)", "y(k-1)"], ["u(k-1)"]]
    runs = [["y(k-1)", "u(k-1)"]]
    table = selection_table(CANDIDATES, runs, resampled)
    found = structures(table, CANDIDATES, ["u(k-1)", "y(k-1)"], [*runs, *resampled], threshold=0.75)
    # Both pairs came up twice: that of lowest J goes first.
    expected = {"best": ["y(k-1)", "u(k-1)"], "threshold": ["u(k-1)"], "most_frequent": ["y(k-1)", "u(k-1)"]}
    assert found.structures == expected
    assert found.note.endswith("came up in 2 of 5 searches.")
    found = structures(table, CANDIDATES, ["y(k-1)^2"], [*runs, *resampled], threshold=0.5)
    assert found.structures["most_frequent"] == ["1", "u(k-1)"]
    assert found.structures["threshold"] == ["1", "u(k-1)"]


def test_never_no_term():
    runs = [["1"], ["y(k-1)"], ["u(k-1)"], []]
    table = selection_table(CANDIDATES, [], runs)
    found = structures(table, CANDIDATES, ["u(k-1)", "y(k-1)^2"], runs, threshold=0.9)
    assert found.structures["threshold"] == ["1", "y(k-1)"]
    assert "No term reaches it" in found.note
    nothing = structures(selection_table(CANDIDATES, [[]], [[]]), CANDIDATES, ["1"], [[], []])
    assert set(map(tuple, nothing.structures.values())) == {("1",)}
