"""Stretches and lags that are searched, and the structure that is selected of those that compete."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lookups import roles_of, values_of

import narxbench
from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.competitors import selected_structure
from narxbench._identification.search.configurations import LAGS, Configuration, configurations
from narxbench._identification.search.plan import chosen_stretches
from narxbench._identification.search.problem import ConfigurationProblem, shortened
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.settings import validated
from narxbench._model.records import Record, Recording

LINEAR = Configuration(1, 1, (1,), ((1,),))


def settings_of(**values):
    return validated(IdentificationSettings, values, "test")


def test_long_segments_are_simulated_in_pieces_from_all_over_them():
    pieces = shortened([range(30_000), range(31_000, 71_000)], 20_000, 2)
    assert sum(map(len, pieces)) == 20_000 and set(map(len, pieces)) == {500}
    assert pieces[0].start == 0 and pieces[-1].stop > 69_000 and max(np.diff(values_of(pieces, "start"))) <= 3000


def test_long_records_are_searched_where_they_are_liveliest(rng):
    """All but the last record are at rest but for 100 samples of each section of 1000."""
    moves = (np.arange(8000) % 1000 // 100 == 6) * rng.uniform(-1, 1, 8000)
    records = (Record("a", moves[:, None], moves), Record("b", moves[:2000, None], moves[:2000], "selection"))
    recording = Recording((*records, Record("c", moves[:, None], moves, "test")), ("u",), "y")
    assert chosen_stretches(recording, 10_000, 8) is recording
    stretches = chosen_stretches(recording, 2000, 10).records
    assert roles_of(stretches) == [None] * 8 + ["selection"] * 2 and set(map(len, stretches)) == {200}
    for number, stretch in enumerate(stretches[:8]):
        assert np.count_nonzero(stretch.y) > 95
        start = int(stretch.name.split("samples ")[1].split(" to ")[0])
        assert 1000 * number < start <= 1000 * (number + 1)


def test_records_that_are_too_short():
    records = Record("a", np.ones((8, 1)), np.arange(8.0)), Record("b", np.ones((9, 1)), np.arange(9.0))
    with pytest.raises(narxbench.NarxbenchError, match=r"records: found none that is long enough, at most 9 samples"):
        ConfigurationProblem(Recording(records, ("u",), "y"), replace(LINEAR, y_lags=(1, 9)), settings_of(), 1)


def test_lags_are_no_more_than_the_samples_allow():
    def scan(samples, decimations=(1,), roles=(None,), **settings):
        records = [Record(str(role), np.zeros((samples, 1)), np.zeros(samples), role) for role in roles]
        return configurations(Recording(tuple(records), ("u",), "y"), settings_of(**settings), decimations, [1])

    for configuration in scan(600, (1, 4)):
        assert 4 * max(N_PARTS, configuration.decimation) * configuration.max_lag <= 600
    # The fewest lags are tried on the shortest data, and samples of the test do not count.
    assert set(values_of(scan(30), "max_lag")) == {LAGS[0]}
    assert scan(300, roles=(None, "test")) == scan(300)
    # They are shorter than the records.
    for configuration in scan(10, (1, 2, 4), roles=[None] * 60):
        assert configuration.max_lag * configuration.decimation < 10
    with pytest.raises(narxbench.NarxbenchError):
        scan(10, roles=[None] * 60, y_lags=10, u_lags=1)


@pytest.mark.parametrize(
    ("sparse", "linear", "last_value", "holding", "expected"),
    [
        (0.105, 0.1, 0.5, ["linear"], "sparse"),
        (0.106, 0.1, 0.5, ["linear"], "linear"),
        # A model that does not hold over whole records is passed over, and the last value always holds.
        (0.3, 0.1, 0.2, [], "last value"),
        # Both are exact but for rounding.
        (1e-8, 1e-12, 0.5, ["linear"], "sparse"),
    ],
)
def test_the_sparse_model_is_selected_within_the_limit(monkeypatch, sparse, linear, last_value, holding, expected):
    competing = "narxbench._identification.search.competitors"
    monkeypatch.setattr(f"{competing}.holds", lambda _, competitor: competitor.kind in holding)
    monkeypatch.setattr(f"{competing}.diverges_when_held", lambda *_: False)
    errors = {"sparse": sparse, "linear": linear, "last value": last_value}
    best, *others = (Candidate(LINEAR, ("y(k-1)",), "", kind=kind, rrse=rrse) for kind, rrse in errors.items())
    assert selected_structure(None, best, others).kind == expected
    # A series is judged farther ahead, too.
    best, other = replace(best, rrse=0.1, ahead=sparse), replace(others[0], rrse=0.1, ahead=linear)
    is_as_good = sparse <= 1.05 * max(1e-6, linear)
    assert (selected_structure(None, best, [other]) == best) is is_as_good
