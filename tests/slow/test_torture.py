"""Every operation of files fails once: no half result looks whole, no traceback is shown, and then all is as before.

The n-th opening, writing, syncing, renaming and making of a folder fails, for every n that occurs: with the reading and
the report of ``narxbench identify``, and with jobs of a study. The n-th allocation of NumPy fails in a search.
"""

import errno
import re
import shutil
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.command import run
from tests.lookups import file_names, kinds_of
from tests.slow.file_faults import KINDS, Faults, files_of

import narxbench
from narxbench._pipeline.steps import StepFailedError, call

pytestmark = [pytest.mark.slow, pytest.mark.ci]

REASONS = {
    "open": errno.EMFILE,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.EACCES,
    "mkdir": errno.EROFS,
}
LINE = re.compile(r"narxbench: [^\n]+\n")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    u, y = narxbench.load_system("S1").simulate(300, snr_db=40)
    path = tmp_path_factory.mktemp("data") / "data.csv"
    pd.DataFrame({"u": u, "y": y}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def made(data):
    """Return an identification, and the files of its report but for that of the model, which are drawn once."""
    settings = {"decimation": 1, "degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.1}
    identification = narxbench.identify(*np.loadtxt(data, delimiter=",", skiprows=1).T, **settings)
    page = narxbench.write_report(identification, data.parent / "report")
    files = {name: content.decode() for name, content in files_of(page.parent).items() if name != "model.json"}
    return identification, files


@pytest.fixture
def quick(made, monkeypatch):
    """Replace the search and the drawing by their results, which do not depend on files."""
    identification, files = made
    monkeypatch.setattr("narxbench._identification.identify.identify_recording", lambda *_: identification)
    monkeypatch.setattr("narxbench._report.model_page.report_files", lambda _, **_options: dict(files))
    monkeypatch.setattr("narxbench._report.look_page.look_page", lambda _: "<p>a look</p>")


def identify(data, folder):
    """Return the outcome of an identification with a report."""
    copy = folder / "data.csv"
    if not copy.exists():
        shutil.copy(data, copy)
    return run("identify", copy, "--input", "u", "--output", "y", "--report", folder / "report")


def write_files(folder, contents):
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def check_whole(report, allowed):
    """Check that a folder with a page has exactly the files of one of the reports that are allowed."""
    contents = files_of(report) if report.exists() else {}
    if "report.html" in contents:
        assert contents in allowed


def check_reason(printed):
    """Check that one line names the reason of a failure; lines of a look at the data may stand before it."""
    *earlier_lines, last_line = printed.splitlines(keepends=True)
    assert LINE.fullmatch(last_line), printed
    for line in earlier_lines:
        assert line.startswith("A look at the data is "), printed


# Where no report was there before, less is at stake.
@pytest.mark.parametrize(
    ("kind", "earlier"), [*product(KINDS, ["another report"]), ("rename", "none"), ("mkdir", "none")]
)
def test_each_operation_of_an_identification(kind, earlier, data, quick, tmp_path):
    """One line that names the reason; the report is whole, or has no page; repeated, it is made."""
    identify(data, tmp_path)
    expected = files_of(tmp_path / "report")
    older = {**expected, "report.html": b"older", "model_sparse.json": b"older", "notes.txt": b"kept"}
    after = {**expected, "notes.txt": b"kept"} if earlier != "none" else expected
    number, failed = 0, True
    while failed:
        number += 1
        shutil.rmtree(tmp_path / "report")
        if earlier != "none":
            write_files(tmp_path / "report", older)
        with Faults(tmp_path, kind, number, REASONS[kind]) as faults:
            outcome = identify(data, tmp_path)
        failed = faults.counts[kind] >= number
        # A folder that is there need not be made.
        if failed and not (kind == "mkdir" and outcome.code == 0):
            assert outcome.code == 2, (number, outcome.err)
            check_reason(outcome.err)
        check_whole(tmp_path / "report", [after, older] if outcome.code else [after])
        assert not list(tmp_path.rglob(".*")), "something is left aside"
        assert identify(data, tmp_path).code == 0
        assert files_of(tmp_path / "report") == after
    assert number > 1 or (kind, earlier) == ("mkdir", "none")


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_of_a_model_that_is_saved(kind, tmp_path):
    path = tmp_path / "deep/model.json"
    models = [narxbench.Model(("y(k-1)",), (weight,), inputs=(), output="y") for weight in (0.25, 0.5)]
    for model in models:
        model.save(path)
    number, failed = 0, True
    while failed:
        number += 1
        models[0].save(path)
        try:
            with Faults(tmp_path, kind, number, REASONS[kind]) as faults:
                models[1].save(path)
        except narxbench.FileError as error:
            assert "\n" not in str(error)
        failed = faults.counts[kind] >= number
        assert narxbench.Model.load(path) in models
        assert file_names(path.parent) == ["model.json"]


SIMULATION = {
    "system": {"name": "T1", "equation": "y(k) = 0.5*y(k-1) + 0.4*u(k-1)", "n_u": 1, "n_y": 1, "degree": 1},
    "snr_db": 40.0,
    "seed": 1,
    "data": {"samples": 120, "excitation": None, "noise": "output", "washout": 0},
}
RUN = {
    "condition": {
        "system": "T1",
        "snr_db": 40.0,
        "data_seed": 1,
        "interpretation": "torture",
        "method": "stepwise",
        "criterion": "bic",
    },
    "structure": {"n_u": 1, "n_y": 1, "degree": 2, "n_validation": 40},
    "axes": {"system": "T1"},
    "algorithm": "stepwise",
    "settings": {},
    "evaluations": 40,
    "time_limit": 600.0,
}


def make_steps(folder):
    """Simulate and search as the jobs of a study do."""
    data, runs = str(folder / "data/T1.csv"), str(folder / "runs/seed-1.json")
    parameters = SimpleNamespace(simulation=SIMULATION)
    call("simulate", output=[data], params=parameters, log=[str(folder / "logs/simulate.log")])
    job = {"input": SimpleNamespace(data=[data]), "output": [runs], "simulation": SIMULATION}
    call("search", **job, params=SimpleNamespace(seeds=[1], run=RUN), log=[str(folder / "logs/search.log")])


def results_of(folder):
    """Return all files but the logs, which have times."""
    return {name: content for name, content in files_of(folder).items() if not name.startswith("logs/")}


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_of_steps_of_a_study(kind, tmp_path, caplog):
    """Every file that is there is right, one line says why there are no more, and the rest is made later."""
    make_steps(tmp_path / "whole")
    expected = results_of(tmp_path / "whole")
    assert len(expected) == 2
    number, failed = 0, True
    while failed:
        number += 1
        folder = tmp_path / f"study-{number}"
        folder.mkdir()
        caplog.clear()
        with Faults(folder, kind, number, REASONS[kind]) as faults:
            try:
                make_steps(folder)
            except StepFailedError:
                assert caplog.messages
                for message in caplog.messages:
                    assert LINE.fullmatch(f"{message}\n")
            except narxbench.FileError as error:
                assert "\n" not in str(error)
        failed = faults.counts[kind] >= number
        for name, content in results_of(folder).items():
            assert content == expected[name], (number, name)
        assert not list(folder.rglob(".*")), "something is left aside"
        make_steps(folder)
        assert results_of(folder) == expected
    assert number > 1 or kind == "fsync"


def test_a_report_survives_a_power_cut(data, quick, tmp_path):
    """All that was not synced is cut to nothing at each rename: no file that has its name is then empty."""
    synced, renamed = set(), []

    class Watched(Faults):
        def _fsync(self, descriptor):
            synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())
            return super()._fsync(descriptor)

        def _renaming(self, name):
            def rename(source, target, **options):
                files = [Path(source)] if Path(source).is_file() else list(Path(source).iterdir())
                renamed.extend(file.resolve() for file in files)
                assert {file.resolve() for file in files} <= synced, "a name comes before its content"
                return super(Watched, self)._renaming(name)(source, target, **options)

            return rename

    for _ in range(2):
        with Watched(tmp_path):
            assert identify(data, tmp_path).code == 0
    assert len(renamed) > 20


def test_each_kind_of_memory_that_is_missing(small_problem, monkeypatch):
    """The n-th array that NumPy is asked for by a search cannot be had: one line, or the best so far."""
    expected = narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300)
    functions = {name: getattr(np, name) for name in ("empty", "zeros", "full", "array", "concatenate")}
    number, n_calls = 0, 0
    while n_calls >= number:
        number, n_calls = number + 1, 0

        def failing(function):
            def call(*arguments, **options):
                nonlocal n_calls
                n_calls += 1
                if n_calls == number:  # noqa: B023
                    raise MemoryError
                return function(*arguments, **options)

            return call

        with monkeypatch.context() as patched:
            for name, function in functions.items():
                patched.setattr(np, name, failing(function))
            try:
                result = narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300)
            except (narxbench.AlgorithmFailedError, MemoryError):
                continue
        assert result == expected or kinds_of(result.warnings) == ["limit"]
    assert number > 3
    assert narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300) == expected
