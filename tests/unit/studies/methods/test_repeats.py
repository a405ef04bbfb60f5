"""Runs that are made again in a fresh process: what is the same, what is not, and what the file says of it."""

import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install, install_text
from tests.unit.study.test_runs import CONDITION, STRUCTURE, simulated

from narxbench._io.errors import NarxbenchError
from narxbench._studies.methods.repeats import read_repeats, repeat
from narxbench._study.runs import run_seeds

WORKS = SOURCE.replace("def run", "import time\n\n\ndef run").replace(
    "    while objective",
    "    end = time.process_time() + 0.3\n    while time.process_time() < end:\n        pass\n    while objective",
)
NOTICED = ("memory_file", "entropy_system")
RUN = {"axes": {"system": "X1"}, "structure": STRUCTURE, "settings": {}, "evaluations": 60, "time_limit": 30.0}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("repeats") / "data.csv"
    path.write_text(simulated())
    return str(path)


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    (tmp_path / "site").mkdir()
    install(monkeypatch, tmp_path / "site")
    install_text(monkeypatch, tmp_path / "site", {"works": "works"}, "working", works=WORKS)
    monkeypatch.chdir(tmp_path)


def job(algorithm):
    return {**RUN, "algorithm": algorithm, "condition": {**CONDITION, "method": f"my-{algorithm}"}}


def repeated(folder, data, algorithm):
    """Return what the last of two runs of an algorithm says when it is made again."""
    (folder / "run.json").write_text(run_seeds({1: data, 2: data}, **job(algorithm)))
    (folder / "repeat.json").write_text(repeat(folder / "run.json", data, seed=2, run=job(algorithm)))
    return read_repeats([folder / "repeat.json"])[f"my-{algorithm}"]


@pytest.mark.slow
def test_an_honest_run_is_the_same_and_its_work_is_measured(plugins, data, tmp_path):
    same, reason, seconds = repeated(tmp_path, data, "works")
    assert (same, reason) == (True, "")
    assert 0.3 <= seconds < 10.0


@pytest.mark.parametrize("name", mostly_slow(NOTICED, "memory_file"))
def test_notes_and_other_draws_are_noticed(plugins, data, tmp_path, name):
    outcome = repeated(tmp_path, data, name)
    assert not outcome.same
    assert outcome.reason.startswith("improvement ") and "; at first " in outcome.reason


@pytest.mark.slow
def test_a_run_that_fails_again_is_the_same(plugins, data, tmp_path):
    assert repeated(tmp_path, data, "raises") == (True, "", None)


@pytest.mark.slow
def test_files_that_are_damaged_or_have_no_such_run(plugins, data, tmp_path):
    repeated(tmp_path, data, "honest_mean")
    with pytest.raises(NarxbenchError, match=r"run\.json: runs: found none of seed 3"):
        repeat(tmp_path / "run.json", data, seed=3, run=job("honest_mean"))
    path = tmp_path / "repeat.json"
    path.write_text(path.read_text().replace('"cpu_seconds":', '"cpu":'))
    with pytest.raises(NarxbenchError, match=r"repeat\.json: cpu_seconds: missing; .*, delete it and run again$"):
        read_repeats([path])


def test_a_run_of_another_condition_or_data_set_is_named(data, tmp_path):
    """Else its method would be called one that does not repeat."""
    run = {**RUN, "algorithm": "ga", "settings": {"population_size": 10}, "condition": {**CONDITION, "method": "a"}}
    path = tmp_path / "run.json"
    path.write_text(run_seeds({1: data}, **run))
    other = {**run, "condition": {**CONDITION, "method": "b"}}
    with pytest.raises(NarxbenchError, match=r"run\.json: its runs are of another condition; delete it and run again$"):
        repeat(path, data, seed=1, run=other)
    (tmp_path / "data.csv").write_text(simulated(seed=4))
    with pytest.raises(NarxbenchError, match=r"run\.json: its runs are of another data set; delete it and run again$"):
        repeat(path, str(tmp_path / "data.csv"), seed=1, run=run)
