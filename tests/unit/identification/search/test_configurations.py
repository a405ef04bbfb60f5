"""What is tried: decimations, degrees and lags, and the candidate terms of each."""

from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from narxbench._identification.search.configurations import (
    DEGREES,
    LAGS,
    LARGEST,
    Configuration,
    candidates,
    configurations,
)
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import validated
from narxbench._model.records import Record, Recording
from narxbench._model.terms import candidate_monomials, term_name

PLAIN = Configuration(1, 2, (1, 2), ((1, 2),))


def settings_of(**values):
    return validated(IdentificationSettings, values, "test")


def recording_of(samples=2000, inputs=("u",), roles=(None,)):
    records = [Record(str(i), np.zeros((samples, len(inputs))), np.zeros(samples), r) for i, r in enumerate(roles)]
    return Recording(tuple(records), tuple(inputs), "y")


def tried(settings, decimations=(1,), delays=None, **recording):
    recording = recording_of(**recording)
    delays = [1] * len(recording.inputs) if delays is None else delays
    return configurations(recording, settings_of(**settings), decimations, delays)


def names(configuration, **settings):
    n_inputs = len(configuration.u_lags)
    return [term_name(m, n_inputs) for m in candidates(configuration, settings_of(**settings))]


@pytest.mark.parametrize(
    ("given_", "y_lags", "u_lags"),
    [
        ({"y_lags": 3, "u_lags": 2}, (1, 2, 3), ((1, 2), (1, 2))),
        ({"y_lags": "1-3,7", "u_lags": "0,2"}, (1, 2, 3, 7), ((0, 2), (0, 2))),
        ({"y_lags": 1, "u_lags": {"p": 2, "T in": "3-4"}}, (1,), ((1, 2), (3, 4))),
        ({"y_lags": 1, "u_lags": {"T in": [9], "p": "auto"}}, (1,), ((1, 2, 3), (9,))),
    ],
)
def test_lags_that_are_given(given_, y_lags, u_lags):
    (found,) = tried({**given_, "degree": 2, "centre": False}, inputs=("p", "T in"))
    assert (found.y_lags, found.u_lags, found.degree, found.decimation) == (y_lags, u_lags, 2, 1)
    assert found.max_lag == max(*y_lags, *u_lags[0], *u_lags[1])


def test_what_is_given_is_all_that_is_tried():
    found = tried({"decimation": [4, 2, 4], "degree": [3, 1], "y_lags": 2, "u_lags": 1, "centre": "auto"})
    assert [(c.decimation, c.degree, c.centred) for c in found] == [
        *((2, 1, False), (2, 3, False), (2, 3, True)),
        *((4, 1, False), (4, 3, False), (4, 3, True)),
    ]
    assert [c.centred for c in tried({"degree": 1, "y_lags": 2, "u_lags": 1, "centre": True})] == [True]


def test_what_is_scanned():
    found = tried({"centre": False}, decimations=(1, 4, 8), samples=5000)
    assert {c.decimation for c in found} == {1, 4, 8} and {c.degree for c in found} == set(DEGREES)
    assert {c.y_lags for c in found} == {tuple(range(1, n + 1)) for n in LAGS}
    assert all(c.u_lags == (c.y_lags,) for c in found)
    assert all(len(names(c)) <= LARGEST for c in found)
    # Blocks that take turns are longer than the lags, and enough steps are left.
    for samples in (200, 600):
        for c in tried({"blocks": 8}, decimations=(1, 4), samples=samples):
            assert samples >= 4 * 8 * c.max_lag and samples / c.decimation >= 4 * c.max_lag
    # The fewest lags are tried with whatever there is.
    assert {c.max_lag for c in tried({"blocks": 100}, samples=30)} == {LAGS[0]}
    # What the test has does not count.
    few, many = ({"samples": 300, "roles": roles} for roles in ((None, "test"), (None, None)))
    assert len(tried({}, **few)) < len(tried({}, **many))
    assert tried({}, **few) == tried({}, samples=300)


def test_lags_of_one_signal_are_scanned_where_those_of_the_other_are_given():
    found = tried({"y_lags": 2, "degree": 1}, samples=5000)
    assert [c.y_lags for c in found] == [(1, 2)] * len(LAGS)
    assert [c.u_lags for c in found] == [(tuple(range(1, n + 1)),) for n in LAGS]
    found = tried({"u_lags": [0], "degree": 1}, samples=5000)
    assert [c.u_lags for c in found] == [((0,),)] * len(LAGS)
    found = tried({"degree": 1}, inputs=(), samples=5000)
    assert [(c.y_lags, c.u_lags) for c in found] == [(tuple(range(1, n + 1)), ()) for n in LAGS]


@pytest.mark.parametrize(
    ("delay", "seen", "stride", "first"),
    [
        (0, 9, 1, 0),
        (5, 0, 1, 5),
        (5, 0, 2, 3),
        (6, 0, 2, 3),
        (1, 0, 8, 1),
        ("auto", 0, 1, 0),
        ("auto", 2, 1, 1),
        ("auto", 10, 1, 9),
        ("auto", 10, 2, 4),
        ("auto", 10, 8, 1),
    ],
)
def test_where_the_lags_of_an_input_begin(delay, seen, stride, first):
    found = tried({"delay": delay, "degree": 1, "decimation": stride}, delays=[seen, 1], inputs=("a", "b"))
    assert all(c.u_lags[0] == tuple(range(first, first + len(c.y_lags))) for c in found)


def test_the_plain_candidates():
    assert candidates(PLAIN, settings_of()) == candidate_monomials(n_y=2, n_u=2, degree=2)
    assert names(Configuration(3, 1, (2,), ((0,), (1, 4)))) == ["1", "y(k-2)", "u1(k)", "u2(k-1)", "u2(k-4)"]
    assert names(Configuration(1, 2, (1,), ())) == ["1", "y(k-1)", "y(k-1)^2"]


@given(
    y_degree=st.none() | st.integers(0, 3),
    u_degree=st.none() | st.integers(0, 3),
    patterns=st.lists(st.sampled_from(["*u(k-1)*", "y*", "*^2", "*^3*", "u(k-2)", "1"]), max_size=2),
)
@hypothesis_settings(max_examples=40, deadline=None)
def test_what_is_left_out(y_degree, u_degree, patterns):
    expected = []
    for m in candidate_monomials(n_y=1, n_u=2, degree=3):
        of_y, of_u = sum(s == 0 for s, _ in m), sum(s == 1 for s, _ in m)
        within = (y_degree is None or of_y <= y_degree) and (u_degree is None or of_u <= u_degree)
        if within and not any(fnmatchcase(term_name(m), p) for p in patterns):
            expected.append(m)
    chosen = settings_of(y_degree=y_degree, u_degree=u_degree, exclude=patterns)
    configuration = Configuration(1, 3, (1,), ((1, 2),))
    if expected:
        assert candidates(configuration, chosen) == expected
    else:
        with pytest.raises(NarxbenchError):
            candidates(configuration, chosen)


def test_further_candidates():
    found = names(PLAIN, include=["y(k-9)", "u(k) y(k-1)", "y(t-1)", "u(k-2)^4"], exclude=["y(k-1)^2"])
    assert len(found) == len(set(found)) == 15 + 3 - 1
    assert {"y(k-9)", "y(k-1)*u(k)", "u(k-2)^4"} <= set(found) and "y(k-1)^2" not in found
    # An exclusion goes for them too, and a pattern may match the candidates of some configurations only.
    assert "y(k-9)" not in names(PLAIN, include=["y(k-9)"], exclude=["*k-9*"])
    assert tried({"exclude": ["*u(k-8)*"], "degree": 1, "centre": False}, samples=5000)


lag_sets = st.sets(st.integers(1, 12), min_size=1, max_size=4).map(lambda lags: tuple(sorted(lags)))
inputs = st.lists(lag_sets, max_size=2).map(tuple)
some = st.builds(Configuration, st.integers(1, 12), st.integers(1, 3), lag_sets | st.just(()), inputs, st.booleans())


@given(st.lists(some, min_size=2, max_size=40, unique=True))
@hypothesis_settings(max_examples=60, deadline=None)
def test_a_name_is_that_of_one_configuration_and_fit_for_a_file(some):
    assert len({c.name for c in some}) == len(some)
    assert all(set(c.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.") for c in some)
    assert Configuration(8, 3, (1, 2, 3, 4), ((1, 2, 3, 4),)).name == "q8-d3-y1to4-u1to4"
    assert Configuration(1, 2, (1, 3), ((0,), (2, 3)), True).name == "q1-d2-y1.3-u0-u2to3-centred"


def test_lags_are_shorter_than_the_records():
    short = [Record(str(i), np.zeros((10, 1)), np.zeros(10)) for i in range(60)]
    found = configurations(Recording(tuple(short), ("u",), "y"), settings_of(), [1, 2, 4], [1])
    assert found and all(c.max_lag * c.decimation < 10 for c in found)
    # One long record is enough, but each role needs its own.
    long = Record("long", np.zeros((2000, 1)), np.zeros(2000))
    mixed = configurations(Recording((*short, long), ("u",), "y"), settings_of(), [1], [1])
    assert max(c.max_lag for c in mixed) == max(LAGS)
    for roles in (("estimation", "selection"), ("selection", "estimation")):
        records = Record("a", long.u, long.y, roles[0]), Record("b", long.u[:10], long.y[:10], roles[1])
        found = configurations(Recording(records, ("u",), "y"), settings_of(), [1], [1])
        assert max(c.max_lag for c in found) < 10
    with pytest.raises(NarxbenchError):
        configurations(Recording(tuple(short), ("u",), "y"), settings_of(y_lags=10, u_lags=1), [1], [1])
