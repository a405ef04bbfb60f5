"""Models of several outputs that run together."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.model.test_export import JOINT, run_of

from narxbench import DivergedError, FileError, JointModel, Model, load_model

COUPLED = JOINT["coupled"]


@pytest.mark.parametrize("model", JOINT.values(), ids=JOINT)
def test_each_output_follows_its_model_with_the_others_of_the_run(model, tmp_path):
    """A model of the run, given the run's other outputs as inputs, predicts its own output: so all do."""
    rng, names = np.random.default_rng(1), [name for name in model.inputs if "(" not in name]
    u, initial = rng.uniform(-1, 1, (60, len(names))), rng.uniform(-0.5, 0.5, (model.initial_samples, model.n_outputs))
    run = model.simulate(u if names else None, initial, samples=60)
    values = dict(zip([*model.outputs, *names], [*run.T, *u.T], strict=True))
    values |= {f"abs({name})": np.abs(signal) for name, signal in list(values.items())}
    first = model.initial_samples
    for part in model.models:
        inputs = np.column_stack([values[name] for name in part.inputs])
        measured = values[part.output]
        ahead = part.predict(inputs[first - part.initial_samples :], measured[first - part.initial_samples :], steps=1)
        np.testing.assert_allclose(ahead[part.initial_samples :], measured[first:], rtol=1e-12, atol=1e-14)
    model.save(tmp_path / "joint.json")
    assert JointModel.load(tmp_path / "joint.json") == model
    with pytest.raises(FileError, match=r"several outputs; needed: JointModel\.load"):
        load_model(tmp_path / "joint.json")


def test_frames_come_back_as_frames():
    u, initial, _ = run_of(COUPLED)
    index = pd.date_range("2024-01-01", periods=60, freq="h")
    frame = pd.DataFrame({"v": 0.0, "u": u[:, 0]}, index=index)
    outputs = pd.DataFrame({"b [V]": initial[:, 1], "a": initial[:, 0]}, index=index[: len(initial)])
    run = COUPLED.simulate(frame, outputs)
    assert list(run.columns) == ["a", "b"] and run.index.equals(index)
    assert run.to_numpy().tobytes() == COUPLED.simulate(u, initial).tobytes()
    future = COUPLED.forecast(frame[:50], run[:50], frame[50:])
    assert future.index.equals(index[50:])
    np.testing.assert_allclose(future, run[50:], rtol=1e-12)
    assert COUPLED.forecast(frame, run, frame[50:], 0).shape == (0, 2)


def test_scores_are_those_of_the_run():
    u, initial, run = run_of(COUPLED)
    noisy = run + np.array([0.0, 0.1]) * np.random.default_rng(2).standard_normal(run.shape)
    noisy[: len(initial)] = initial
    scores, measured = COUPLED.score(u, noisy), noisy[2:, 1]
    assert scores["a"].rrse == 0.0 and scores["b"].samples == 58
    assert scores["b"].rrse == pytest.approx(np.sqrt(np.mean((measured - run[2:, 1]) ** 2)) / measured.std())


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


NOISES = [
    {"noise_model": "narmax", "moving_average": (0.6,)},
    {"noise_model": "ararx", "autoregression": (-0.8,)},
    {"noise_model": "box-jenkins", "autoregression": (-0.7,), "moving_average": (0.2,)},
]


@pytest.mark.parametrize("noise", NOISES)
def test_forecast_of_models_that_do_not_see_each_other_is_that_of_each(noise):
    models = []
    for output in "ab":
        models.append(Model(("y(k-1)", "u(k-1)"), (0.7, 0.3), ("u",), output, scales=(2.0, 1.0), **noise))
    rng = np.random.default_rng(4)
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
