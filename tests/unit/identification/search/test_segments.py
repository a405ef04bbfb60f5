"""Stretches of long records: those in which the signals vary most, from all times, as many samples as are wanted."""

import numpy as np

from narxbench._identification.search.plan import chosen_stretches
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator


def record(name, samples, role=None):
    rng = generator(purpose="stretches", name=name)
    return Record(name, rng.uniform(-1, 1, (samples, 1)), rng.uniform(-1, 1, samples), role)


def test_short_records_stay_as_they_are():
    recording = Recording((record("a", 300), record("b", 900, "test")), ("u",), "y")
    assert chosen_stretches(recording, 300, 8) is recording


def test_stretches_come_from_all_sections_and_are_the_liveliest():
    long = record("long", 8000)
    # At rest but for 100 samples of each section of 1000.
    moves = np.arange(8000) % 1000 // 100 == 6
    resting = Record("long", long.u * moves[:, None], long.y * moves)
    chosen = chosen_stretches(Recording((resting,), ("u",), "y"), 1600, 8)
    assert list(map(len, chosen.records)) == [200] * 8
    for number, stretch in enumerate(chosen.records):
        assert np.count_nonzero(stretch.y) == 100
        start = int(stretch.name.split("samples ")[1].split(" to ")[0])
        assert 1000 * number < start <= 1000 * (number + 1)
        np.testing.assert_array_equal(stretch.u[:, 0] != 0.0, stretch.y != 0.0)


def test_records_share_by_their_length_and_keep_their_roles():
    records = (record("a", 6000, "estimation"), record("b", 2000, "selection"), record("c", 5000, "test"))
    chosen = chosen_stretches(Recording(records, ("u",), "y"), 800, 4)
    assert [(stretch.role, len(stretch)) for stretch in chosen.records] == [
        ("estimation", 200), ("estimation", 200), ("estimation", 200), ("selection", 200),
    ]  # fmt: skip
    for stretch in chosen.records:
        assert stretch.name.startswith(("a, samples", "b, samples"))
