"""Settings of studies: the design choices behind them, how files are merged, and the conditions that they mean."""

import json
import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lookups import items_by_name, values_of

from narxbench import NarxbenchError, load_system
from narxbench._io.files import canonical_json
from narxbench._io.yaml import read_mapping
from narxbench._model.excitation import BinaryInput, HeldInput
from narxbench._studies.loading import load_study, schema
from narxbench._study.condition import ConditionKey
from narxbench._study.design_choices import (
    BASELINE,
    contradictions,
    interpretation_settings,
    interpretation_text,
    load_design_choices,
    parse_interpretation,
    parts_text,
)
from narxbench._study.layers import COMMAND_LINE, merge_layers, read_layers
from narxbench._study.settings import SHIPPED

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
BASE = CONFIG / "paper.yaml"
CHOICES = load_design_choices()
KEPT = ROOT / "data/reference/interpretations/conditions.csv"
KEY_FIELDS = [name for name in ConditionKey.model_fields if name != "scenario"]


OPTIONS = {name: st.sampled_from(list(choice.options)) for name, choice in CHOICES.design_choices.items()}


@settings(max_examples=50, deadline=None)
@given(chosen=st.fixed_dictionaries({}, optional=OPTIONS))
def test_an_interpretation_reads_back(chosen):
    text = interpretation_text(CHOICES, chosen)
    options = parse_interpretation(CHOICES, text)
    assert interpretation_settings(CHOICES, options) == interpretation_settings(CHOICES, chosen)
    assert interpretation_text(CHOICES, options) == text
    assert parse_interpretation(CHOICES, parts_text(CHOICES, chosen, ["data"])).items() <= options.items()


def test_texts_and_contradictions():
    chosen = {"ties": "random", "velocity-bound": "1", "noise": "output", "selection": "tournament"}
    assert interpretation_text(CHOICES, chosen) == "velocity-bound=1+ties=random+selection=tournament"
    assert interpretation_text(CHOICES, chosen, "upso2d") == "velocity-bound=1+ties=random"
    assert interpretation_text(CHOICES, chosen, "stepwise") == interpretation_text(CHOICES, {}) == BASELINE
    assert interpretation_text(CHOICES, {**chosen, "noise": "equation"}, "") == "noise=equation"
    error, bound = contradictions(CHOICES, {"ties": "random", "error": "one-step", "velocity-bound": "1"})
    assert "model-predicted output" in error and "2.88" in bound
    for name in ("as-described", "reset"):
        assert contradictions(CHOICES, CHOICES.named[name]) == []


# From files to settings


def load(folder, text="{}", *command_line):
    overlay = folder / "mine.yaml"
    overlay.write_text(text)
    layers = [*read_layers([BASE]), *read_layers([overlay], command_line)]
    return load_study(layers, choices=CHOICES)


def test_schema_is_up_to_date_and_fits_the_files():
    committed = CONFIG.parent / "workflow" / "schemas" / "study.schema.json"
    command = "python -m narxbench._studies.loading > workflow/schemas/study.schema.json"
    assert committed.read_text() == canonical_json(schema(), indent=1), f"run: {command}"
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(committed.read_text()))
    for *before, name in (["paper"], ["quick"], ["interpretations"], ["methods"], ["methods", "methods_quick"]):
        files = list(map(CONFIG.joinpath, map("{}.yaml".format, (*before, name))))
        assert load_study([*read_layers([BASE]), *read_layers(files)]).study == name
        assert validator.is_valid(read_mapping(CONFIG / f"{name}.yaml"))
    assert validator.is_valid({"methods": {"ga": None}, "data": {"excitation": {"kind": "gaussian"}}, "seeds": [3]})
    for wrong in ({"snr_dbb": [1]}, {"methods": {"ga": {"algorithm": "ga", "settings": {"popsize": 1}}}}):
        assert not validator.is_valid(wrong)


def test_each_line_blames_the_file_or_command_line_that_has_the_last_word(tmp_path):
    text = "seeds: -1\nevaluations: 0\nstatistics: {treshold: 1}"
    with pytest.raises(NarxbenchError) as error:
        load(tmp_path, text, "evaluations=many", "data={seed: -1}")
    places = [tuple(line.split(": ")[:2]) for line in str(error.value).splitlines()]
    mine = f"{tmp_path}/mine.yaml"
    expected = [(mine, "seeds"), (COMMAND_LINE, "evaluations"), (COMMAND_LINE, "data.seed")]
    assert places == [*expected, (mine, "statistics.treshold")]


def test_a_study_is_named_by_the_first_file_that_does_or_after_the_last(tmp_path):
    assert load(tmp_path, "study: other", "study=third").study == "third"
    (tmp_path / "first.yaml").write_text("study: named")
    (tmp_path / "second.yaml").write_text("seeds: 2")
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for order, name in ((files, "named"), (files[::-1], "named"), (files[1:], "second")):
        assert merge_layers(read_layers(order)) == {"study": name, "seeds": 2}


def test_no_study_has_the_name_of_a_folder_that_comes_with_the_project():
    """Git keeps what is in these folders, and ignores the results of studies beside them."""
    ignored = (CONFIG.parent / ".gitignore").read_text(encoding="utf-8")
    assert set(re.findall(r"^!/data/(.*)/$", ignored, re.MULTILINE)) == SHIPPED.keys()


def test_another_kind_or_algorithm_starts_anew(tmp_path):
    study = load(tmp_path, "data: {excitation: {kind: gaussian, sd: 2.0}}\nmethods: {upso2d: {algorithm: ga}}")
    assert study.data.washout == 100
    assert study.data.excitation.model_dump() == {"kind": "gaussian", "sd": 2.0}
    defaults = load(tmp_path, "methods: {ga: {settings: {population_size: 80}}}").methods["ga"].settings
    assert study.methods["upso2d"].settings == defaults
    study = load(tmp_path, "data: {excitation: {kind: gaussian}}", "data={excitation: {kind: uniform, high: 0.5}}")
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 0.5}


def test_methods_are_left_out_by_null_and_may_be_named_like_keys(tmp_path):
    method = "{algorithm: ga, criteria: [bic]}"
    study = load(tmp_path, f"methods: {{ga: null, kind: {method}, algorithm: {method}, settings: {method}}}")
    assert list(study.methods) == ["upso2d", "kind", "algorithm", "settings"]
    assert study.methods["kind"].settings.model_dump()["selection"] == "proportional"


def test_the_interpretation_fills_in_what_is_not_given(tmp_path):
    study = load(tmp_path, "interpretation: reset\nmethods: {new: {algorithm: upso2d, criteria: [bic]}}")
    for name in ("upso2d", "new"):
        assert study.methods[name].settings.model_dump()["restart_count"] == "reset_by_improvement"
    assert study.data.snr_of == "variance" and load(tmp_path, "interpretation: closest").data.snr_of == "power"
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 1.0}
    literal = load(tmp_path, "interpretation: reset\nmethods: {upso2d: {settings: {restart_count: literal}}}")
    assert literal.methods["upso2d"].settings.model_dump()["restart_count"] == "literal"


# Conditions


def conditions_of(*files):
    study = load_study(read_layers(files), choices=CHOICES)
    systems = {name: load_system(name) for name in study.all_systems}
    return study, [*study.conditions(CHOICES, systems)]


def by_unique_name(conditions):
    """Return conditions by name, none of which has the name or the key of another one."""
    by_name = items_by_name(conditions)
    keys = set(values_of(conditions, "key"))
    assert len(by_name) == len(keys) == len(conditions)
    return by_name


@pytest.fixture(scope="module")
def varied():
    return conditions_of(BASE, CONFIG / "interpretations.yaml")


def test_interpretations_reach_problem_and_method_and_kept_results(varied):
    study, conditions = varied
    by_name = by_unique_name(conditions)
    assert len(by_name) == 6168
    noise = by_name["noise=equation/data-1/S3/40dB/ga/bic"]
    assert (noise.problem.name, noise.problem.data.noise) == ("noise=equation/data-1/S3/40dB", "equation")
    bound = by_name["velocity-bound=2/data-1/S3/40dB/upso2d/bic"]
    assert bound.settings["velocity_bound"] == 2.0
    assert bound.evaluations == study.evaluations == 6000
    assert by_name["evaluations=3000/data-1/S3/40dB/ga/bic"].evaluations == 3000
    first = by_name["validation=first/data-1/S3/40dB/ga/bic"].problem
    assert first.structure["validation_part"] == "first" and first.simulation == bound.problem.simulation
    text = "velocity-bound=1.75+restart-count=reset"
    constrained = by_name[f"required-terms=both+{text}/data-4/S4/50dB/upso2d/aic-256"].problem
    assert constrained.structure["required_terms"] == "linear_output_and_input"
    assert by_name[f"{text}/data-2/S4/50dB/upso2d/bic"].problem.structure["required_terms"] == "nothing"


def test_the_kept_results_are_of_these_conditions(varied):
    _, conditions = varied
    keys = [tuple(condition.key.model_dump(include={*KEY_FIELDS}).values()) for condition in conditions]
    assert sorted(pd.read_csv(KEPT)[KEY_FIELDS].itertuples(index=False, name=None)) == sorted(keys)


COMPARED = """
kind: methods
systems: [S1, mao1997]
snr_db: [40]
data: {seeds: 2}
methods:
  upso2d: {criteria: [aic-2]}
  ga: null
  mine: {algorithm: frols, criteria: [bic], settings_by: package default, limits: LIMITS}
held_out: {systems: [heater, volterra], seeds: [31, 33]}
groups: {few: [S1, volterra]}
scenarios:
  base: {description: as it is}
  gone: null
  odd: {description: all else, systems: [S1], snr_db: [30, 20], samples: 500, validation_samples: 100,
        excitation: {kind: gaussian}, noise: equation, n_u: 6, n_y: 5, degree: 3}
  fast: {description: sampled faster, systems: few, oversampling: 4, washout: 300, noise: closed-loop}
  binary: {description: two levels, systems: [mao1997], excitation: {kind: binary}}
"""


def compared(folder, limits="{}"):
    (folder / "compared.yaml").write_text(COMPARED.replace("LIMITS", limits))
    return conditions_of(BASE, folder / "compared.yaml")


def test_scenarios_have_their_systems_and_depart_from_the_study(tmp_path):
    study, conditions = compared(tmp_path)
    by_name = by_unique_name(conditions)
    # Base has all systems with two seeds each, odd two SNRs of S1, fast two systems and binary one.
    assert len(by_name) == (4 * 2 + 2 * 2 + 2 * 2 + 2) * 2
    held_out = {(c.problem.system.name, c.problem.data_seed) for c in conditions if c.problem.held_out}
    assert held_out == set(product(["heater", "volterra"], [31, 33]))
    plain = by_name["base/data-2/S1/40dB/upso2d/aic-2"].problem
    expected = {"system": load_system("S1").definition(), "snr_db": 40, "seed": 2}
    assert plain.simulation.items() >= expected.items()
    assert plain.axes == {"system": "S1", "snr_db": "40", "scenario": "base", "data_seed": "2"}
    odd = by_name["odd/data-2/S1/20dB/mine/bic"].problem
    assert (odd.structure["n_u"], odd.structure["degree"], odd.structure["n_validation"]) == (6, 3, 100)
    assert (odd.data.samples, odd.data.noise, odd.data.excitation.kind) == (500, "equation", "gaussian")
    assert by_name["odd/data-2/S1/20dB/mine/bic"].key.scenario == "odd"
    fast = by_name["fast/data-1/S1/40dB/mine/bic"].problem
    assert fast.system.definition() == load_system("S1").oversampled(4).definition()
    assert (fast.data.washout, fast.data.noise) == (300, "closed-loop")
    assert study.methods["mine"].settings_by == "package default"


def test_the_input_is_that_of_the_system_unless_the_scenario_has_one(tmp_path):
    study, conditions = compared(tmp_path)
    inputs = {name: condition.problem.data.excitation for name, condition in by_unique_name(conditions).items()}
    of_mao, of_volterra = load_system("mao1997").excitation, load_system("volterra").excitation
    assert inputs["base/data-1/mao1997/40dB/mine/bic"] == of_mao != study.data.excitation
    assert inputs["fast/data-1/S1/40dB/mine/bic"] == HeldInput(hold=4, source=study.data.excitation)
    assert inputs["fast/data-31/volterra/40dB/mine/bic"] == HeldInput(hold=4, source=of_volterra)
    assert inputs["binary/data-1/mao1997/40dB/upso2d/aic-2"] == BinaryInput(source=of_mao)


# S1 has 66 candidate terms, in the scenario odd 364; volterra has 84, mao1997 165.
@pytest.mark.parametrize(
    ("limits", "systems"),
    [("{candidates: 84}", {"S1", "heater", "volterra"}), ("{samples: 499}", set()), ("{samples: 500}", {"S1"})],
)
def test_a_method_is_not_run_beyond_its_limits(tmp_path, limits, systems):
    study, conditions = compared(tmp_path, limits)
    of_mine = [condition.problem for condition in conditions if condition.method == "mine"]
    assert {problem.system.name for problem in of_mine} == systems
    assert not any(map(study.too_slow, of_mine))
