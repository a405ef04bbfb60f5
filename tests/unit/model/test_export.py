"""Exported programs are run by what they are for, and compared with the model's own prediction."""

import itertools
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.regression import term_names

from narxbench._model.functions import completed, derived
from narxbench._model.narx import DivergedError, Model
from narxbench._model.terms import monomials_of

ARX = (("y(k-1)", "u(k-1)"), (0.7, 0.4))
# Names that would end a comment, or go on with the next line, if they were written as they are.
NAMES = {"inputs": ('in */ """ ??/', "second\\"), "output": "out\n(V)\\"}
CASES = {
    "linear": Model(*ARX, ("u",), "y"),
    "one output": Model(("y(k-3)", "1", "y(k-1)^2"), (-0.6, 0.3, -0.2), (), "y"),
    "current input": Model(("y(k-1)", "u(k)", "u(k-1)*u(k)"), (0.5, 0.3, -0.1), ("u",), "y"),
    "only the current input": Model(("u(k)", "1"), (0.3, 2e-5), ("u",), "y"),
    "late output": Model(("y(k-3)", "u(k)"), (0.5, 0.3), ("u",), "y"),
    "two inputs": Model(
        ("y(k-1)", "u1(k-3)", "y(k-2)*u2(k)", "u1(k-1)*u2(k-2)", "1"), (0.5, 1.2, 0.1, -0.25, 1e-7), **NAMES
    ),
    "three inputs": Model(("u3(k-1)", "u1(k-2)*u3(k-1)", "y(k-1)"), (0.5, 1.2, 0.1), ("a", "b", "c"), "y"),
    "functions": Model(
        ("y(k-1)", "u1(k-1)", "u2(k)*u4(k-2)", "u3(k-1)", "u5(k-1)"),
        (0.5, 0.2, 0.4, -0.3, 0.1),
        ("abs(v)", "v", "sign(v)", "tanh(v)", "w"),
        "y",
        offsets=(0.0, 0.1, 0.0, 0.0, 0.2, 0.0),
        scales=(1.0, 2.0, 1.0, 1.0, 0.5, 1.0),
    ),
    "functions of positive inputs": Model(
        ("y(k-1)", "u2(k-1)", "u3(k-1)", "u4(k)", "u5(k-2)", "u6(k-1)", "u7(k-1)", "u8(k-1)", "u9(k-1)"),
        (0.5, 0.1, 0.2, -0.1, 0.05, 0.03, -0.02, 0.04, 0.07),
        ("v", *(f"{name}(v)" for name in ("reciprocal", "sqrt", "log", "sin", "cos", "tan", "atan", "abs"))),
        "y",
        offsets=(0.0,) * 2 + (1.5,) + (0.0,) * 7,
    ),
    "a function": Model(("y(k-1)", "u2(k-1)"), (0.5, 0.2), ("v", "exp(v)"), "y"),
    "scaled": Model(
        ("y(k-1)", "y(k-2)^2*u1(k-1)", "u2(k-1)", "1"),
        (0.4, 0.1, 0.3, -0.2),
        ("p", "q"),
        "y",
        offsets=(-1.5, 0.7, 0.0),
        scales=(2.5, 1.0, 0.3),
        units={"y": "V"},
    ),
    "scaled alone": Model(("y(k-1)", "y(k-2)^3"), (0.9, -0.05), (), "y", offsets=(0.25,), decimation=2),
}
CASES["decimated current input"] = Model(**{**vars(CASES["current input"]), "decimation": 4, "scales": (3.0, 0.5)})


def data(model, samples=60):
    """Return the model for its own sampling, and inputs and outputs of it."""
    rng = np.random.default_rng(5)
    u = rng.uniform(-1, 1, (samples, model.n_inputs))
    if "log(v)" in model.inputs:
        u = np.abs(u) + 0.1
    u = completed(model.inputs, u)
    decimated = model.decimated()
    y = decimated.predict(u, rng.uniform(-0.5, 0.5, decimated.initial_samples), samples=samples)
    return decimated, u, y


def without_functions(model, u):
    """Return the inputs that a program takes: it computes those that are functions of them."""
    return np.delete(u, [*derived(model.inputs)], axis=1)


def arguments(model, u, y):
    """Return the arguments of a program in Python, as plain data."""
    initial, u = y[: model.initial_samples].tolist(), without_functions(model, u)
    if not model.n_inputs:
        return initial, len(y)
    if u.shape[1] == 1:
        u = u[:, 0]
    return u.tolist(), initial


@pytest.fixture(params=CASES)
def model(request):
    return CASES[request.param]


def run_in_python(model, u, y):
    """Return the free run of the program in Python, which needs no package."""
    program, space = model.export("python", "tank"), {}
    assert "numpy" not in program
    exec(program, space)
    return space["tank_simulate"](*arguments(model.decimated(), u, y))


def test_python(model):
    _, u, y = data(model)
    assert run_in_python(model, u, y) == y.tolist()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_model_in_python(data):
    """Programs repeat predictions to the last bit, with any offsets, scales and coefficients."""
    n_inputs = data.draw(st.integers(0, 2))
    factors = [(0, 1), (0, 3), *itertools.product(range(1, 1 + n_inputs), (0, 2))]
    chosen = data.draw(st.lists(st.sampled_from(monomials_of(factors, 4)), min_size=1, max_size=8, unique=True))
    weights = data.draw(st.lists(st.floats(-0.3, 0.3), min_size=len(chosen), max_size=len(chosen)))
    several = {"min_size": 1 + n_inputs, "max_size": 1 + n_inputs}
    model = Model(
        term_names(chosen, n_inputs),
        weights,
        ["a", "b"][:n_inputs],
        "y",
        offsets=data.draw(st.none() | st.lists(st.floats(-2, 2), **several)),
        scales=data.draw(st.none() | st.lists(st.floats(0.5, 2), **several)),
    )
    u = np.random.default_rng(1).uniform(-1, 1, (30, n_inputs))
    y = [0.5, -0.25, 0.125][: model.initial_samples]
    try:
        expected = model.predict(u, y)
    except DivergedError:
        return
    assert run_in_python(model, u, expected) == expected.tolist()


C_MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    static double u[10000], y[10000];
    size_t n = %d;
    for (size_t i = 0; i < n * %d; i++) if (scanf("%%lf", &u[i]) != 1) return 1;
    for (size_t i = 0; i < %d; i++) if (scanf("%%lf", &y[i]) != 1) return 1;
    tank_simulate(%s);
    for (size_t i = 0; i < n; i++) printf("%%.17g\\n", y[i]);
    return 0;
}
"""


@pytest.mark.ci
def test_c(model, tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    decimated, u, y = data(model)
    u, initial_samples = without_functions(decimated, u), decimated.initial_samples
    main = C_MAIN % (len(y), u.shape[1], initial_samples, "u, y, n" if model.n_inputs else "y, n")
    main = main.replace("i < 0;", "i + 1 < 1;").replace("i < n * 0;", "i + 1 < 1;")
    (tmp_path / "tank.c").write_text(model.export("c", "tank") + main, encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
    command = ["gcc", *strict, "-o", "tank", "tank.c", "-lm"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.stderr == ""
    numbers = " ".join(map(repr, [*u.ravel().tolist(), *y[:initial_samples].tolist()]))
    completed_run = subprocess.run([tmp_path / "tank"], input=numbers, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(list(map(float, completed_run.stdout.split())), y, rtol=1e-12, atol=1e-14)


@pytest.mark.ci
def test_matlab(tmp_path):
    """All cases in one process: a start takes longer than the runs."""
    if not shutil.which("octave-cli"):
        pytest.skip("no Octave (Debian's package octave)")
    script, expected = [], []
    for i, model in enumerate(CASES.values()):
        decimated, u, y = data(model)
        (tmp_path / f"tank_{i}.m").write_text(model.export("matlab", f"tank_{i}"), encoding="utf-8")
        initial = octave_matrix(y[: decimated.initial_samples, None])
        if model.n_inputs:
            call = f"{octave_matrix(without_functions(decimated, u))}, {initial}"
        else:
            call = f"{initial}, {len(y)}"
        script.append(f"printf('%.17g ', tank_{i}({call})); printf('\\n');")
        expected.append(y)
    completed_run = subprocess.run(
        ["octave-cli", "--no-init-file", "--eval", "\n".join(script)], cwd=tmp_path, capture_output=True, text=True
    )
    lines = completed_run.stdout.splitlines()
    assert len(lines) == len(expected), completed_run.stderr
    for line, y in zip(lines, expected, strict=True):
        np.testing.assert_allclose(list(map(float, line.split())), y, rtol=1e-12, atol=1e-14)


def octave_matrix(rows):
    """Return rows of numbers as Octave writes a matrix."""
    return f"[{'; '.join(' '.join(map(repr, row)) for row in rows.tolist())}]"


@pytest.mark.ci
def test_sysidentpy(model):
    pytest.importorskip("sysidentpy")
    decimated, u, y = data(model)
    space = {}
    exec(model.export("sysidentpy", "tank"), space)
    tank, first = space["tank"], decimated.initial_samples
    measured = y + np.random.default_rng(6).normal(0, 0.1, len(y))
    measured[:first] = y[:first]
    if model.n_inputs:
        free_run = tank.predict(X=u, y=measured[:, None])
        one_step = tank.predict(X=u, y=measured[:, None], steps_ahead=1)
        fewest = tank.predict(X=u, y=measured[: max(first, 1), None])
        np.testing.assert_allclose(fewest[:, 0], y, rtol=1e-12, atol=1e-12)
    else:
        free_run = tank.predict(y=measured[:, None], forecast_horizon=len(y) - first)
        one_step = tank.predict(X=None, y=measured[:, None], steps_ahead=1)
    np.testing.assert_allclose(free_run[:, 0], y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one_step[:, 0], decimated.predict(u, measured, steps=1), rtol=1e-12, atol=1e-12)


def test_the_comment_says_what_is_to_be_given():
    model = Model(
        *ARX, ("duty cycle",), "voltage", decimation=12, sampling_time=1e-5, units={"voltage": "V"}, data_digest="ab12"
    )
    for language, mark in (("python", "#"), ("c", "//"), ("matlab", "%"), ("sysidentpy", "#")):
        lines = {line.removeprefix(f"{mark} ") for line in model.export(language).splitlines()}
        assert lines >= {
            *("y(k) = 0.7 y(k-1) + 0.4 u(k-1)", "y: voltage (V)", "u: duty cycle"),
            *(
                "Give every 12th sample of the data: one step of k is 120 µs.",
                "SHA-256 of the data that it is from: ab12",
            ),
        }
    assert "Order of the inputs: a, b, c." in CASES["three inputs"].export("c")
