"""Models of several outputs that run together."""

import math
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import narxbench
from narxbench import DivergedError, JointModel, Model, NarxbenchError
from narxbench._io.errors import FileError
from narxbench._model.joint import _simulate_jointly
from narxbench._numerics.random_streams import generator

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
COUPLED = JointModel((UPPER, LOWER))
CASES = {
    "coupled": COUPLED,
    "two steps": JointModel((replace(UPPER, decimation=4), replace(LOWER, decimation=2))),
    "functions": JointModel((replace(UPPER, inputs=("u", "abs(u)")), replace(LOWER, inputs=("a", "u")))),
    "no inputs": JointModel(
        (Model(("y(k-1)", "u(k-2)"), (0.5, -0.6), ("b",), "a"), Model(("y(k-1)", "u(k-1)"), (0.4, 0.7), ("a",), "b"))
    ),
    "two inputs": JointModel(
        (Model(("y(k-1)", "u2(k-1)"), (0.5, 1.0), ("u", "v"), "a"), Model(("u2(k-3)",), (0.7,), ("u", "a"), "b"))
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def model(request):
    return request.param


def signals(model, samples=60):
    """Return inputs of a model, those that it computes left out, and the first outputs."""
    rng = generator(purpose="joint model")
    names = [name for name in model.inputs if "(" not in name]
    u = rng.uniform(-1, 1, (samples, len(names)))
    return u if names else None, rng.uniform(-0.5, 0.5, (model.initial_samples, model.n_outputs))


def test_each_output_follows_its_model_with_the_others_of_the_run(model):
    """A model of the run, given the run's other outputs as inputs, predicts its own output: so all do."""
    u, initial = signals(model)
    run = model.simulate(u, initial, samples=60)
    values = dict(zip(model.outputs, run.T, strict=True))
    if u is not None:
        values |= dict(zip([name for name in model.inputs if "(" not in name], u.T, strict=True))
    values |= {f"abs({name})": np.abs(signal) for name, signal in list(values.items())}
    first = model.initial_samples
    for part in model.models:
        inputs = np.column_stack([values[name] for name in part.inputs])
        measured = values[part.output]
        ahead = part.predict(inputs[first - part.initial_samples :], measured[first - part.initial_samples :], steps=1)
        np.testing.assert_allclose(ahead[part.initial_samples :], measured[first:], rtol=1e-12, atol=1e-14)


def test_models_without_other_outputs_run_as_they_do_alone():
    alone = Model(("y(k-1)", "u(k-1)"), (0.7, 0.3), ("u",), "b", offsets=(0.3, 0.1), scales=(3.0, 0.7))
    other = Model(("y(k-1)", "u(k-1)^2"), (0.2, 0.3), ("u",), "a")
    u, initial = signals(JointModel((alone, other)))
    run = JointModel((alone, other)).simulate(u, initial)
    assert run[:, 0].tobytes() == alone.predict(u, initial[:, 0]).tobytes()
    assert run[:, 1].tobytes() == other.predict(u, initial[:, 1]).tobytes()


def test_machine_code_does_what_its_python_does(model, monkeypatch):
    u, initial = signals(model)
    run = model.simulate(u, initial, samples=60)
    monkeypatch.setattr("narxbench._model.joint._simulate_jointly", _simulate_jointly.py_func)
    assert model.simulate(u, initial, samples=60).tobytes() == run.tobytes()


def test_frames_come_back_as_frames():
    u, initial = signals(COUPLED)
    index = pd.date_range("2024-01-01", periods=60, freq="h")
    frame = pd.DataFrame({"v": 0.0, "u": u[:, 0]}, index=index)
    outputs = pd.DataFrame({"b [V]": initial[:, 1], "a": initial[:, 0]}, index=index[: len(initial)])
    run = COUPLED.simulate(frame, outputs)
    assert list(run.columns) == ["a", "b"] and run.index.equals(index)
    assert run.to_numpy().tobytes() == COUPLED.simulate(u, initial).tobytes()
    future = COUPLED.forecast(frame[:50], run[:50], frame[50:])
    assert future.index.equals(index[50:])
    np.testing.assert_allclose(future, run[50:], rtol=1e-12)


def test_scores_are_those_of_the_run():
    u, initial = signals(COUPLED)
    run = COUPLED.simulate(u, initial)
    assert [scores.rrse for scores in COUPLED.score(u, run).values()] == [0.0, 0.0]
    noisy = run + np.array([0.0, 0.1]) * generator(purpose="noise").standard_normal(run.shape)
    noisy[: len(initial)] = initial
    scores = COUPLED.score(u, noisy)
    error, spread = noisy[2:, 1] - run[2:, 1], noisy[2:, 1] - noisy[2:, 1].mean()
    assert scores["a"].rrse == 0.0 and scores["b"].samples == 58
    assert scores["b"].rrse == pytest.approx(np.sqrt((error**2).sum() / (spread**2).sum()))


def test_a_run_that_grows_diverges():
    unstable = JointModel(
        (Model(("y(k-1)", "u(k-1)"), (0.9, 0.9), ("b",), "a"), Model(("y(k-1)", "u(k-1)"), (0.9, 0.9), ("a",), "b"))
    )
    with pytest.raises(DivergedError, match="a joint free run"):
        unstable.simulate(None, [[1.0, 1.0]], samples=1000)
    measured = np.ones((1000, 2))
    assert unstable.score(None, measured)["a"].rrse is None
    with pytest.raises(DivergedError, match="joint forecast"):
        unstable.forecast(None, measured, steps=1000)


def test_forecast_of_a_vector_autoregression_is_its_matrix_power():
    matrix = np.array([[0.5, -0.4], [0.3, 0.6]])
    rows = zip(matrix, "ab", "ba", strict=True)
    models = []
    for position, (row, output, name) in enumerate(rows):
        models.append(Model(("y(k-1)", "u(k-1)"), (row[position], row[1 - position]), (name,), output))
    measured = generator(purpose="vector").standard_normal((20, 2))
    expected, forecast = measured[-1], JointModel(tuple(models)).forecast(None, measured, steps=5)
    for row in forecast:
        expected = matrix @ expected
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "noise",
    [
        {"noise_model": "narmax", "moving_average": (0.6,)},
        {"noise_model": "ararx", "autoregression": (-0.8,)},
        {"noise_model": "box-jenkins", "autoregression": (-0.7,), "moving_average": (0.2,)},
        {"noise_model": "noe"},
    ],
)
def test_forecast_of_models_that_do_not_see_each_other_is_that_of_each(noise):
    models = []
    for output in "ab":
        models.append(Model(("y(k-1)", "u(k-1)"), (0.7, 0.3), ("u",), output, scales=(2.0, 1.0), **noise))
    rng = generator(purpose="joint forecast")
    u, y = rng.standard_normal(60), rng.standard_normal((50, 2))
    forecast = JointModel(tuple(models)).forecast(u[:50], y, u[50:])
    for position, part in enumerate(models):
        np.testing.assert_allclose(forecast[:, position], part.forecast(u[:50], y[:, position], u[50:]), rtol=1e-12)


def test_forecast_has_the_noise_of_an_output_in_what_the_others_see():
    noisy = Model(("u(k-1)",), (1.0,), ("u",), "a", noise_model="box-jenkins", autoregression=(-0.5,))
    follower = Model(("u(k-1)",), (1.0,), ("a",), "b")
    u, y = np.zeros(8), np.zeros((5, 2))
    y[4, 0] = 1.0
    forecast = JointModel((noisy, follower)).forecast(u[:5], y, u[5:])
    np.testing.assert_allclose(forecast, [[0.5, 1.0], [0.25, 0.5], [0.125, 0.25]])


def test_file_gives_back_the_model(model, tmp_path):
    file = tmp_path / "joint.json"
    model.save(file)
    assert JointModel.load(file) == model
    with pytest.raises(FileError, match=r"several outputs; needed: JointModel\.load"):
        narxbench.load_model(file)


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"format": "narxbench-joint-model", "version": 2, "models": []}', "x"]
)
def test_other_files_are_refused(content, tmp_path):
    file = tmp_path / "joint.json"
    file.write_text(content)
    with pytest.raises(FileError):
        JointModel.load(file)


LOOP = Model(("u(k)",), (0.5,), ("b",), "a")
REFUSED = {
    "one": ((UPPER,), "two or more models"),
    "twice": ((UPPER, UPPER), "each output once"),
    "loop": ((LOOP, LOWER), "act on one another later"),
    "times": ((UPPER, replace(LOWER, sampling_time=1.0)), "the same for all"),
    "function": ((UPPER, replace(LOWER, inputs=("a", "abs(a)"))), "functions of inputs"),
}


@pytest.mark.parametrize(("models", "words"), REFUSED.values(), ids=REFUSED)
def test_models_that_do_not_fit_are_refused(models, words):
    with pytest.raises(NarxbenchError, match=f"^models: found .*{words}$"):
        JointModel(models)


@pytest.mark.parametrize(
    ("u", "y", "words"),
    [
        (None, np.zeros((3, 2)), "u: found null"),
        (np.zeros(9), np.zeros((1, 2)), "y: found 1 samples"),
        (np.zeros(9), np.zeros(9), "y: "),
        (np.zeros(9), np.zeros((10, 2)), "at most as many"),
    ],
)
def test_signals_that_do_not_fit_are_refused(u, y, words):
    with pytest.raises(NarxbenchError, match=words):
        COUPLED.simulate(u, y)


def test_future_that_is_too_short_is_refused():
    u, initial = signals(COUPLED)
    run = COUPLED.simulate(u, initial)
    for future, steps in ((None, 3), (u[:2], 3)):
        with pytest.raises(NarxbenchError, match="u_future: found"):
            COUPLED.forecast(u, run, future, steps)


# Exports.


def stepped(model, samples=60):
    """Return inputs and first outputs of a program, in steps of the program, and the run that it shall give."""
    step = math.gcd(*(part.decimation for part in model.models))
    u, initial = signals(model, samples)
    rows, repeated = initial[::step], None
    if u is not None:
        repeated = np.repeat(u, step, 0)
    # All samples of a step are alike, so that the phases are.
    run = model.simulate(repeated, np.repeat(rows, step, 0), samples=samples * step)
    return u, rows, run[::step]


def test_python(model):
    u, initial, expected = stepped(model)
    space = {}
    exec(model.export("python", "tanks"), space)
    arguments = (initial.tolist(), len(expected)) if u is None else (u.tolist(), initial.tolist())
    run = space["tanks_simulate"](*arguments)
    np.testing.assert_allclose(run, expected, rtol=1e-12, atol=1e-14)


C_MAIN = """
#include <stdio.h>
int main(void)
{
    enum { n = %d, n_u = %d, n_y = %d, n_initial = %d };
    static double y[n * n_y], u[n * n_u + 1];
    for (size_t i = 0; i < n * n_u + 1; i++) if (scanf("%%lf", &u[i]) != 1) return 1;
    for (size_t i = 0; i < n_initial * n_y; i++) if (scanf("%%lf", &y[i]) != 1) return 1;
    tanks_simulate(%s);
    for (size_t i = 0; i < n * n_y; i++) printf("%%.17g\\n", y[i]);
    return 0;
}
"""


@pytest.mark.ci
def test_c(model, tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    u, initial, expected = stepped(model)
    n_inputs = 0 if u is None else u.shape[1]
    main = C_MAIN % (len(expected), n_inputs, model.n_outputs, len(initial), "u, y, n" if n_inputs else "y, n")
    (tmp_path / "tanks.c").write_text(model.export("c", "tanks") + main, encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
    command = ["gcc", *strict, "-o", "tanks", "tanks.c", "-lm"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.stderr == ""
    numbers = [] if u is None else u.ravel().tolist()
    text = " ".join(map(repr, [*numbers, 0.0, *initial.ravel().tolist()]))
    completed = subprocess.run([tmp_path / "tanks"], input=text, capture_output=True, text=True, check=True)
    run = np.array(completed.stdout.split(), float).reshape(expected.shape)
    np.testing.assert_allclose(run, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.ci
def test_matlab(tmp_path):
    """All cases in one process: a start takes longer than the runs."""
    if not shutil.which("octave-cli"):
        pytest.skip("no Octave (Debian's package octave)")
    script, runs = [], []
    for i, model in enumerate(CASES.values()):
        u, initial, expected = stepped(model)
        (tmp_path / f"tanks_{i}.m").write_text(model.export("matlab", f"tanks_{i}"), encoding="utf-8")
        call = f"{octave_matrix(initial)}, {len(expected)}"
        if u is not None:
            call = f"{octave_matrix(u)}, {octave_matrix(initial)}"
        script.append(f"printf('%.17g ', tanks_{i}({call})'); printf('\\n');")
        runs.append(expected)
    completed = subprocess.run(
        ["octave-cli", "--no-init-file", "--eval", "\n".join(script)], cwd=tmp_path, capture_output=True, text=True
    )
    lines = completed.stdout.splitlines()
    assert len(lines) == len(runs), completed.stderr
    for line, expected in zip(lines, runs, strict=True):
        run = np.array(line.split(), float).reshape(expected.shape)
        np.testing.assert_allclose(run, expected, rtol=1e-12, atol=1e-14)


def octave_matrix(rows):
    """Return rows of numbers as Octave writes a matrix."""
    return "[" + "; ".join(" ".join(map(repr, row)) for row in rows.tolist()) + "]"


@pytest.mark.parametrize(("language", "name"), [("sysidentpy", "tanks"), ("C", "tanks"), ("c", "end")])
def test_other_programs_are_refused(language, name):
    with pytest.raises(NarxbenchError, match=r"^(language|name): found "):
        COUPLED.export(language, name)
