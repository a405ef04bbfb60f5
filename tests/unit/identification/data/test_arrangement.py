"""Phases, rows, parts and segments of records, by their definition in plain loops."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.identification.data.arrangement import LEAST_STEPS, NO_PART, Arrangement
from narxbench.model.records import Record

quick = settings(max_examples=60, deadline=None)


def records_of(lengths, roles=None, n_inputs=1):
    """Return records whose samples tell where they are: y is 1000 times the record and the sample."""
    return [
        Record(str(i), np.arange(n * n_inputs, dtype=float).reshape(n, n_inputs), 1000.0 * i + np.arange(n), role)
        for i, (n, role) in enumerate(zip(lengths, roles or [None] * len(lengths), strict=True))
    ]


lengths_and_roles = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from([None, "estimation", "selection"])), min_size=1, max_size=5
)


@given(known=lengths_and_roles, decimation=st.integers(1, 7), lag=st.integers(0, 5), parts=st.integers(2, 9))
@quick
def test_what_holds_of_all_records(known, decimation, lag, parts):
    lengths, roles = zip(*known, strict=True)
    records = records_of(lengths, roles, n_inputs=2)
    found = Arrangement(records, decimation, lag, parts)
    # Each sample of each record once.
    assert found.n_phases == decimation
    assert sorted(zip(found.record, found.time, strict=True)) == [
        (i, k) for i, n in enumerate(lengths) for k in range(n)
    ]
    assert found.y.tolist() == [1000.0 * i + k for i, k in zip(found.record, found.time, strict=True)]
    assert found.u.tolist() == [records[i].u[k].tolist() for i, k in zip(found.record, found.time, strict=True)]
    # A lag is so many steps before, in the same record and phase.
    assert found.has_lags.tolist() == [bool(k >= lag * decimation) for k in found.time]
    places = np.flatnonzero(found.has_lags)
    for back in range(lag + 1):
        assert (found.record[places - back] == found.record[places]).all()
        assert (found.time[places - back] == found.time[places] - back * decimation).all()
    # Rows in the order of time.
    takes_turns = "selection" not in roles
    assert found.takes_turns == takes_turns
    allowed = {i for i, role in enumerate(roles) if role != "selection"}
    expected = [(i, k) for i, n in enumerate(lengths) for k in range(lag * decimation, n) if i in allowed]
    rows = found.rows()
    assert list(zip(found.record[rows], found.time[rows], strict=True)) == expected
    # Parts have their lags, and records of estimation are in none but where there is nothing else.
    if takes_turns:
        shares = {i for i, role in enumerate(roles) if role is None} or set(range(len(roles)))
        scored = [(i, k) for i, n in enumerate(lengths) for k in range(lag * decimation, n) if i in shares]
        members = found.part != NO_PART
        assert sorted(zip(found.record[members], found.time[members], strict=True)) == scored
    else:
        selects = [i for i, role in enumerate(roles) if role == "selection" and lengths[i] > lag * decimation]
        numbers = {i: n for n, i in enumerate(selects)}
        assert found.part.tolist() == [numbers.get(int(i), NO_PART) for i in found.record]
        assert found.n_parts_selected == len(selects)
        assert found.rows(0).tolist() == rows.tolist()
    # Segments are the chosen samples, each once, and none crosses a record or a phase.
    everything = found.segments(np.ones(len(found.y), bool))
    assert [k for segment in everything for k in segment] == places.tolist()
    for segment in everything:
        assert len(set(found.record[segment])) == 1
        assert all(b - a == decimation for a, b in pairwise(found.time[segment]))
    assert len(everything) == sum(max(0, min(decimation, n - lag * decimation)) for n in lengths)


@given(st.lists(st.integers(60, 300), min_size=1, max_size=4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 10))
@quick
def test_parts_are_of_about_equal_size_and_follow_one_another(lengths, decimation, lag, parts):
    found = Arrangement(records_of(lengths), decimation, lag, parts)
    # Of few samples there are fewer parts, each of a few steps.
    parts = min(parts, max(1, sum(n - lag * decimation for n in lengths) // (LEAST_STEPS * decimation)))
    counts = np.bincount(found.part[found.part != NO_PART], minlength=parts)
    assert found.n_parts_selected == len(counts) == parts and counts.sum() == sum(n - lag * decimation for n in lengths)
    assert counts.min() >= 1 and counts.max() - counts.min() <= 1
    # A part is a stretch of time: by record and time its numbers never fall.
    members = np.flatnonzero(found.part != NO_PART)
    ordered = members[np.lexsort((found.time[members], found.record[members]))]
    assert (np.diff(found.part[ordered]) >= 0).all()
    for part in range(parts):
        kept, rows = found.rows(part), found.rows()
        assert kept.tolist() == rows[found.part[rows] != part].tolist()
        assert sum(map(len, found.segments(found.part == part))) == counts[part]


@pytest.mark.parametrize(
    ("decimation", "most", "phases"),
    [(8, None, 8), (8, 200, 8), (8, 199, 7), (8, 100, 4), (8, 60, 2), (8, 10, 1), (1, 10, 1), (5, 90, 2)],
)
def test_some_phases_are_enough_of_long_records(decimation, most, phases):
    found = Arrangement(records_of([120, 80]), decimation, 2, 4, most)
    assert found.n_phases == phases
    for record, length in enumerate((120, 80)):
        firsts = sorted({int(k) % decimation for k in found.time[found.record == record]})
        assert len(firsts) == phases and firsts[0] == 0
        # Spread over the stride.
        assert max(np.diff([*firsts, decimation])) <= -(-decimation // phases)
        for first in firsts:
            times = found.time[(found.record == record) & (found.time % decimation == first)]
            assert times.tolist() == list(range(first, length, decimation))
    if most is not None and decimation > 1:
        assert len(found.y) <= max(most, 200 // decimation + 2)


def test_segments_of_some_samples():
    found = Arrangement(records_of([20, 12]), 2, 1, 2)
    # Phases of record 0: places 0-9 and 10-19; of record 1: 20-25 and 26-31.
    chosen = np.zeros(32, bool)
    chosen[[0, 1, 2, 3, 5, 9, 10, 11, 19, 20, 21, 25, 26, 31]] = True
    bounds = [(s.start, s.stop) for s in found.segments(chosen)]
    assert bounds == [(1, 4), (5, 6), (9, 10), (11, 12), (19, 20), (21, 22), (25, 26), (31, 32)]
    assert found.segments(np.zeros(32, bool)) == []
