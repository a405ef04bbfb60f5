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
    assert set(first) == {"figure_1.pdf", "figure_1.svg", "figure_2.pdf", "figure_2.svg"}
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
    curves["mean"] = curves["mean"].mask(curves["method"].isin(methods))
    assert draw(["S1"], convergence=curves)


def words(name, monkeypatch, *args, **kwargs):
    """Return the texts of a figure in its order."""
    monkeypatch.setitem(looks._STYLE, "svg.fonttype", "none")
    figure = ElementTree.fromstring(draw(*args, **kwargs)[f"{name}.svg"])
    return ["".join(text.itertext()) for text in figure.iter(TEXT)]


@pytest.mark.slow
def test_every_panel_and_every_method_is_named(monkeypatch):
    methods = ("upso2d", "ga", "stepwise")
    shown = words("figure_1", monkeypatch, ["S1", "S2", "S3"], methods)
    assert [text for text in shown if text.startswith("(")] == ["(a) S1 and S2", "(b) S3"]
    for name in ("S1: 2D-UPSO", "S2: GA", "S3: stepwise"):
        assert shown.count(name) == 1, name
    panels = words("figure_2", monkeypatch, ["S1", "S4"], methods)
    # The paper leaves S4 out of this figure.
    names = [f"({letter}) S1 + {name}" for letter, name in zip("abc", ("GA", "2D-UPSO", "stepwise"), strict=True)]
    assert [text for text in panels if text.startswith("(")] == names
    assert panels.count("T4") == 3


@pytest.mark.parametrize("places", [[1, 2, 3, 40], [1, 5, 6, 7, 30], [4]])
def test_labels_are_kept_at_a_distance_and_near_their_bars(places):
    moved = figures.spread(places, gap=3)
    for before, after in pairwise(moved):
        assert after - before >= 3
    assert np.abs(np.subtract(moved, places)).max() <= 3
