"""The figures of the interpretations show the findings."""

from xml.etree import ElementTree

import pytest
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    TIES,
    as_printed,
    conditions_of,
    findings_of,
)

from narxbench._report import figures as style
from narxbench._studies.paper.interpretations.figures import figures

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module")
def findings():
    return findings_of(
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", BOUND, **as_printed()),
        conditions_of("upso2d", TIES, spurious=40, nu_max=40),
        conditions_of("ga", "baseline"),
        conditions_of("ga", "elitism=on"),
    )


@pytest.fixture(scope="module")
def words(findings):
    """Return the texts of each figure in their order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(style._STYLE, "svg.fonttype", "none")
        drawn = figures(findings)
    texts = {}
    for name, svg in drawn.items():
        texts[name] = ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(TEXT)]
    return texts


def test_the_scatter_has_a_panel_for_each_metric_and_role(words):
    panels = [text for text in words["published_reproduced"] if ", " in text]
    assert len(panels) == 6
    assert panels[1] == "r, as described"
    # The closest has the published r and nu_max.
    assert words["published_reproduced"].count("0.00") >= 2


def test_effects_name_options_in_words(findings, words):
    assert {"velocities bounded at 1", "ties in random order"} < set(words["effects"])
    options = set(findings.effects["interpretation"])
    assert len(options) > 1
    assert not [text for text in words["effects"] if any(option in text for option in options)]


def test_a_study_without_options_has_figures_too():
    drawn = figures(findings_of(conditions_of("upso2d", "baseline", 1)))
    assert drawn.keys() == {"published_reproduced", "effects"}
