"""Several outputs identified together."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.lookups import names_of

import narxbench
from narxbench._cli import main
from narxbench._identification.joint import (
    JointData,
    joint_verdicts,
    relative_errors,
    select_combination,
    signals_of,
)
from narxbench._identification.search.outside import joint_run_leaves_all_bounds
from narxbench._io.errors import FieldError
from narxbench._model.joint import JointModel
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator
from narxbench._report.joint_summary import joint_summary_lines

QUICK = {"degree": 1, "y_lags": 1, "u_lags": 1, "decimation": 1, "effort": 0.1, "noise": "narx"}
JOINT = {"output": ["a", "b"], "input": "u", "joint": True, **QUICK}


def coupled(noise=0.05, samples=400):
    rng = generator(purpose="joint outputs")
    u, a, b = rng.standard_normal(samples), np.zeros(samples), np.zeros(samples)
    for k in range(1, samples):
        a[k] = 0.5 * a[k - 1] - 0.3 * b[k - 1] + u[k - 1]
        b[k] = 0.8 * b[k - 1] + 0.3 * a[k - 1]
    return {"u": u, "a": a + noise * rng.standard_normal(samples), "b": b + noise * rng.standard_normal(samples)}


@pytest.fixture(scope="module")
def identification():
    return narxbench.identify(coupled(), test="25%", **JOINT)


def test_coupled_outputs_are_found(identification):
    model = identification.model
    assert model.outputs == ("a", "b") and model.inputs == ("u",)
    for part, weights in zip(model.models, ((0.5, 1.0, -0.3), (0.8, 0.3)), strict=True):
        np.testing.assert_allclose(part.coefficients, weights, atol=0.05)
    assert [row["others"] for row in identification.structures] == [["b"], ["a"]]
    assert list(identification.identifications) == ["a", "b"]
    assert identification.identifications["b"].model.inputs == ("u", "a")


def test_errors_are_those_of_joint_free_runs(identification):
    data = coupled()
    outputs = np.column_stack([data["a"], data["b"]])[300:]
    run = identification.model.simulate(data["u"][300:], outputs)
    first = identification.model.initial_samples
    expected = relative_errors([(outputs[first:], run[first:])])
    assert list(identification.rrse(role="test").values()) == pytest.approx(expected, rel=1e-9)
    assert set(identification.errors["models"]) == {"joint", "as_measured"}
    assert max(identification.rrse("joint").values()) <= max(identification.rrse("as_measured").values())


def test_the_note_says_how_they_were_chosen(identification):
    (note,) = identification.notes
    assert note.status == "fine" and note.title == "Outputs together"
    assert "a (sparse, 3 terms) depends on b; b (sparse, 2 terms) depends on a." in note.text
    assert "RRSE: a " in repr(identification)


def test_each_output_has_its_verdict(identification):
    for verdict, output in zip(identification.summary, "ab", strict=True):
        rrse = identification.rrse(role="test")[output]
        assert (verdict.name, verdict.status, verdict.values["output"]) == ("to_predict", "fine", output)
        assert verdict.values["rrse"] == pytest.approx(rrse, rel=0.05)
        assert f"In joint free run on the test data the rms error of {output} is " in verdict.text
    assert "To predict: a fine, b fine" in repr(identification)
    entries = identification.to_dict()["summary"]
    assert [entry["title"] for entry in entries] == ["To predict", "To predict"]
    lines = joint_summary_lines(identification)
    assert sum(line.startswith("FINE  To predict: ") for line in lines) == 2


def test_only_the_output_that_diverges_is_bad(identification):
    recordings = tuple(result.recording for result in identification.identifications.values())
    diverging = Model(("y(k-1)", "u1(k-1)"), (3.0, 1.0), ("u", "a"), "b")
    alone = Model(("y(k-1)", "u1(k-1)"), (0.5, 1.0), ("u", "b"), "a")
    model = JointModel((alone, diverging))
    signals = [signals_of(list(recordings[0].of_role(role)), 2) for role in (None, "test")]
    # Parts of very short data may differ: then all known data count.
    candidates = [SimpleNamespace(models=[alone]), SimpleNamespace(models=[diverging, diverging])]
    trial = SimpleNamespace(is_driven=True, signals=signals[0], chosen=lambda _: candidates)
    selection = SimpleNamespace(trial=trial, combination=(0, 0))
    verdicts = joint_verdicts(JointData(recordings), identification.identifications, selection, model, signals[1])
    assert not verdicts[0].values["diverged"] and verdicts[0].values["rmse"] > 0
    assert verdicts[1].status == "bad"
    assert "The joint free run of b diverges on the data of test." in verdicts[1].text
    without_test = joint_verdicts(JointData(recordings), identification.identifications, selection, model, [])
    assert without_test[0].status != "fine" and without_test[0].values["role"] == "estimation"


def test_the_file_gives_back_the_model(identification, tmp_path):
    file = tmp_path / "joint.json"
    file.write_text(json.dumps(identification.to_dict(), allow_nan=False))
    assert JointModel.load(file) == identification.model


@pytest.mark.slow
def test_the_test_record_does_not_matter(identification):
    data = coupled()
    data["b"][350:] = 7.0
    # A value that comes back and is far from all others might be a code for missing ones.
    again = narxbench.identify(data, test="25%", missing="none", **JOINT)
    for model, other_model in zip(again.model.models, identification.model.models, strict=True):
        assert (model.terms, model.coefficients) == (other_model.terms, other_model.coefficients)
    assert [verdict.status for verdict in again.summary] == ["fine", "bad"]


@pytest.mark.slow
def test_outputs_that_do_not_act_on_each_other_have_models_of_the_input_alone():
    rng = generator(purpose="apart")
    u, a, b = rng.standard_normal(300), np.zeros(300), np.zeros(300)
    for k in range(1, 300):
        a[k] = 0.5 * a[k - 1] + u[k - 1]
        b[k] = 0.8 * b[k - 1] + 0.3 * u[k - 1]
    data = {"u": u, "a": a + 0.1 * rng.standard_normal(300), "b": b + 0.1 * rng.standard_normal(300)}
    identification = narxbench.identify(data, **JOINT)
    assert [row["others"] for row in identification.structures] == [[], []]
    (note,) = identification.notes
    assert note.status == "look" and note.text.endswith("b (sparse, 2 terms) depends on no other output.")


@pytest.mark.slow
def test_series_without_inputs_keep_the_models_of_measured_outputs():
    rng = generator(purpose="vector series")
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
    assert identification.forecast(None, y, steps=3).shape == (3, 2)


@pytest.mark.slow
def test_long_records_are_judged_on_the_same_stretches(monkeypatch):
    monkeypatch.setattr("narxbench._identification.search.plan.MOST_STEPS", 200)
    identification = narxbench.identify(coupled(samples=1000), **JOINT)
    np.testing.assert_allclose(identification.model.models[1].coefficients, (0.8, 0.3), atol=0.05)


@pytest.mark.slow
def test_a_row_without_one_of_the_outputs_is_missing_to_both():
    data = coupled()
    data["b"][100] = np.nan
    identification = narxbench.identify(data, **JOINT)
    for result in identification.identifications.values():
        assert list(map(len, result.recording.records)) == [100, 299]


@pytest.mark.slow
def test_lags_may_be_given_by_signal():
    identification = narxbench.identify(coupled(), **{**JOINT, "u_lags": {"u": 1, "b": "1-2"}, "y_lags": 1})
    configurations = [result.configuration["u_lags"] for result in identification.identifications.values()]
    assert configurations[0] == [[1], [1, 2]]


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_models_so_far(monkeypatch):
    searched = []

    def search(recording, *_):
        searched.append(recording.output)
        raise KeyboardInterrupt

    monkeypatch.setattr("narxbench._identification.joint.search_recording", search)
    identification = narxbench.identify(coupled(), **JOINT)
    assert searched == ["a"] and identification.model.outputs == ("a", "b")
    assert names_of(identification.notes) == ["interrupted", "joint"]
    assert not identification.notes[1].values["simulated"]
    monkeypatch.setattr("narxbench._identification.joint.was_interrupted", lambda _: True)
    with pytest.raises(KeyboardInterrupt):
        narxbench.identify(coupled(), **JOINT)


def test_several_outputs_without_joint_are_refused_in_a_line():
    with pytest.raises(narxbench.NarxbenchError) as refused:
        narxbench.identify(coupled(), ["a", "b"], input="u", **QUICK)
    assert "joint=True" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("output", {"output": "a"}),
        ("output", {"output": ["a"]}),
        ("output", {"output": ["a", "a"]}),
        ("output", {"output": np.zeros((400, 2))}),
        ("output", {"test_output": "a"}),
        ("bridge", {"bridge": 3}),
        ("include", {"include": ["u(k)"]}),
        ("horizon", {"horizon": 3}),
        ("u_lags", {"u_lags": {"v": 1}}),
    ],
)
def test_what_does_not_fit_is_refused(field, changes):
    with pytest.raises(FieldError, match=r"found .*; allowed: ") as refused:
        narxbench.identify(coupled(), **{**JOINT, **changes})
    assert refused.value.field == field and "\n" not in str(refused.value)


# The choice among combinations.


class Trial(SimpleNamespace):
    """Two outputs with two candidates each: number 0 without other outputs, number 1 with them."""

    starts = ((0, 0), (1, 1))
    candidates = ((None, None), (None, None))
    is_driven = True

    def error(self, combination):
        return self.errors[combination]

    def n_terms(self, combination):
        return self.terms[combination]

    def leaves_all_bounds(self, combination):
        return combination in self.unbounded


ERRORS = {(0, 0): 0.5, (0, 1): 0.103, (1, 0): math.inf, (1, 1): 0.1}
TERMS = {(0, 0): 2, (0, 1): 4, (1, 0): 5, (1, 1): 8}


@pytest.mark.parametrize(
    ("errors", "unbounded", "combination", "is_bounded"),
    [
        ({**ERRORS, (0, 1): 0.11}, (), (1, 1), True),
        (ERRORS, (), (0, 1), True),
        (ERRORS, ((1, 1), (0, 1)), (0, 0), True),
        (ERRORS, ((1, 1), (0, 1), (0, 0)), (0, 0), False),
    ],
)
def test_the_fewest_terms_leave_among_those_of_low_error_within_bounds(errors, unbounded, combination, is_bounded):
    trial = Trial(errors=errors, terms=TERMS, unbounded=unbounded)
    selection = select_combination(trial)
    assert (selection.combination, selection.is_bounded) == (combination, is_bounded)
    assert selection.n_unbounded == len(unbounded) and selection.n_compared == 4


@pytest.mark.parametrize(("weight", "leaves"), [(0.4, False), (0.6, True)])
def test_two_outputs_that_drive_each_other_leave_all_bounds(weight, leaves):
    terms = ("y(k-1)", "u1(k-1)", "u2(k-1)")
    model = JointModel(
        (
            Model(terms, (0.5, weight, 1.0), ("b", "u"), "a"),
            Model(terms, (0.5, weight, 1.0), ("a", "u"), "b"),
        )
    )
    rng = generator(purpose="bounds")
    assert joint_run_leaves_all_bounds(model, rng.uniform(-1, 1, (50, 1)), rng.uniform(-1, 1, (50, 2))) == leaves


def test_signals_stand_in_the_order_of_the_outputs(identification):
    (signals,) = signals_of(identification.identifications["a"].recording.known, 2)
    data = coupled()
    np.testing.assert_array_equal(signals.u[:, 0], data["u"][:300])
    np.testing.assert_array_equal(signals.y, np.column_stack([data["a"], data["b"]])[:300])


# The command line and the page.


def command(tmp_path, *words):
    file = tmp_path / "data.csv"
    pd.DataFrame(coupled()).to_csv(file, index=False)
    command = ["identify", str(file), "--input", "u", "--output", "a", "--output", "b", "--joint", *words]
    for name, value in QUICK.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    return command


def check_report(folder):
    """Check that the report of two outputs is whole, and judges each."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "In joint free run on the test data b is" in page
    assert "Joint models of a, b" in page and 'href="1-a/report.html"' in page
    for name in ("1-a/report.html", "2-b/report.html", "model.c", "model.py", "model.m"):
        assert (folder / name).is_file()


@pytest.mark.slow
def test_on_the_command_line(identification, tmp_path, capsys):
    report = tmp_path / "report"
    words = command(tmp_path, "--test", "25%", "--json", "--report", str(report))
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["equation"] == identification.model.equation()
    assert set(printed["outputs"]) == {"a", "b"} and printed["notes"][0]["title"] == "Outputs together"
    assert JointModel.load(report / "model.json") == JointModel.load(report / "identification.json")
    assert [entry["status"] for entry in printed["summary"]] == ["fine", "fine"]
    check_report(report)
    assert main(command(tmp_path, "--test", "25%")) == 0
    shown = capsys.readouterr().out
    assert "RRSE of joint free runs, test" in shown and max(map(len, shown.splitlines())) <= 100
