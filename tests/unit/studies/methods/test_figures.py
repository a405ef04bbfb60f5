"""The figures of a comparison of methods: deterministic bytes, and any study can be drawn."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, comparison, shape

from narxbench._studies.methods import figures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_any_study_can_be_drawn_within_bounds(name):
    files = figures.leaderboard_figures(comparison(shape(name)))
    assert set(files) == {"situations.svg", "terms_error.svg"}
    for file, content in files.items():
        assert ElementTree.fromstring(content).get("width") == "960", file
        assert len(content) < 60_000, file
    assert figures.leaderboard_figures(comparison(shape(name))) == files


def drawn(name, figure):
    return ElementTree.fromstring(figures.leaderboard_figures(comparison(shape(name)))[figure])


def test_every_method_has_its_point_and_no_label_overlaps_another():
    root = drawn("many methods", "terms_error.svg")
    methods = figures.points(comparison(shape("many methods")))
    assert len(methods) == 16 and len(root.findall(f"{SVG}circle")) == 16
    labels = [text for text in root.findall(f"{SVG}text") if text.text in {point.name for point in methods}]
    heights = sorted(float(label.get("y")) for label in labels)
    assert len(heights) == 16 and all(below - above >= 16 for above, below in pairwise(heights))


def test_the_truth_is_marked_and_has_one_term_for_each_true_one():
    by_name = {point.name: point for point in figures.points(comparison(shape("usual")))}
    assert by_name["truth"].is_truth and by_name["truth"].size == 1
    assert by_name["truth"].error == pytest.approx(0.01)
    assert by_name["all candidates"].size == pytest.approx(7 / 4) and not by_name["all candidates"].is_truth
    circles = drawn("usual", "terms_error.svg").findall(f"{SVG}circle")
    assert sorted({float(circle.get("r")) for circle in circles}) == [4.5, 7]


def test_the_map_has_every_method_in_every_situation():
    root = drawn("usual", "situations.svg")
    texts = [text.text for text in root.findall(f"{SVG}text")]
    heads = ("all data", "base", "noisy", "fast")
    assert texts[:4] == list(heads) and set(texts) >= {"GA", "2D-UPSO", "truth"}
    # A rectangle is the background, the others are cells of seven methods.
    assert len(root.findall(f"{SVG}rect")) == 1 + len(heads) * 7
