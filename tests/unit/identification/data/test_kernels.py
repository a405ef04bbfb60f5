"""Kernels against their definition in plain loops: phases and parts of records, dependent terms, sums, seasons."""

import string
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter
from tests.regression import regressors, term_names

from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.data.collinear import collinear, near_pairs
from narxbench._identification.data.sampling import autocorrelation
from narxbench._identification.data.seasons import seasons_beside_inputs, steps_ahead
from narxbench._model.records import Record, Recording
from narxbench._model.terms import monomials_of

quick = settings(max_examples=60, deadline=None)


def records_of(lengths, roles=None):
    """Return records whose samples say where they are: y is 1000 times the record and the sample."""
    records = []
    for i, (n, role) in enumerate(zip(lengths, roles or [None] * len(lengths), strict=True)):
        records.append(Record(str(i), np.arange(2.0 * n).reshape(n, 2), 1000.0 * i + np.arange(n), role))
    return records


def samples_of(records, first, *roles):
    """Return record and time of the samples of records with one of these roles, from the first one of each on."""
    samples = []
    for i, record in enumerate(records):
        if record.role in roles:
            samples += [(i, k) for k in range(first, len(record))]
    return samples


def samples_at(arrangement, places):
    """Return record and time at some places of an arrangement."""
    return list(zip(arrangement.record[places], arrangement.time[places], strict=True))


@st.composite
def arrangements(draw):
    lengths_and_roles = st.tuples(st.integers(1, 60), st.sampled_from((None, "estimation", "selection")))
    lengths, roles = zip(*draw(st.lists(lengths_and_roles, min_size=1, max_size=5)), strict=True)
    decimation, lag, parts = draw(st.integers(1, 7)), draw(st.integers(0, 5)), draw(st.integers(2, 9))
    return Arrangement(records_of(lengths, roles), decimation, lag, parts)


@given(arrangements())
@quick
def test_each_sample_comes_once_with_its_lags_in_its_record_and_phase(arrangement):
    records, stride = arrangement.records, arrangement.decimation
    samples = samples_at(arrangement, slice(None))
    assert sorted(samples) == samples_of(records, 0, None, "estimation", "selection")
    assert arrangement.y.tolist() == [1000.0 * i + k for i, k in samples]
    assert arrangement.u.tolist() == [records[i].u[k].tolist() for i, k in samples]
    assert arrangement.has_lags.tolist() == (arrangement.time >= arrangement.max_lag * stride).tolist()
    places = np.flatnonzero(arrangement.has_lags)
    for lag in range(arrangement.max_lag + 1):
        assert (arrangement.record[places - lag] == arrangement.record[places]).all()
        assert (arrangement.time[places - lag] == arrangement.time[places] - lag * stride).all()
    segments = arrangement.segments(np.ones(len(samples), bool))
    assert [*chain.from_iterable(segments)] == places.tolist()
    assert len(segments) == len({(i, k % stride) for i, k in samples_at(arrangement, places)})


@given(arrangements())
@quick
def test_samples_estimate_and_select_by_the_roles_of_their_records(arrangement):
    records, lost = arrangement.records, arrangement.max_lag * arrangement.decimation
    assert samples_at(arrangement, arrangement.rows()) == samples_of(records, lost, None, "estimation")
    has_part = arrangement.part >= 0
    selecting = sorted(samples_at(arrangement, has_part))
    if arrangement.takes_turns:
        # Records of estimation are in no part where there are others.
        has_roles = all(record.role for record in records)
        assert selecting == samples_of(records, lost, "estimation" if has_roles else None)
        return
    # Each record of the selection that is long enough is a part.
    chosen = [i for i, record in enumerate(records) if record.role == "selection" and len(record) > lost]
    assert selecting == [(i, k) for i, k in samples_of(records, 0, "selection") if i in chosen]
    assert arrangement.n_parts_selected == len(chosen) and (np.diff(arrangement.part[has_part]) <= 1).all()
    assert arrangement.rows(0).tolist() == arrangement.rows().tolist()


@given(st.lists(st.integers(60, 300), min_size=1, max_size=4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 10))
@quick
def test_parts_are_of_about_equal_size_and_follow_one_another(lengths, decimation, lag, parts):
    arrangement = Arrangement(records_of(lengths), decimation, lag, parts)
    n_samples = sum(lengths) - lag * decimation * len(lengths)
    counts = np.bincount(arrangement.part[arrangement.part >= 0])
    assert arrangement.n_parts_selected == len(counts) <= parts and counts.sum() == n_samples
    # Of few samples there are fewer parts.
    assert len(counts) == parts or n_samples < 3 * decimation * parts
    assert counts.min() >= max(1, counts.max() - 1)
    # A part is a stretch of time: by record and time its numbers never fall.
    members = np.flatnonzero(arrangement.part >= 0)
    ordered = members[np.lexsort((arrangement.time[members], arrangement.record[members]))]
    assert (np.diff(arrangement.part[ordered]) >= 0).all()
    for part in range(len(counts)):
        kept, rows = arrangement.rows(part), arrangement.rows()
        assert kept.tolist() == rows[arrangement.part[rows] != part].tolist()
        assert sum(map(len, arrangement.segments(arrangement.part == part))) == counts[part]


@pytest.mark.parametrize(("most", "phases"), [(None, 8), (200, 8), (199, 7), (10, 1)])
def test_some_phases_are_enough_of_long_records(most, phases):
    arrangement = Arrangement(records_of([200]), 8, 2, 4, most)
    firsts = np.unique(arrangement.time % 8)
    assert arrangement.n_phases == len(firsts) == phases and max(np.diff([*firsts, 8])) <= -(-8 // phases)
    assert sorted(arrangement.time) == [k for k in range(200) if k % 8 in firsts]


def candidates(u, noise, lags, degree):
    y = lfilter([0.0, 1.0], [1.0, -0.8], u[:, 0]) + noise
    monomials = monomials_of(list(product(range(u.shape[1] + 1), range(1, lags + 1))), degree)
    return regressors(u, y, monomials, np.arange(lags, len(y))), term_names(monomials, u.shape[1])


def dependent(columns):
    """Return which columns lie in the span of earlier ones that do not, one by one."""
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    basis, dependent_columns = [], []
    for j in range(scaled.shape[1]):
        weights = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
        distance = np.linalg.norm(scaled[:, j] - scaled[:, basis] @ weights)
        (dependent_columns if distance < 1e-8 else basis).append(j)
    return dependent_columns


DRAWS = {
    "three levels": lambda rng, n: rng.choice([-1.0, 0.0, 2.0], (n, 1)),
    "held": lambda rng, n: rng.choice([1.0, 2.0], (n // 50, 1)).repeat(50, axis=0),
    "rare": lambda rng, n: rng.choice([0.0, 1.0], (n, 1), p=[0.995, 0.005]),
    "twice": lambda rng, n: rng.choice([0.0, 1.0], (n, 1)).repeat(2, axis=1),
    "mixed": lambda rng, n: np.column_stack([rng.normal(size=n), rng.choice([0.0, 1.0], n)]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_columns_that_depend_on_earlier_ones_are_dropped(rng, name):
    columns, terms = candidates(DRAWS[name](rng, 2000), 0.1 * rng.normal(size=2000), 2, 3)
    assert list(collinear(columns, terms)) == list(map(terms.__getitem__, dependent(columns)))


def test_reasons_are_true(rng):
    columns, terms = candidates(rng.choice([2.2, 2.5], (1000, 1)), rng.normal(size=1000), 2, 2)
    assert collinear(columns, terms) == {
        "u(k-1)^2": "u(k-1)^2 is 4.7 u(k-1) - 5.5",
        "u(k-2)^2": "u(k-2)^2 is 4.7 u(k-2) - 5.5",
    }
    twice = np.column_stack([columns[:, 1], 2 * columns[:, 1], 0 * columns[:, 1]])
    assert collinear(twice, ["p", "q", "z"]) == {"q": "q is 2 p", "z": "z is zero in every row"}


def test_rows_that_refute_a_combination_are_found(rng):
    columns = rng.normal(size=(20_000, 3))
    # All but one row say that the last two columns are equal.
    columns[:, 2] = columns[:, 1]
    columns[12_345, 2] += 1.0
    assert collinear(columns, list("abc")) == {}
    # Of norm 1, and elsewhere zero.
    columns[:, 2] = np.arange(20_000) == 77
    assert collinear(columns, list("abc")) == {}
    # Too few rows are no reason to drop.
    assert collinear(rng.normal(size=(30, 52)), list(string.ascii_letters)) == {}


def test_nearly_alike_is_reported_and_not_dropped(rng):
    x = rng.normal(size=(1000, 3))
    columns = np.column_stack([np.ones(1000), x, x[:, 1] + 0.01 * rng.normal(size=1000)])
    terms = ["1", "a", "b", "c", "d"]
    assert collinear(columns, terms) == {}
    pairs = near_pairs(columns, terms)
    assert (pairs["number"], pairs["worst"][:2]) == (1, ("b", "d"))
    assert near_pairs(columns[:, :4], terms[:4]) == {"number": 0, "worst": None}


def test_autocorrelation_against_its_definition(rng):
    pieces = [rng.normal(size=50) + 3, rng.normal(size=20)]
    sums = np.zeros(26)
    for lag, piece in product(range(26), pieces):
        centred = piece - piece.mean()
        sums[lag] += centred[: max(0, len(piece) - lag)] @ centred[lag:]
    assert autocorrelation(pieces) == pytest.approx(sums / sums[0])


def horizon(y, decimation=1, n_test=300):
    record = Record("known", np.empty((len(y) - n_test, 0)), y[:-n_test])
    return steps_ahead([record, Record("test", np.empty((n_test, 0)), y[-n_test:], "test")], decimation)


def test_series_are_judged_as_far_ahead_as_their_values_depend_on_one_another(rng):
    white = rng.standard_normal(1200)
    assert horizon(white) == horizon(np.ones(1200)) == 1
    for pole in (0.8, 0.95):
        time = np.log(0.5) / np.log(pole)
        assert 0.4 * time < horizon(lfilter([1.0], [1.0, -pole], white)) < 2.5 * time
    # An oscillation that goes on is judged over half of the test.
    wave = np.sin(2 * np.pi * np.arange(1200) / 63)
    assert (horizon(wave), horizon(wave, decimation=5)) == (150, 30)


def seasons_of(u, *outputs):
    """Return the seasons of records of an output that is driven by an input."""
    records = [Record(str(number), u[: len(y), None], y) for number, y in enumerate(outputs)]
    return seasons_beside_inputs(Recording(tuple(records), ("u",), "y"))


def test_seasons_are_found_where_an_output_alone_repeats_itself(rng):
    hours, white, nothing = np.arange(1000), rng.standard_normal(1000), np.zeros(1000)
    load = np.sin(2 * np.pi * hours / 24) ** 3 + 0.05 * white
    assert seasons_of(nothing, load) == seasons_of(nothing, load[:400], load[550:]) == (24,)
    weekend = np.where(hours // 24 % 7 >= 5, 0.6, 1.0)
    assert seasons_of(nothing, load * weekend) == (24, 168)
    # A record has three seasons at least.
    assert seasons_of(nothing, load[:70]) == ()
    damped = lfilter([1.0], [1.0, -1.84, 0.9], white)
    for y in (white, np.cumsum(white), damped, np.ones(1000), 1.0 * hours):
        assert seasons_of(nothing, y) == ()
    # What a periodic test signal drives repeats itself as it does.
    weather = np.sin(2 * np.pi * hours / 24) + 0.2 * white
    assert seasons_of(weather, load) == (24,) and seasons_of(np.resize(white[:24], 1000), load) == ()
