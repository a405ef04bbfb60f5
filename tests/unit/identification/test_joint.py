"""Several outputs: identified together, or a model of each."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, succeeded
from tests.lookups import names_of, values_of

import narxbench

QUICK = {"degree": 1, "y_lags": 1, "u_lags": 1, "decimation": 1, "effort": 0.1, "noise": "narx"}
JOINT = {"output": ["a", "b"], "input": "u", "joint": True, **QUICK}


def coupled(noise=0.05, samples=400, back=-0.3, squares=0.0):
    """Return signals of two outputs, each of which acts on the other one."""
    rng = np.random.default_rng(7)
    u, a, b = rng.standard_normal(samples), np.zeros(samples), np.zeros(samples)
    for k in range(1, samples):
        a[k] = 0.5 * a[k - 1] + back * b[k - 1] + u[k - 1]
        b[k] = 0.8 * b[k - 1] + 0.3 * a[k - 1] + squares * b[k - 1] ** 2
    return {"u": u, "a": a + noise * rng.standard_normal(samples), "b": b + noise * rng.standard_normal(samples)}


@pytest.fixture(scope="module")
def identification():
    return narxbench.identify(coupled(), test="25%", **JOINT)


def test_coupled_outputs_are_found(identification):
    model = identification.model
    assert model.outputs == ("a", "b") and model.inputs == ("u",)
    for part, weights in zip(model.models, ((0.5, 1.0, -0.3), (0.8, 0.3)), strict=True):
        np.testing.assert_allclose(part.coefficients, weights, atol=0.05)
    assert values_of(identification.structures, "others") == [["b"], ["a"]]
    assert list(identification.identifications) == ["a", "b"]
    assert identification.identifications["b"].model.inputs == ("u", "a")
    (note,) = identification.notes
    assert (note.name, note.status, note.title) == ("joint", "fine", "Outputs together")
    assert "a (sparse, 3 terms) depends on b; b (sparse, 2 terms) depends on a." in note.text


def test_errors_are_those_of_joint_free_runs(identification):
    data = coupled()
    outputs = np.column_stack([data["a"], data["b"]])[300:]
    first = identification.model.initial_samples
    errors = (outputs - identification.model.simulate(data["u"][300:], outputs))[first:]
    expected = np.sqrt((errors**2).sum(axis=0) / ((outputs[first:] - outputs[first:].mean(axis=0)) ** 2).sum(axis=0))
    assert list(identification.rrse(role="test").values()) == pytest.approx(expected, rel=1e-9)
    assert set(identification.errors["models"]) == {"joint", "as_measured"}
    assert max(identification.rrse("joint").values()) <= max(identification.rrse("as_measured").values())
    assert "RRSE: a " in repr(identification)
    record = (data["u"][300:], outputs, data["u"][:5])
    np.testing.assert_array_equal(identification.forecast(*record), identification.model.forecast(*record))


def test_each_output_has_its_verdict(identification):
    for verdict, output in zip(identification.summary, "ab", strict=True):
        rrse = identification.rrse(role="test")[output]
        assert (verdict.name, verdict.status, verdict.values["output"]) == ("to_predict", "fine", output)
        assert verdict.values["rrse"] == pytest.approx(rrse, rel=0.05)
        assert f"In joint free run on the test data the rms error of {output} is " in verdict.text
    assert "To predict: a fine, b fine" in repr(identification)
    assert values_of(identification.to_dict()["summary"], "title") == ["To predict", "To predict"]


def test_an_output_that_diverges_on_the_test_is_bad():
    data = pd.DataFrame(coupled(squares=0.05))
    far = 60.0 * data[:100]
    identification = narxbench.identify(data, test=far, **{**JOINT, "degree": 2})
    assert None in identification.rrse(role="test").values() and "diverges" in repr(identification)
    verdict = identification.summary[1]
    assert verdict.status == "bad" and "The joint free run of b diverges on the " in verdict.text


def test_the_file_gives_back_the_model(identification, tmp_path):
    file = tmp_path / "joint.json"
    file.write_text(json.dumps(identification.to_dict(), allow_nan=False))
    assert narxbench.JointModel.load(file) == identification.model


def test_series_without_inputs_keep_the_models_of_measured_outputs(rng):
    y = np.zeros((300, 2))
    for k in range(1, 300):
        y[k] = [[0.5, -0.4], [0.3, 0.6]] @ y[k - 1] + rng.standard_normal(2)
    identification = narxbench.identify({"a": y[:, 0], "b": y[:, 1]}, **{**JOINT, "input": None})
    assert identification.model.inputs == ()
    for part, output in zip(identification.model.models, "ab", strict=True):
        assert part.coefficients == identification.identifications[output].model.coefficients
    for verdict in identification.summary:
        assert "with the others as measured on" in verdict.text
    assert "nothing drives" in identification.notes[0].text


def test_lags_by_signal_a_row_without_one_of_the_outputs_and_no_test():
    data = coupled(back=0.0)
    data["b"][100] = np.nan
    identification = narxbench.identify(data, **{**JOINT, "u_lags": {"u": 1, "b": "1-2"}})
    assert values_of(identification.structures, "others") == [[], ["a"]]
    assert values_of(values_of(identification.summary, "values"), "role") == ["selection", "selection"]
    results = list(identification.identifications.values())
    assert results[0].configuration["u_lags"] == [[1], [1, 2]]
    for result in results:
        assert list(map(len, result.recording.records)) == [100, 299]


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("output", {"output": "a"}),
        ("output", {"output": ["a", "a"]}),
        ("output", {"output": np.zeros((400, 2))}),
        ("output", {"test_output": "a"}),
        ("output", {"joint": False}),
        ("bridge", {"bridge": 3}),
        ("include", {"include": ["u(k)"]}),
        ("horizon", {"horizon": 3}),
        ("u_lags", {"u_lags": {"v": 1}}),
    ],
)
def test_what_does_not_fit_is_refused(field, changes):
    with pytest.raises(narxbench.NarxbenchError, match=rf"^{field}: found .*; allowed: ") as refused:
        narxbench.identify(coupled(), **{**JOINT, **changes})
    assert refused.value.field == field and "\n" not in str(refused.value)


# The command line.


@pytest.fixture
def words(tmp_path):
    """Return a command on these data, without the outputs."""
    pd.DataFrame(coupled()).to_csv(tmp_path / "data.csv", index=False)
    options = "--input u --degree 1 --y-lags 1 --u-lags 1 --decimation 1 --effort 0.1 --noise narx"
    return ["identify", tmp_path / "data.csv", *options.split()]


BOTH = ["--output", "a", "--output", "b"]


def test_joint_models_in_a_terminal(words):
    lines = succeeded(*words, *BOTH, "--joint", "--test", "25%").splitlines()
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert "RRSE of joint free runs, test" in text and text.count("\nFINE  To predict: ") == 2


@pytest.mark.slow
def test_the_report_of_joint_models(identification, words, tmp_path):
    report = tmp_path / "report"
    joint = [*BOTH, "--joint", "--test", "25%", "--json", "--report", report]
    printed = json.loads(succeeded(*words, *joint))
    assert printed["equation"] == identification.model.equation()
    assert set(printed["outputs"]) == {"a", "b"} and printed["notes"][0]["title"] == "Outputs together"
    load = narxbench.JointModel.load
    assert load(report / "model.json") == load(report / "identification.json")
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "In joint free run on the test data the rms error of b is" in page
    assert "Joint models of a, b" in page and 'href="1-a/report.html"' in page
    for name in ("1-a/report.html", "2-b/report.html", "model.c", "model.py", "model.m"):
        assert (report / name).is_file()


@pytest.mark.slow
def test_a_model_of_each_output_on_the_command_line(words, tmp_path):
    printed = json.loads(succeeded(*words, *BOTH, "--json", "--report", str(tmp_path / "report")))
    assert set(printed) == {"a", "b"} and "u(k-1)" in printed["a"]["terms"]
    assert set(names_of(values_of((tmp_path / "report").glob("*/report.html"), "parent"))) == {"1-a", "2-b"}
    assert printed["a"]["terms"] == list(narxbench.identify(coupled(), input="u", output="a", **QUICK).model.terms)
    assert succeeded(*words, *BOTH).count("a from u") == 1


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ([*BOTH, "--test-output", "b"], "--output: found 2 with columns of the test"),
        (["--output", "a", "--other-outputs"], "(gone: input may name other outputs)"),
    ],
)
def test_mistakes_on_the_command_line(words, more, text):
    assert text in failed(*words, *more)
