"""The page of the method: the answers that the settings give, next to the questions, sources and contradictions."""

from itertools import chain

import pytest
from tests.lookups import items_by_name
from tests.unit.studies.paper.factory import make_material, make_settings, summary

from narxbench._studies.paper.method_page import answers
from narxbench._studies.paper.page import pages
from narxbench._study.design_choices import interpretation_settings, load_design_choices

CHOICES = load_design_choices()


def settings_of(chosen, *methods):
    """Return the settings of a study under an interpretation."""
    interpretation = interpretation_settings(CHOICES, chosen)
    settings = make_settings(["S1"], methods={name: ["bic"] for name in methods or ("upso2d", "ga")})
    for name, method in settings["methods"].items():
        method["algorithm"] = name.partition("-")[0]
        method["settings"] = {**interpretation.get(method["algorithm"], {})}
    for part in ("data", "fitness"):
        settings[part] = {**settings.get(part, {}), **interpretation[part]}
    return {**settings, **interpretation["search"]}


def answers_by_name(settings):
    all_answers = chain.from_iterable(answers(settings, CHOICES).values())
    return items_by_name(all_answers)


def shown_choices(departing):
    """Return the names of the design choices that are shown where some of them depart from the baseline."""
    names = []
    for name, choice in CHOICES.design_choices.items():
        # A choice that depends on another design choice is shown once that one, or itself, departs.
        if not choice.needs or {name, choice.needs} & {*departing}:
            names.append(name)
    return names


@pytest.mark.slow
def test_each_option_of_each_design_choice_is_recognised():
    for name, choice in CHOICES.design_choices.items():
        for option in choice.options:
            shown_answers = answers_by_name(settings_of({name: option}))
            departing = [name] * (option != choice.baseline)
            assert [key for key, answer in shown_answers.items() if answer.departs] == departing
            assert list(shown_answers) == shown_choices(departing)
            if name in shown_answers:
                assert shown_answers[name].option == option
                assert shown_answers[name].contradicts == choice.options[option].contradicts


def test_values_of_the_studys_own_and_differing_methods_are_reported():
    settings = settings_of({}, "upso2d", "upso2d-bounded")
    settings["evaluations"] = 900
    settings["methods"]["upso2d-bounded"]["settings"]["velocity_bound"] = 1.25
    answers_by_part = answers(settings, CHOICES)
    (budget,) = answers_by_part["search"]
    assert (budget.option, budget.value, budget.departs) == ("", "evaluations: 900", True)
    bounds = [answer for answer in answers_by_part["upso2d"] if answer.name == "velocity-bound"]
    assert [(answer.option, answer.value, answer.methods) for answer in bounds] == [
        ("none", "velocity_bound: null", ("2D-UPSO",)),
        ("", "velocity_bound: 1.25", ("upso2d-bounded",)),
    ]


def method_page(settings):
    return pages(make_material([summary(), summary(method="ga")], settings))["method.html"]


def test_the_page_tells_departures_and_contradictions():
    html = method_page(settings_of({}))
    assert "all are answered as in the baseline" in html.replace("\n", " ")
    assert "no answer contradicts" in html and "not the baseline" not in html
    assert html.count('role="rowheader"') == sum(not choice.needs for choice in CHOICES.design_choices.values())
    html = method_page(settings_of({"error": "one-step", "ring": "2"}))
    assert html.count("not the baseline") == 2
    assert html.count('<strong class="mark no">contradicts</strong>') == 1
    assert CHOICES.design_choices["error"].options["one-step"].contradicts.split(":")[0] in html
    assert "2 are answered in another way" in html.replace("\n", " ")
