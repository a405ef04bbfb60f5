"""The figures of a comparison of methods: deterministic bytes, and any study can be drawn."""

from xml.etree import ElementTree

import matplotlib
import pytest
from tests.unit.analysis.scores import with_gaps
from tests.unit.report.leaderboards import SHAPES, frames_of, shape

from narxbench.report import leaderboard_figures as figures

NAMES = {f"{name}.{form}" for name in ("critical_difference", "ecdf", "recovery") for form in ("pdf", "svg")}


@pytest.mark.parametrize("name", SHAPES)
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


@pytest.mark.parametrize("gaps", [{"ga": [None], "a$b$\\x": [None]}, {"ga": [0.1]}])
def test_studies_without_results_or_rivals_can_be_drawn(gaps):
    frames = frames_of([with_gaps(gaps, system="S1"), with_gaps(gaps, system="OUT", true_terms=0, true_fitness=None)])
    assert set(figures.leaderboard_figures(frames)) == NAMES


def test_bars_join_ranks_that_differ_by_less():
    assert figures.cliques([1.0, 1.5, 2.0, 2.4, 9.0], 1.0) == [(0, 1), (1, 3)]
    assert figures.cliques([1.0, 2.0], 1.0) == figures.cliques([], 1.0) == []


def test_no_two_of_24_methods_look_alike():
    styles = figures.styles([str(n) for n in range(24)])
    assert len({tuple(style.values()) for style in styles.values()}) == 24
