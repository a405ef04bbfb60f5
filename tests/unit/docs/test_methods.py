"""The statements of the documentation about the comparison of methods hold in its settings and reference results."""

import re
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "data" / "reference" / "methods"
PAGE = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
STUDY = yaml.safe_load((ROOT / "config" / "methods.yaml").read_text(encoding="utf-8"))


def test_where_no_method_is_right():
    text = "On some data sets no method is right, for instance with a binary input or noise at 5 dB."
    assert text in " ".join(PAGE.split())
    systems = pd.read_csv(REFERENCE / "systems.csv")
    methods = systems[(systems["part"] == "held-out") & ~systems["method"].isin(["truth", "all-candidates"])]
    best = methods.dropna(subset=["exact"]).groupby(["scenario", "system"])["exact"].max()
    assert best["binary-input"].min() == best["output-5db"].min() == 0


def test_the_page_has_the_methods_of_the_study_and_its_scenarios():
    rows = re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert names == {*STUDY["methods"], *STUDY["scenarios"]}
    assert len(STUDY["methods"]) == 18 and "compares eighteen methods" in PAGE


def test_all_methods_have_all_data_sets():
    ranking = pd.read_csv(REFERENCE / "ranking.csv")
    ranking = ranking[~ranking["reference"]]
    assert set(ranking["method"]) == set(STUDY["methods"])
    assert ranking["ranked"].all() and (ranking["not_run"] == 0).all()
    for _, group in ranking.groupby(["part", "group"]):
        assert group["data_sets"].nunique() == 1 and len(group) == len(STUDY["methods"])
