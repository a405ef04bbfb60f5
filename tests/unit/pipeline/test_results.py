"""Causes of results: code and versions, the manifest, and the data sets and runs behind a summary."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lookups import values_of
from tests.unit.pipeline.conftest import ROOT
from tests.unit.pipeline.test_plan import CONDITION, PROBLEM, RUNS, SUMMARY, Wildcards
from tests.unit.studies.steps import edit, read, step

from narxbench import NarxbenchError
from narxbench._algorithms.registry import packaged_names
from narxbench._fitness.criteria import criterion_words
from narxbench._io.settings import flattened
from narxbench._pipeline.code import (
    CRITERIA,
    PACKAGE,
    closure,
    code_of,
    imported_files,
    made_by,
    versions_of,
    with_criteria,
)
from narxbench._pipeline.sources import Sources
from narxbench._study.provenance import algorithm_digest, versions

BY_GA = CONDITION | {"method": "ga"}
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))


def test_imports_for_type_checkers_do_not_count_and_those_in_functions_do(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        "import typing\nif typing.TYPE_CHECKING:\n    import narxbench._io.csv\nelse:\n    import narxbench._io.yaml\n"
        "def f():\n    from narxbench._model import terms\n    from narxbench._io.errors import NarxbenchError\n"
    )
    packages = {"__init__.py", "_io/__init__.py", "_model/__init__.py"}
    modules = {str(path.relative_to(PACKAGE)) for path in imported_files(file)}
    assert modules == packages | {"_io/yaml.py", "_io/errors.py", "_model/terms.py"}


def test_digests(tmp_path):
    """They cover the templates next to a module that fills them in."""
    (tmp_path / "some.py").write_text("import narxbench._report.templating\n")
    first = code_of(tmp_path / "some.py")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/page.css").write_text("a {}")
    imported_files.cache_clear()
    code_of.cache_clear()
    second = code_of(tmp_path / "some.py")
    (tmp_path / "templates/page.css").write_text("b {}")
    code_of.cache_clear()
    third = code_of(tmp_path / "some.py")
    assert second.keys() - first.keys() == {"page.css"}
    assert [name for name in third if third[name] != second[name]] == ["page.css"]


def test_a_step_depends_on_its_criterion_or_on_all_where_it_looks_them_up():
    files_of_criteria = {*CRITERIA.parent.glob("*.py")} - {CRITERIA}
    expected = {("search", "aic-6.5"): {"aic"}, ("search", "bic"): {"bic"}, ("simulate", None): set()}
    for (script, criterion), words in {**expected, ("tables", None): {*criterion_words()}}.items():
        files = closure(*with_criteria(criterion, ROOT / f"scripts/{script}.py"))
        assert set(values_of(files_of_criteria.intersection(files), "stem")) == words


@pytest.mark.parametrize(
    ("script", "templates", "needed", "foreign"),
    [
        ("search", "", "python numba numpy llvmlite", "matplotlib scipy snakemake pydantic narxbench"),
        ("page", "_report/base.html.j2 _studies/paper/report.html.j2", "jinja2 ruamel-yaml", "statsmodels"),
        ("leaderboard", "_report/site.css _studies/methods/leaderboard.js", "scipy", "matplotlib"),
    ],
)
def test_a_step_depends_on_templates_and_on_packages_with_what_they_require(script, templates, needed, foreign):
    path = ROOT / f"scripts/{script}.py"
    files = [file for file in closure(path) if file.suffix == ".j2" or file.suffix in (".css", ".js")]
    names = {str(file.relative_to(PACKAGE)).replace("templates/", "") for file in files}
    assert set(templates.split()) <= names
    packages = set(versions_of.__wrapped__(path))
    assert set(needed.split()) <= packages and not set(foreign.split()) & packages


def test_what_a_step_is_made_by_is_in_words(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("u\n0.5\n")
    code, *rest = made_by(
        "search", [str(file), str(ROOT / "CITATION.cff"), "missing.csv"], method="ga", criterion="bic"
    )
    assert re.fullmatch(r"code of search\.py with ga with bic: [0-9a-f]{16}", code)
    assert made_by("search", method="upso2d", criterion="bic")[0] != code
    assert any(text.startswith("numba ") for text in rest) and any(text.startswith("python 3.") for text in rest)
    local_file, project_file = rest[-2:]
    assert local_file.startswith(f"{file}: ") and project_file.startswith("CITATION.cff: ")
    file.write_text("u\n0.25\n")
    assert made_by("search", [str(file)], method="ga", criterion="bic")[-1] not in (local_file, project_file)


def test_runs_name_their_code_and_python():
    assert len(set(map(algorithm_digest, packaged_names()))) == len(packaged_names())
    assert versions()["python"] == ".".join(map(str, sys.version_info[:2]))


# Executes each script without a job, in a process of its own, and prints the modules of the package that this loads;
# the parent has loaded what is slow.
LOADING = """
import os, runpy, sys
import jinja2, matplotlib.figure, numba, pandas, pydantic, scipy.stats
for script in sys.argv[1:]:
    if os.fork() == 0:
        runpy.run_path(script)
        files = {module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "narxbench"}
        print(script, *sorted(files), sep="\\t", flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
def test_a_step_depends_on_every_module_that_it_loads():
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *map(str, SCRIPTS)], capture_output=True, text=True, check=True
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [Path(script) for script, *_ in lines] == SCRIPTS
    for script, *files in lines:
        assert {*map(Path, files)} <= closure(*with_criteria(None, Path(script))), script


# The manifest

SETTINGS: dict[str, Any] = {"seeds": [1, 2], "study": "mine", "note": "=1+1", "least": -2}
SETTINGS["methods"] = {"ga": {"settings": {"elitism": False}}}
FILES = ["data/a.csv", "data/run, 1.json", "report.html"]
NAMED = dict(zip(FILES, FILES, strict=True))


def made_with(settings, **versions):
    values = {f"settings/{name}": value for name, value in flattened(settings)}
    values |= {"code/search": "0123", "versions/python": "3.11", "versions/numpy": "2.0"}
    return values | {f"versions/{name}": value for name, value in versions.items()}


def verified(capsys, files, **newer):
    """Return the lines of the verdict on files, or of the mistake that it is."""
    params = {"reference": "manifest.csv", "made_with": made_with(SETTINGS, **newer)}
    sources = SimpleNamespace(check_all=lambda: "1 data set.")
    try:
        step("verify", params, sources=sources, files=files)
    except NarxbenchError as mistake:
        return str(mistake).splitlines()
    return capsys.readouterr().out.splitlines()


def test_a_manifest_reads_back_and_what_differs_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for file in FILES:
        Path(file).write_text(f"content of {file}")
    assert verified(capsys, NAMED)[0].startswith("1 data set. There is no manifest manifest.csv to compare the others")
    step("manifest", {"made_with": made_with(SETTINGS)}, output={"": ["manifest.csv"]}, files=NAMED)
    # A spreadsheet takes neither for a formula.
    text = read("manifest.csv")
    assert "settings/note,'=1+1\nsettings/least,-2\n" in text and "code/search" not in text
    rows = dict(csv.reader(text.splitlines()))
    expected = {"settings/seeds": "[1, 2]", "settings/study": "mine", "settings/methods.ga.settings.elitism": "false"}
    assert rows.items() >= expected.items() and list(rows)[-3:] == FILES
    assert {f"environment/{name}" for name in ("platform", "python", "numpy", "narxbench")} <= rows.keys()
    same = ["3 of 3 files are the same as in manifest.csv.", "Versions and platform are those of the reference."]
    assert verified(capsys, NAMED) == ["1 data set.", *same]
    Path("report.html").write_text("other")
    Path("data/run, 1.json").write_text("other")
    Path("data/a.csv").unlink()
    Path("new.csv").touch()
    # Another package than the reference knows of is no other environment.
    assert verified(capsys, {**NAMED, "new.csv": "new.csv"}, numpy="2.1", scipy="1.0") == [
        "0 of 3 files are the same as in manifest.csv.",
        "Different: 2 files, the first in the order of causes is data/run, 1.json",
        "Missing: 1 files, the first in the order of causes is data/a.csv",
        "Not in the reference: 1 files, the first in the order of causes is new.csv",
        "Made in another environment: numpy 2.1 (reference: 2.0).",
    ]
    Path("manifest.csv").write_text(text.replace("name,value", "value,name"))
    (mistake,) = verified(capsys, NAMED)
    assert mistake == "manifest.csv: line 1: found ['value', 'name']; needed: name,value"


# Data sets and run files behind a summary


class Study:
    """A study of one condition with two runs, made by its steps; ``data``, ``runs`` and ``summary`` are its files."""

    def __init__(self, plan):
        planned = plan("systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: null}\nseeds: 2\nevaluations: 80\n")
        self.sources = Sources(planned, "", summary=SUMMARY, problem=PROBLEM, runs=RUNS)
        problem = planned.problem(Wildcards(**BY_GA))
        job = {"simulation": problem.simulation}
        data = PROBLEM.format_map(BY_GA) + ".csv"
        step("simulate", {"simulation": problem.simulation}, output={"": [data]})
        runs = []
        for row in planned.jobs:
            wildcards = Wildcards(**row)
            params = {"run": planned.run(wildcards), "seeds": planned.seeds(wildcards)}
            runs += step("search", params, input={"data": data}, output={"": [RUNS.format_map(row)]}, **job)
        params = {"run": planned.run(Wildcards(**BY_GA)), "seeds": [1, 2], "threshold": 0.9}
        inputs, output = {"runs": runs, "data": data}, {"": [SUMMARY.format_map(BY_GA)]}
        (summary,) = step("summarise", params, input=inputs, output=output, **job)
        self.data, self.runs, self.summary = Path(data), list(map(Path, runs)), Path(summary)

    def change(self, path, change, date=None):
        """Change a file and set its date back, by default to what it was."""
        then = path.stat().st_mtime_ns
        change()
        os.utime(path, ns=(0, then if date is None else date))

    def mistake(self):
        """Return what a start of the study says of its files; "" if they are what the summary was made of."""
        try:
            self.sources.check()
        except NarxbenchError as mistake:
            return str(mistake)
        return ""


@pytest.fixture
def study(plan):
    return Study(plan)


def edited(path):
    return lambda: edit(path, "runs", 0, "evaluations", value=79)


@pytest.mark.parametrize("sealed", [False, True])
def test_changed_run_files_of_the_same_date_are_named(study, sealed):
    assert study.mistake() == "" and study.sources.failures() == []
    assert study.sources.check_all() == (
        "1 data sets and 2 run files are what their settings, seals and summaries say."
    )
    first, second = study.runs
    text = read(second)
    study.change(second, edited(second) if sealed else lambda: second.write_text(text.replace(":80,", ":79,")))
    assert study.mistake() == f"{second}: changed since it was summed up; delete it and run again"
    with pytest.raises(NarxbenchError, match=r"seed-2\.json: changed since it was (made|summed up)"):
        study.sources.check_all()
    # That of another seed has a seal that the summary keeps.
    study.change(first, lambda: first.write_text(text))
    assert study.mistake().startswith(f"{first} and 1 more: changed since it was summed up; ")


def test_younger_missing_and_copied_files_are_left_to_snakemake(study):
    first, second = study.runs
    edited(first)()
    assert study.mistake() == ""
    first.unlink()
    os.utime(second, ns=(0, 0))  # as a copy that keeps dates
    assert study.mistake() == "" and study.sources.lost() == [str(first)]
    study.data.write_text(read(study.data).replace("0", "1", 1))
    assert study.mistake() == ""
    # Without the summary they are made for it.
    study.summary.unlink()
    assert study.mistake() == "" and study.sources.lost() == []


def test_changed_data_sets_are_named_whatever_their_dates(study):
    text = read(study.data)
    for date in (0, 10**18):
        study.change(study.data, lambda: study.data.write_text(text.replace("0", "1", 1)), date)
        assert study.mistake() == f"{study.data}: changed since it was simulated; delete it and run again"
    with pytest.raises(NarxbenchError, match=r"30dB\.csv: changed since it was simulated; delete it and run again$"):
        study.sources.check_all()
    study.change(study.data, lambda: study.data.write_text(text), 0)
    assert study.mistake() == ""


def test_runs_of_other_data_and_failed_runs_are_told(study):
    edit(study.runs[0], "runs", 0, "data_sha256", value="0")
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: made of another data set; delete it and run again$"):
        study.sources.check_all()
    study.summary.unlink()
    edited(study.runs[0])()
    shutil.copy(study.runs[1], study.runs[0])
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: changed since it was summed up"):
        study.sources.check_all()
    methods = [{"reference": False, "runs": [{"failure": ""}, {"failure": "it ended"}]}, {"reference": True}]
    content = {"failures": {"1": "it hangs"}, "methods": methods}
    study.summary.write_text(json.dumps(content, separators=(",", ":")))
    assert study.sources.failures() == ["it hangs", "it ended"]
