"""The page of the method: the answers that the settings give, next to the questions, sources and contradictions."""

import pytest
from tests.unit.studies.paper.factory import make_material, make_settings, summary

from narxbench._studies.paper.method_page import answers
from narxbench._studies.paper.page import pages
from narxbench._study.design_choices import interpretation_settings, load_design_choices

CHOICES = load_design_choices()


def settings_of(chosen, *methods):
    """Return the settings of a study under an interpretation."""
    made = interpretation_settings(CHOICES, chosen)
    settings = make_settings(["S1"], methods={name: ["bic"] for name in methods or ("upso2d", "ga")})
    for name, method in settings["methods"].items():
        method["algorithm"] = name.partition("-")[0]
        method["settings"] = {**made.get(method["algorithm"], {})}
    shared = {part: {**settings.get(part, {}), **made[part]} for part in ("data", "fitness")}
    return {**settings, **shared, **made["search"]}


def by_name(found):
    return {answer.name: answer for part in found.values() for answer in part}


@pytest.mark.slow
def test_each_option_of_each_design_choice_is_recognised():
    for name, choice in CHOICES.design_choices.items():
        for option in choice.options:
            found = by_name(answers(settings_of({name: option}), CHOICES))
            departing = [name] * (option != choice.baseline)
            assert [other for other, answer in found.items() if answer.departs] == departing
            # What depends on another design choice is shown once that one, or itself, departs.
            shown = [
                n for n, each in CHOICES.design_choices.items() if not each.needs or {n, each.needs} & {*departing}
            ]
            assert list(found) == shown
            if name in found:
                assert found[name].option == option
                assert found[name].contradicts == choice.options[option].contradicts


def test_values_of_the_studys_own_and_differing_methods_are_reported():
    settings = settings_of({}, "upso2d", "upso2d-bounded")
    settings["evaluations"] = 900
    settings["methods"]["upso2d-bounded"]["settings"]["velocity_bound"] = 1.25
    found = answers(settings, CHOICES)
    (budget,) = found["search"]
    assert (budget.option, budget.value, budget.departs) == ("", "evaluations: 900", True)
    bounds = [answer for answer in found["upso2d"] if answer.name == "velocity-bound"]
    assert [(each.option, each.value, each.methods) for each in bounds] == [
        ("none", "velocity_bound: null", ("2D-UPSO",)),
        ("", "velocity_bound: 1.25", ("upso2d-bounded",)),
    ]


@pytest.fixture
def page():
    def made(settings):
        return pages(make_material([summary(), summary(method="ga")], settings))["method.html"]

    return made


def test_the_page_tells_departures_and_contradictions(page):
    html = page(settings_of({}))
    assert "all are answered as in the baseline" in html.replace("\n", " ")
    assert "no answer contradicts" in html and "not the baseline" not in html
    assert html.count('role="rowheader"') == sum(not choice.needs for choice in CHOICES.design_choices.values())
    html = page(settings_of({"error": "one-step", "ring": "2"}))
    assert html.count("not the baseline") == 2
    assert html.count('<strong class="mark no">contradicts</strong>') == 1
    assert CHOICES.design_choices["error"].options["one-step"].contradicts.split(":")[0] in html
    assert "2 are answered in another way" in html.replace("\n", " ")
