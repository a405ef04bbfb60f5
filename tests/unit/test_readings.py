"""Readings: what is open, which combinations there are, and how mistakes in them are told."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import yaml

from narxbench.io.errors import NarxbenchError
from narxbench.experiment.interpretations import (
    READINGS_FILE,
    Fitness,
    OpenData,
    Readings,
    choices_text,
    contradictions,
    load_readings,
    parse_choices,
    reading_settings,
)
from narxbench.algorithms.search import algorithm_names, settings_model
from narxbench.io.yaml import read_mapping


@pytest.fixture(scope="module")
def readings() -> Readings:
    return load_readings()


def test_the_base_is_what_the_library_does_by_default(readings: Readings) -> None:
    base = reading_settings(readings, {})
    assert set(base) <= {"data", "fitness", *algorithm_names()}
    for algorithm in set(base) - {"data", "fitness"}:
        default = settings_model(algorithm)().model_dump()
        assert base[algorithm] == {name: default[name] for name in base[algorithm]}
    assert set(base["data"]) == set(OpenData.model_fields) and set(base["fitness"]) == set(Fitness.model_fields)


def test_what_the_paper_leaves_open_is_all_of_the_settings_that_it_does_not_state(readings: Readings) -> None:
    stated = {
        "upso2d": {"swarm_size", "inertia", "cognitive_acceleration", "social_acceleration", "unification_start"}
        | {"unification_end", "refresh_gap"},
        "ga": {"population_size", "crossover_probability", "mutation_probability"},
    }
    base = reading_settings(readings, {})
    for algorithm, known in stated.items():
        assert set(base[algorithm]) == set(settings_model(algorithm).model_fields) - known


def test_every_option_is_valid_and_differs_from_the_others(readings: Readings) -> None:
    for name, point in readings.open_points.items():
        values = [option.value for option in point.options.values()]
        assert all(a != b for a, b in itertools.combinations(values, 2))
        for option, described in point.options.items():
            assert reading_settings(readings, {name: option})[point.part][point.setting] == described.value


def test_text_of_choices(readings: Readings) -> None:
    choices = {"ties": "random", "velocity-bound": "1", "noise": "output", "selection": "tournament"}
    assert choices_text(readings, choices) == "velocity-bound=1+ties=random+selection=tournament"
    assert choices_text(readings, choices, "upso2d") == "velocity-bound=1+ties=random"
    assert choices_text(readings, choices, "ga") == "selection=tournament"
    assert choices_text(readings, choices, "stepwise") == "base" == choices_text(readings, {})
    assert choices_text(readings, {"noise": "equation"}, "stepwise") == "noise=equation"
    for name, point in readings.open_points.items():
        for option in point.options:
            text = choices_text(readings, {name: option})
            assert parse_choices(readings, text) == ({} if option == point.base else {name: option})
    assert parse_choices(readings, "ties=random+ring=2") == {"ring": "2", "ties": "random"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tiess=random", r"tiess: unknown open point; allowed: input, .*\(did you mean 'ties'\?\)"),
        ("ties=randon", r"ties: found 'randon'; allowed: canonical, random \(did you mean 'random'\?\)"),
        ("ties=random+ties=random", "names ties twice"),
        ("ties", "found ''; allowed: canonical, random"),
        ("", "unknown open point"),
    ],
)
def test_wrong_text_of_choices(readings: Readings, text: str, told: str) -> None:
    with pytest.raises(NarxbenchError, match=told):
        parse_choices(readings, text)


def test_contradictions(readings: Readings) -> None:
    assert contradictions(readings, {}) == []
    assert contradictions(readings, {"ties": "random", "noise": "equation"}) == []
    found = contradictions(readings, {"error": "one-step", "velocity-bound": "1"})
    assert len(found) == 2 and "model-predicted output" in found[0] and "2.88" in found[1]
    assert readings.named["cited-source"] == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("readings: {a: {tie: random}}", r"readings\.a\.tie: unknown open point; .*\(did you mean 'ties'\?\)"),
        ("readings: {a: {ties: rand}}", r"readings\.a\.ties: found 'rand'; allowed: canonical, random"),
        ("readings: {a: {ring: 2}}", r"readings\.a\.ring: found 2; allowed: text"),
        ("readings: {'../a': {}}", r"found the key '\.\./a'.*letters, digits"),
        ("readings: {}", "readings: found"),
        ("open_points: {ties: {part: upso}}", r"ties\.part: found 'upso'; .*\(did you mean 'upso2d'\?\)"),
        (
            "open_points: {ties: {setting: equal}}",
            r"ties\.setting: found 'equal'; allowed: a setting of upso2d: swarm_size",
        ),
        (
            "open_points: {ties: {options: {random: {value: randm}}}}",
            r"ties\.options\.random\.value: found 'randm'; allowed: one of canonical, random \(did you mean 'random'",
        ),
        ("open_points: {input: {options: {uniform: {value: {kind: uniform, low: 2.0}}}}}", "low below high"),
        ("open_points: {ring: {options: {'2': {value: 0}}}}", r"ring\.options\.2\.value: found 0; allowed: a positive"),
        (
            "open_points: {ties: {setting: ring_radius, options: {canonical: {value: 3}, random: {value: 4}}}}",
            "each setting once",
        ),
        ("open_points: {ties: {answers: 3}}", r"ties\.answers: unknown key; allowed: part, setting"),
        ("open_point: {}", r"open_point: unknown key; .*\(did you mean 'open_points'\?\)"),
    ],
)
def test_mistakes(tmp_path: Path, change: str, told: str) -> None:
    def merge(old: Any, new: Any) -> Any:
        if isinstance(old, dict) and isinstance(new, dict) and new:
            return {**old, **{key: merge(old.get(key), value) for key, value in new.items()}}
        return new

    path = tmp_path / "readings.yaml"
    path.write_text(yaml.safe_dump(merge(read_mapping(READINGS_FILE), yaml.safe_load(change)), sort_keys=False))
    with pytest.raises(NarxbenchError, match=told) as error:
        load_readings(path)
    assert str(error.value).startswith(str(path))


def test_every_shared_setting_needs_an_open_point(tmp_path: Path) -> None:
    mapping = read_mapping(READINGS_FILE)
    del mapping["open_points"]["noise"]
    path = tmp_path / "readings.yaml"
    path.write_text(yaml.safe_dump(mapping, sort_keys=False))
    with pytest.raises(NarxbenchError, match=r"open_points: found none for data\.noise"):
        load_readings(path)
