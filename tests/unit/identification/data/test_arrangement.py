"""Phases, rows, parts and segments of records, by their definition in plain loops."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from narxbench._identification.data.arrangement import LEAST_STEPS, NO_PART, Arrangement
from narxbench._model.records import Record

quick = settings(max_examples=60, deadline=None)


def records_of(lengths, roles=None, n_inputs=1):
    """Return records whose samples say where they are: y is 1000 times the record and the sample."""
    records = []
    for i, (n, role) in enumerate(zip(lengths, roles or [None] * len(lengths), strict=True)):
        u = np.arange(n * n_inputs, dtype=float).reshape(n, n_inputs)
        records.append(Record(str(i), u, 1000.0 * i + np.arange(n), role))
    return records


def samples_of(records, first=0):
    """Return record and time of each sample from the first one of each record on, by number of the record."""
    samples = []
    for i, record in records.items():
        samples += [(i, k) for k in range(first, len(record))]
    return samples


def samples_at(arrangement, places):
    """Return record and time at some places of an arrangement."""
    return list(zip(arrangement.record[places], arrangement.time[places], strict=True))


@st.composite
def arrangements(draw, allowed_roles=(None, "estimation", "selection")):
    lengths_and_roles = st.tuples(st.integers(1, 60), st.sampled_from(allowed_roles))
    lengths, roles = zip(*draw(st.lists(lengths_and_roles, min_size=1, max_size=5)), strict=True)
    decimation, lag, parts = draw(st.integers(1, 7)), draw(st.integers(0, 5)), draw(st.integers(2, 9))
    return Arrangement(records_of(lengths, roles, n_inputs=2), decimation, lag, parts)


@given(arrangements())
@quick
def test_each_sample_of_each_record_comes_once(arrangement):
    records = dict(enumerate(arrangement.records))
    samples = samples_at(arrangement, range(len(arrangement.y)))
    assert arrangement.n_phases == arrangement.decimation
    assert sorted(samples) == samples_of(records)
    assert arrangement.y.tolist() == [1000.0 * i + k for i, k in samples]
    assert arrangement.u.tolist() == [records[i].u[k].tolist() for i, k in samples]


@given(arrangements())
@quick
def test_a_lag_is_so_many_steps_before_in_the_same_record_and_phase(arrangement):
    lost = arrangement.max_lag * arrangement.decimation
    assert arrangement.has_lags.tolist() == (arrangement.time >= lost).tolist()
    places = np.flatnonzero(arrangement.has_lags)
    for lag in range(arrangement.max_lag + 1):
        assert (arrangement.record[places - lag] == arrangement.record[places]).all()
        assert (arrangement.time[places - lag] == arrangement.time[places] - lag * arrangement.decimation).all()


@given(arrangements())
@quick
def test_rows_are_in_the_order_of_time_and_not_of_the_selection(arrangement):
    estimating = {i: record for i, record in enumerate(arrangement.records) if record.role != "selection"}
    assert arrangement.takes_turns == (len(estimating) == len(arrangement.records))
    expected = samples_of(estimating, arrangement.max_lag * arrangement.decimation)
    assert samples_at(arrangement, arrangement.rows()) == expected


@given(arrangements(["estimation", None]))
@quick
def test_parts_have_their_lags_and_leave_out_records_of_estimation_where_there_are_others(arrangement):
    assert arrangement.takes_turns
    records = dict(enumerate(arrangement.records))
    without_role = {i: record for i, record in records.items() if record.role is None}
    members = arrangement.part != NO_PART
    lost = arrangement.max_lag * arrangement.decimation
    assert sorted(samples_at(arrangement, members)) == samples_of(without_role or records, lost)


@given(arrangements())
@quick
def test_each_record_of_the_selection_is_a_part(arrangement):
    assume(not arrangement.takes_turns)
    n_parts = 0
    for i, record in enumerate(arrangement.records):
        part = NO_PART
        if record.role == "selection" and len(record) > arrangement.max_lag * arrangement.decimation:
            part = n_parts
            n_parts += 1
        assert set(arrangement.part[arrangement.record == i]) == {part}
    assert arrangement.n_parts_selected == n_parts
    assert arrangement.rows(0).tolist() == arrangement.rows().tolist()


@given(arrangements())
@quick
def test_segments_have_each_chosen_sample_once_and_stay_in_a_phase(arrangement):
    segments = arrangement.segments(np.ones(len(arrangement.y), bool))
    assert [*chain.from_iterable(segments)] == np.flatnonzero(arrangement.has_lags).tolist()
    for segment in segments:
        assert len(set(arrangement.record[segment])) == 1
        assert set(np.diff(arrangement.time[segment])) <= {arrangement.decimation}
    n_phases_with_rows = 0
    for record in arrangement.records:
        rest = len(record) - arrangement.max_lag * arrangement.decimation
        n_phases_with_rows += max(0, min(arrangement.decimation, rest))
    assert len(segments) == n_phases_with_rows


@given(st.lists(st.integers(60, 300), min_size=1, max_size=4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 10))
@quick
def test_parts_are_of_about_equal_size_and_follow_one_another(lengths, decimation, lag, parts):
    arrangement = Arrangement(records_of(lengths), decimation, lag, parts)
    # Of few samples there are fewer parts, each of a few steps.
    n_samples = sum(lengths) - lag * decimation * len(lengths)
    parts = min(parts, max(1, n_samples // (LEAST_STEPS * decimation)))
    counts = np.bincount(arrangement.part[arrangement.part != NO_PART], minlength=parts)
    assert arrangement.n_parts_selected == len(counts) == parts and counts.sum() == n_samples
    assert counts.min() >= 1 and counts.max() - counts.min() <= 1
    # A part is a stretch of time: by record and time its numbers never fall.
    members = np.flatnonzero(arrangement.part != NO_PART)
    ordered = members[np.lexsort((arrangement.time[members], arrangement.record[members]))]
    assert (np.diff(arrangement.part[ordered]) >= 0).all()
    for part in range(parts):
        kept, rows = arrangement.rows(part), arrangement.rows()
        assert kept.tolist() == rows[arrangement.part[rows] != part].tolist()
        assert sum(map(len, arrangement.segments(arrangement.part == part))) == counts[part]


@pytest.mark.parametrize(
    ("decimation", "most", "phases"),
    [(8, None, 8), (8, 200, 8), (8, 199, 7), (8, 100, 4), (8, 60, 2), (8, 10, 1), (1, 10, 1), (5, 90, 2)],
)
def test_some_phases_are_enough_of_long_records(decimation, most, phases):
    arrangement = Arrangement(records_of([120, 80]), decimation, 2, 4, most)
    assert arrangement.n_phases == phases
    for record, length in enumerate((120, 80)):
        firsts = sorted({int(k) % decimation for k in arrangement.time[arrangement.record == record]})
        assert len(firsts) == phases and firsts[0] == 0
        # Spread over the stride.
        assert max(np.diff([*firsts, decimation])) <= -(-decimation // phases)
        for first in firsts:
            times = arrangement.time[(arrangement.record == record) & (arrangement.time % decimation == first)]
            assert times.tolist() == list(range(first, length, decimation))
    if most is not None and decimation > 1:
        assert len(arrangement.y) <= max(most, 200 // decimation + 2)


def test_segments_of_some_samples():
    arrangement = Arrangement(records_of([20, 12]), 2, 1, 2)
    # Phases of record 0: places 0-9 and 10-19; of record 1: 20-25 and 26-31.
    chosen = np.zeros(32, bool)
    chosen[[0, 1, 2, 3, 5, 9, 10, 11, 19, 20, 21, 25, 26, 31]] = True
    bounds = [(s.start, s.stop) for s in arrangement.segments(chosen)]
    assert bounds == [(1, 4), (5, 6), (9, 10), (11, 12), (19, 20), (21, 22), (25, 26), (31, 32)]
    assert arrangement.segments(np.zeros(32, bool)) == []
