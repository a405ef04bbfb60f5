"""The sensitivity experiment: which cells it has, and what a cell holds."""

import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts.reading_cell import run_reading_cell

from narxbench import StructureProblem, load_system, search
from narxbench.experiment.study_settings import Data, load_experiment
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import read_sealed
from narxbench.experiment.interpretations import Fitness, Readings, choices_text, load_readings, parse_choices
from narxbench.experiment.variations import Plan, load_plan, planned_cells, run_cell, single_changes
from narxbench.io.yaml import read_mapping

ROOT = Path(__file__).parents[2]
PLAN = ROOT / "config" / "fidelity.yaml"
SYSTEM = load_system("S1")
SIZES = {"samples": 500, "validation_samples": 150, "washout": 50, "seed": 3}
DATA = Data(excitation={"kind": "uniform"}, noise="output", realisation="shared", **SIZES)
FITNESS = Fitness(estimation="before_validation", error="free_run")
CELL: dict[str, Any] = {"algorithm": "ga", "criterion": "bic", "settings": {"population_size": 20}, "seeds": [1, 2, 3]}
CELL |= {"data": DATA, "fitness": FITNESS, "evaluations": 300}


@pytest.fixture(scope="module")
def readings() -> Readings:
    return load_readings()


@pytest.fixture(scope="module")
def plan(readings: Readings) -> Plan:
    return load_plan(PLAN, readings)


def test_every_option_is_tried_alone_with_every_algorithm_that_it_can_matter_to(plan: Plan, readings: Readings) -> None:
    cells = planned_cells(plan, readings)
    assert len(cells) == len(set(cells))
    screened = {(c.algorithm, c.choices) for c in cells if c.criterion == plan.criterion}
    for choices in single_changes(readings):
        for algorithm in plan.algorithms:
            assert (algorithm, choices_text(readings, choices, algorithm)) in screened
    for reading in readings.named.values():
        assert (plan.reference, choices_text(readings, reading, plan.reference)) in screened
    options = sum(len(point.options) - 1 for point in readings.open_points.values())
    assert options == len(list(single_changes(readings)))
    for cell in cells:
        parts = {readings.open_points[name].part for name in parse_choices(readings, cell.choices)}
        assert parts <= {"data", "fitness", cell.algorithm}
    assert len(plan.data_seeds) >= 5


def test_finalists_have_every_criterion(plan: Plan, readings: Readings) -> None:
    cells = planned_cells(plan, readings)
    for name in plan.finalists.readings:
        text = choices_text(readings, readings.named[name], plan.algorithms[0])
        found = {(c.data_seed, c.criterion) for c in cells if (c.algorithm, c.choices) == (plan.algorithms[0], text)}
        assert found == {(s, c) for s in plan.data_seeds for c in (plan.criterion, *plan.finalists.criteria)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"combinations": [{"tie": "random"}]}, r"combinations\[0\]\.tie: unknown open point; .*did you mean 'ties'"),
        ({"combinations": [{}, {"ring": "3"}]}, r"combinations\[1\]\.ring: found '3'; allowed: 1, 2"),
        ({"finalists": {"readings": ["nobody"], "criteria": []}}, r"finalists\.readings\[0\]: found 'nobody'; allowed"),
        ({"data_seeds": 0}, "data_seeds: found 0"),
        ({"reference": "stepwize"}, r"reference: .*found 'stepwize'; .*did you mean 'stepwise'"),
        ({"algorithms": ["ga", "ga"]}, "twice"),
        ({"criterion": "bik"}, "criterion: .*found 'bik'"),
        ({"seed": 3}, r"seed: unknown key"),
    ],
)
def test_mistakes_in_the_plan(tmp_path: Path, readings: Readings, change: dict[str, Any], told: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**read_mapping(PLAN), **change}))
    with pytest.raises(NarxbenchError, match=told) as error:
        load_plan(path, readings)
    assert str(error.value).startswith(str(path))


def test_a_cell_is_what_its_searches_found() -> None:
    cell = run_cell(SYSTEM, 30.0, "30", **CELL)
    u, y = SYSTEM.simulate(500, snr_db=30, seed=3, washout=50)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=2, n_validation=150)
    axes = {"system": "S1", "snr_db": "30"}
    runs = [search(problem, algorithm="ga", seed=s, evaluations=300, axes=axes, population_size=20) for s in (1, 2, 3)]
    found = [set(run.terms) for run in runs]
    wrong = set().union(*found) - set(SYSTEM.terms)
    assert cell["counts"] == {term: sum(term in terms for terms in found) for term in SYSTEM.terms}
    assert cell["spurious"] == len(wrong)
    assert cell["nu_max"] == max(sum(term in terms for terms in found) for term in wrong)
    assert cell["best_fitness"] == min(run.fitness for run in runs)
    assert cell["median_fitness"] == statistics.median(run.fitness for run in runs)
    assert cell["true_fitness"] == problem.evaluate(SYSTEM.terms).fitness
    assert cell["curve"][-1] == pytest.approx(statistics.mean(run.fitness for run in runs))
    assert cell["curve"][0] >= cell["third_fitness"] >= cell["curve"][-1]
    assert cell["last_improvement"] == statistics.median(run.history[-1][0] for run in runs)
    assert (cell["runs"], cell["evaluations"], cell["exact_runs"]) == (3, 300, 0)


def test_readings_of_the_data_matter() -> None:
    def changed(**changes: Any) -> dict[str, Any]:
        data = DATA.model_copy(update={k: v for k, v in changes.items() if k in Data.model_fields})
        fitness = FITNESS.model_copy(update={k: v for k, v in changes.items() if k in Fitness.model_fields})
        return run_cell(SYSTEM, 30.0, "30", **{**CELL, "data": data, "fitness": fitness})

    true = {str(c): changed(**c)["true_fitness"] for c in (
        {}, {"realisation": "per_run"}, {"noise": "equation"}, {"estimation": "all"}, {"error": "one_step"}, {"seed": 4}
    )}  # fmt: skip
    assert len(set(true.values())) == len(true)
    own = [SYSTEM.simulate(500, snr_db=30, seed=3, washout=50, realisation=r) for r in (1, 2)]
    assert not (own[0].u == own[1].u).any()


def test_cell_file(tmp_path: Path) -> None:
    axes = {"algorithm": "ga", "choices": "base", "data_seed": 3, "system": "S1", "snr_db": "30", "criterion": "bic"}
    described = {"name": "S1", "equation": SYSTEM.equation, "n_u": 5, "n_y": 5, "degree": 2}
    run_reading_cell(
        str(tmp_path / "cell.json"),
        str(tmp_path / "log.json"),
        axes=axes,
        system=described,
        data=DATA.model_dump(mode="json"),
        fitness=FITNESS.model_dump(mode="json"),
        settings=CELL["settings"],
        seeds=[1, 2, 3],
        evaluations=300,
    )
    made = read_sealed(tmp_path / "cell.json")
    assert made == {"axes": axes, **run_cell(SYSTEM, 30.0, "30", **CELL)}


def test_the_first_data_seed_is_the_main_experiment(readings: Readings) -> None:
    base = ROOT / "config" / "config.yaml"
    experiment = load_experiment(read_mapping(base), [base])
    u, y = SYSTEM.simulate(2000, snr_db=30, seed=experiment.data.seed, excitation=experiment.data.excitation)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=2)
    cell = run_cell(SYSTEM, 30.0, "30", **{**CELL, "data": experiment.data, "seeds": [1]})
    assert cell["true_fitness"] == problem.evaluate(SYSTEM.terms).fitness
