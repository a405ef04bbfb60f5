"""The problems of the comparison of methods for programs of others, and their results coming back."""

import json
import math
import re
import shutil
import subprocess
import sys

import pytest
from tests import reference
from tests.unit.experiment.result_files import PROBLEMS, ROOT, STUDY, result, small_project, write

from narxbench import read_signals
from narxbench.cli import main
from narxbench.experiment.contributions import load_contribution, problem_name
from narxbench.experiment.exchange import CONTRIBUTED, add_results, check, export_problems, problems_of
from narxbench.experiment.layers import read_layers
from narxbench.experiment.study_settings import load_study
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sha256

BASE = ROOT / "config" / "paper.yaml"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a small project and its exported problems."""
    folder = tmp_path_factory.mktemp("exchange")
    project = small_project(folder / "project")
    reported = export_problems(folder / "problems", project)
    assert reported.startswith("3 problems written to ")
    return folder


@pytest.fixture
def project(made, tmp_path):
    return shutil.copytree(made / "project", tmp_path / "project")


def whole(made, **changes):
    return [result(made / "problems", name, seed, **changes) for name in PROBLEMS for seed in (1, 2)]


def kept(project):
    return sorted(path.name for path in (project / CONTRIBUTED).glob("*"))


def test_problems_have_the_names_of_their_conditions(made):
    study = load_study(read_layers([BASE, made / "project" / "config" / "methods.yaml"]))
    problems = problems_of(study)
    assert list(problems) == PROBLEMS
    for name, condition in problems.items():
        assert name == problem_name(**condition.key.model_dump(exclude={"interpretation", "method"}))


@pytest.mark.parametrize("change", [("page: methods", "page: paper"), ("data: {", "data: {realisation: per_run, ")])
def test_other_studies_have_no_problems_to_exchange(tmp_path, change):
    text = STUDY.replace(*change)
    if "paper" in change[1]:
        text = text.partition("scenarios:")[0]
    project = small_project(tmp_path / "project", text)
    with pytest.raises(
        NarxbenchError, match=r"study methods: found page \w+ and realisation \w+; allowed: methods and"
    ):
        export_problems(tmp_path / "problems", project)


def test_an_exported_problem_is_all_that_a_program_needs(made):
    folder = made / "problems"
    assert json.loads((folder / "problems.json").read_text()) == PROBLEMS
    described = set(re.findall(r"\b[a-z][a-z_0-9]+\b", (folder / "README.txt").read_text()))
    for name in PROBLEMS:
        problem = json.loads((folder / f"{name}.json").read_text())
        assert problem.keys() - {"format", "problem"} <= described
        assert problem["data_sha256"] == sha256((folder / problem["data"]).read_bytes())
        u, y = read_signals(folder / problem["data"])
        ((first, end),) = problem["validation_rows"]
        assert (problem["estimation_rows"], end) == ([max(problem["n_u"], problem["n_y"]), first], len(y))
        # The constant has no factors; the others are what their names say.
        assert [[tuple(factor) for factor in factors] for factors in problem["factors"][1:]] == [
            reference.factors(term) for term in problem["terms"][1:]
        ]
        terms, orders = problem["example"]["terms"], {name: problem[name] for name in ("n_u", "n_y")}
        _, sse = reference.evaluate(u, y, terms, **orders, n_validation=end - first)
        expected = (end - first) * math.log(sse) + problem["penalties"][len(terms)]
        assert problem["penalties"][1] == problem["penalty"] and len(problem["penalties"]) == len(problem["terms"]) + 1
        assert problem["example"]["fitness"] == pytest.approx(expected, rel=1e-9)
        assert problem["bound"] == pytest.approx(1e6 * abs(y).max())
        assert (problem["seeds"], problem["evaluations"]) == ([1, 2], 300)


def test_an_export_needs_a_folder_of_its_own(made, tmp_path):
    for folder in (made / "problems", made / "problems" / "README.txt"):
        with pytest.raises(NarxbenchError, match="found files there; allowed: a new or empty folder"):
            export_problems(folder, made / "project")
    with pytest.raises(NarxbenchError, match=r"config/paper\.yaml: cannot be read"):
        export_problems(tmp_path / "problems", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_program_of_the_documentation(made, project, tmp_path):
    page = (ROOT / "docs" / "contributing_results.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "pursuit.py").write_text(program)
    command = [sys.executable, "-W", "error", "pursuit.py", str(made / "problems")]
    subprocess.run(command, cwd=tmp_path, check=True)
    reported = add_results(tmp_path / "results.json", project)
    assert "problems: 3 of 3; all of them, so that it is ranked" in reported
    assert kept(project) == ["my-pursuit.json"]
    assert {len(run.terms) for run in load_contribution(project / CONTRIBUTED / "my-pursuit.json").results} == {4}


def test_results_are_kept_in_one_form_and_replaced(made, project, tmp_path):
    path = write(tmp_path / "any.json", whole(made))
    assert f"written: {project / CONTRIBUTED / 'mine.json'}" in add_results(path, project)
    first = (project / CONTRIBUTED / "mine.json").read_bytes()
    assert load_contribution(project / CONTRIBUTED / "mine.json") == load_contribution(path)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    assert "replaced: " in add_results(path, project)
    assert (project / CONTRIBUTED / "mine.json").read_bytes() == first
    other = write(tmp_path / "other.json", whole(made), method="Mine")
    with pytest.raises(NarxbenchError, match=r"other\.json: method: found 'Mine' next to mine\.json; allowed: one sp"):
        add_results(other, project)
    assert kept(project) == ["mine.json"]


def test_part_of_the_problems_is_enough(made, project, tmp_path):
    path = write(tmp_path / "mine.json", [found for found in whole(made) if found["problem"] == PROBLEMS[1]])
    assert "problems: 1 of 3; it is shown, and ranked in the scenarios that it covers whole" in add_results(
        path, project
    )


def test_what_a_contribution_covers(made, tmp_path):
    study = load_study(read_layers([BASE, made / "project" / "config" / "methods.yaml"]))
    results = whole(made)
    results[0] |= {"terms": [], "evaluations": 0}
    path = write(tmp_path / "mine.json", results)
    assert check(load_contribution(path), study, path) == (3, 3, 6, 1)
    path = write(tmp_path / "mine.json", results[1::2], deterministic=True)
    assert check(load_contribution(path), study, path) == (3, 3, 3, 0)


MISTAKES = """
results[0].data_sha256: found '0000 => data_sha256 = "0" * 64
results[0].terms: term 'y(k-9)': not among the 66 candidate terms => terms = ["y(k-9)"]
results[0].evaluations: found 6000; allowed: up to 300, the budget => evaluations = 6000
results[0].history: found J = -100000.0 at its end => history = {"evaluations": [1], "fitness": [-1e5]}
"""


@pytest.mark.parametrize("case", MISTAKES.strip().splitlines())
def test_a_wrong_result_is_one_line_and_nothing_is_kept(made, project, tmp_path, case):
    message, change = case.split(" => ")
    name, value = change.split(" = ")
    results = whole(made)
    results[0][name] = eval(value)
    path = write(tmp_path / "mine.json", results)
    with pytest.raises(NarxbenchError) as caught:
        add_results(path, project)
    reported = str(caught.value)
    assert reported.startswith(f"{path}: {message}") and "\n" not in reported
    assert kept(project) == []


def test_all_mistakes_are_reported(made, project, tmp_path):
    results = [found for found in whole(made) if found["seed"] == 1]
    results[0]["problem"] = "base/S1/40dB/data-2/bic"
    results[1]["evaluations"] = 301
    path = write(tmp_path / "mine.json", results)
    with pytest.raises(NarxbenchError) as caught:
        add_results(path, project)
    unknown, seeds, budget = str(caught.value).splitlines()
    assert "results[0].problem: found 'base/S1/40dB/data-2/bic'; allowed: a problem of the study" in unknown
    assert f"(did you mean '{PROBLEMS[0]}'?)" in unknown
    assert "results: found the seeds [1]; allowed: [1, 2], one run for each" in seeds
    assert "results[1].evaluations: found 301" in budget


@pytest.mark.parametrize("name", ["ga", "GA", "left-out"])
def test_names_of_the_study_are_taken_those_of_methods_that_cannot_run_too(made, tmp_path, monkeypatch, name):
    from narxbench.experiment import study_settings

    study = STUDY.replace("scenarios:", "  left-out: {algorithm: ga, criteria: [bic]}\nscenarios:")
    project = small_project(tmp_path / "project", study)
    monkeypatch.setattr(study_settings, "_unusable", lambda given: {"left-out": "it needs a package"})
    path = write(tmp_path / "mine.json", whole(made), method=name)
    with pytest.raises(NarxbenchError, match=rf"mine\.json: method: found '{name}', which there is already"):
        add_results(path, project)


def test_commands(made, project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(project)
    path = write(tmp_path / "mine.json", whole(made))
    for command in (["export-problems", str(tmp_path / "problems")], ["add-results", str(path)]):
        assert main(command) == 0
    exported = (tmp_path / "problems" / "problems.json").read_bytes()
    assert exported == (made / "problems" / "problems.json").read_bytes()
    assert kept(project) == ["mine.json"]
    capsys.readouterr()
    path.write_text("{")
    assert main(["add-results", str(path)]) == 2
    reported = capsys.readouterr().err
    assert reported.startswith(f"narxbench: {path}: not valid JSON") and reported.count("\n") == 1
