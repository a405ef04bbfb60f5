"""Configurations of a search: decimations, degrees and lags, and the candidate terms of each."""

import re
from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.lookups import names_of
from tests.regression import term_names

from narxbench._identification.search.configurations import (
    DEGREES,
    LAGS,
    LARGEST,
    Configuration,
    candidates,
)
from narxbench._identification.search.configurations import configurations as configurations_of
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import validated
from narxbench._model.records import Record, Recording
from narxbench._model.terms import candidate_monomials, term_name

PLAIN = Configuration(1, 2, (1, 2), ((1, 2),))


def settings_of(**values):
    return validated(IdentificationSettings, values, "test")


def recording_of(samples=2000, inputs=("u",), roles=(None,)):
    records = []
    for number, role in enumerate(roles):
        records.append(Record(str(number), np.zeros((samples, len(inputs))), np.zeros(samples), role))
    return Recording(tuple(records), tuple(inputs), "y")


def scan(settings, decimations=(1,), delays=None, **options):
    """Return the configurations that a search with these settings tries on a recording with these options."""
    recording = recording_of(**options)
    delays = delays or [1] * len(recording.inputs)
    return configurations_of(recording, settings_of(**settings), decimations, delays)


def first_lags(n_lags):
    return tuple(range(1, n_lags + 1))


def names(configuration, **settings):
    n_inputs = len(configuration.u_lags)
    return term_names(candidates(configuration, settings_of(**settings)), n_inputs)


@pytest.mark.parametrize(
    ("lag_settings", "y_lags", "u_lags"),
    [
        ({"y_lags": 3, "u_lags": 2}, (1, 2, 3), ((1, 2), (1, 2))),
        ({"y_lags": "1-3,7", "u_lags": "0,2"}, (1, 2, 3, 7), ((0, 2), (0, 2))),
        ({"y_lags": 1, "u_lags": {"p": 2, "T in": "3-4"}}, (1,), ((1, 2), (3, 4))),
        ({"y_lags": 1, "u_lags": {"T in": [9], "p": "auto"}}, (1,), ((1, 2, 3), (9,))),
    ],
)
def test_lags_are_those_of_the_settings(lag_settings, y_lags, u_lags):
    (configuration,) = scan({**lag_settings, "degree": 2}, inputs=("p", "T in"))
    assert (configuration.y_lags, configuration.u_lags) == (y_lags, u_lags)
    assert (configuration.degree, configuration.decimation) == (2, 1)
    assert configuration.max_lag == max(*y_lags, *u_lags[0], *u_lags[1])


def test_only_the_values_of_the_settings_are_tried():
    configurations = scan({"decimation": [4, 2, 4], "degree": [3, 1], "y_lags": 2, "u_lags": 1})
    assert [(c.decimation, c.degree) for c in configurations] == [(2, 1), (2, 3), (4, 1), (4, 3)]


def test_decimations_degrees_and_lags_are_scanned():
    configurations = scan({}, decimations=(1, 4, 8), samples=5000)
    assert {c.decimation for c in configurations} == {1, 4, 8}
    assert {c.degree for c in configurations} == set(DEGREES)
    assert {c.y_lags for c in configurations} == set(map(first_lags, LAGS))
    for configuration in configurations:
        assert configuration.u_lags == (configuration.y_lags,)
        assert len(names(configuration)) <= LARGEST


@pytest.mark.parametrize("samples", [200, 600])
def test_blocks_that_take_turns_are_longer_than_the_lags_and_enough_steps_are_left(samples):
    for configuration in scan({}, decimations=(1, 4), samples=samples):
        assert samples >= 4 * 8 * configuration.max_lag
        assert samples / configuration.decimation >= 4 * configuration.max_lag


def test_the_fewest_lags_are_tried_on_the_shortest_data():
    assert {configuration.max_lag for configuration in scan({}, samples=30)} == {LAGS[0]}


def test_samples_of_the_test_do_not_count():
    configurations = scan({}, samples=300, roles=(None, "test"))
    assert len(configurations) < len(scan({}, samples=300, roles=(None, None)))
    assert configurations == scan({}, samples=300)


def test_lags_of_one_signal_are_scanned_where_those_of_the_other_are_given():
    for configuration, n_lags in zip(scan({"y_lags": 2, "degree": 1}, samples=5000), LAGS, strict=True):
        assert (configuration.y_lags, configuration.u_lags) == ((1, 2), (first_lags(n_lags),))
    configurations = scan({"u_lags": [0], "degree": 1}, samples=5000)
    assert [configuration.u_lags for configuration in configurations] == [((0,),)] * len(LAGS)
    for configuration, n_lags in zip(scan({"degree": 1}, inputs=(), samples=5000), LAGS, strict=True):
        assert (configuration.y_lags, configuration.u_lags) == (first_lags(n_lags), ())


@pytest.mark.parametrize(
    ("delay", "delay_in_data", "stride", "first"),
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
def test_where_the_lags_of_an_input_begin(delay, delay_in_data, stride, first):
    settings = {"delay": delay, "degree": 1, "decimation": stride}
    for configuration in scan(settings, delays=[delay_in_data, 1], inputs=("a", "b")):
        assert configuration.u_lags[0] == tuple(range(first, first + len(configuration.y_lags)))


def test_the_plain_candidates():
    assert candidates(PLAIN, settings_of()) == candidate_monomials(n_y=2, n_u=2, degree=2)
    assert names(Configuration(3, 1, (2,), ((0,), (1, 4)))) == ["1", "y(k-2)", "u1(k)", "u2(k-1)", "u2(k-4)"]
    assert names(Configuration(1, 2, (1,), ())) == ["1", "y(k-1)", "y(k-1)^2"]


@given(
    patterns=st.lists(st.sampled_from(["*u(k-1)*", "y*", "*^2", "*^3*", "u(k-2)", "1"]), max_size=2),
)
@hypothesis_settings(max_examples=40, deadline=None)
def test_patterns_leave_candidates_out(patterns):
    expected = []
    for monomial in candidate_monomials(n_y=1, n_u=2, degree=3):
        if not any(fnmatchcase(term_name(monomial), pattern) for pattern in patterns):
            expected.append(monomial)
    settings = settings_of(exclude=patterns)
    configuration = Configuration(1, 3, (1,), ((1, 2),))
    if expected:
        assert candidates(configuration, settings) == expected
    else:
        with pytest.raises(NarxbenchError):
            candidates(configuration, settings)


@pytest.mark.parametrize(
    ("signal", "most", "patterns"),
    [
        ("y", 0, ["*y(*"]),
        ("y", 1, ["*y(k-*)*y(k-*)*", "*y(k-?)^*"]),
        ("y", 2, ["*y(*y(*y(*", "*y(k-?)^3", "*y(k-?)^2*y(*", "*y(*y(k-?)^2*"]),
        ("u", 0, ["*u(*"]),
        ("u", 1, ["*u(k-*)*u(k-*)*", "*u(k-?)^*"]),
    ],
)
def test_patterns_limit_the_degree_of_a_signal(signal, most, patterns):
    configuration = Configuration(1, 3, (1, 2), ((1, 2),))
    expected = []
    for name in names(configuration):
        factors = re.findall(rf"{signal}\(k-.\)(?:\^(.))?", name)
        if sum(int(power or 1) for power in factors) <= most:
            expected.append(name)
    assert names(configuration, exclude=patterns) == expected


def test_further_candidates():
    terms = names(PLAIN, include=["y(k-9)", "u(k) y(k-1)", "y(t-1)", "u(k-2)^4"], exclude=["y(k-1)^2"])
    assert len(terms) == len(set(terms)) == 15 + 3 - 1
    assert {"y(k-9)", "y(k-1)*u(k)", "u(k-2)^4"} <= set(terms) and "y(k-1)^2" not in terms
    # An exclusion goes for them too, and a pattern may match the candidates of some configurations only.
    assert "y(k-9)" not in names(PLAIN, include=["y(k-9)"], exclude=["*k-9*"])
    assert scan({"exclude": ["*u(k-8)*"], "degree": 1}, samples=5000)


lag_sets = st.sets(st.integers(1, 12), min_size=1, max_size=4).map(lambda lags: tuple(sorted(lags)))
input_lags = st.lists(lag_sets, max_size=2).map(tuple)
any_configuration = st.builds(
    Configuration, st.integers(1, 12), st.integers(1, 3), lag_sets | st.just(()), input_lags, st.booleans()
)


@given(st.lists(any_configuration, min_size=2, max_size=40, unique=True))
@hypothesis_settings(max_examples=60, deadline=None)
def test_a_name_is_that_of_one_configuration_and_fit_for_a_file(configurations):
    names_of_files = names_of(configurations)
    assert len(set(names_of_files)) == len(configurations)
    assert set("".join(names_of_files)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert Configuration(8, 3, (1, 2, 3, 4), ((1, 2, 3, 4),)).name == "q8-d3-y1to4-u1to4"
    assert Configuration(1, 2, (1, 3), ((0,), (2, 3)), True).name == "q1-d2-y1.3-u0-u2to3-centred"


def largest_lag(recording):
    return max(configuration.max_lag for configuration in configurations_of(recording, settings_of(), [1], [1]))


def test_lags_are_shorter_than_the_records():
    short = recording_of(10, roles=[None] * 60)
    configurations = configurations_of(short, settings_of(), [1, 2, 4], [1])
    assert configurations
    for configuration in configurations:
        assert configuration.max_lag * configuration.decimation < 10
    # One long record is enough, but each role needs its own.
    long = Record("long", np.zeros((2000, 1)), np.zeros(2000))
    mixed = Recording((*short.records, long), ("u",), "y")
    assert largest_lag(mixed) == max(LAGS)
    for roles in (("estimation", "selection"), ("selection", "estimation")):
        records = Record("a", long.u, long.y, roles[0]), Record("b", long.u[:10], long.y[:10], roles[1])
        assert largest_lag(Recording(records, ("u",), "y")) < 10
    with pytest.raises(NarxbenchError):
        configurations_of(short, settings_of(y_lags=10, u_lags=1), [1], [1])
