"""The figures of a comparison of methods: deterministic bytes, and any study can be drawn."""

from itertools import combinations, starmap
from xml.etree import ElementTree

import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, comparison, cost, methods_of, shape

from narxbench._studies.methods import figures
from narxbench._studies.methods.score_file import REFERENCES

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_any_study_can_be_drawn_within_bounds(name):
    files = figures.leaderboard_figures(comparison(shape(name)))
    assert set(files) == {"recovery_cost.svg", "ecdf.svg", "situations.svg"}
    for file, content in files.items():
        assert ElementTree.fromstring(content).get("width") == "960", file
        assert len(content) < 60_000, file
    assert figures.leaderboard_figures(comparison(shape(name))) == files


def ranked_methods(frames):
    """Return the methods of frames without the references."""
    return [name for name in methods_of(frames) if name not in REFERENCES]


def recovery_cost_drawing(frames, seconds):
    """Return the points of recovery against cost, and their labels, for methods that take so many seconds."""
    shown = comparison(frames, cost(seconds, **seconds))
    root = ElementTree.fromstring(figures.leaderboard_figures(shown)["recovery_cost.svg"])
    labels = [text for text in root.findall(f"{SVG}text") if text.get("dx")]
    return root.findall(f"{SVG}circle"), labels


def label_area(label, width):
    """Return left, top, right and bottom of a label on a screen of some width, in pixels."""
    text_width, y = 6.6 * len(label.text), float(label.get("y"))
    to_left = {"start": 0, "middle": text_width / 2, "end": text_width}
    left = float(label.get("x").rstrip("%")) * width / 100 + float(label.get("dx")) - to_left[label.get("text-anchor")]
    return left, y - 10, left + text_width, y + 3


def are_apart(area, neighbour):
    """Return whether two areas have no inner point in common."""
    left, top, right, bottom = area
    is_beside = right <= neighbour[0] or neighbour[2] <= left
    return is_beside or bottom <= neighbour[1] or neighbour[3] <= top


def test_every_method_has_its_point_and_no_label_overlaps_another():
    frames = shape("usual")
    seconds = {name: 0.01 * (1 + place) for place, name in enumerate(ranked_methods(frames))}
    circles, labels = recovery_cost_drawing(frames, seconds)
    assert len(circles) == len(seconds)
    assert {label.text for label in labels} == {"frols", "GA", "multistart", "random", "2D-UPSO"}
    # Some labels are there on wide screens only.
    for_any_screen = [label for label in labels if label.get("class") != "roomy"]
    for width, visible in ((340, for_any_screen), (640, for_any_screen), (1240, labels)):
        areas = [label_area(label, width) for label in visible]
        assert all(starmap(are_apart, combinations(areas, 2))), width


def test_the_map_has_every_method_in_every_situation():
    shown = comparison(shape("usual"))
    root = ElementTree.fromstring(figures.leaderboard_figures(shown)["situations.svg"])
    texts = [text.text for text in root.findall(f"{SVG}text")]
    heads = ("all data", "base", "noisy", "fast")
    assert texts[:4] == list(heads) and set(texts) >= {"GA", "2D-UPSO", "truth"}
    # A rectangle is the background, the others are cells of seven methods.
    assert len(root.findall(f"{SVG}rect")) == 1 + len(heads) * 7
    assert [figures.whole_percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0", "1", "50", "99", "100"]


def test_labels_stand_close_to_their_points():
    frames = shape("many methods")
    seconds = {name: 0.01 * 1.3**place for place, name in enumerate(ranked_methods(frames))}
    circles, labels = recovery_cost_drawing(frames, seconds)
    height_of_point = {circle[0].text.partition(":")[0]: float(circle.get("cy")) for circle in circles}
    assert len(labels) >= 12
    for label in labels:
        assert abs(float(label.get("y")) - height_of_point[label.text]) < 50
        assert abs(float(label.get("dx"))) < 50


def test_a_method_has_the_same_colour_in_every_study():
    colours = []
    for name in ("usual", "small"):
        root = ElementTree.fromstring(figures.leaderboard_figures(comparison(shape(name)))["recovery_cost.svg"])
        colours.append(
            {circle[0].text.partition(":")[0]: circle.get("fill") for circle in root.findall(f"{SVG}circle")}
        )
    assert colours[0]["GA"] == colours[1]["GA"]
