"""The figures: deterministic bytes, and any study can be drawn."""

from itertools import pairwise, product
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from tests.unit.studies.paper.factory import make_frames, make_settings, summary
from tests.unit.studies.paper.summaries import UNKNOWN

from narxbench._report import figures as looks
from narxbench._studies.paper import figures

TEXT = "{http://www.w3.org/2000/svg}text"


def draw(systems, methods=("upso2d", "ga"), left_out=(), **changed):
    summaries = []
    for name, method in product(systems, methods):
        if (name, method) not in left_out:
            summaries.append(summary(name, 30, method))
    settings = make_settings(systems, methods={name: ["bic"] for name in methods})
    return figures.paper_figures(make_frames(summaries) | changed, settings)


@pytest.mark.slow
def test_the_same_frames_give_the_same_bytes_whatever_the_user_prefers():
    first = draw(["S1"])
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "none", "axes.grid": True}):
        assert draw(["S1"]) == first
    assert set(first) == {"convergence.pdf", "convergence.svg", "term_frequency.pdf", "term_frequency.svg"}
    for content in first.values():
        assert b"CreationDate" not in content and b"<dc:date>" not in content


@pytest.mark.slow
@pytest.mark.parametrize("systems", [["S1", "S2", UNKNOWN], ["S1", "S2", "S3", "a$b$\\x", UNKNOWN]])
def test_any_number_of_systems_can_be_drawn(systems):
    for name, content in draw(systems, left_out=[(UNKNOWN, "ga")]).items():
        assert content.startswith(b"%PDF") or ElementTree.fromstring(content) is not None, name


@pytest.mark.slow
@pytest.mark.parametrize("methods", [["ga"], ["ga", "upso2d"]])
def test_runs_that_found_nothing_can_be_drawn(methods):
    curves = make_frames([summary(snr_db=30, method=method) for method in ("upso2d", "ga")])["convergence"]
    numbers = ["median", "low", "high"]
    curves[numbers] = curves[numbers].mask(curves["method"].isin(methods))
    assert draw(["S1"], convergence=curves)


def words(name, monkeypatch, *args, **kwargs):
    """Return the texts of a figure in its order."""
    monkeypatch.setitem(looks._STYLE, "svg.fonttype", "none")
    figure = ElementTree.fromstring(draw(*args, **kwargs)[f"{name}.svg"])
    return ["".join(text.itertext()) for text in figure.iter(TEXT)]


@pytest.mark.slow
def test_every_panel_and_every_method_is_named(monkeypatch):
    methods = ("upso2d", "ga", "stepwise")
    shown = words("convergence", monkeypatch, ["S1", "S2", "S3"], methods)
    assert [text.split(":")[0] for text in shown if text.startswith("(")] == ["(a) S1", "(b) S2", "(c) S3"]
    for name in ("2D-UPSO", "GA", "stepwise", "true structure"):
        assert shown.count(name) == 3, name
    panels = words("term_frequency", monkeypatch, ["S1", "S4"], methods)
    names = list(map(", ".join, product(("S1", "S4"), ("2D-UPSO", "GA", "stepwise"))))
    assert [text for text in panels if "," in text and "order" not in text] == names
    assert panels.count("T4") == 6


@pytest.mark.slow
def test_convergence_is_drawn_above_the_best_known_j_if_there_is_one(monkeypatch):
    assert "J above best known" in words("convergence", monkeypatch, ["S1"])
    gaps = make_frames([summary(snr_db=30)])["gaps"].assign(best_known=float("nan"), true_structure=float("nan"))
    shown = words("convergence", monkeypatch, ["S1"], gaps=gaps)
    assert {"(a) S1", "best J"} < set(shown)
    assert "J above best known" not in shown


@pytest.mark.parametrize("places", [[1, 2, 3, 40], [1, 5, 6, 7, 30], [4]])
def test_labels_are_kept_at_a_distance_and_near_their_bars(places):
    moved = figures.spread(places, gap=3)
    for before, after in pairwise(moved):
        assert after - before >= 3
    assert np.abs(np.subtract(moved, places)).max() <= 3
