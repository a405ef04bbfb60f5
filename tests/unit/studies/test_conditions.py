"""The conditions of the studies of the project."""

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._model.excitation import BinaryInput, HeldInput
from narxbench._model.system import load_system
from narxbench._studies.loading import load_study
from narxbench._studies.paper.interpretations.settings import single_changes
from narxbench._study.condition import ConditionKey
from narxbench._study.design_choices import interpretation_text, load_design_choices, parse_interpretation
from narxbench._study.layers import read_layers
from narxbench._study.settings import Condition, Study

ROOT = Path(__file__).parents[3]
BASE = ROOT / "config" / "paper.yaml"
CHOICES = load_design_choices()
KEPT = ROOT / "data" / "reference" / "interpretations" / "conditions.csv"


def conditions_of(*files: Path) -> tuple[Study, list[Condition]]:
    study = load_study(read_layers(files), choices=CHOICES)
    return study, [*study.conditions(CHOICES, {name: load_system(name) for name in study.all_systems})]


@pytest.fixture(scope="module")
def varied() -> tuple[Study, list[Condition]]:
    return conditions_of(BASE, ROOT / "config" / "interpretations.yaml")


def test_the_paper_has_every_combination() -> None:
    study, found = conditions_of(BASE)
    assert len({c.name for c in found}) == len({c.key for c in found}) == len(found) == 72
    assert {c.problem.name for c in found} == {f"{s}/{snr}dB" for s in study.systems for snr in (50, 40, 30)}
    key = {"system": "S1", "snr_db": 50.0, "data_seed": 1, "interpretation": "as-described"}
    assert found[0].key.model_dump(exclude_defaults=True) == {**key, "method": "upso2d", "criterion": "bic"}
    assert found[0].problem.axes == {"system": "S1", "snr_db": "50"}
    assert [c.criterion for c in found if c.method == "ga"] == ["bic"] * 12
    simulated = {"excitation", "noise", "samples", "washout", "snr_of", "own_noise"}
    assert found[0].problem.simulation["data"].keys() == simulated


def test_every_option_is_tried_alone_where_it_can_matter(varied: tuple[Study, list[Condition]]) -> None:
    study, found = varied
    assert len({c.name for c in found}) == len({c.key for c in found}) == len(found) == 3504
    members = {(c.method, c.interpretation, c.problem.data_seed) for c in found if c.criterion == "bic"}
    few = study.variations.seeds
    assert {*few} < {*study.data.seeds} and not {*few} & {*study.variations.finalists.seeds}
    screened = [(each, few) for each in single_changes(CHOICES)]
    for chosen, seeds in [*screened, (CHOICES.named["closest"], study.data.seeds)]:
        for method, seed in product(study.variations.methods, seeds):
            assert (method, interpretation_text(CHOICES, chosen, method), seed) in members
    for text, algorithm in {(c.interpretation, c.algorithm) for c in found}:
        parts = {CHOICES.design_choices[name].part for name in parse_interpretation(CHOICES, text)}
        assert parts <= {"data", "fitness", "search", algorithm}


def test_interpretations_reach_problem_and_method(varied: tuple[Study, list[Condition]]) -> None:
    study, found = varied
    by_name = {c.name: c for c in found}
    noise = by_name["noise=equation/data-2/S3/40dB/ga/bic"]
    assert (noise.problem.name, noise.problem.data.noise) == ("noise=equation/data-2/S3/40dB", "equation")
    bound = by_name["velocity-bound=2/data-2/S3/40dB/upso2d/bic"]
    assert (bound.problem.name, bound.settings["velocity_bound"]) == ("baseline/data-2/S3/40dB", 2.0)
    assert bound.evaluations == study.evaluations == 6000
    assert by_name["evaluations=3000/data-2/S3/40dB/ga/bic"].evaluations == 3000
    error = by_name["error=one-step/data-2/S3/40dB/upso2d/bic"].problem
    assert error.structure["error"] == "one_step" and error.simulation == bound.problem.simulation


def test_the_kept_results_are_of_these_conditions(varied: tuple[Study, list[Condition]]) -> None:
    fields = [name for name in ConditionKey.model_fields if name != "scenario"]
    kept = pd.read_csv(KEPT)[fields].itertuples(index=False, name=None)
    assert sorted(kept) == sorted(tuple(c.key.model_dump(include=set(fields)).values()) for c in varied[1])


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


def test_scenarios_depart_from_the_study(tmp_path: Path) -> None:
    path = tmp_path / "compared.yaml"
    path.write_text(COMPARED)
    _, found = conditions_of(BASE, path)
    by_name = {c.name: c for c in found}
    # base has all systems with two seeds each, odd two SNRs of S1, part S1 and volterra.
    assert len({c.key for c in found}) == len(by_name) == len(found) == (4 * 2 + 2 + 2 * 2) * 2
    held_out = {(c.problem.system.name, c.problem.data_seed) for c in found if c.problem.held_out}
    assert held_out == set(product(["heater", "volterra"], [31, 33]))
    assert {c.problem.scenario for c in found if c.problem.system.name == "volterra"} == {"base", "part"}
    assert {c.problem.scenario for c in found if c.problem.system.name == "heater"} == {"base"}
    plain, own = by_name["base/S1/40dB/data-2/upso2d/aic-2"], by_name["base/mao1997/40dB/data-1/mine/bic"]
    expected = {"system": load_system("S1").definition(), "snr_db": 40, "seed": 2}
    assert plain.problem.simulation.items() >= expected.items()
    assert plain.problem.axes == {"system": "S1", "snr_db": "40", "scenario": "base", "data_seed": "2"}
    # A system with an input of its own has it, unless the scenario names another one.
    assert own.problem.data.excitation == load_system("mao1997").excitation != plain.problem.data.excitation
    odd = by_name["odd/S1/20dB/data-7/mine/bic"].problem
    assert (odd.structure["n_u"], odd.structure["degree"], odd.structure["n_validation"]) == (6, 3, 100)
    assert (odd.data.samples, odd.data.noise, odd.data.excitation.kind) == (500, "equation", "gaussian")
    assert by_name["odd/S1/20dB/data-7/mine/bic"].key.scenario == "odd"


def test_a_method_may_be_in_some_scenarios_only(tmp_path: Path) -> None:
    path = tmp_path / "compared.yaml"
    path.write_text(f"{COMPARED}only_in: {{mine: [odd, base], other: [odd]}}\n")
    _, found = conditions_of(BASE, path)
    assert {c.problem.scenario for c in found if c.method == "mine"} == {"base", "odd"}
    assert {c.problem.scenario for c in found if c.method == "upso2d"} == {"base", "odd", "part"}
    # Without any of its scenarios it is left out, or a mistake.
    path.write_text(f"{COMPARED}only_in: {{mine: [off]}}\n")
    left_out: dict[str, str] = {}
    assert list(load_study(read_layers([BASE, path]), left_out=left_out).methods) == ["upso2d"]
    assert left_out == {"mine": "only_in: found no scenario of this study: ['off']"}
    with pytest.raises(NarxbenchError, match=r"^methods\.mine: only_in: found no scenario"):
        load_study(read_layers([BASE, path]))


HARDER = """
groups: {few: [S1, volterra], rare: [fast]}
only_in: {mine: rare}
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
    study, found = conditions_of(BASE, path, harder)
    by_name = {c.name: c for c in found}
    assert {c.problem.scenario for c in found if c.method == "mine"} == {"fast"}
    assert {c.problem.system.name for c in found if c.problem.scenario == "fast"} == {"S1", "volterra"}
    assert (study.methods["mine"].settings_by, study.methods["mine"].settings_source) == (
        "package default",
        "its manual",
    )
    fast = by_name["fast/S1/40dB/data-5/mine/bic"].problem
    assert fast.system.definition() == load_system("S1").oversampled(4).definition()
    assert (fast.data.washout, fast.data.noise) == (300, "closed-loop")
    # The study's input is held, and a system's own one where it has one.
    assert fast.data.excitation == HeldInput(hold=4, source=study.data.excitation)
    held = by_name["fast/volterra/40dB/data-5/mine/bic"].problem.data.excitation
    assert held == HeldInput(hold=4, source=load_system("volterra").excitation)
    binary = by_name["binary/mao1997/40dB/data-5/upso2d/aic-2"].problem.data.excitation
    assert binary == BinaryInput(source=load_system("mao1997").excitation)


def test_a_file_may_name_the_file_that_it_changes(tmp_path: Path) -> None:
    path, harder = tmp_path / "compared.yaml", tmp_path / "harder.yaml"
    path.write_text(COMPARED)
    harder.write_text(f"over: compared.yaml\n{HARDER}")
    alone, both = read_layers([harder]), read_layers([path, harder])
    assert alone == both and [Path(source).name for source, _ in alone] == ["compared.yaml", "harder.yaml"]
    assert all("over" not in layer for _, layer in alone)
    for base in ("missing.yaml", "../compared.yaml", "3"):
        harder.write_text(f"over: {base}\n")
        with pytest.raises(NarxbenchError, match=r"harder\.yaml: over: found .*; allowed: a file in the same folder"):
            read_layers([harder])
