"""The conditions of the studies of the project."""

from pathlib import Path

import pandas as pd
import pytest

from narxbench.experiment.interpretations import interpretation_text, load_design_choices, parse_interpretation
from narxbench.experiment.study import Condition, conditions, planned_variations, single_changes
from narxbench.experiment.study_settings import Study, load_study
from narxbench.model.system import load_system

ROOT = Path(__file__).parents[3]
BASE = ROOT / "config" / "paper.yaml"
CHOICES = load_design_choices()
KEPT = ROOT / "data" / "reference" / "interpretations" / "conditions.csv"


def conditions_of(*files: Path) -> tuple[Study, list[Condition]]:
    study = load_study(files, choices=CHOICES)
    return study, conditions(study, CHOICES, {name: load_system(name) for name in study.systems})


@pytest.fixture(scope="module")
def varied() -> tuple[Study, list[Condition]]:
    return conditions_of(BASE, ROOT / "config" / "interpretations.yaml")


def test_the_paper_has_every_combination() -> None:
    study, found = conditions_of(BASE)
    assert len({c.name for c in found}) == len({c.key for c in found}) == len(found) == 72
    assert {c.problem.name for c in found} == {f"{s}/{snr}dB" for s in study.systems for snr in (50, 40, 30)}
    assert found[0].name == "S1/50dB/upso2d/bic"
    assert found[0].key == ("S1", 50.0, 1, "closest-consistent", "upso2d", "bic")
    assert found[0].axes == {"system": "S1", "snr_db": "50"}
    assert [c.criterion for c in found if c.method == "ga"] == ["bic"] * 12
    assert found[0].problem.simulation["data"].keys() == {"excitation", "noise", "samples", "washout"}
    assert found[0].problem.structure["n_validation"] == 600


def test_order_and_names_follow_the_settings(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("systems: [S2]\nsnr_db: [30, 37.5]\nmethods: {upso2d: {criteria: [bic, aic-2.5]}}")
    names = [f"S2/{snr}dB/{rest}" for snr in ("30", "37.5") for rest in ("upso2d/bic", "upso2d/aic-2.5", "ga/bic")]
    assert [c.name for c in conditions_of(BASE, overlay)[1]] == names


def test_every_option_is_tried_alone_with_every_method_that_it_can_matter_to(
    varied: tuple[Study, list[Condition]],
) -> None:
    study, found = varied
    assert study.variations is not None
    assert len({c.name for c in found}) == len({c.key for c in found}) == len(found) == 4680
    assert len(planned_variations(study, CHOICES)) == 4680 // (len(study.systems) * len(study.snr_db))
    members = {(c.method, c.interpretation, c.problem.data_seed) for c in found if c.criterion == "bic"}
    for chosen in single_changes(CHOICES):
        for method in study.variations.methods:
            for seed in study.data.seeds:
                assert (method, interpretation_text(CHOICES, chosen, method), seed) in members
    for condition in found:
        chosen = parse_interpretation(CHOICES, condition.interpretation)
        parts = {CHOICES.design_choices[name].part for name in chosen}
        assert parts <= {"data", "fitness", condition.algorithm}
    for name in study.variations.finalists.interpretations:
        text = interpretation_text(CHOICES, CHOICES.named[name], "upso2d")
        criteria = {c.criterion for c in found if (c.method, c.interpretation) == ("upso2d", text)}
        assert criteria == {"bic", "aic-2", "aic-8", "aic-64", "aic-256"}
    assert "baseline/data-1/S1/50dB/stepwise/bic" in {c.name for c in found}


def test_interpretations_reach_problem_and_method(varied: tuple[Study, list[Condition]]) -> None:
    by_name = {c.name: c for c in varied[1]}
    noise = by_name["noise=equation/data-2/S3/40dB/ga/bic"]
    assert (noise.problem.name, noise.problem.data.noise) == ("noise=equation/data-2/S3/40dB", "equation")
    bound = by_name["velocity-bound=2/data-2/S3/40dB/upso2d/bic"]
    assert (bound.problem.name, bound.settings["velocity_bound"]) == ("baseline/data-2/S3/40dB", 2.0)
    error = by_name["error=one-step/data-2/S3/40dB/upso2d/bic"].problem
    assert error.structure["error"] == "one_step" and error.simulation == bound.problem.simulation
    assert by_name["realisation=per-run/data-1/S1/30dB/ga/bic"].problem.realisations


@pytest.mark.skipif(not KEPT.exists(), reason="the results of the study are not kept here")
def test_the_kept_results_are_of_these_conditions(varied: tuple[Study, list[Condition]]) -> None:
    kept = pd.read_csv(KEPT)
    columns = ["system", "snr_db", "data_seed", "interpretation", "method", "criterion"]
    assert sorted(kept[columns].itertuples(index=False, name=None)) == sorted(tuple(c.key) for c in varied[1])
