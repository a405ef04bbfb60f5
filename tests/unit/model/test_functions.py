"""Inputs that are functions of others."""

import math

import numpy as np
import pytest

from narxbench import Model, NarxbenchError, load_model, look, refit

FUNCTIONS = {
    **{name: getattr(np, name) for name in ("abs", "sign", "reciprocal", "sqrt", "exp", "log", "sin", "cos", "tan")},
    **{"tanh": np.tanh, "atan": np.arctan},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_numpy_and_have_its_domain(name, tmp_path):
    model = Model(("u2(k)",), (1.0,), ("valve", f"{name}(valve)"), "y")
    model.save(tmp_path / "model.json")
    for value in (-2.0, -0.5, 0.0, 0.5, 2.0, 1e4):
        with np.errstate(all="ignore"):
            expected = float(FUNCTIONS[name](np.float64(value)))
        if math.isfinite(expected):
            predicted = load_model(tmp_path / "model.json").predict([value, value], [])
            np.testing.assert_allclose(predicted, [expected] * 2, rtol=1e-14)
            continue
        allowed = f"found {value:g} of valve at sample 2; allowed: values for which {name} is a finite number"
        with pytest.raises(NarxbenchError, match=f"^u: {allowed}$"):
            model.predict([1.0, value, value], [])
        with pytest.raises(NarxbenchError, match=f"^u_future: {allowed}$"):
            model.forecast([1.0], [0.0], [1.0, value])


def test_a_model_with_functions_needs_the_input_alone():
    u = np.random.default_rng(1).standard_normal(300)
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.7, 0.0, 1.0), ("u", "abs(u)"), "y")
    y = model.predict(np.column_stack([u, np.abs(u)]), [0.0])
    np.testing.assert_array_equal(model.predict(u, y), y)
    np.testing.assert_allclose(refit(model, {"u": u, "y": y}).coefficients, (0.7, 0.0, 1.0), atol=1e-9)
    with pytest.raises(NarxbenchError):
        model.predict(np.ones((300, 3)), y)


def test_a_column_of_that_name_wins():
    data = {"u": np.arange(1.0, 21.0), "y": np.sin(np.arange(20.0))}
    columns = {"reciprocal(u)": 1 / data["u"], "abs(u)": data["u"] ** 2, "1/u": data["u"] ** 2}
    for name, values in columns.items():
        measured = {} if name == "reciprocal(u)" else {name: values}
        asked = "u,1/u" if name == "reciprocal(u)" else f"u,{name}"
        recording = look(data | measured, "y", input=asked, time=False).recording
        assert recording.inputs == ("u", name)
        np.testing.assert_array_equal(recording.records[0].u[:, 1], values)
    # The name of a measured column is no function in a model either.
    model = Model(("u1(k)", "u2(k)"), (1.0, 1.0), ("u", "1/u"), "y")
    assert model.predict([[1.0, 5.0]], []).tolist() == [6.0]


def test_functions_follow_what_stands_in_for_their_input():
    u = np.sin(np.arange(200.0) / 30)
    u[94] = np.nan  # where u changes its sign
    data = {"u": u, "y": np.arange(200.0) ** 2}
    recording = look(data, "y", input="u,abs(u),sign(u)", time=False).recording
    (record,) = recording.records
    np.testing.assert_array_equal(record.u[:, 1:], np.column_stack([np.abs(record.u[:, 0]), np.sign(record.u[:, 0])]))
    assert " ".join(recording.notes).count("missing value") == 1
    assert len(look(data, "y", input="u,abs(u)", time=False, bridge=0).recording.records) == 2
