"""Interpretations: what is open, their texts, what they contradict, and mistakes in the file of design choices."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.algorithms.registry import algorithm as algorithm_of
from narxbench.experiment.interpretations import (
    BASELINE,
    DESIGN_CHOICES_FILE,
    Fitness,
    OpenData,
    Search,
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
STATED = "swarm_size inertia cognitive_acceleration social_acceleration unification_start unification_end refresh_gap"
STATED += " population_size crossover_probability mutation_probability"


def test_the_baseline_is_what_the_library_does_by_default() -> None:
    baseline = interpretation_settings(CHOICES, {})
    for part, model in {"data": OpenData, "fitness": Fitness, "search": Search}.items():
        assert set(baseline.pop(part)) == set(model.model_fields)
    for algorithm in baseline:
        default = algorithm_of(algorithm).settings({}).model_dump()
        assert baseline[algorithm] == {name: default[name] for name in baseline[algorithm]}
        assert set(baseline[algorithm]) == set(default) - set(STATED.split())


def test_every_option_is_carried_out_and_differs_from_the_others() -> None:
    for name, choice in CHOICES.design_choices.items():
        assert all(a.value != b.value for a, b in itertools.combinations(choice.options.values(), 2))
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
    unknown = [
        ("ties", "ties: found ''; allowed: an option of ties: can"),
        ("", "unknown design choice; allowed: input"),
    ]
    for wrong, told in [("ties=random+ties=random", "names ties twice"), *unknown]:
        with pytest.raises(NarxbenchError, match=told):
            parse_interpretation(CHOICES, wrong)


def test_contradictions() -> None:
    found = contradictions(CHOICES, {"ties": "random", "error": "one-step", "velocity-bound": "1"})
    assert len(found) == 2 and "model-predicted output" in found[0] and "2.88" in found[1]
    assert (
        contradictions(CHOICES, CHOICES.named["as-described"]) == contradictions(CHOICES, CHOICES.named["reset"]) == []
    )


MISTAKES = """
interpretations: {a: {tie: random}} => interpretations.a.tie: unknown design choice; allowed: … (did you mean 'ties'?)
interpretations: {'../a': {}} => found the key '../a' (text); allowed: a name of letters, digits
design_choices: {ties: {part: upso}} => ties.part: found 'upso'; allowed: one of data, fitness, search, annealing
design_choices: {ties: {options: {random: {value: randm}}}} => ties.options.random.value: found 'randm'; allowed:
design_choices: {input: {options: {uniform: {value: {kind: uniform, low: 2.0}}}}} => input.options.uniform.value: found
design_choices: {ring: {setting: refresh_gap}, ties: {setting: refresh_gap, options: {canonical: {value: 3}, random: \
{value: 4}}}} => ties.setting: found upso2d.refresh_gap, which another design choice sets; allowed: each setting once
design_choices: {noise: {part: ga, setting: elitism, options: {output: {value: true}, equation: {value: false}}}} \
=> design_choices: found none for data.noise; allowed: one for each
design_choices: {ring: {needs: velocity}} => ring.needs: found 'velocity'; allowed: a design choice:
design_choice: {} => design_choice: unknown key; allowed: design_choices, interpretations (did you mean
"""


@pytest.mark.parametrize("case", MISTAKES.strip().splitlines())
def test_mistakes_in_the_file(tmp_path: Path, case: str) -> None:
    def merged(old: Any, new: Any) -> Any:
        if isinstance(old, dict) and isinstance(new, dict) and new:
            return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
        return new

    change, told = case.split(" => ")
    path = tmp_path / "choices.yaml"
    path.write_text(canonical_json(merged(read_mapping(DESIGN_CHOICES_FILE), read_value(change, ""))))
    with pytest.raises(NarxbenchError) as error:
        load_design_choices(path)
    assert [part for part in told.split(" … ") if part not in str(error.value)] == []
    assert all(line.startswith(f"{path}: ") for line in str(error.value).splitlines())
