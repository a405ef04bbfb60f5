"""Interpretations: what is open, their texts, what they contradict, and mistakes in the file of design choices."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.algorithms.registry import algorithm_names, settings_model
from narxbench.experiment.interpretations import (
    BASELINE,
    DESIGN_CHOICES_FILE,
    Fitness,
    OpenData,
    contradictions,
    data_text,
    interpretation_settings,
    interpretation_text,
    load_design_choices,
    parse_interpretation,
)
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.io.yaml import read_mapping, read_value

CHOICES = load_design_choices()
# What the paper states; all other settings of its algorithms are design choices.
STATED = {
    "upso2d": {"swarm_size", "inertia", "cognitive_acceleration", "social_acceleration", "unification_start"}
    | {"unification_end", "refresh_gap"},
    "ga": {"population_size", "crossover_probability", "mutation_probability"},
}


def test_the_baseline_is_what_the_library_does_by_default() -> None:
    baseline = interpretation_settings(CHOICES, {})
    assert set(baseline["data"]) == set(OpenData.model_fields)
    assert set(baseline["fitness"]) == set(Fitness.model_fields)
    for algorithm in set(baseline) - {"data", "fitness"}:
        default = settings_model(algorithm)().model_dump()
        assert baseline[algorithm] == {name: default[name] for name in baseline[algorithm]}
        assert set(baseline[algorithm]) == set(default) - STATED[algorithm]
    assert set(STATED) == set(baseline) - {"data", "fitness"} <= set(algorithm_names())


def test_every_option_is_carried_out_and_differs_from_the_others() -> None:
    for name, choice in CHOICES.design_choices.items():
        values = [option.value for option in choice.options.values()]
        assert all(a != b for a, b in itertools.combinations(values, 2))
        for option, described in choice.options.items():
            assert interpretation_settings(CHOICES, {name: option})[choice.part][choice.setting] == described.value


_SOME = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(list(choice.options)) for name, choice in CHOICES.design_choices.items()}
)


@settings(max_examples=50, deadline=None)
@given(chosen=_SOME)
def test_an_interpretation_reads_back(chosen: dict[str, str]) -> None:
    text = interpretation_text(CHOICES, chosen)
    found = parse_interpretation(CHOICES, text)
    assert interpretation_settings(CHOICES, found) == interpretation_settings(CHOICES, chosen)
    assert interpretation_text(CHOICES, found) == text
    assert parse_interpretation(CHOICES, data_text(CHOICES, chosen)).items() <= found.items()


def test_texts() -> None:
    chosen = {"ties": "random", "velocity-bound": "1", "noise": "output", "selection": "tournament"}
    assert interpretation_text(CHOICES, chosen) == "velocity-bound=1+ties=random+selection=tournament"
    assert interpretation_text(CHOICES, chosen, "upso2d") == "velocity-bound=1+ties=random"
    assert interpretation_text(CHOICES, chosen, "stepwise") == interpretation_text(CHOICES, {}) == BASELINE
    assert interpretation_text(CHOICES, {**chosen, "noise": "equation"}, "") == "noise=equation"
    assert data_text(CHOICES, {**chosen, "noise": "equation", "error": "one-step"}) == "noise=equation"
    assert parse_interpretation(CHOICES, "ties=random+ring=2") == {"ring": "2", "ties": "random"}
    assert CHOICES.named["cited-source"] == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tie=random", r"tie: unknown design choice; allowed: input, .*\(did you mean 'ties'\?\)"),
        ("ties=rand", r"ties: found 'rand'; allowed: canonical, random \(did you mean 'random'\?\)"),
        ("ties=random+ties=random", "names ties twice; allowed: each choice once"),
        ("ties", "ties: found ''; allowed: canonical, random"),
        ("", "unknown design choice"),
    ],
)
def test_wrong_texts(text: str, told: str) -> None:
    with pytest.raises(NarxbenchError, match=told):
        parse_interpretation(CHOICES, text)


def test_contradictions() -> None:
    assert contradictions(CHOICES, {"ties": "random", "noise": "equation"}) == []
    assert contradictions(CHOICES, CHOICES.named["closest-consistent"]) == []
    found = contradictions(CHOICES, {"velocity-bound": "1", "error": "one-step"})
    assert len(found) == 2 and "model-predicted output" in found[0] and "2.88" in found[1]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("interpretations: {a: {tie: random}}", "interpretations.a.tie: unknown design choice; allowed: "),
        ("interpretations: {a: {ties: rand}}", "interpretations.a.ties: found 'rand'; allowed: canonical, random"),
        ("interpretations: {a: {ring: 2}}", "interpretations.a.ring: found 2; allowed: text"),
        ("interpretations: {'../a': {}}", "found the key '../a' (text); allowed: a name of letters, digits"),
        ("interpretations: {}", "interpretations: found {}"),
        ("design_choices: {ties: {part: upso}}", "ties.part: found 'upso'; allowed: one of data, fitness, ga"),
        (
            "design_choices: {ties: {setting: equal}}",
            "ties.setting: found 'equal'; allowed: a setting of upso2d: swarm",
        ),
        ("design_choices: {ties: {options: {random: {value: randm}}}}", "ties.options.random.value: found 'randm'"),
        ("design_choices: {input: {options: {uniform: {value: {kind: uniform, low: 2.0}}}}}", "low below high"),
        ("design_choices: {ring: {options: {'2': {value: 0}}}}", "ring.options.2.value: found 0; allowed: a positive"),
        (
            "design_choices: {ties: {setting: ring_radius, options: {canonical: {value: 3}, random: {value: 4}}}}",
            "ties.setting: found upso2d.ring_radius, which another design choice sets; allowed: each setting once",
        ),
        ("design_choices: {ties: {answers: 3}}", "ties.answers: unknown key; allowed: part, setting"),
        ("design_choices: {noise: {part: upso2d, setting: ring_radius, options: 0}}", "noise.options: found 0"),
        ("design_choice: {}", "design_choice: unknown key; allowed: design_choices, interpretations (did you mean"),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, change: str, told: str) -> None:
    def merged(old: Any, new: Any) -> Any:
        if isinstance(old, dict) and isinstance(new, dict) and new:
            return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
        return new

    path = tmp_path / "choices.yaml"
    path.write_text(canonical_json(merged(read_mapping(DESIGN_CHOICES_FILE), read_value(change, ""))))
    with pytest.raises(NarxbenchError) as error:
        load_design_choices(path)
    assert told in str(error.value)
    assert all(line.startswith(f"{path}: ") for line in str(error.value).splitlines())


def test_every_setting_of_data_and_fitness_needs_a_design_choice(tmp_path: Path) -> None:
    mapping = read_mapping(DESIGN_CHOICES_FILE)
    del mapping["design_choices"]["noise"]
    path = tmp_path / "choices.yaml"
    path.write_text(canonical_json(mapping))
    with pytest.raises(
        NarxbenchError, match=r"choices\.yaml: design_choices: found none for data\.noise; allowed: one"
    ):
        load_design_choices(path)
