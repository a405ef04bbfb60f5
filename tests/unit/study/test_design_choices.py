"""Interpretations: open points, texts and contradictions of the file of design choices."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._study.design_choices import (
    BASELINE,
    Fitness,
    OpenData,
    SearchBudget,
    contradictions,
    interpretation_settings,
    interpretation_text,
    load_design_choices,
    parse_interpretation,
    parts_text,
)

CHOICES = load_design_choices()
# Settings that the paper states; all others of its algorithms are design choices.
STATED = "swarm_size inertia cognitive_acceleration social_acceleration unification_start unification_end refresh_gap"
STATED += " population_size crossover_probability mutation_probability"


def test_the_baseline_is_the_default_of_the_library() -> None:
    baseline = interpretation_settings(CHOICES, {})
    for part, model in {"data": OpenData, "fitness": Fitness, "search": SearchBudget}.items():
        assert set(baseline.pop(part)) == set(model.model_fields)
    for algorithm in baseline:
        default = algorithm_of(algorithm).settings({}).model_dump()
        assert baseline[algorithm] == {name: default[name] for name in baseline[algorithm]}
        assert set(baseline[algorithm]) == set(default) - set(STATED.split())


def test_every_option_is_carried_out_and_differs_from_the_others() -> None:
    for name, choice in CHOICES.design_choices.items():
        for first, second in itertools.combinations(choice.options.values(), 2):
            assert first.value != second.value
        for option, described in choice.options.items():
            assert interpretation_settings(CHOICES, {name: option})[choice.part][choice.setting] == described.value


OPTIONS = {name: st.sampled_from(list(choice.options)) for name, choice in CHOICES.design_choices.items()}


@settings(max_examples=50, deadline=None)
@given(chosen=st.fixed_dictionaries({}, optional=OPTIONS))
def test_an_interpretation_reads_back(chosen: dict[str, str]) -> None:
    text = interpretation_text(CHOICES, chosen)
    options = parse_interpretation(CHOICES, text)
    assert interpretation_settings(CHOICES, options) == interpretation_settings(CHOICES, chosen)
    assert interpretation_text(CHOICES, options) == text
    assert parse_interpretation(CHOICES, parts_text(CHOICES, chosen, ["data"])).items() <= options.items()


def test_texts() -> None:
    chosen = {"ties": "random", "velocity-bound": "1", "noise": "output", "selection": "tournament"}
    assert interpretation_text(CHOICES, chosen) == "velocity-bound=1+ties=random+selection=tournament"
    assert interpretation_text(CHOICES, chosen, "upso2d") == "velocity-bound=1+ties=random"
    assert interpretation_text(CHOICES, chosen, "stepwise") == interpretation_text(CHOICES, {}) == BASELINE
    assert interpretation_text(CHOICES, {**chosen, "noise": "equation"}, "") == "noise=equation"
    assert parse_interpretation(CHOICES, "ties=random+ring=2") == {"ring": "2", "ties": "random"}


def test_contradictions() -> None:
    error, bound = contradictions(CHOICES, {"ties": "random", "error": "one-step", "velocity-bound": "1"})
    assert "model-predicted output" in error and "2.88" in bound
    for name in ("as-described", "reset"):
        assert contradictions(CHOICES, CHOICES.named[name]) == []
