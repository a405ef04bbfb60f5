"""The figures of a comparison of methods: deterministic bytes, and any study can be drawn."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, comparison, cost, methods_of, shape

from narxbench._studies.methods import figures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_any_study_can_be_drawn_within_bounds(name):
    drawn = figures.leaderboard_figures(comparison(shape(name)))
    assert set(drawn) == {"recovery_cost.svg", "ecdf.svg", "situations.svg"}
    for file, content in drawn.items():
        assert ElementTree.fromstring(content).get("width") == "960", file
        assert len(content) < 60_000, file
    assert figures.leaderboard_figures(comparison(shape(name))) == drawn


def test_every_method_has_its_point_and_no_label_overlaps_another():
    frames = shape("usual")
    names = [name for name in methods_of(frames) if name not in ("truth", "all-candidates")]
    shown = comparison(frames, cost(names, **{name: 0.01 * (1 + place) for place, name in enumerate(names)}))
    root = ElementTree.fromstring(figures.leaderboard_figures(shown)["recovery_cost.svg"])
    assert len(root.findall(f"{SVG}circle")) == len(names)
    labels = [each for each in root.findall(f"{SVG}text") if each.get("dx")]
    assert {each.text for each in labels} == {"frols", "GA", "multistart", "random", "2D-UPSO"}
    for width in (340, 640, 1240):
        boxes = []
        for each in labels:
            x = float(each.get("x").rstrip("%")) * width / 100 + float(each.get("dx"))
            long, y = 6.6 * len(each.text), float(each.get("y"))
            left = x - {"start": 0, "middle": long / 2, "end": long}[each.get("text-anchor")]
            if width > 900 or each.get("class") != "roomy":
                boxes.append((left, y - 10, left + long, y + 3))
        for a, b in combinations(boxes, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], width


def test_the_map_has_every_method_in_every_situation():
    shown = comparison(shape("usual"))
    root = ElementTree.fromstring(figures.leaderboard_figures(shown)["situations.svg"])
    texts = [each.text for each in root.findall(f"{SVG}text")]
    heads = ("all data", "base", "noisy", "fast")
    assert texts[:4] == list(heads) and set(texts) >= {"GA", "2D-UPSO", "truth"}
    # A rectangle is the background, the others are cells of seven methods.
    assert len(root.findall(f"{SVG}rect")) == 1 + len(heads) * 7
    assert [figures.whole_percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0", "1", "50", "99", "100"]


def test_labels_stand_close_to_their_points():
    frames = shape("large")
    names = [name for name in methods_of(frames) if name not in ("truth", "all-candidates")]
    shown = comparison(frames, cost(names, **{name: 0.01 * 1.3**place for place, name in enumerate(names)}))
    root = ElementTree.fromstring(figures.leaderboard_figures(shown)["recovery_cost.svg"])
    points = {circle[0].text.partition(":")[0]: float(circle.get("cy")) for circle in root.findall(f"{SVG}circle")}
    labels = [each for each in root.findall(f"{SVG}text") if each.get("dx")]
    assert len(labels) >= 12
    for label in labels:
        assert abs(float(label.get("y")) - points[label.text]) < 50 and abs(float(label.get("dx"))) < 50


def test_a_method_has_the_same_colour_in_every_study():
    colours = []
    for name in ("usual", "small"):
        root = ElementTree.fromstring(figures.leaderboard_figures(comparison(shape(name)))["recovery_cost.svg"])
        colours.append(
            {circle[0].text.partition(":")[0]: circle.get("fill") for circle in root.findall(f"{SVG}circle")}
        )
    assert colours[0]["GA"] == colours[1]["GA"]
