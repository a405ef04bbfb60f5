"""Every operation of files fails once: no half result looks whole, no traceback is shown, and then all is as before.

The n-th opening, writing, syncing, renaming and making of a folder fails, for every n that occurs: with the reading and
the report of ``narxbench identify``, and with jobs of a study. The n-th allocation of NumPy fails in a search.
"""

import re
import shutil
from functools import partial
from itertools import count, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.command import run
from tests.lookups import kinds_of
from tests.slow.file_faults import KINDS, Faults, each_fault, files_of
from tests.unit.study.searches import search, simulate

import narxbench

pytestmark = [pytest.mark.slow, pytest.mark.ci]

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


@pytest.fixture
def identify(data, quick, tmp_path):
    """Return a function that returns the outcome of an identification with a report."""
    shutil.copy(data, tmp_path)
    words = ("--input", "u", "--output", "y", "--report", tmp_path / "report")
    return lambda: run("identify", tmp_path / "data.csv", *words)


def check_reason(printed):
    """Check that one line names the reason of a failure; lines of a look at the data may stand before it."""
    *earlier_lines, last_line = printed.splitlines(keepends=True)
    assert LINE.fullmatch(last_line), printed
    for line in earlier_lines:
        assert line.startswith("A look at the data is "), printed


def replace_files(folder, contents):
    """Let a folder have these files alone, or let there be no folder without any."""
    shutil.rmtree(folder)
    for name, content in contents.items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def check_failure(outcome, faults):
    """Check that a command whose file operation failed has ended with its reason."""
    if faults.occurred:
        assert outcome.code == 2, (faults.number, outcome.err)
        check_reason(outcome.err)


# Where no report was there before, less is at stake.
@pytest.mark.parametrize(("kind", "is_earlier"), [*product(KINDS, [True]), ("rename", False), ("mkdir", False)])
def test_each_operation_of_an_identification(kind, is_earlier, identify, tmp_path):
    """One line that names the reason; the report is whole, or has no page; repeated, it is made."""
    identify()
    report, before = tmp_path / "report", {}
    after = files_of(report)
    if is_earlier:
        before = {**after, "report.html": b"older", "model_sparse.json": b"older", "notes.txt": b"kept"}
        after["notes.txt"] = b"kept"
    for faults in each_fault(tmp_path, kind):
        replace_files(report, before)
        with faults:
            outcome = identify()
        # A folder that is there need not be made.
        if outcome.code or kind != "mkdir":
            check_failure(outcome, faults)
        contents = files_of(report)
        whole = {0: [after], 2: [after, before]}[outcome.code]
        assert "report.html" not in contents or contents in whole
        assert not list(tmp_path.rglob(".*")), "something is left aside"
        assert identify().code == 0
        assert files_of(report) == after
    assert faults.number > 1 or (kind, is_earlier) == ("mkdir", False)


def make_steps(folder):
    """Simulate and search as the jobs of a study do."""
    search(folder / "runs/seed-1.json", simulate(folder / "data/X1.csv"), [1])


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_of_steps_of_a_study(kind, tmp_path):
    """Every file that is there is right, one line says why there are no more, and the rest is made later."""
    make_steps(tmp_path / "whole")
    expected = files_of(tmp_path / "whole")
    assert len(expected) == 2
    folder = tmp_path / "study"
    for faults in each_fault(folder, kind):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            with faults:
                make_steps(folder)
        except narxbench.NarxbenchError as error:
            assert LINE.fullmatch(f"narxbench: {error}\n")
        for name, content in files_of(folder).items():
            assert content == expected[name], (faults.number, name)
        assert not list(folder.rglob(".*")), "something is left aside"
        make_steps(folder)
        assert files_of(folder) == expected
    assert faults.number > 1 or kind == "fsync"


def test_a_report_survives_a_power_cut(identify, tmp_path):
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
                assert set(map(Path.resolve, files)) <= synced, "a name comes before its content"
                return super(Watched, self)._renaming(name)(source, target, **options)

            return rename

    for _ in range(2):
        with Watched(tmp_path):
            assert identify().code == 0
    assert len(renamed) > 20


def test_each_kind_of_memory_that_is_missing(small_problem, monkeypatch):
    """The n-th array that NumPy is asked for by a search cannot be had: one line, or the best so far."""
    expected = narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300)
    functions = {name: getattr(np, name) for name in ("empty", "zeros", "full", "array", "concatenate")}
    for number in count(1):
        calls = count(1)

        def call(function, *arguments, number=number, calls=calls, **options):
            if next(calls) == number:
                raise MemoryError
            return function(*arguments, **options)

        with monkeypatch.context() as patched:
            for name, function in functions.items():
                patched.setattr(np, name, partial(call, function))
            try:
                result = narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300)
            except (narxbench.AlgorithmFailedError, MemoryError):
                continue
        assert result == expected or kinds_of(result.warnings) == ["limit"]
        if next(calls) <= number:
            break
    assert number > 3
    assert narxbench.search(small_problem, algorithm="stepwise", seed=1, evaluations=300) == expected
