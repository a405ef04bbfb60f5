"""Resamples hold whole blocks of one record."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench._identification.search.resampling import moving_blocks, resample


def records(sizes):
    """Return the rows of records that stand one behind the other, each with two initial samples."""
    rows, start = [], 0
    for size in sizes:
        rows.append(np.arange(start + 2, start + 2 + size))
        start += size + 2
    return rows


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=7), st.integers(1, 30), st.integers(0, 99))
def test_a_resample_consists_of_blocks_of_one_record(sizes, block, number):
    rows = records(sizes)
    drawn = moving_blocks(rows, block, number=number, data="d")
    assert len(drawn) == sum(sizes)
    assert drawn.tolist() == moving_blocks(rows, block, number=number, data="d").tolist()
    position = 0
    while position < len(drawn):
        record = next(record for record in rows if drawn[position] in record)
        length = min(block, len(record), len(drawn) - position)
        whole = drawn[position : position + length]
        assert whole.tolist() == list(range(whole[0], whole[0] + length))
        assert whole[-1] <= record[-1]
        position += length


def test_records_are_drawn_as_often_as_they_are_long():
    rows = records([300, 30, 5])
    counts = np.zeros(400)
    for number in range(400):
        np.add.at(counts, moving_blocks(rows, 20, number=number), 1)
    for record in rows:
        assert counts[record].mean() / 400 == pytest.approx(1, abs=0.1)
    draws = set()
    for number, data in product(range(3), "ab"):
        draws.add(tuple(moving_blocks(rows, 20, number=number, data=data)))
    assert len(draws) == 6


def test_many_records_alike_are_drawn_whole():
    rows = records([10, 11, 12, 10, 13, 14, 15, 10])
    drawn = resample(rows, 3, number=1).tolist()
    whole = [record.tolist() for record in rows]
    count = 0
    while drawn:
        first = next(record for record in whole if drawn[: len(record)] == record)
        drawn, count = drawn[len(first) :], count + 1
    assert count == 8
    for few in (rows[:7], [*rows, *records([200])]):
        assert resample(few, 3, number=1).tolist() == moving_blocks(few, 3, number=1).tolist()
