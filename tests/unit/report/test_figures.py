"""The figures: deterministic bytes, and any study can be drawn."""

from xml.etree import ElementTree

import matplotlib
import pytest
from tests.unit.analysis.summaries import UNKNOWN
from tests.unit.report.factory import make_frames, make_settings, summary

from narxbench.io.errors import NarxbenchError
from narxbench.report import figures


def draw(systems, methods=("upso2d", "ga"), left_out=(), **changed):
    summaries = [summary(name, 30, method) for name in systems for method in methods if (name, method) not in left_out]
    settings = make_settings(systems, methods={name: ["bic"] for name in methods})
    return figures.paper_figures(make_frames(summaries) | changed, settings)


def test_the_same_frames_give_the_same_bytes_whatever_the_user_prefers():
    first = draw(["S1"])
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "none", "axes.grid": True}):
        assert draw(["S1"]) == first
    assert set(first) == {f"{name}.{kind}" for name in ("convergence", "term_frequency") for kind in ("pdf", "svg")}
    assert not any(b"CreationDate" in content or b"<dc:date>" in content for content in first.values())


@pytest.mark.parametrize("systems", [["S1", "S2", UNKNOWN], ["S1", "S2", "S3", "a$b$\\x", UNKNOWN]])
def test_any_number_of_systems_can_be_drawn(systems):
    for name, content in draw(systems, left_out=[(UNKNOWN, "ga")]).items():
        assert content.startswith(b"%PDF") or ElementTree.fromstring(content) is not None, name


def test_runs_that_found_nothing_can_be_drawn():
    curves = make_frames([summary(snr_db=30, method=method) for method in ("upso2d", "ga")])["convergence"]
    numbers = ["mean", "low", "high"]
    curves[numbers] = curves[numbers].mask(curves["method"] == "ga")
    draw(["S1"], convergence=curves)
    curves[numbers] = float("nan")
    draw(["S1"], convergence=curves)


def test_an_snr_without_conditions_is_an_error():
    with pytest.raises(NarxbenchError, match="found no condition at an SNR of 30 dB; allowed: 20"):
        figures.paper_figures(make_frames([summary(snr_db=20)]), make_settings(["S1"]) | {"snr_db": [20]})


def test_labels_are_kept_apart():
    assert figures._spread([0.1, 0.15, 0.9], gap=0.2) == pytest.approx([0.1, 0.3, 0.9])
