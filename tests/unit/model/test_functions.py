"""Inputs that are functions of others."""

import math

import numpy as np
import pytest

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._io.errors import NarxbenchError
from narxbench._model.functions import FUNCTIONS, applied, derived
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


def test_a_model_with_functions_needs_the_input_alone():
    u, y = generator(purpose="functions of inputs").standard_normal(300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.7 * y[k - 1] + abs(u[k - 1])
    settings = {"degree": 1, "y_lags": 1, "u_lags": 1, "decimation": 1, "blocks": 2, "seeds": 1}
    model = narxbench.identify({"u": u, "y": y}, input="u,abs(u)", output="y", **settings).model
    weights = dict(zip(model.terms, model.coefficients, strict=True))
    assert model.inputs == ("u", "abs(u)") and weights["u2(k-1)"] == pytest.approx(1, abs=0.01)
    from_both_columns = model.predict(np.column_stack([u, np.abs(u)]), y)
    np.testing.assert_array_equal(model.predict(u, y), from_both_columns)
    with pytest.raises(NarxbenchError):
        model.predict(np.ones((300, 3)), y)


def test_a_column_of_that_name_wins():
    data = {"u": np.arange(20.0), "abs(u)": np.arange(20.0) ** 2, "y": np.sin(np.arange(20.0))}
    recording = read_recording(data, input="u,abs(u)", output="y", time=False)
    np.testing.assert_array_equal(recording.records[0].u[:, 1], np.arange(20.0) ** 2)


@pytest.mark.parametrize(
    ("columns", "reported"),
    [("u,abz(u)", "did you mean 'abs'"), ("u,sqrt(u)", "line 3, column sqrt"), ("abs(abs(u))", "a function of abs")],
)
def test_mistakes_are_one_line(columns, reported, tmp_path):
    lines = [f"{(-1) ** k * k},{k % 7}" for k in range(30)]
    (tmp_path / "data.csv").write_text("\n".join(["u,y", *lines, ""]))
    with pytest.raises(NarxbenchError) as refused:
        read_recording(tmp_path / "data.csv", input=columns, output="y")
    assert reported in str(refused.value) and "\n" not in str(refused.value)
