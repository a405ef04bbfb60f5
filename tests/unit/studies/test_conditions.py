"""The conditions of the studies of the project."""

from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from tests.lookups import items_by_name

from narxbench._model.excitation import BinaryInput, HeldInput
from narxbench._model.system import load_system
from narxbench._studies.loading import load_study
from narxbench._studies.methods.settings import MethodsStudy
from narxbench._studies.paper.interpretations.settings import single_changes
from narxbench._study.condition import ConditionKey
from narxbench._study.design_choices import interpretation_text, load_design_choices, parse_interpretation
from narxbench._study.layers import read_layers
from narxbench._study.settings import Condition, Study

ROOT = Path(__file__).parents[3]
BASE = ROOT / "config" / "paper.yaml"
CHOICES = load_design_choices()
KEPT = ROOT / "data" / "reference" / "interpretations" / "conditions.csv"
KEY_FIELDS = [name for name in ConditionKey.model_fields if name != "scenario"]


def conditions_of(*files: Path) -> tuple[Study, list[Condition]]:
    study = load_study(read_layers(files), choices=CHOICES)
    systems = {name: load_system(name) for name in study.all_systems}
    return study, [*study.conditions(CHOICES, systems)]


def by_unique_name(conditions: list[Condition]) -> dict[str, Condition]:
    """Return conditions by name, none of which has the name or the key of another one."""
    by_name = items_by_name(conditions)
    keys = {condition.key for condition in conditions}
    assert len(by_name) == len(keys) == len(conditions)
    return by_name


def scenarios_of(conditions: list[Condition], **values: str) -> set[str]:
    """Return the scenarios of the conditions of a method or of a system."""
    scenarios = set()
    for condition in conditions:
        place = {"method": condition.method, "system": condition.problem.system.name}
        if place.items() >= values.items():
            scenarios.add(condition.problem.scenario)
    return scenarios


def keys_of(conditions: list[Condition]) -> list[tuple[object, ...]]:
    """Return the values that distinguish each condition."""
    return [tuple(condition.key.model_dump(include=set(KEY_FIELDS)).values()) for condition in conditions]


def kept_keys() -> list[tuple[object, ...]]:
    """Return the values that distinguish each condition that the repository keeps."""
    return list(pd.read_csv(KEPT)[KEY_FIELDS].itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def varied() -> tuple[Study, list[Condition]]:
    return conditions_of(BASE, ROOT / "config" / "interpretations.yaml")


@pytest.fixture(scope="module")
def paper() -> tuple[Study, list[Condition]]:
    return conditions_of(BASE)


def test_the_paper_has_every_combination(paper: tuple[Study, list[Condition]]) -> None:
    study, conditions = paper
    assert len(by_unique_name(conditions)) == 72
    expected = {f"as-described/data-1/{system}/{snr_db}dB" for system, snr_db in product(study.systems, (50, 40, 30))}
    assert {condition.problem.name for condition in conditions} == expected
    assert [condition.criterion for condition in conditions if condition.method == "ga"] == ["bic"] * 12


def test_a_condition_of_the_paper_is_named_by_its_axes(paper: tuple[Study, list[Condition]]) -> None:
    first = paper[1][0]
    key = {"system": "S1", "snr_db": 50.0, "data_seed": 1, "interpretation": "as-described"}
    assert first.key.model_dump(exclude_defaults=True) == {**key, "method": "upso2d", "criterion": "bic"}
    assert first.problem.axes == {"system": "S1", "snr_db": "50"}
    simulation_settings = {"excitation", "noise", "samples", "washout", "snr_of", "own_noise"}
    assert first.problem.simulation["data"].keys() == simulation_settings


def test_every_option_is_tried_alone_where_it_can_matter(varied: tuple[Study, list[Condition]]) -> None:
    study, conditions = varied
    assert len(by_unique_name(conditions)) == 6168
    under_bic = [condition for condition in conditions if condition.criterion == "bic"]
    members = {(condition.method, condition.interpretation, condition.problem.data_seed) for condition in under_bic}
    few = study.variations.seeds
    assert {*few} < {*study.data.seeds}
    expected = [*product(single_changes(CHOICES), few), *product([CHOICES.named["closest"]], study.data.seeds)]
    for (chosen, seed), method in product(expected, study.variations.methods):
        assert (method, interpretation_text(CHOICES, chosen, method), seed) in members


def test_no_option_is_tried_where_it_cannot_matter(varied: tuple[Study, list[Condition]]) -> None:
    _, conditions = varied
    for text, algorithm in {(condition.interpretation, condition.algorithm) for condition in conditions}:
        parts = {CHOICES.design_choices[name].part for name in parse_interpretation(CHOICES, text)}
        assert parts <= {"data", "fitness", "search", algorithm}


def test_interpretations_reach_problem_and_method(varied: tuple[Study, list[Condition]]) -> None:
    study, conditions = varied
    by_name = by_unique_name(conditions)
    noise = by_name["noise=equation/data-1/S3/40dB/ga/bic"]
    assert (noise.problem.name, noise.problem.data.noise) == ("noise=equation/data-1/S3/40dB", "equation")
    bound = by_name["velocity-bound=2/data-1/S3/40dB/upso2d/bic"]
    assert (bound.problem.name, bound.settings["velocity_bound"]) == ("velocity-bound=2/data-1/S3/40dB", 2.0)
    assert bound.evaluations == study.evaluations == 6000
    assert by_name["evaluations=3000/data-1/S3/40dB/ga/bic"].evaluations == 3000
    first = by_name["validation=first/data-1/S3/40dB/ga/bic"].problem
    assert first.structure["validation_part"] == "first" and first.simulation == bound.problem.simulation
    assert by_name["washout=0/data-1/S3/40dB/ga/bic"].problem.simulation["data"]["washout"] == 0
    error = by_name["error=one-step/data-1/S3/40dB/upso2d/bic"].problem
    assert error.structure["error"] == "one_step" and error.simulation == bound.problem.simulation


def test_required_terms_reach_the_problem(varied: tuple[Study, list[Condition]]) -> None:
    by_name = by_unique_name(varied[1])
    text = "velocity-bound=1.75+restart-count=reset"
    constrained = by_name[f"required-terms=both+{text}/data-4/S4/50dB/upso2d/aic-256"].problem
    assert constrained.structure["required_terms"] == "linear_output_and_input"
    assert constrained.name == f"required-terms=both+{text}/data-4/S4/50dB"
    assert by_name[f"{text}/data-2/S4/50dB/upso2d/bic"].problem.structure["required_terms"] == "nothing"


def test_the_kept_results_are_of_these_conditions(varied: tuple[Study, list[Condition]]) -> None:
    assert sorted(kept_keys()) == sorted(keys_of(varied[1]))


COMPARED = """
kind: methods
systems: [S1, mao1997]
snr_db: [40]
figures: {snr_db: 40}
data: {seeds: 2}
methods:
  upso2d: {criteria: [aic-2]}
  ga: null
  mine: {algorithm: frols, criteria: [bic]}
held_out: {systems: [heater, volterra], seeds: [31, 33]}
scenarios:
  base: {description: as it is}
  odd: {description: all else, systems: [S1], snr_db: [30, 20], seeds: [7], samples: 500, validation_samples: 100,
        excitation: {kind: gaussian}, noise: equation, n_u: 6, n_y: 5, degree: 3}
  part: {description: some, without: [heater, mao1997]}
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[Condition]:
    path = tmp_path_factory.mktemp("settings") / "compared.yaml"
    path.write_text(COMPARED)
    return conditions_of(BASE, path)[1]


def test_scenarios_have_their_systems(compared: list[Condition]) -> None:
    # base has all systems with two seeds each, odd two SNRs of S1, part S1 and volterra.
    assert len(by_unique_name(compared)) == (4 * 2 + 2 + 2 * 2) * 2
    held_out = [condition.problem for condition in compared if condition.problem.held_out]
    data_sets = {(problem.system.name, problem.data_seed) for problem in held_out}
    assert data_sets == set(product(["heater", "volterra"], [31, 33]))
    assert scenarios_of(compared, system="volterra") == {"base", "part"}
    assert scenarios_of(compared, system="heater") == {"base"}


def test_scenarios_depart_from_the_study(compared: list[Condition]) -> None:
    by_name = by_unique_name(compared)
    plain, of_mao = by_name["base/data-2/S1/40dB/upso2d/aic-2"], by_name["base/data-1/mao1997/40dB/mine/bic"]
    expected = {"system": load_system("S1").definition(), "snr_db": 40, "seed": 2}
    assert plain.problem.simulation.items() >= expected.items()
    assert plain.problem.axes == {"system": "S1", "snr_db": "40", "scenario": "base", "data_seed": "2"}
    # A system with an input of its own has it, unless the scenario names another one.
    assert of_mao.problem.data.excitation == load_system("mao1997").excitation != plain.problem.data.excitation
    odd = by_name["odd/data-7/S1/20dB/mine/bic"].problem
    assert (odd.structure["n_u"], odd.structure["degree"], odd.structure["n_validation"]) == (6, 3, 100)
    assert (odd.data.samples, odd.data.noise, odd.data.excitation.kind) == (500, "equation", "gaussian")
    assert by_name["odd/data-7/S1/20dB/mine/bic"].key.scenario == "odd"


def test_a_method_is_not_run_beyond_its_limits(tmp_path: Path) -> None:
    path = tmp_path / "compared.yaml"
    limited = COMPARED.replace("mine: {algorithm: frols,", "mine: {limits: LIMITS, algorithm: frols,")
    # S1 has 66 candidate terms, in the scenario odd 364; volterra has 84, mao1997 165.
    expected = {
        "{candidates: 84}": {
            ("base", "S1"),
            ("base", "heater"),
            ("base", "volterra"),
            ("part", "S1"),
            ("part", "volterra"),
        },
        "{candidates: 200, samples: 499}": set(),
        "{samples: 500}": {("odd", "S1")},
    }
    for limits, data_sets in expected.items():
        path.write_text(limited.replace("LIMITS", limits))
        study, conditions = conditions_of(BASE, path)
        assert isinstance(study, MethodsStudy)
        places = {"mine": set(), "upso2d": set()}
        for condition in conditions:
            places[condition.method].add((condition.problem.scenario, condition.problem.system.name))
            assert (condition.method == "mine") <= ("mine" not in study.too_slow(condition.problem))
        assert places["mine"] == data_sets and len(places["upso2d"]) == 7


HARDER = """
groups: {few: [S1, volterra]}
scenarios:
  base: {description: as it is}
  odd: null
  part: null
  fast: {description: sampled faster, systems: few, seeds: [5], oversampling: 4, washout: 300, noise: closed-loop}
  binary: {description: two levels, systems: [mao1997], seeds: [5], excitation: {kind: binary}}
methods: {mine: {settings_by: package default, settings_source: its manual}}
"""


def test_groups_stand_for_lists_and_scenarios_change_sampling_and_input(tmp_path: Path) -> None:
    path, harder = tmp_path / "compared.yaml", tmp_path / "harder.yaml"
    path.write_text(COMPARED)
    harder.write_text(HARDER)
    study, conditions = conditions_of(BASE, path, harder)
    by_name = items_by_name(conditions)
    assert {c.problem.system.name for c in conditions if c.problem.scenario == "fast"} == {"S1", "volterra"}
    assert (study.methods["mine"].settings_by, study.methods["mine"].settings_source) == (
        "package default",
        "its manual",
    )
    fast = by_name["fast/data-5/S1/40dB/mine/bic"].problem
    assert fast.system.definition() == load_system("S1").oversampled(4).definition()
    assert (fast.data.washout, fast.data.noise) == (300, "closed-loop")
    # The study's input is held, and a system's own one where it has one.
    assert fast.data.excitation == HeldInput(hold=4, source=study.data.excitation)
    held = by_name["fast/data-5/volterra/40dB/mine/bic"].problem.data.excitation
    assert held == HeldInput(hold=4, source=load_system("volterra").excitation)
    binary = by_name["binary/data-5/mao1997/40dB/upso2d/aic-2"].problem.data.excitation
    assert binary == BinaryInput(source=load_system("mao1997").excitation)
