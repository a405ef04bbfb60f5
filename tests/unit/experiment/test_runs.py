"""Run files and the summary of their condition, made of a tiny problem with two seeds."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench import StructureProblem, System, read_signals, search
from narxbench.algorithms.registry import settings_model
from narxbench.experiment.data_sets import simulated_csv
from narxbench.experiment.runs import RunFile, by_seed, read_run_file, run_seeds
from narxbench.experiment.summary import summarise
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, sha256

SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 2, "n_y": 2, "degree": 2}
SIZES = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 60}
STRUCTURE = {**SIZES, "estimation": "before_validation", "error": "free_run"}
KEY = {"system": "X1", "snr_db": 37.5, "data_seed": 3, "interpretation": "baseline"}
CONDITION = {**KEY, "method": "mine", "criterion": "aic-6.5"}
METHOD = {
    "condition": CONDITION,
    "structure": STRUCTURE,
    "algorithm": "ga",
    "settings": settings_model("ga")(population_size=10).model_dump(mode="json"),
    "evaluations": 200,
}
AXES = {"system": "X1", "snr_db": "37.5"}
Change = Callable[[dict[str, Any]], Any]


def simulated(realisation: int | None = None, seed: int = 3) -> str:
    data = {"samples": 200, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}
    return simulated_csv(system=SYSTEM, snr_db=37.5, seed=seed, data=data, realisation=realisation)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set, that of each seed, and the runs of two seeds on the first."""
    made = tmp_path_factory.mktemp("runs")
    (made / "data.csv").write_text(simulated())
    for seed in (1, 2):
        (made / f"own-{seed}.csv").write_text(simulated(seed))
        (made / f"seed-{seed}.json").write_text(run_seeds({seed: str(made / "data.csv")}, axes=AXES, **METHOD))
    return made


def summary_of(folder: Path, *runs: str, seeds: tuple[int, ...] = (1, 2), **changes: Any) -> str:
    data = by_seed(seeds, [str(folder / "data.csv")])
    return summarise([str(folder / run) for run in runs], data, system=SYSTEM, threshold=0.9, **{**METHOD, **changes})


def test_a_run_file_is_what_the_search_found(folder: Path) -> None:
    text = (folder / "seed-2.json").read_text()
    file = read_run_file(folder / "seed-2.json")
    assert canonical_json(file.model_dump(mode="json")) == text
    problem = StructureProblem(*read_signals(folder / "data.csv"), **STRUCTURE, criterion="aic-6.5")
    found = search(problem, algorithm="ga", seed=2, evaluations=200, axes=AXES, population_size=10)
    (run,) = file.runs
    assert (run.seed, run.terms, run.coefficients, run.fitness, run.sse) == (
        2, found.terms, found.coefficients, found.fitness, found.sse
    )  # fmt: skip
    assert list(zip(run.history.evaluations, run.history.fitness, strict=True)) == found.history
    assert file.problem.model_dump() == {**STRUCTURE, "n_terms": 15}
    assert (file.condition.model_dump(), file.settings) == (CONDITION, METHOD["settings"])
    assert run.data_sha256 == sha256((folder / "data.csv").read_bytes())
    assert file.versions.keys() == {"python", "narxbench", "numpy", "numba", "llvmlite"}


def test_seeds_that_share_a_file_give_the_same_summary(folder: Path) -> None:
    data = by_seed([1, 2], [str(folder / "data.csv")])
    (folder / "seeds-1-to-2.json").write_text(run_seeds(data, axes=AXES, **METHOD))
    assert summary_of(folder, "seeds-1-to-2.json") == summary_of(folder, "seed-1.json", "seed-2.json")


def test_summary(folder: Path) -> None:
    summary = json.loads(summary_of(folder, "seed-1.json", "seed-2.json"))
    runs = [read_run_file(folder / f"seed-{seed}.json").runs[0] for seed in (1, 2)]
    problem = StructureProblem(*read_signals(folder / "data.csv"), **STRUCTURE, criterion="aic-6.5")
    system = System(**SYSTEM)
    assert summary.items() >= {**CONDITION, "algorithm": "ga", "evaluations": 200, "seeds": [1, 2]}.items()
    assert (summary["candidates"], summary["system_terms"]) == (problem.terms, system.terms)
    found = [[problem.terms[i] for i in structure] for structure in summary["runs"]["structures"]]
    assert found == [run.terms for run in runs]
    assert summary["runs"]["fitness"] == [run.fitness for run in runs]
    assert summary["runs"]["history_fitness"] == [run.history.fitness for run in runs]
    assert summary["true_fitness"] == [problem.evaluate(system.terms).fitness] * 2
    final = [term for term in problem.terms if all(term in run.terms for run in runs)]
    assert summary["final_structure"] == final
    assert summary["final_model"]["prediction"] == problem.predict(final).tolist()
    assert len(summary["measured"]) == 60
    best = min(runs, key=lambda run: run.fitness or math.inf)
    assert (summary["best_run"]["seed"], summary["best_run"]["terms"]) == (best.seed, best.terms)
    assert (summary["realisations"], summary["data_sha256"]) == (1, runs[0].data_sha256)


def test_each_run_may_have_data_of_its_own(folder: Path) -> None:
    files = [str(folder / f"own-{seed}.csv") for seed in (1, 2)]
    assert len({(folder / "data.csv").read_text(), *(Path(file).read_text() for file in files)}) == 3
    data = by_seed([1, 2], files)
    path = folder / "own.json"
    path.write_text(run_seeds(data, axes=AXES, **METHOD))
    summary = json.loads(summarise([str(path)], data, system=SYSTEM, threshold=0.9, **METHOD))
    assert (summary["realisations"], len(set(summary["true_fitness"]))) == (2, 2)
    swapped = by_seed([1, 2], files[::-1])
    with pytest.raises(NarxbenchError, match=r"own\.json: another data_sha256: found "):
        summarise([str(path)], swapped, system=SYSTEM, threshold=0.9, **METHOD)


def test_a_changed_data_file_is_not_taken_from_memory(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    texts = []
    for seed in (3, 4):
        path.write_text(simulated(seed=seed))
        texts.append(run_seeds({1: str(path)}, axes=AXES, **METHOD))
    assert texts[0] == (folder / "seed-1.json").read_text() != texts[1]


def test_runs_that_found_nothing(folder: Path, tmp_path: Path) -> None:
    nothing: dict[str, Any] = {"fitness": None, "sse": None, "terms": [], "coefficients": []}
    nothing["history"] = {"evaluations": [], "fitness": []}
    for seed in (1, 2):
        content = json.loads((folder / f"seed-{seed}.json").read_text())
        content["runs"][0].update(nothing)
        (tmp_path / f"seed-{seed}.json").write_text(canonical_json(content))
    (tmp_path / "data.csv").write_text(simulated())
    summary = json.loads(summary_of(tmp_path, "seed-1.json", "seed-2.json"))
    assert (summary["best_run"], summary["final_structure"], summary["final_model"]["fitness"]) == (None, [], None)


def run_of(content: dict[str, Any]) -> dict[str, Any]:
    run: dict[str, Any] = content["runs"][0]
    return run


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda c: c.pop("versions"), "versions: missing"),
        (lambda c: c.update(fitnes=1), "fitnes: unknown key"),
        (lambda c: c.update(runs=3), "runs: found 3"),
        (lambda c: run_of(c).update(fitness="low"), "runs[0].fitness: found 'low'"),
        (lambda c: run_of(c).update(seed=True), "runs[0].seed: found true; allowed: a whole number"),
        (lambda c: run_of(c).update(fitness=None), "found terms without a fitness"),
        (lambda c: run_of(c)["coefficients"].pop(), "coefficients"),
        (lambda c: run_of(c)["terms"].__setitem__(0, run_of(c)["terms"][-1]), "found a term twice"),
        (lambda c: run_of(c)["terms"].__setitem__(0, "v(k-1)"), "another terms: found ['v(k-1)']"),
        (lambda c: run_of(c)["history"]["fitness"].pop(), "found a history of unequal columns"),
        (lambda c: run_of(c)["history"]["evaluations"].__setitem__(-1, 201), "not in the order of the evaluations"),
        (lambda c: c["condition"].update(system="X2"), "another condition: found {'system': 'X2'}; needed: {'system'"),
        (
            lambda c: c["condition"].update(interpretation="noise=equation"),
            "another condition: found {'interpretation'",
        ),
        (lambda c: c.update(algorithm="stepwise"), "another algorithm: found 'stepwise'; needed: 'ga'"),
        (lambda c: c["settings"].update(elitism=True), "another settings: found {'elitism': True}; needed: {'elitism'"),
        (lambda c: c["problem"].update(n_u=3), "another problem: found {'n_u': 3}; needed: {'n_u': 2}"),
        (lambda c: c["versions"].update(numpy="1"), "another versions: found {'numpy': '1'}; needed: {'numpy'"),
        (lambda c: c.update(algorithm_sha256="0"), "another algorithm_sha256: found '0'"),
        (lambda c: run_of(c).update(seed=7), "another seeds: found [7]; needed: [2]"),
        (lambda c: c["runs"].append(run_of(c)), "another seeds: found [2, 2]; needed: [2]"),
        (lambda c: run_of(c).update(data_sha256="0"), "another data_sha256: found '0'"),
        (lambda c: run_of(c).update(evaluations=400), "another evaluations: found 400; needed: 200"),
    ],
)
def test_a_damaged_or_foreign_file_is_told_by_name(folder: Path, tmp_path: Path, change: Change, told: str) -> None:
    content = json.loads((folder / "seed-2.json").read_text())
    change(content)
    (tmp_path / "seed-2.json").write_text(canonical_json(content))
    for name in ("data.csv", "seed-1.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(NarxbenchError) as error:
        summary_of(tmp_path, "seed-1.json", "seed-2.json")
    message = str(error.value)
    assert told in message
    assert message.startswith(f"{tmp_path}/seed-2.json: ") and message.endswith("run again")
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", '{"condition": {"sys', "\x00", "{} {}", "NaN", "[" * 100_000])
def test_files_that_are_no_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "seed-1.json"
    path.write_text(text)
    with pytest.raises(NarxbenchError, match="delete it and run again") as error:
        read_run_file(path)
    assert str(error.value).startswith(f"{path}: damaged, not valid JSON (")


def test_missing_files_and_missing_runs(folder: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"none\.json: cannot be read: No such file"):
        summary_of(folder, "seed-1.json", "none.json")
    with pytest.raises(NarxbenchError, match="found 1; needed: 2, one for each seed"):
        summary_of(folder, "seed-1.json")
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: another seeds: found \[1\]; needed: \[\]"):
        summary_of(folder, "seed-1.json", "seed-1.json", seeds=(1,))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=_JSON, place=st.data())
def test_any_value_anywhere_is_read_or_told(folder: Path, tmp_path: Path, value: Any, place: st.DataObject) -> None:
    content = json.loads((folder / "seed-1.json").read_text())
    run = run_of(content)
    group = place.draw(st.sampled_from([content, content["condition"], content["problem"], run, run["history"]]))
    group[place.draw(st.sampled_from(sorted(group)) | st.text())] = value
    path = tmp_path / "run.json"
    path.write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))
    try:
        file = read_run_file(path)
    except NarxbenchError as error:
        lines = str(error).split("\n")
        assert all(line.startswith((f"{path}: ", "and ")) and line.isprintable() for line in lines)
        return
    assert RunFile.model_validate_json(canonical_json(file.model_dump(mode="json"))) == file
