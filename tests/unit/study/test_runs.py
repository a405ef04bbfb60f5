"""Run files and the summary of their condition, made of a tiny problem with two seeds."""

import json
import shutil
from hashlib import sha256

import pytest
from tests.regression import terms_at
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.unit.studies.steps import edit, read
from tests.unit.study.searches import (
    AXES,
    CONDITION,
    SETTINGS,
    STRUCTURE,
    search,
    simulate,
    summarise,
)

import narxbench
from narxbench import NarxbenchError, StructureProblem, read_signals

NOTHING = {"fitness": None, "terms": [], "coefficients": [], "history_evaluations": [], "history_fitness": []}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a data set, and the runs of two seeds on it."""
    folder = tmp_path_factory.mktemp("runs")
    data = simulate(folder / "data.csv")
    for seed in (1, 2):
        search(folder / f"seed-{seed}.json", data, [seed])
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """Return a copy that a test may change."""
    return shutil.copytree(made, tmp_path / "copy")


@pytest.fixture(scope="module")
def problem(made):
    return StructureProblem(*read_signals(made / "data.csv"), **STRUCTURE, criterion="aic-6.5")


def run_of(folder, seed):
    (run,) = json.loads(read(folder / f"seed-{seed}.json"))["runs"]
    return run


def summary_of(folder, *runs, seeds=(1, 2), data="data.csv"):
    paths = [str(folder / run) for run in runs]
    files = [str(folder / name) for name in data] if isinstance(data, list) else str(folder / data)
    return json.loads(summarise(folder / "summary.json", paths, files, list(seeds)))


def test_a_run_file_has_the_result_of_the_search(made, problem):
    file = json.loads(read(made / "seed-2.json"))
    result = narxbench.search(problem, algorithm="ga", seed=2, evaluations=200, axes=AXES, population_size=10)
    (run,) = file["runs"]
    for name in ("seed", "terms", "coefficients", "fitness", "evaluations"):
        assert run[name] == getattr(result, name)
    assert list(zip(run["history_evaluations"], run["history_fitness"], strict=True)) == result.history
    assert file["problem"] == {**STRUCTURE, "n_terms": 15}
    assert (file["condition"], file["settings"]) == (CONDITION, SETTINGS)
    assert run["data_sha256"] == sha256((made / "data.csv").read_bytes()).hexdigest()
    assert file["versions"].keys() == {"python", "narxbench", "numpy", "numba", "llvmlite"}


def test_a_run_file_tells_required_terms_and_its_data(folder):
    data = str(folder / "data.csv")
    required = {"structure": STRUCTURE | {"required_terms": "input"}}
    file = json.loads(read(search(folder / "required.json", data, [1], **required)))
    assert file["problem"]["required_terms"] == "input"
    # A changed data file is not taken from memory.
    before = read(search(folder / "again.json", data, [1]))
    assert before == read(folder / "seed-1.json")
    simulate(folder / "data.csv", seed=4)
    with pytest.raises(NarxbenchError, match=r"data\.csv: changed since it was simulated; delete it and run again$"):
        search(folder / "again.json", data, [1])
    assert read(search(folder / "again.json", data, [1], seed=4)) != before


def test_a_summary_has_the_condition_the_runs_and_the_final_structure_with_its_weights(made, problem, tmp_path):
    summary, runs = summary_of(made, "seed-1.json", "seed-2.json"), [run_of(made, 1), run_of(made, 2)]
    assert summary.items() >= {**CONDITION, "algorithm": "ga", "evaluations": 200, "seeds": [1, 2]}.items()
    assert (summary["candidates"], summary["system_terms"]) == (problem.terms, ["y(k-1)", "u(k-1)"])
    for structure, run in zip(summary["structures"], runs, strict=True):
        assert terms_at(problem, structure) == run["terms"]
    assert summary["true_fitness"] == [problem.evaluate(["y(k-1)", "u(k-1)"]).fitness] * 2
    assert (summary["realisations"], summary["data_sha256"]) == (1, runs[0]["data_sha256"])
    # Its bytes are those of releases that did not tell failed runs.
    assert "failures" not in summary
    # Runs may share a file.
    search(tmp_path / "both.json", str(made / "data.csv"), [1, 2])
    assert summary_of(made, tmp_path / "both.json") == summary
    final = [term for term in problem.terms if term in {*runs[0]["terms"]} & {*runs[1]["terms"]}]
    assert summary["final_structure"] == final
    assert summary["final_coefficients"] == problem.evaluate(final).coefficients


def test_each_run_may_have_data_of_its_own(folder):
    names = [f"37.5dB/realisation-{seed}.csv" for seed in (1, 2)]
    data = [simulate(folder / name) for name in names]
    search(folder / "own.json", data, [1, 2])
    summary = summary_of(folder, "own.json", data=names)
    assert (summary["realisations"], len(set(summary["true_fitness"]))) == (2, 2)
    with pytest.raises(NarxbenchError, match=r"own\.json: another data_sha256: found "):
        summary_of(folder, "own.json", data=names[::-1])


def test_runs_that_found_nothing_and_failed_runs_count_for_no_structure(folder):
    record = run_of(folder, 1)
    edit(folder / "seed-1.json", "runs", 0, value=record | NOTHING)
    nothing = summary_of(folder, "seed-1.json", seeds=[1])
    assert (nothing["fitness"], nothing["final_structure"], nothing["final_coefficients"]) == ([None], [], [])
    edit(folder / "seed-1.json", "runs", 0, value=record | NOTHING | {"failure": "it hangs", "evaluations": 0})
    summary = summary_of(folder, "seed-1.json", "seed-2.json")
    assert (summary["seeds"], summary["failures"]) == ([1, 2], {"1": "it hangs"})
    assert set(summary["final_structure"]) == set(run_of(folder, 2)["terms"])
    assert summary_of(folder, "seed-1.json", seeds=[1])["final_structure"] == []


def test_a_run_that_fails_is_recorded_and_one_that_was_ended_from_outside_is_not(folder, monkeypatch, tmp_path):
    killed = SOURCE.replace(
        "    while objective.remaining:", "    import os\n    os.kill(os.getpid(), 9)\n    while 1:"
    )
    raising = SOURCE.replace("    while objective.remaining:", "    raise ValueError('no')\n    while 1:")
    (tmp_path / "site").mkdir()
    names = {"killed": "killed", "raising": "raising"}
    install_text(monkeypatch, tmp_path / "site", names, "mine", killed=killed, raising=raising)
    data, method = str(folder / "data.csv"), {"settings": {}, "evaluations": 20}
    file = json.loads(read(search(folder / "raising.json", data, [1], algorithm="raising", **method)))
    assert "ValueError: no" in file["runs"][0]["failure"] and file["runs"][0]["terms"] == []
    with pytest.raises(NarxbenchError, match=r"^method mine: algorithm 'killed': seed 1: .*run it again"):
        search(folder / "killed.json", data, [1], algorithm="killed", **method)
    assert not (folder / "killed.json").exists()


@pytest.mark.parametrize(("key", "value"), [("algorithm_sha256", "0"), ("versions", {"numpy": "1"})])
def test_runs_of_other_code_or_versions_are_refused(folder, key, value):
    edit(folder / "seed-2.json", key, value=value)
    with pytest.raises(NarxbenchError, match=rf"seed-2\.json: another {key}: found "):
        summary_of(folder, "seed-1.json", "seed-2.json")
