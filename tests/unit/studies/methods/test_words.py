"""Rounded values next to a verdict, facets of scenarios, and what is said of methods."""

import math

import pandas as pd
import pytest
from tests.unit.studies.methods.leaderboards import about, comparison, methods_of, render, shape
from tests.unit.studies.methods.test_page import visible

from narxbench._studies.methods.choosing import chosen_by, is_own
from narxbench._studies.methods.colours import colour_of
from narxbench._studies.methods.facets import FACETS, facets_of
from narxbench._studies.methods.metrics import IN_FRESH_ERROR, IN_GAP, IN_RECOVERY
from narxbench._studies.methods.words import beside, difference_text, lead_text, least_p_text, p_text


@pytest.mark.parametrize(
    ("p", "expected"), [(0.05, "0.050"), (0.0504, "0.0504"), (0.0496, "0.0496"), (0.0312, "0.031"), (0.0002, "< 0.001")]
)
def test_a_rounded_p_is_on_its_side_of_alpha(p, expected):
    assert p_text(p, 0.05) == expected


def test_a_rounded_value_is_on_its_side_of_its_limits():
    assert beside(0.04, [0.0], 1) == "0.04" and beside(4.96, [5.0], 1) == "4.96" and beside(0.0, [0.0], 1) == "0.0"
    assert difference_text(0.0004, IN_RECOVERY) == "+0.04"
    assert difference_text(-0.206, IN_RECOVERY) == "−20.6" and difference_text(0.0504, IN_RECOVERY) == "+5.04"
    assert difference_text(1.0996, IN_FRESH_ERROR) == "×1.0996" and difference_text(0.67, IN_FRESH_ERROR) == "×0.67"
    assert difference_text(0.00012, IN_FRESH_ERROR) == "×0.00012" and difference_text(0.0104, IN_GAP) == "+0.0104"
    assert difference_text(math.nan, IN_GAP) == "–"


def test_a_lead_is_the_difference_of_the_shares_as_they_are_shown():
    # 98.06 and 77.54 differ by 20.52, and are shown as 98.1 and 77.5.
    assert lead_text(0.2052, 0.9806, 0.7754, IN_RECOVERY) == "+20.6 points"
    assert lead_text(0.0, 1.0, 1.0, IN_RECOVERY) == "0.0 points"


def test_the_least_p_has_its_digits():
    assert (least_p_text(3), least_p_text(13), least_p_text(25)) == ("0.25", "0.000244", "0.000061")


def test_facets_follow_the_settings_and_the_data():
    scenarios = {
        "base": {"description": "usual"},
        "harder": {
            "description": "harder",
            "noise": "equation",
            "excitation": {"kind": "uniform"},
            "oversampling": 5,
            "n_u": 7,
        },
        "absent": {"description": "without data"},
    }
    scores = pd.DataFrame(
        [("base", 2000, 40.0, 66), ("base", 2000, 20.0, 84), ("harder", 100, 20.0, 680)],
        columns=["scenario", "samples", "snr_db", "n_terms"],
    )
    assert facets_of(scenarios, scores, "output") == {
        "base": {
            "noise": "white, on the measured output",
            "length": "2,000",
            "snr": "20 dB to 40 dB",
            "input": "the system’s own",
            "sampling": "as the system’s source has it",
            "candidates": "as the system has them",
        },
        "harder": {
            "noise": "white, inside the equation",
            "length": "100",
            "snr": "20 dB",
            "input": "uniform",
            "sampling": "5 times as fast",
            "candidates": "680",
        },
    }
    for values in facets_of(scenarios, scores, "output").values():
        assert list(values) == list(FACETS)


def test_what_a_method_chooses_by():
    frols = {"algorithm": "frols", "minimises": False, "settings": {"stop": "bic"}, "reference": "Billings"}
    assert chosen_by(frols) == "the BIC of the prediction one step ahead" and not is_own(frols)
    assert chosen_by({**frols, "settings": {"stop": "free_run"}}).startswith("the free run")
    assert chosen_by({**frols, "algorithm": "elsewhere", "settings": {}}) == "a criterion of its own"
    assert chosen_by({**frols, "minimises": True, "criteria": ["BIC"]}) == "the lowest J (BIC)"
    assert chosen_by({**frols, "algorithm": "pem"}).startswith("the likelihood")
    assert is_own({**frols, "reference": "Own; Ljung"})


def test_the_page_says_of_each_method_whose_it_is_what_it_chooses_by_and_whose_its_settings_are():
    frames = shape("small")
    methods_about = about(methods_of(frames))
    methods_about["ga"]["reference"] = "Own; somebody"
    methods_about["ga"] |= {"settings_by": "authors’ paper", "settings_source": "section 4"}
    text = " ".join(visible(render(comparison(frames), methods_about=methods_about)).split())
    assert "GA ours" in text and "frols ours" not in text
    assert "Chooses by the lowest J (BIC). Settings: authors’ paper; section 4." in text


def test_the_colour_of_a_method_follows_from_its_name():
    assert colour_of("pem") != colour_of("multistart") and colour_of("mine") == colour_of("mine")
