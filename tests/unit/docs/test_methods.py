"""The statements of the documentation about the comparison of methods hold in its reference results."""

from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "data" / "reference" / "methods"
TEXT = " ".join((ROOT / "docs/methods.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def held_out():
    ranking = pd.read_csv(REFERENCE / "ranking.csv")
    return ranking[(ranking["part"] == "held-out") & ~ranking["reference"]]


def test_where_nobody_is_right():
    assert "nobody is right, for instance of some systems where the input is binary or the noise is at 5 dB" in TEXT
    systems = pd.read_csv(REFERENCE / "systems.csv")
    methods = systems[(systems["part"] == "held-out") & ~systems["method"].isin(["truth", "all-candidates"])]
    best = methods.dropna(subset=["exact"]).groupby(["scenario", "system"])["exact"].max()
    assert best["binary-input"].min() == best["output-5db"].min() == 0


def test_exact_best_subsets_are_found_on_every_data_set(held_out):
    assert "28 candidates, so that exact best subsets can take part; they are found on every data set" in TEXT
    rows = held_out[(held_out["group"] == "few-candidates") & held_out["method"].str.startswith("best-subset")]
    assert len(rows) == 2 and (rows["failures"] == 0).all() and (rows["runs"] > 0).all()


def test_where_most_methods_take_part(held_out):
    assert "| `base`, `noisy`, `equation-noise`, `short-200` | little; most methods take part |" in TEXT
    n_methods = held_out["method"].nunique()
    for scenario in ("base", "noisy", "equation-noise", "short-200"):
        assert held_out.loc[held_out["group"] == scenario, "method"].nunique() > n_methods / 2
