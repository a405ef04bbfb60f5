"""The figures of the interpretations show the findings."""

import re
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
from narxbench._studies.paper.interpretations.figures import SHOWN, figures
from narxbench._studies.paper.interpretations.findings import STRONG_GA

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module")
def findings():
    return findings_of(
        conditions_of("upso2d", "baseline", exact_runs=lambda system, snr_db, seed: 10 * seed),
        conditions_of("upso2d", BOUND, **as_printed()),
        conditions_of("upso2d", TIES, spurious=40, nu_max=40),
        conditions_of("ga", "baseline", exact_runs=0),
        conditions_of("ga", STRONG_GA, exact_runs=39),
        conditions_of("stepwise", "baseline"),
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


def test_claims_stand_in_their_group_and_each_once(findings, words):
    groups = {
        "Under every interpretation": "all",
        "Under some interpretations": "some",
        "Under no interpretation": "none",
    }
    expected = [text for text, group in groups.items() if group in set(findings.claims["group"])]
    assert [text for text in words["claims"] if text in groups] == expected
    judged = findings.claims[findings.claims["judged"] > 0]
    counts = sorted(f"{claim.holds} of {claim.judged}" for claim in judged.itertuples())
    assert sorted(text for text in words["claims"] if re.fullmatch(r"\d+ of \d+", text)) == counts


def test_the_scatter_has_a_panel_for_each_metric_and_role(words):
    panels = [text for text in words["published_reproduced"] if ", " in text]
    assert len(panels) == 6
    assert panels[1] == "r, as described"
    # The closest has the published r and nu_max.
    assert words["published_reproduced"].count("0.00") >= 2


def test_effects_and_ranking_name_what_was_run_and_its_roles(words):
    assert {"velocities bounded at 1", "ties in random order"} < set(words["effects"])
    nearest = [text for text in words["ranking"] if text[0].isdigit() and "  " in text]
    assert nearest[0] == "1  velocities bounded at 1 (closest)"
    assert "as described" in {text.split("  ")[-1] for text in nearest}
    assert len(nearest) <= SHOWN["ranking"] + 3


def test_options_have_words_instead_of_the_names_of_settings(findings, words):
    options = findings.effects_overview["design_choice"] + "=" + findings.effects_overview["option"]
    shown = {*words["effects"], *words["ranking"]}
    assert not [text for text in shown if any(option in text for option in options)]


def test_gaps_show_the_searches_and_the_true_structure(findings, words):
    shown = " ".join(words["gaps"])
    for label in (*findings.structures_found["label"], "True structure", "50 dB", "40 dB", "30 dB"):
        assert label in shown
