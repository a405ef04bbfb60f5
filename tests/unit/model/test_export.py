"""Exported programs of models are run by what they are for, and compared with the model's own prediction."""

import ctypes
import math
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lookups import values_of
from tests.unit.model.models import models, signals

from narxbench import DivergedError, JointModel, Model

# Names that would end a comment, or go on with the next line, if they were written as they are.
NAMES = {"inputs": ('in */ """ ??/', "second\\"), "output": "out\n(V)\\"}
FUNCTIONS = ("reciprocal", "sqrt", "log", "sin", "cos", "tan", "atan", "exp")
SINGLE = {
    "one output": Model(("y(k-3)", "1", "y(k-1)^2"), (-0.6, 0.3, -0.2), (), "y"),
    "current input": Model(("y(k-1)", "u(k)", "u(k-1)*u(k)"), (0.5, 0.3, -0.1), ("u",), "y", decimation=4),
    "only the current input": Model(("u(k)", "1"), (0.3, 2e-5), ("u",), "y"),
    "late output": Model(("y(k-3)", "u(k)"), (0.5, 0.3), ("u",), "y"),
    "two inputs": Model(
        ("y(k-1)", "u1(k-3)", "y(k-2)*u2(k)", "u1(k-1)*u2(k-2)", "1"), (0.5, 1.2, 0.1, -0.25, 1e-7), **NAMES
    ),
    "three inputs": Model(("u3(k-1)", "u1(k-2)*u3(k-1)", "y(k-1)"), (0.5, 1.2, 0.1), ("a", "b", "c"), "y"),
    "functions": Model(
        ("y(k-1)", "u1(k-1)", "u2(k)*u4(k-2)", "u3(k-1)", *(f"u{number}(k)" for number in range(6, 14))),
        (0.5, 0.2, 0.4, -0.3, 0.1, 0.2, -0.1, 0.05, 0.03, -0.02, 0.04, 0.07),
        ("abs(v)", "v", "sign(v)", "tanh(v)", "w", *(f"{name}(w)" for name in FUNCTIONS)),
        "y",
        offsets=(0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 1.5) + (0.0,) * 7,
        scales=(1.0, 2.0, 1.0, 1.0, 0.5) + (1.0,) * 9,
    ),
    "scaled": Model(
        ("y(k-1)", "y(k-2)^2*u1(k-1)", "u2(k-1)", "1"),
        (0.4, 0.1, 0.3, -0.2),
        ("p", "q"),
        "y",
        offsets=(-1.5, 0.7, 0.0),
        scales=(2.5, 1.0, 0.3),
        units={"y": "V"},
    ),
}
# Each output acts on the other one; one is centred, and has another step.
UPPER = Model(("y(k-1)", "u1(k-1)", "u2(k-1)*y(k-2)", "1"), (0.5, 0.8, -0.1, 0.05), ("u", "b"), "a")
LOWER = Model(
    ("y(k-1)", "u1(k)", "u2(k-1)^2"),
    (0.7, 0.4, -0.2),
    ("a", "u"),
    "b",
    offsets=(0.2, 0.1, 0.0),
    scales=(2.0, 1.0, 0.5),
)
JOINT = {
    "coupled": JointModel((UPPER, LOWER)),
    "two steps": JointModel((replace(UPPER, decimation=4), replace(LOWER, decimation=2))),
    "joint functions": JointModel((replace(UPPER, inputs=("u", "abs(u)")), LOWER)),
    "no inputs": JointModel(
        (Model(("y(k-1)", "u(k-2)"), (0.5, -0.6), ("b",), "a"), Model(("y(k-1)", "u(k-1)"), (0.4, 0.7), ("a",), "b"))
    ),
    "joint inputs": JointModel(
        (Model(("y(k-1)", "u2(k-1)"), (0.5, 1.0), ("u", "v"), "a"), Model(("u2(k-3)",), (0.7,), ("u", "a"), "b"))
    ),
}
CASES = SINGLE | JOINT


def run_of(model, samples=60):
    """Return inputs, first outputs and the whole run of a program, in its own steps; all have columns."""
    rng = np.random.default_rng(5)
    arguments = [name for name in model.inputs if "(" not in name or name in NAMES["inputs"]]
    u = rng.uniform(-1, 1, (samples, len(arguments)))
    if "w" in arguments:
        u[:, arguments.index("w")] = np.abs(u[:, arguments.index("w")]) + 0.1
    if isinstance(model, Model):
        model = model.decimated()
        initial = rng.uniform(-0.5, 0.5, (model.initial_samples, 1))
        return u, initial, model.predict(u if arguments else None, initial, samples=samples)[:, None]
    # All samples of a step are alike, so that the phases are.
    step = math.gcd(*values_of(model.models, "decimation"))
    initial = rng.uniform(-0.5, 0.5, (model.initial_samples // step, model.n_outputs))
    inputs = np.repeat(u, step, 0) if arguments else None
    return u, initial, model.simulate(inputs, np.repeat(initial, step, 0), samples=samples * step)[::step]


def run_in_python(model, u, initial, samples):
    """Return the free run of the program in Python, which needs no package."""
    program, space = model.export("python", "tank"), {}
    assert "numpy" not in program
    exec(program, space)
    if isinstance(model, Model):
        initial, u = initial[:, 0], u[:, 0] if u.shape[1] == 1 else u
    arguments = (u.tolist(), initial.tolist()) if u.size else (initial.tolist(), samples)
    return space["tank_simulate"](*arguments)


@pytest.fixture(params=CASES)
def model(request):
    return CASES[request.param]


def test_python(model):
    u, initial, expected = run_of(model)
    run = run_in_python(model, u, initial, len(expected))
    np.testing.assert_allclose(np.reshape(run, expected.shape), expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(models(), st.integers(0, 2**32))
def test_any_model_in_python(model, seed):
    """Programs repeat predictions to the last bit, with any offsets, scales and coefficients."""
    model = model.decimated()
    u, y = signals(model, 30, seed)
    initial = y[: model.initial_samples, None]
    try:
        expected = model.predict(u, initial)
    except DivergedError:
        return
    assert run_in_python(model, u, initial, 30) == expected.tolist()


@pytest.mark.ci
def test_c(model, tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    u, initial, expected = run_of(model)
    (tmp_path / "tank.c").write_text(model.export("c", "tank"), encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    command = ["gcc", *strict, "-o", "tank.so", "tank.c", "-lm"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr == ""
    run = np.zeros_like(expected)
    run[: len(initial)] = initial
    arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (u, run) if array.size]
    ctypes.CDLL(tmp_path / "tank.so").tank_simulate(*arrays, ctypes.c_size_t(len(run)))
    np.testing.assert_allclose(run, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.ci
def test_matlab(tmp_path):
    """All cases in one process: a start takes longer than the runs."""
    if not shutil.which("octave-cli"):
        pytest.skip("no Octave (Debian's package octave)")
    script, runs = [], []
    for i, model in enumerate(CASES.values()):
        u, initial, expected = run_of(model)
        (tmp_path / f"tank_{i}.m").write_text(model.export("matlab", f"tank_{i}"), encoding="utf-8")
        arguments = f"{octave_matrix(u)}, {octave_matrix(initial)}" if u.size else f"{octave_matrix(initial)}, 60"
        script.append(f"printf('%.17g ', tank_{i}({arguments})'); printf('\\n');")
        runs.append(expected)
    command = ["octave-cli", "--no-init-file", "--eval", "\n".join(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(runs), done.stderr
    for line, expected in zip(lines, runs, strict=True):
        run = np.array(line.split(), float).reshape(expected.shape)
        np.testing.assert_allclose(run, expected, rtol=1e-12, atol=1e-14)


def octave_matrix(rows):
    """Return rows of numbers as Octave writes a matrix."""
    return str(rows.tolist()).replace("], [", "; ")


@pytest.mark.ci
@pytest.mark.parametrize("name", sorted(SINGLE.keys() - {"functions"}))
def test_sysidentpy(name):
    pytest.importorskip("sysidentpy")
    model = SINGLE[name]
    u, _, y = run_of(model)
    decimated, space = model.decimated(), {}
    exec(model.export("sysidentpy", "tank"), space)
    tank, first = space["tank"], decimated.initial_samples
    measured = y + np.random.default_rng(6).normal(0, 0.1, y.shape)
    measured[:first] = y[:first]
    if model.n_inputs:
        free_run = tank.predict(X=u, y=measured)
        one_step = tank.predict(X=u, y=measured, steps_ahead=1)
    else:
        free_run = tank.predict(y=measured, forecast_horizon=len(y) - first)
        one_step = tank.predict(X=None, y=measured, steps_ahead=1)
    np.testing.assert_allclose(free_run, y, rtol=1e-12, atol=1e-12)
    expected = decimated.predict(u if model.n_inputs else None, measured, steps=1)
    np.testing.assert_allclose(one_step[:, 0], expected, rtol=1e-12, atol=1e-12)


def test_the_comment_says_what_is_to_be_given():
    values = {"sampling_time": 1e-5, "units": {"voltage": "V"}, "data_digest": "ab12"}
    model = Model(("y(k-1)", "u(k-1)"), (0.7, 0.4), ("duty cycle",), "voltage", 12, **values)
    for language, mark in (("python", "#"), ("c", "//"), ("matlab", "%"), ("sysidentpy", "#")):
        lines = {line.removeprefix(f"{mark} ") for line in model.export(language).splitlines()}
        assert lines >= {
            *("y(k) = 0.7 y(k-1) + 0.4 u(k-1)", "y: voltage (V)", "u: duty cycle"),
            "Give every 12th sample of the data: one step of k is 120 µs.",
            "SHA-256 of the data that it is from: ab12",
        }
    assert "Order of the inputs: a, b, c." in CASES["three inputs"].export("c")
    joint = JointModel((replace(UPPER, sampling_time=0.5, decimation=2), replace(LOWER, sampling_time=0.5)))
    assert "Give every sample of the data, 500 ms apart." in joint.export("python")
