"""What the explorer and the statistics draw: every condition, with few digits, and curves of all problems together."""

import pytest
from tests.unit.analysis.summaries import CRITERIA, SYSTEMS, published
from tests.unit.report.factory import make_frames, make_material, paper_summaries, summary

from narxbench.report.explorer import explorer_data, explorer_page
from narxbench.report.markup import script_json
from narxbench.report.statistics_page import statistics_data, statistics_page


@pytest.fixture(scope="module")
def material():
    return make_material(paper_summaries())


@pytest.fixture(scope="module")
def data(material):
    return explorer_data(material.frames, material.summaries, material.settings["statistics"])


def test_every_condition_is_there_with_few_digits(data):
    assert len(data["conditions"]) == 72
    assert set(data["measured"]) == {f"{name}/{snr}" for name in SYSTEMS for snr in (50, 40, 30)}
    first = data["conditions"][0]
    assert (first["system"], first["snr_db"], first["method"], first["criterion"]) == ("S1", "50", "upso2d", "bic")
    assert first["model"]["coefficients"][0] == 0.123457
    assert first["model"]["prediction"][1] == float(f"{37 / 7 + 1 / 3000:.4g}")
    assert first["curve"]["evaluations"][-1] == 6000 and len(first["cardinality"]) == 40
    assert list(data["systems"]["S1"]["labels"].values()) == ["T1", "T2", "T3", "T4"]
    diverging = next(each for each in data["conditions"] if each["criterion"] == CRITERIA[-1])
    assert diverging["model"]["prediction"] is None


def test_published_values_stand_next_to_each_condition(data):
    values = published().once
    printed = values.groupby(["system", "snr_db", "algorithm", "criterion"])
    assert sum(len(each["published"]) for each in data["conditions"]) == len(values)
    for each in data["conditions"]:
        key = (each["system"], float(each["snr_db"]), each["method"], each["criterion"])
        # The paper prints no table of the GA on S1 to S3.
        rows = printed.get_group(key) if key in printed.groups else values.iloc[:0]
        keys = rows["label"].where(rows["label"] != "", rows["metric"])
        assert each["published"] == dict(zip(keys, rows["published"], strict=True))


def test_the_data_are_compact(material, data):
    """Conditions share what they have in common: names of terms, intervals of counts, measured outputs."""
    first, rest = data["conditions"][0], data["conditions"][1:]
    terms = len(data["systems"][first["system"]]["terms"])
    bare = {key: first[key] for key in first.keys() - {"curve", "model"}}
    assert len(script_json(bare)) < 6 * terms + 600
    assert len(script_json(data)) / len(rest) < 8_000
    assert data["intervals"]["40/40"][1] == 1
    for page in (
        explorer_page(material),
        statistics_page(material, dict.fromkeys(("method_comparison", "recovery", "gaps"), "")),
    ):
        assert len(page.encode()) < 1_000_000


def test_run_lengths_of_all_problems_together():
    frames = make_frames(
        [summary(name, snr, method) for name in SYSTEMS[:2] for snr in (50, 30) for method in ("upso2d", "ga")]
    )
    found = statistics_data(frames)
    assert len(found["budget"]) == 8
    together = [row for row in found["run_length"] if row["system"] == "all"]
    single = [row for row in found["run_length"] if row["system"] != "all"]
    assert {row["target_name"] for row in together} >= {"best known J", "true structure's J"}
    for row in together:
        parts = [
            each for each in single if all(each[key] == row[key] for key in ("method", "criterion", "target_name"))
        ]
        assert len(parts) == 4 and row["runs"] == sum(part["runs"] for part in parts) == 160
        assert row["evaluations"] == sorted(value for part in parts for value in part["evaluations"])
