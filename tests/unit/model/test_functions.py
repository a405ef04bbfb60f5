"""Inputs that are functions of others."""

import math

import numpy as np
import pytest

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._identification.trust.refit import refit
from narxbench._io.errors import NarxbenchError
from narxbench._model.functions import FUNCTIONS, applied, derived
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_numpy(name):
    values = np.array([-2.0, -0.5, 0.0, 0.5, 2.0, 1e4])
    with np.errstate(all="ignore"):
        expected = {"atan": np.arctan}.get(name, getattr(np, name, None))(values)
    expected[~np.isfinite(expected)] = math.nan
    np.testing.assert_allclose(applied(name, values), expected, rtol=1e-14)


def test_only_functions_of_an_input_that_is_there_are_derived():
    assert derived(["abs(u)", "v", "u", "tanh(w)", "exp(v)", "other(u)"]) == {0: ("abs", 2), 4: ("exp", 1)}
    assert derived(["u", "reciprocal(u)", "1/u"]) == {1: ("reciprocal", 0)}


def test_a_model_with_functions_needs_the_input_alone():
    u, y = generator(purpose="functions of inputs").standard_normal(300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.7 * y[k - 1] + abs(u[k - 1])
    # A search would have to be compiled.
    structure = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (1.0, 1.0, 1.0), ("u", "abs(u)"), "y")
    model = refit(structure, {"u": u, "y": y})
    np.testing.assert_allclose(model.coefficients, (0.7, 0.0, 1.0), atol=1e-9)
    from_both_columns = model.predict(np.column_stack([u, np.abs(u)]), y)
    np.testing.assert_array_equal(model.predict(u, y), from_both_columns)
    with pytest.raises(NarxbenchError):
        model.predict(np.ones((300, 3)), y)


def test_a_column_of_that_name_wins():
    data = {"u": np.arange(20.0), "abs(u)": np.arange(20.0) ** 2, "y": np.sin(np.arange(20.0))}
    recording = read_recording(data, input="u,abs(u)", output="y", time=False)
    np.testing.assert_array_equal(recording.records[0].u[:, 1], np.arange(20.0) ** 2)


@pytest.mark.parametrize("name", ["reciprocal", "sqrt", "log", "sin", "abs", "tanh", "exp"])
def test_a_saved_model_computes_functions(name, tmp_path):
    model = Model(("y(k-1)", "u2(k-1)"), (0.5, 0.3), ("u", f"{name}(u)"), "y")
    u = 0.1 + np.abs(generator(purpose="functions of inputs").standard_normal(20))
    model.save(tmp_path / "model.json")
    predicted = narxbench.load_model(tmp_path / "model.json").predict(u, [0.0])
    expected = [0.0]
    for value in u[:-1]:
        expected.append(0.5 * expected[-1] + 0.3 * FUNCTIONS[name](value))
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize(("name", "value"), [("reciprocal", 0.0), ("sqrt", -1.0), ("log", 0.0), ("exp", 1e4)])
def test_values_outside_of_the_domain_are_one_line(name, value):
    model = Model(("y(k-1)", "u2(k-1)"), (0.5, 0.3), ("valve", f"{name}(valve)"), "y")
    allowed = f"found {value:g} of valve at sample 3; allowed: values for which {name} is a finite number"
    with pytest.raises(NarxbenchError, match=f"^u: {allowed}$"):
        model.predict([1.0, 1.0, value, value], [0.0])
    with pytest.raises(NarxbenchError, match=f"^u_future: {allowed}$"):
        model.forecast([1.0, 1.0], [0.0, 0.0], [1.0, 1.0, value])


def test_a_quotient_is_a_function():
    data = {"u": np.arange(1.0, 21.0), "y": np.sin(np.arange(20.0))}
    recording = read_recording(data, input="u,1/u", output="y", time=False)
    assert recording.inputs == ("u", "reciprocal(u)")
    np.testing.assert_array_equal(recording.records[0].u[:, 1], 1 / data["u"])
    # A column of this name was measured.
    named = read_recording({**data, "1/u": data["u"] ** 2}, input="u,1/u", output="y", time=False)
    assert named.inputs == ("u", "1/u") and derived(named.inputs) == {}


def test_functions_follow_what_stands_in_for_their_input():
    u = np.sin(np.arange(200.0) / 30)
    u[94] = np.nan  # where u changes its sign
    recording = read_recording({"u": u, "y": np.arange(200.0) ** 2}, input="u,abs(u),sign(u)", output="y", time=False)
    (record,) = recording.records
    np.testing.assert_array_equal(record.u[:, 1:], np.column_stack([np.abs(record.u[:, 0]), np.sign(record.u[:, 0])]))
    assert " ".join(recording.notes).count("missing value") == 1
    cut = read_recording({"u": u, "y": u * 0 + 1}, input="u,abs(u)", output="y", time=False, bridge=0)
    assert len(cut.records) == 2


@pytest.mark.parametrize(
    ("columns", "reported"),
    [
        ("u,abz(u)", "did you mean 'abs'"),
        ("u,sqrt(u)", "line 3, column sqrt"),
        ("u,log(u)", "line 2, column log(u): found 0; allowed: values for which log is a finite number"),
        ("u,1/u", "line 2, column reciprocal(u): found 0; allowed: values for which reciprocal is a finite number"),
        ("abs(abs(u))", "a function of abs"),
    ],
)
def test_mistakes_are_one_line(columns, reported, tmp_path):
    lines = [f"{(-1) ** k * k},{k % 7}" for k in range(30)]
    (tmp_path / "data.csv").write_text("\n".join(["u,y", *lines, ""]))
    with pytest.raises(NarxbenchError) as refused:
        read_recording(tmp_path / "data.csv", input=columns, output="y")
    assert reported in str(refused.value) and "\n" not in str(refused.value)
