"""Frequencies, and structures by them, are counted again."""

import json

import numpy as np
import pytest

from narxbench._identification.trust.frequencies import (
    frequent_structures,
    frequent_terms,
    resample_frequencies,
    selection_table,
)

CANDIDATES = ["1", "y(k-1)", "u(k-1)", "y(k-1)^2"]


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
    assert resample_frequencies(table) == {"u(k-1)": 0.5, "1": 0.25, "y(k-1)": 0.25}
    assert frequent_terms(table, 0.5) == ["u(k-1)"]


def test_one_run_and_no_resample_have_no_interval():
    table = selection_table(CANDIDATES, [["y(k-1)^2", "1"]], [])
    seeds = {"term": "1", "seed_count": 1, "seed_runs": 1, "seed_frequency": 1.0}
    seeds |= {"resample_count": 0, "resample_runs": 0}
    missing = ("seed_low", "seed_high", "resample_frequency", "resample_low", "resample_high")
    assert table.to_dict("records")[0] == {**seeds, **dict.fromkeys(missing)}
    assert table["term"].tolist() == ["1", "y(k-1)^2"]
    assert resample_frequencies(table) == {} and frequent_terms(table, 0.1) == []
    assert frequent_structures(table, CANDIDATES, ["1"], []) == ({}, {})


def test_structures_by_their_frequency():
    resampled = [["u(k-1)", "1"], ["1", "u(k-1)"], ["u(k-1)", "y(k-1)"], ["y(k-1)", "u(k-1)"]]
    table = selection_table(CANDIDATES, [["y(k-1)", "u(k-1)"]], resampled)
    structures, about = frequent_structures(table, CANDIDATES, ["u(k-1)", "y(k-1)"], resampled, threshold=0.75)
    # Both pairs came up twice: that of lowest J goes first.
    assert structures == {"threshold": ["u(k-1)"], "most_frequent": ["y(k-1)", "u(k-1)"]}
    assert about == {"threshold": 0.75, "is_reached": True, "count": 2, "searches": 4}
    structures, _ = frequent_structures(table, CANDIDATES, ["y(k-1)^2"], resampled, threshold=0.5)
    assert structures == {"threshold": ["1", "y(k-1)", "u(k-1)"], "most_frequent": ["1", "u(k-1)"]}


def test_never_no_term():
    resampled = [["1"], ["y(k-1)"], ["u(k-1)"], []]
    table = selection_table(CANDIDATES, [], resampled)
    structures, about = frequent_structures(table, CANDIDATES, ["u(k-1)", "y(k-1)^2"], resampled, threshold=0.9)
    assert structures["threshold"] == ["1", "y(k-1)"] and not about["is_reached"]
    nothing, _ = frequent_structures(selection_table(CANDIDATES, [[]], [[]]), CANDIDATES, ["1"], [[], []])
    assert set(map(tuple, nothing.values())) == {("1",)}
