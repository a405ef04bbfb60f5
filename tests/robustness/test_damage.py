"""Files that are not what they should be: lost, cut, changed in one digit, from elsewhere."""

import json
import re
import shutil

import pytest
from scripts.aggregate import aggregate
from scripts.search import run_search
from scripts.simulate import simulate
from tests.robustness.pipelines import SMALL_RUN, differences, results_of

from narxbench.errors import NarxbenchError
from narxbench.files import canonical_json, sealed_json
from narxbench.runs import read_run
from narxbench.search import settings_model

CELL = "data/cells/S1/30dB/upso2d/bic.json"
RUN = "data/runs/S1/30dB/upso2d/bic/seed-3.json"
ORDERS = {"n_u": 2, "n_y": 2, "degree": 2}
SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", **ORDERS}
PROBLEM = {**ORDERS, "n_validation": 60}
DATA = {"samples": 200, "washout": 10, "seed": 1, "excitation": {"kind": "gaussian", "sd": 2.0}, "noise": "output"}
SETTINGS = settings_model("ga")(population_size=10).model_dump(mode="json")
SEEDS = [1, 2, 3]


class Runs:
    """The runs of one small cell, as files."""

    def __init__(self, folder, seeds=SEEDS):
        self.data = str(folder / "data.csv")
        self.log = str(folder / "log.json")
        self.cell = folder / "cell.json"
        self.files = [folder / "runs" / f"seed-{seed}.json" for seed in seeds]
        simulate(self.data, self.log, system=SYSTEM, snr_db=30.0, data=DATA)
        for seed, path in zip(seeds, self.files, strict=True):
            self.search(seed, path)

    def search(self, seed, path, **other):
        axes = {"system": "X1", "snr_db": "30", "search": "mine", "criterion": "bic", "seed": str(seed)}
        arguments = {"settings": SETTINGS, "orders": PROBLEM, "evaluations": 100, **other}
        run_search(self.data, str(path), self.log, axes=axes, algorithm="ga", **arguments)

    def aggregate(self, files=None, **other):
        """Make the cell of the experiment with these seeds and settings."""
        summary = {"settings": SETTINGS, "seeds": SEEDS, "evaluations": 100, "threshold": 0.9, "confidence": 0.95}
        aggregate(
            [str(path) for path in files or self.files],
            [self.data],
            str(self.cell),
            self.log,
            system=SYSTEM,
            orders=PROBLEM,
            criterion="bic",
            **{**summary, "bootstrap_samples": 20, **other},
        )


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def cut(text):
    return text[: len(text) // 2]


def one_digit(text):
    """Change one digit in the middle of the first weight: the JSON stays valid, and the number plausible."""
    found = re.search(r'"coefficients": \[\s+-?\d\.\d\d\d(\d)', text)
    at = found.start(1)
    return f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"


def changed(**change):
    """Return what writes other values into a run file, with a digest that is right again."""

    def write(text):
        content = json.loads(text)
        del content["sha256"]
        for name, value in change.items():
            content[name] = {**content[name], **value} if isinstance(value, dict) else value
        return sealed_json(content)

    return write


def before_digests(text):
    content = json.loads(text)
    del content["sha256"]
    return canonical_json(content)


AGAIN = " delete it and run again"
DAMAGES = {
    "cut": (cut, "damaged, not valid JSON (", AGAIN),
    "empty": (lambda text: "", "damaged, not valid JSON (", AGAIN),
    "zeros": (lambda text: "\x00" * 512, "damaged, not valid JSON (", AGAIN),
    "one digit": (one_digit, "damaged or edited, its content has another digest", AGAIN),
    "no digest": (before_digests, "found no digest of its content (sha256)", AGAIN),
    "foreign": (lambda text: '{"name": "of another program"}', "axes: missing; allowed: ", AGAIN),
    "not a mapping": (lambda text: "[1, 2]", "found [1, 2] (list)", AGAIN),
    "other seed": (changed(axes={"seed": 2}), "another seed: found 2; needed: 3", AGAIN),
    "other system": (changed(axes={"system": "S2"}), "another system: found 'S2'; needed: 'X1'", AGAIN),
    "other criterion": (changed(axes={"criterion": "aic-2"}), "another criterion: found 'aic-2'; needed: 'bic'", AGAIN),
    "other settings": (
        changed(settings={"mutation_probability": 0.5}),
        "another settings: found {'mutation_probability': 0.5}; needed: {'mutation_probability': 0.01}",
        AGAIN,
    ),
    "other data": (changed(data_sha256="0" * 64), "another data_sha256: found '0000", AGAIN),
    "other budget": (changed(evaluations=99), "another evaluations: found 99; needed: 100", AGAIN),
    "other problem": (changed(problem={"n_y": 3}), "another problem: found {'n_y': 3}; needed: {'n_y': 2}", AGAIN),
    "other versions": (changed(versions={"numpy": "1.0"}), "needed: the versions of seed-1.json", " and run again"),
}


@pytest.mark.parametrize(("damage", "told", "remedy"), DAMAGES.values(), ids=DAMAGES)
def test_damaged_run_file(runs, damage, told, remedy):
    text = runs.files[-1].read_text(encoding="utf-8")
    damaged = damage(text)
    assert damaged != text
    runs.files[-1].write_text(damaged, encoding="utf-8")
    with pytest.raises(NarxbenchError) as error:
        runs.aggregate()
    message = str(error.value)
    assert message.startswith(f"{runs.files[-1]}: ")
    assert told in message
    assert message.endswith(remedy)
    assert not runs.cell.exists()


def test_every_changed_byte_of_a_run_file_is_noticed(runs):
    """Each byte of the file in turn becomes another one: what is still read is equal to what was written."""
    runs.aggregate()
    path = runs.files[-1]
    whole = path.read_bytes()
    run = read_run(path)
    accepted = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            again = read_run(path)
        except NarxbenchError as error:
            assert str(error).startswith(f"{path}: ") and str(error).endswith(AGAIN)
        else:
            accepted += 1
            assert again == run
    # White space between values is all that may differ.
    assert accepted <= whole.count(b" ") + whole.count(b"\n")


def test_undamaged_runs_make_a_cell(runs):
    runs.aggregate()
    assert json.loads(runs.cell.read_text(encoding="utf-8"))["runs"] == 3


def test_fewer_runs_than_seeds(runs):
    with pytest.raises(NarxbenchError, match=r"^X1, bic: found 2 run files; needed: 3, one a seed$"):
        runs.aggregate(runs.files[:2])
    # Nor does a run that is there twice make up for one that is missing.
    shutil.copy(runs.files[0], runs.files[1])
    with pytest.raises(NarxbenchError, match=r"seed-2\.json: another seed: found 1; needed: 2; delete it"):
        runs.aggregate()
    assert not runs.cell.exists()


def test_runs_that_found_nothing_make_a_cell(runs):
    """Such runs count: every frequency is 0 of 3, and nothing is not a number."""
    empty = {"fitness": None, "sse": None, "terms": [], "coefficients": []}
    write = changed(**empty, history={"evaluations": [], "fitness": []})
    for path in runs.files:
        path.write_text(write(path.read_text(encoding="utf-8")), encoding="utf-8")
    runs.aggregate()
    cell = json.loads(runs.cell.read_text(encoding="utf-8"))
    assert (cell["runs"], cell["best_run"], cell["final_structure"]) == (3, None, [])
    assert {entry["count"] for entry in cell["terms"]} == {0}


def test_missing_run_file(runs):
    runs.files[1].unlink()
    with pytest.raises(NarxbenchError, match=r"seed-2\.json: cannot be read: No such file"):
        runs.aggregate()


def test_changed_digit_in_the_pipeline(undisturbed, complete):
    """The pipeline stops with one line and makes no table of it; deleting the file is all that is needed."""
    _, results = undisturbed
    damaged = one_digit((complete / RUN).read_text(encoding="utf-8"))
    (complete / RUN).write_text(damaged, encoding="utf-8")
    printed = complete.snakemake(*SMALL_RUN, code=1)
    told = rf"^{RUN}: damaged or edited, its content has another digest; delete it and run again$"
    assert re.search(told, printed, re.MULTILINE), printed
    assert "Traceback" not in printed
    found = results_of(complete)
    assert [path for path in results if found.get(path) != results[path]] in ([RUN], [CELL, RUN])
    (complete / RUN).unlink()
    assert complete.done(*SMALL_RUN)["search"] == [RUN]
    assert differences(complete, results) == []


def test_files_that_do_not_belong_to_the_experiment(undisturbed, complete):
    """Run files of other seeds, and files with names of their own, are no part of any result."""
    shutil.copy(complete / RUN, (complete / RUN).with_name("seed-99.json"))
    shutil.copy(complete / RUN, (complete / RUN).with_name("seed-3 (copy).json"))
    (complete / "data/cells/S1/30dB/upso2d/notes.json").write_text("{}", encoding="utf-8")
    assert complete.planned(*SMALL_RUN) == {}
    complete.snakemake(*SMALL_RUN, "--forcerun", "aggregate")
    assert [path for path, content in undisturbed[1].items() if (complete / path).read_bytes() != content] == []
