"""The figures of a comparison of methods: deterministic bytes, and any study can be drawn."""

from xml.etree import ElementTree

import matplotlib
import pytest
from tests.tiers import mostly_slow
from tests.unit.report.leaderboards import SHAPES, shape

from narxbench.report import leaderboard_figures as figures

NAMES = {f"{name}.{form}" for name in ("critical_difference", "ecdf", "recovery") for form in ("pdf", "svg")}


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_any_study_can_be_drawn_within_bounds(name):
    drawn = figures.leaderboard_figures(shape(name))
    assert set(drawn) == NAMES
    for file, content in drawn.items():
        assert content.startswith(b"%PDF") or ElementTree.fromstring(content) is not None, file
        assert len(content) < 300_000, file


def test_the_same_frames_give_the_same_bytes_whatever_the_user_prefers():
    first = figures.leaderboard_figures(shape("usual"))
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "none", "axes.grid": True}):
        assert figures.leaderboard_figures(shape("usual")) == first
    assert not any(b"CreationDate" in content or b"<dc:date>" in content for content in first.values())


def test_bars_join_ranks_that_differ_by_less():
    assert figures.cliques([1.0, 1.5, 2.0, 2.4, 9.0], 1.0) == [(0, 1), (1, 3)]
    assert figures.cliques([1.0, 2.0], 1.0) == figures.cliques([], 1.0) == []
