"""Run files and the summary of their condition, made of a tiny problem with two seeds."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.regression import terms_at

from narxbench import StructureProblem, read_signals, search
from narxbench._algorithms.registry import algorithm
from narxbench._algorithms.search import AlgorithmFailedError
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, sha256
from narxbench._study.data_sets import simulated_csv
from narxbench._study.runs import Run, by_seed, read_run_file, run_seeds, seal_of
from narxbench._study.summary import summarise

SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 2, "n_y": 2, "degree": 2}
STRUCTURE = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 60, "estimation": "before_validation"}
STRUCTURE |= {"error": "free_run"}
CONDITION = {"system": "X1", "snr_db": 37.5, "data_seed": 3, "interpretation": "baseline", "method": "mine"}
CONDITION |= {"criterion": "aic-6.5"}
SETTINGS = algorithm("ga").settings({"population_size": 10}).model_dump(mode="json")
METHOD = {"condition": CONDITION, "structure": STRUCTURE, "algorithm": "ga", "settings": SETTINGS, "evaluations": 200}
AXES = {"system": "X1", "snr_db": "37.5"}


def simulated(realisation: int | None = None, seed: int = 3) -> str:
    data = {"samples": 200, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}
    return simulated_csv(system=SYSTEM, snr_db=37.5, seed=seed, data=data, realisation=realisation)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a data set, one for each of two seeds, and the runs of the seeds on the first."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "data.csv").write_text(simulated())
    for seed in (1, 2):
        (folder / f"own-{seed}.csv").write_text(simulated(seed))
        (folder / f"seed-{seed}.json").write_text(run_seeds({seed: str(folder / "data.csv")}, axes=AXES, **METHOD))
    return folder


@pytest.fixture(scope="module")
def problem(folder: Path) -> StructureProblem:
    return StructureProblem(*read_signals(folder / "data.csv"), **STRUCTURE, criterion="aic-6.5")


def summary_of(folder: Path, *runs: str, seeds: tuple[int, ...] = (1, 2), data: tuple[str, ...] = ("data.csv",)) -> str:
    files = by_seed(seeds, [str(folder / name) for name in data])
    return summarise([str(folder / run) for run in runs], files, system=SYSTEM, threshold=0.9, **METHOD)


def test_a_run_file_has_the_result_of_the_search(folder: Path, problem: StructureProblem) -> None:
    file = read_run_file(folder / "seed-2.json")
    assert canonical_json(file.model_dump(mode="json", exclude_defaults=True)) == (folder / "seed-2.json").read_text()
    result = search(problem, algorithm="ga", seed=2, evaluations=200, axes=AXES, population_size=10)
    (run,) = file.runs
    for name in ("seed", "terms", "coefficients", "fitness", "sse", "evaluations"):
        assert getattr(run, name) == getattr(result, name)
    assert list(zip(run.history.evaluations, run.history.fitness, strict=True)) == result.history
    assert file.problem.model_dump(exclude_defaults=True) == {**STRUCTURE, "n_terms": 15}
    assert (file.condition.model_dump(exclude_defaults=True), file.settings) == (CONDITION, SETTINGS)
    assert run.data_sha256 == sha256((folder / "data.csv").read_bytes())
    assert file.versions.keys() == {"python", "narxbench", "numpy", "numba", "llvmlite"}


def test_a_run_file_tells_required_terms(folder: Path) -> None:
    method = METHOD | {"structure": STRUCTURE | {"required_terms": "input"}}
    (folder / "required.json").write_text(run_seeds({1: str(folder / "data.csv")}, axes=AXES, **method))
    file = read_run_file(folder / "required.json")
    assert file.problem.required_terms == "input"
    assert file.seal != read_run_file(folder / "seed-1.json").seal


def test_a_summary_of_one_file_is_that_of_a_file_for_each_seed(folder: Path) -> None:
    (folder / "both.json").write_text(run_seeds(by_seed([1, 2], [str(folder / "data.csv")]), axes=AXES, **METHOD))
    assert summary_of(folder, "both.json") == summary_of(folder, "seed-1.json", "seed-2.json")


@pytest.fixture(scope="module")
def summary(folder: Path) -> dict[str, Any]:
    """Return the summary of the runs of both seeds."""
    return json.loads(summary_of(folder, "seed-1.json", "seed-2.json"))


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    return [read_run_file(folder / "seed-1.json").runs[0], read_run_file(folder / "seed-2.json").runs[0]]


def test_a_summary_has_the_condition_and_the_runs(
    summary: dict[str, Any], runs: list[Run], problem: StructureProblem
) -> None:
    assert summary.items() >= {**CONDITION, "algorithm": "ga", "evaluations": 200, "seeds": [1, 2]}.items()
    assert (summary["candidates"], summary["system_terms"]) == (problem.terms, ["y(k-1)", "u(k-1)"])
    for structure, run in zip(summary["runs"]["structures"], runs, strict=True):
        assert terms_at(problem, structure) == run.terms
    assert summary["true_fitness"] == [problem.evaluate(["y(k-1)", "u(k-1)"]).fitness] * 2
    assert (summary["realisations"], summary["data_sha256"]) == (1, runs[0].data_sha256)


def test_a_summary_has_the_final_model_and_the_best_run(
    summary: dict[str, Any], runs: list[Run], problem: StructureProblem
) -> None:
    final = [term for term in problem.terms if term in {*runs[0].terms} & {*runs[1].terms}]
    assert summary["final_structure"] == final
    assert summary["final_model"]["prediction"] == problem.predict(final).tolist()
    best = min(runs, key=lambda run: run.fitness or math.inf)
    assert (summary["best_run"]["seed"], summary["best_run"]["terms"]) == (best.seed, best.terms)


def test_each_run_may_have_data_of_its_own(folder: Path) -> None:
    files = [str(folder / f"own-{seed}.csv") for seed in (1, 2)]
    (folder / "own.json").write_text(run_seeds(by_seed([1, 2], files), axes=AXES, **METHOD))
    summary = json.loads(summary_of(folder, "own.json", data=("own-1.csv", "own-2.csv")))
    assert (summary["realisations"], len(set(summary["true_fitness"]))) == (2, 2)
    with pytest.raises(NarxbenchError, match=r"own\.json: another data_sha256: found "):
        summary_of(folder, "own.json", data=("own-2.csv", "own-1.csv"))


def test_a_changed_data_file_is_not_taken_from_memory(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    for seed, same in ((3, True), (4, False)):
        path.write_text(simulated(seed=seed))
        assert (run_seeds({1: str(path)}, axes=AXES, **METHOD) == (folder / "seed-1.json").read_text()) == same


def test_runs_that_found_nothing(folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "seed-1.json").read_text())
    content["runs"][0] |= {"fitness": None, "sse": None, "terms": [], "coefficients": []}
    content["runs"][0]["history"] = {"evaluations": [], "fitness": []}
    (tmp_path / "seed-1.json").write_text(canonical_json({**content, "seal": seal_of(content)}))
    (tmp_path / "data.csv").write_text(simulated())
    summary = json.loads(summary_of(tmp_path, "seed-1.json", seeds=(1,)))
    assert (summary["best_run"], summary["final_structure"], summary["final_model"]["fitness"]) == (None, [], None)


def test_a_run_that_was_ended_from_outside_is_not_recorded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: Any, **__: Any) -> None:
        raise AlgorithmFailedError("algorithm 'ga': seed 1: it was ended from outside (SIGKILL)", is_killed=True)

    monkeypatch.setattr("narxbench._algorithms.search.Runner.run", end)
    with pytest.raises(NarxbenchError, match=r"^method mine: algorithm 'ga': seed 1: it was ended from outside "):
        run_seeds({1: str(folder / "data.csv")}, axes=AXES, **METHOD)


@pytest.fixture
def failed(folder: Path, tmp_path: Path) -> Path:
    """Return a folder with a run of seed 1 that has failed, and the right one of seed 2."""
    content = json.loads((folder / "seed-1.json").read_text())
    content["runs"][0] |= {"fitness": None, "sse": None, "terms": [], "coefficients": [], "failure": "it hangs"}
    content["runs"][0] |= {"history": {"evaluations": [], "fitness": []}, "evaluations": 0}
    (tmp_path / "seed-1.json").write_text(canonical_json({**content, "seal": seal_of(content)}))
    (tmp_path / "seed-2.json").write_bytes((folder / "seed-2.json").read_bytes())
    (tmp_path / "data.csv").write_text(simulated())
    return tmp_path


def test_failed_runs_have_their_reasons_and_count_for_no_structure(failed: Path, runs: list[Run]) -> None:
    summary = json.loads(summary_of(failed, "seed-1.json", "seed-2.json"))
    assert (summary["seeds"], summary["failures"]) == ([1, 2], [{"seed": 1, "failure": "it hangs"}])
    assert set(summary["final_structure"]) == set(runs[1].terms)
    summary = json.loads(summary_of(failed, "seed-1.json", seeds=(1,)))
    assert summary["final_structure"] == []


def test_a_summary_without_failed_runs_does_not_name_them(summary: dict[str, Any]) -> None:
    """Its bytes are those of releases that did not tell them."""
    assert "failures" not in summary


def test_runs_of_other_code_or_versions_are_refused(folder: Path) -> None:
    content = json.loads((folder / "seed-2.json").read_text())
    for key, value in (("algorithm_sha256", "0"), ("versions", {"numpy": "1"})):
        edited = {**content, key: value}
        (folder / "other.json").write_text(canonical_json({**edited, "seal": seal_of(edited)}))
        with pytest.raises(NarxbenchError, match=rf"other\.json: another {key}: found "):
            summary_of(folder, "seed-1.json", "other.json")
