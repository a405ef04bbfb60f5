import json

import numpy as np
import pytest

import narxbench
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sealed_json, sha256
from narxbench.experiment.runs import RunAxes, read_run, read_runs, run_of, write_run
from narxbench.algorithms.search import SearchResult

AXES = RunAxes(system="S1", snr_db="37.5", search="mine", criterion="bic", seed=3)


@pytest.fixture(scope="module")
def run(small_problem):
    result = narxbench.search(small_problem, algorithm="ga", seed=3, evaluations=160)
    return run_of(result, small_problem, AXES, "d" * 64)


def rewritten(tmp_path, run, change):
    """Write a run file, change its content and return its path."""
    path = tmp_path / "seed-3.json"
    write_run(path, run)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(sealed_json(content))
    return path


def test_round_trip(tmp_path, run):
    path = tmp_path / "deep" / "seed-3.json"
    write_run(path, run)
    assert read_run(path) == run
    first = path.read_bytes()
    write_run(path, read_run(path))
    assert path.read_bytes() == first


def test_content(run, small_problem):
    assert run.axes == AXES
    assert run.algorithm == "ga"
    assert run.settings["population_size"] == 80
    size = {"n_u": 2, "n_y": 2, "degree": 2, "n_terms": 15, "n_validation": 300}
    assert run.problem.model_dump() == size | {"estimation": "before_validation", "error": "free_run"}
    assert run.data_sha256 == "d" * 64
    assert set(run.versions) == {"python", "narxbench", "numpy", "numba", "llvmlite"}
    assert run.evaluations == 160
    assert run.history.evaluations == sorted(run.history.evaluations)
    assert run.history.fitness[-1] == run.fitness
    assert small_problem.evaluate(run.terms).coefficients == run.coefficients


def test_run_that_found_nothing(tmp_path, small_problem):
    result = SearchResult([], np.inf, np.inf, [], 160, [], "ga", 3)
    write_run(tmp_path / "run.json", run_of(result, small_problem, AXES, ""))
    found = read_run(tmp_path / "run.json")
    assert (found.fitness, found.sse, found.terms) == (None, None, [])


def test_not_a_number_is_refused(tmp_path, run):
    with pytest.raises(ValueError, match="Out of range float values"):
        write_run(tmp_path / "run.json", run.model_copy(update={"coefficients": [float("nan")]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", '{"axes": {"system"', "\x00", "{} {}"])
def test_damaged_file(tmp_path, text):
    path = tmp_path / "seed-3.json"
    path.write_text(text)
    with pytest.raises(NarxbenchError) as error:
        read_run(path)
    assert str(error.value).startswith(f"{path}: damaged, not valid JSON (")
    assert str(error.value).endswith("delete it and run again")


def test_missing_file(tmp_path):
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: cannot be read: No such file"):
        read_run(tmp_path / "seed-1.json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: run.pop("history"), "history: missing"),
        (lambda run: run["axes"].pop("seed"), "axes.seed: missing"),
        (lambda run: run.update(fitnes=1), "fitnes: unknown key"),
        (lambda run: run.update(fitness="low"), "fitness: found 'low'"),
        (lambda run: run["coefficients"].pop(), "terms and"),
        (lambda run: run.update(fitness=None), "found terms without a fitness"),
        (lambda run: run["history"]["fitness"].pop(), "found a history of unequal columns"),
    ],
)
def test_wrong_content(tmp_path, run, change, told):
    path = rewritten(tmp_path, run, change)
    with pytest.raises(NarxbenchError) as error:
        read_run(path)
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)


@pytest.mark.parametrize("text", ["-1.5", "NaN", "1e5"])
def test_any_changed_byte_is_seen(tmp_path, run, text):
    path = tmp_path / "seed-3.json"
    write_run(path, run)
    whole = path.read_text()
    for changed in (whole.replace(repr(run.coefficients[0]), text), whole + "\n", whole.replace("\n ", "\n  ", 1)):
        path.write_text(changed)
        with pytest.raises(NarxbenchError, match="delete it and run again"):
            read_run(path)


def test_the_seal_is_the_digest_of_the_file_with_zeros_in_its_place(tmp_path, run):
    path = tmp_path / "seed-3.json"
    write_run(path, run)
    text = path.read_text()
    seal = json.loads(text)["sha256"]
    assert sha256(text.replace(seal, "0" * 64)) == seal
    path.write_text(text.replace(f' "sha256": "{seal}",\n', ""))
    with pytest.raises(NarxbenchError, match="found no digest of its content"):
        read_run(path)


@pytest.fixture
def cell(tmp_path, run):
    """Three run files of one cell, and how to read them."""
    paths = []
    for seed in (1, 2, 3):
        paths.append(tmp_path / f"seed-{seed}.json")
        write_run(paths[-1], run.model_copy(update={"axes": AXES.model_copy(update={"seed": seed})}))
    axes = AXES.model_dump(exclude={"seed"})
    return paths, lambda paths=paths, seeds=(1, 2, 3), digests=("d" * 64,) * 3, **wanted: read_runs(
        paths, seeds, digests, **{**axes, "settings": run.settings, "evaluations": run.evaluations, **wanted}
    )


def test_runs_of_a_cell(cell):
    _, read = cell
    assert [run.axes.seed for run in read()] == [1, 2, 3]


def test_fewer_runs_than_seeds_and_the_other_way_round(cell):
    paths, read = cell
    for some in (paths[:2], [*paths, paths[0]]):
        with pytest.raises(NarxbenchError, match=f"found {len(some)} run files; needed: 3, one a seed"):
            read(some)
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: another seed: found 1; needed: 2"):
        read([paths[0], paths[0], paths[2]])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"settings": {"elitism": 3}}, "another settings: found {'elitism': 3}; needed: {"),
        ({"data_sha256": "e" * 64}, "another data_sha256"),
        ({"evaluations": 161}, "another evaluations: found 161; needed: 160"),
        ({"versions": {"python": "4"}}, "found a run of {'python': '4'}; needed: the versions of seed-1.json"),
        ({"axes": RunAxes(**{**AXES.model_dump(), "system": "S2", "seed": 2})}, "another system: found 'S2'"),
        ({"axes": RunAxes(**{**AXES.model_dump(), "search": "other", "seed": 2})}, "another search: found 'other'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_run_from_elsewhere(cell, run, changes, told):
    paths, read = cell
    axes = AXES.model_copy(update={"seed": 2})
    write_run(paths[1], run.model_copy(update={"axes": axes, **changes}))
    with pytest.raises(NarxbenchError) as error:
        read()
    assert str(error.value).startswith(f"{paths[1]}: ")
    assert told in str(error.value)
    assert str(error.value).endswith("run again")


def test_a_run_on_data_of_its_own(cell, run):
    paths, read = cell
    for path, seed in zip(paths, (1, 2, 3), strict=True):
        axes = AXES.model_copy(update={"seed": seed})
        write_run(path, run.model_copy(update={"axes": axes, "data_sha256": str(seed)}))
    assert len(read(digests="123")) == 3
    with pytest.raises(NarxbenchError, match=r"seed-2\.json: another data_sha256: found '2'; needed: '3'"):
        read(digests="132")
