"""Result files of others: what is read, what is refused, and what becomes of them in a score file."""

import json
import math
import os
from functools import reduce
from operator import getitem

import numpy as np
import pytest
from tests import reference
from tests.unit.experiment.result_files import ABOUT, PROBLEMS, ROOT, result, small_project, write

from narxbench import StructureProblem, read_signals
from narxbench.experiment.contributions import (
    MOST_BYTES,
    TOLERANCE,
    Contribution,
    about_contributions,
    contributed_runs,
    load_contribution,
    load_contributions,
)
from narxbench.experiment.exchange import export_problems
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.pipeline.kinds import plan_of

NAME = PROBLEMS[0]
TRUE = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
ORDERS = {"n_u": 5, "n_y": 5, "degree": 2}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contributions")
    export_problems(folder / "problems", small_project(folder / "project"))
    return folder / "problems"


@pytest.fixture(scope="module")
def searched(exported):
    return StructureProblem(*read_signals(exported / "base/S1/40dB/data-1.csv"), **ORDERS, n_validation=600)


def one(exported, **changes):
    return result(exported, NAME, **{"terms": TRUE, **changes})


def runs_of(path, searched, *results, budget=300):
    contribution = load_contribution(write(path, list(results)))
    digest = results[0]["data_sha256"]
    return contributed_runs(contribution, path, problem=NAME, searched=searched, data_sha256=digest, budget=budget)


def test_schema_is_up_to_date_and_fits_result_files(exported):
    committed = ROOT / "workflow" / "schemas" / "results.schema.json"
    command = "python -m narxbench.experiment.contributions > workflow/schemas/results.schema.json"
    assert committed.read_text() == canonical_json(Contribution.model_json_schema(), indent=1), f"run: {command}"
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(committed.read_text()))
    history = {"evaluations": [1], "fitness": [1.0]}
    for results in ([one(exported)], [one(exported, history=history, coefficients=[1.0] * 4)]):
        assert [error.message for error in validator.iter_errors({**ABOUT, "results": results})] == []
    for wrong in ({"format": 2}, {"results": []}, {"method": "a/b"}, {"more": 1}, {"url": "javascript:alert(1)"}):
        assert not validator.is_valid({**ABOUT, "results": [one(exported)], **wrong})


MISTAKES = """
format = 2 => format: found 2; allowed: 1
method = "../mine" => method: found '../mine'; allowed: a name of up to 40 letters
method = "a" * 41 => method: found
methd = "mine" => methd: unknown key; allowed: format, method => did you mean 'method'?
title = "" => title: found ''; allowed: plain text of one line, 1 to 100 characters
title = "one\\ntwo" => title: found 'one\\ntwo'; allowed: plain text
title = "a\\u202eb" => title: found 'a\\u202eb'; allowed: plain text
title = "\\ud800" => not valid JSON
authors = "a" * 501 => authors: found
authors = ["A"] => authors: found ['A'] (list)
url = "javascript:alert(1)" => url: found 'javascript:alert(1)'; allowed: an address
url = "https://a b" => url: found
version = 1 => version: found 1; allowed: plain text
deterministic = 1 => deterministic: found 1; allowed: true or false
deterministic = true => results: found 2 runs of a deterministic method
settings = [] => settings: found
settings = {"a": "b\\u0007"} => settings: found 'a' with 'b\\x07'
settings = {"a": "b" * 300} => settings: found 'a' with
settings = {str(i): i for i in range(101)} => settings: found 101 settings; allowed: up to 100
results = [] => results: found [] (list); allowed: a list of at least one entry
results 1 problem = "" => results[1].problem: found ''
results 1 seed = 1 => results[1]: found a second run of seed 1
results 1 seed = -1 => results[1].seed: found -1
results 1 seed = 1.5 => results[1].seed: found 1.5
results 1 seed = "2" => results[1].seed: found '2' (text)
results 1 data_sha256 = "ABC" => results[1].data_sha256: found 'ABC'; allowed: a SHA-256 digest
results 1 terms = "y(k-1)" => results[1].terms: found 'y(k-1)' (text)
results 1 terms = ["y" * 201] => results[1].terms[0]: found
results 1 coefficients = [1.0] => results[1]: found 4 terms, and weights for another number of them
results 1 coefficients = [10 ** 400, 1, 1, 1] => results[1].coefficients[0]: found
results 1 evaluations = 0 => results[1]: found a structure without an evaluation
results 1 evaluations = 10 => results[1]: found a history of 20 evaluations in a run of 10
results 1 evaluations = null => results[1].evaluations: found null
results 1 terms = [] => results[1]: found a history without a structure
results 1 history evaluations = [1] => results[1].history: found 1 evaluations and 2 values of J
results 1 history evaluations = [20, 10] => results[1].history: found evaluations in another order
results 1 history evaluations = [0, 20] => results[1].history: found an improvement before the first evaluation
results 1 history evaluations = [] => results[1].history.evaluations: found [] (list)
results 1 fitness = -1e9 => results[1].fitness: unknown key; allowed: problem, data_sha256, seed, terms
results 1 history fitness = [0.5, 1.0] => results[1].history: found a J that does not fall
results 1 history fitness = [1.0, -math.inf] => results[1].history.fitness[1]: found -Infinity; allowed: a number
results 1 coefficients = [1.0, math.nan] => results[1].coefficients[1]: found NaN; allowed: a number or null
results 1 seed = math.inf => results[1].seed: found Infinity; allowed: a number or null
settings = {"a\u0007": [{"b": math.nan}]} => [0].b: found NaN; allowed: a number or null
results 1 history fitness = [1.0, 1.0] => results[1].history: found a J that does not fall
results 1 history fitness = [1.0, "0"] => results[1].history.fitness[1]: found '0' (text)
"""


@pytest.mark.parametrize("case", MISTAKES.strip().splitlines())
def test_a_mistake_is_one_line_of_file_and_place(exported, tmp_path, case):
    change, *messages = case.split(" => ")
    place, value = change.split(" = ")
    claimed = [{"evaluations": [10, 20], "fitness": [1.0, 0.5]} for _ in range(2)]
    results = [one(exported, seed=seed, history=history) for seed, history in enumerate(claimed, 1)]
    content = {**ABOUT, "results": results}
    *way, last = [int(key) if key.isdigit() else key for key in place.split()]
    names = {"null": None, "true": True, "str": str, "range": range, "math": math}
    reduce(getitem, way, content)[last] = eval(value, names)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(content))
    with pytest.raises(NarxbenchError) as caught:
        load_contribution(path)
    reported = str(caught.value)
    assert [message for message in messages if message not in reported] == []
    assert reported.startswith(f"{path}: ") and reported.isprintable()


@pytest.mark.parametrize("number", ["1" + "0" * 5000, "1" + "0" * 400, "1e999", "[" * 190 + "1" + "]" * 190])
@pytest.mark.parametrize("place", ["evaluations", "coefficients", "settings"])
def test_numbers_beyond_all_bounds_are_refused(exported, tmp_path, place, number):
    path = write(tmp_path / "mine.json", [one(exported, evaluations=7, coefficients=[7] * 4)], settings={"a": 7})
    old, new = {"evaluations": (":7", ":_"), "coefficients": ("[7,", "[_,"), "settings": ('"a":7', '"a":_')}[place]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new).replace("_", number))
    with pytest.raises(NarxbenchError, match=r"mine\.json: ") as caught:
        load_contribution(path)
    assert all(line.isprintable() for line in str(caught.value).splitlines())


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": NaN}', "\xff"])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "mine.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(NarxbenchError, match=r"mine\.json: "):
        load_contribution(path)
    with pytest.raises(NarxbenchError, match=r"none\.json: cannot be read"):
        load_contribution(tmp_path / "none.json")


def test_a_file_that_is_too_large_or_too_deep_is_one_line(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text("[" * 100_000)
    with pytest.raises(NarxbenchError, match=r"mine\.json: not valid JSON: recursion limit exceeded at line 1 col.*$"):
        load_contribution(path)
    os.truncate(path, MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(NarxbenchError, match=r"mine\.json: cannot be read: found 50000001 bytes; allowed: up to 5000"):
        load_contribution(path)


def test_every_problem_has_all_seeds(exported, tmp_path):
    results = [result(exported, problem, seed) for problem in PROBLEMS[:2] for seed in (1, 2)]
    assert len(load_contribution(write(tmp_path / "mine.json", results)).results) == 4
    with pytest.raises(NarxbenchError, match=r"results: found the seeds \[1\] on base/S3.*; allowed: \[1, 2\]"):
        load_contribution(write(tmp_path / "mine.json", results[:3]))


def test_names_of_methods_are_taken_once(exported, tmp_path):
    paths = [write(tmp_path / f"{name}.json", [one(exported)], method=name) for name in ("mine", "yours", "Mine")]
    assert [found.method for found in load_contributions(paths[:2], taken=["ga"])] == ["mine", "yours"]
    for files, taken in ((paths[:1], ["MINE"]), (paths, [])):
        with pytest.raises(NarxbenchError, match=r"[mM]ine\.json: method: found '[mM]ine', which there is already"):
            load_contributions(files, taken)


def test_an_edited_file_is_not_taken_from_memory(exported, tmp_path):
    path = tmp_path / "mine.json"
    for version in ("1.0", "1.1"):
        assert load_contribution(write(path, [one(exported)], version=version)).version == version


def test_runs_have_the_fitness_of_their_structures_in_canonical_order(exported, searched, tmp_path):
    terms = ["u(k-1)*y(k-1)", "u(k-1)*u(k-1)", "y(k-1)", "u(k-1)"]
    weights = [3.0, 4.0, 1.0, 2.0]
    given = [one(exported, seed=2, terms=terms, coefficients=weights), one(exported, seed=1)]
    first, second = runs_of(tmp_path / "mine.json", searched, *given)
    expected = searched.evaluate(TRUE)
    assert (first.terms, first.coefficients) == (expected.terms, expected.coefficients)
    assert (second.terms, second.coefficients) == (expected.terms, sorted(weights))
    for run in (first, second):
        assert (run.fitness, run.sse, run.evaluations) == (expected.fitness, expected.sse, 200)
        assert run.history.model_dump() == {"evaluations": [200], "fitness": [expected.fitness]}
    assert [first.seed, second.seed] == [1, 2]


def test_a_history_of_another_program_is_followed_down_to_the_fitness(exported, searched, tmp_path):
    u, y = read_signals(exported / "base/S1/40dB/data-1.csv")
    history = {"evaluations": [1, 5, 9], "fitness": []}
    for size in (2, 3, 4):
        _, sse = reference.evaluate(u, y, TRUE[:size], n_u=5, n_y=5)
        history["fitness"].append(600 * math.log(sse) + math.log(600) * size)
    expected = searched.evaluate(TRUE).fitness
    for shift, ends in ((0.0, 9), (1e-7, 9), (-1e-7, 9)):
        shifted = [*history["fitness"][:2], history["fitness"][2] + shift * 600]
        claimed = one(exported, history={**history, "fitness": shifted})
        (run,) = runs_of(tmp_path / "mine.json", searched, claimed)
        assert run.history.evaluations == [1, 5, ends]
        assert run.history.fitness == [*history["fitness"][:2], expected]
    # Improvements within the roundings are none.
    fitness = [expected + 1.0, expected + 1e-7, expected - 1e-7]
    (run,) = runs_of(tmp_path / "mine.json", searched, one(exported, history={**history, "fitness": fitness}))
    assert run.history.model_dump() == {"evaluations": [1, 5], "fitness": [expected + 1.0, expected]}


@pytest.mark.parametrize("shift", [3 * TOLERANCE, -3 * TOLERANCE, 1.0, -1.0])
def test_a_history_ends_at_the_fitness_of_the_structure(exported, searched, tmp_path, shift):
    ends = searched.evaluate(TRUE).fitness + shift * 600
    claimed = one(exported, history={"evaluations": [1, 5], "fitness": [ends + 1.0, ends]})
    with pytest.raises(NarxbenchError, match=r"mine\.json: results\[0\]\.history: found J = .* at its end; the struct"):
        runs_of(tmp_path / "mine.json", searched, claimed)


def test_runs_without_a_finite_fitness_have_failed(exported, tmp_path):
    # The column of an input that is always zero is singular.
    silent = StructureProblem(np.zeros(200), np.sin(np.arange(200.0)), n_u=1, n_y=1, degree=1, n_validation=50)
    given = [one(exported, terms=[], evaluations=0), one(exported, seed=2, terms=["u(k-1)"], coefficients=[1.0])]
    runs = runs_of(tmp_path / "mine.json", silent, *given)
    assert [run.failure for run in runs] == ["it returned no structure", "its structure has no finite J"]
    for run in runs:
        assert (run.fitness, run.sse, run.terms, run.coefficients, run.history.fitness) == (None, None, [], [], [])
    given[1]["history"] = {"evaluations": [1], "fitness": [1.0]}
    with pytest.raises(NarxbenchError, match=r"results\[1\]\.history: found J = 1.0 at its end; .* no finite J"):
        runs_of(tmp_path / "mine.json", silent, *given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data_sha256": "0" * 64}, r"results\[1\]\.data_sha256: found '000.*; needed: '.*', the digest of the data"),
        ({"evaluations": 301}, r"results\[1\]\.evaluations: found 301; allowed: up to 300, the budget"),
        ({"terms": ["y(k-6)"]}, r"results\[1\]\.terms: term 'y\(k-6\)': not among the 66 candidate terms"),
        ({"terms": ["u(k-1)*y(k-1)", "y(k-1)*u(k-1)"]}, r"results\[1\]\.terms: .*: named twice"),
        ({"terms": ["__import__('os')"]}, r"results\[1\]\.terms: .*did not expect"),
    ],
)
def test_results_that_cannot_be_are_refused(exported, searched, tmp_path, change, message):
    with pytest.raises(NarxbenchError, match=message) as caught:
        runs_of(tmp_path / "mine.json", searched, one(exported), one(exported, seed=2, **change))
    assert str(caught.value).isprintable()


def test_the_page_is_reported_of_them_as_of_the_methods_of_the_study(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    project = small_project(tmp_path / "project")
    own = plan_of([project / "config" / "methods.yaml"]).about_methods()
    path = write(tmp_path / "mine.json", [one(exported)], url="https://example.org")
    about = about_contributions([load_contribution(path)])
    assert list(about) == ["mine"]
    assert about["mine"].keys() == own["ga"].keys()
    assert {name: type(value) for name, value in about["mine"].items()} == {
        name: type(value) for name, value in own["ga"].items()
    }
    assert (about["mine"]["contributed"], own["ga"]["contributed"]) == (ABOUT["authors"], "")
    assert about["mine"]["reference"] == f"{ABOUT['reference']} https://example.org"
