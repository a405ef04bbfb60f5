"""New weights for the structure of a model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.identification.trust import known_model

import narxbench
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NOISE_NAMES
from narxbench._numerics.random_streams import generator


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize("scaled", [False, True])
def test_weights_of_the_new_data_within_their_errors(decimation, scaled):
    old = known_model.model(decimation, weights=(0.1, 0.2, 0.3))
    if scaled:
        # Centred at zero, so that the true terms stay the same.
        old = replace(old, offsets=(0.0, 0.0), scales=(2.0, 2.0))
    record = known_model.record(1, 600, None, decimation)
    new = narxbench.refit(old, input=record.u, output=record.y)
    weights = new.expanded().coefficients
    assert weights == pytest.approx(known_model.WEIGHTS, abs=0.03)
    assert min(new.standard_errors) > 0 and max(new.standard_errors) < 0.02
    assert (new.terms, new.inputs, new.decimation) == (old.terms, old.inputs, decimation)
    assert len(new.data_digest) == 64 and new.about["refit_of"] == old.data_digest


def test_several_records_with_the_columns_of_the_model_and_none_of_the_test():
    frames = []
    for seed in (1, 2):
        record = known_model.record(seed, 200, None, noise=0.0)
        frames.append({"y": record.y, "z": record.y * 9, "u": record.u[:, 0]})
    wrong = {"u": record.u[:50, 0], "y": -np.arange(50.0)}
    new = narxbench.refit(known_model.model(), frames, test=wrong)
    assert new.coefficients == pytest.approx(known_model.WEIGHTS, rel=1e-9)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"data": {"u": np.ones(50), "y": np.ones(50)}}, "depend on each other"),
        ({"data": {"u": np.arange(50.0) * 1e200, "y": np.ones(50)}}, "too large"),
        ({"data": {"v": np.ones(50), "y": np.ones(50)}}, "no column 'u'"),
        ({"input": np.arange(12.0), "output": np.arange(12.0)}, r"found \d+ rows for 3 terms"),
        ({"input": np.ones((50, 2)), "output": np.arange(50.0)}, "input: found 2; needed: 1, for u"),
    ],
)
def test_data_that_give_no_weights(data, words):
    with pytest.raises(NarxbenchError, match=words):
        narxbench.refit(known_model.model(decimation=6 if "rows" in words else 1), **data)


def test_the_command(tmp_path, capsys):
    from narxbench import _cli as cli

    record = known_model.record(3, 100, None, noise=0.0)
    old, data, new = str(tmp_path / "old.json"), str(tmp_path / "data.csv"), str(tmp_path / "new.json")
    pd.DataFrame({"drive": record.u[:, 0], "y": record.y}).to_csv(data, index=False)
    known_model.model(weights=(0.1, 0.1, 0.1)).save(old)
    assert cli.main(["refit", old, data, "--input", "drive", "-o", new]) == 0
    assert capsys.readouterr().out == f"y(k) = 0.6 y(k-1) + 1 u(k-1) + 0.4 u(k-2)^2\nThe model is {new}\n"
    assert narxbench.Model.load(new).coefficients == pytest.approx(known_model.WEIGHTS, rel=1e-9)
    assert cli.main(["refit", old, data, "-o", new]) == 2
    assert capsys.readouterr().err.startswith("narxbench: ")
    assert cli.main(["refit", old, data, "--input", "drive,y", "-o", new]) == 2
    assert "--input" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE_NAMES)
@pytest.mark.parametrize("options", [{}, {"decimation": 2}], ids=str)
def test_the_same_data_give_the_same_model(noise, options):
    rng = generator(purpose="refit under noise")
    u, e = rng.standard_normal(400), 0.2 * rng.standard_normal(400)
    y = np.zeros(400)
    for k in range(1, 400):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2
    y[1:] += e[1:] + 0.6 * e[:-1]
    settings = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.1}
    model = narxbench.identify(u, y, noise=noise, **{**settings, **options}).model
    again = narxbench.refit(model, input=u, output=y)
    assert model.noise_model == noise and again.noise == model.noise
    for name in ("coefficients", "autoregression", "moving_average"):
        assert getattr(again, name) == pytest.approx(getattr(model, name), rel=1e-6)
    np.testing.assert_allclose(again.covariance, model.covariance, rtol=1e-4)


def test_other_data_are_weighed_under_the_noise_model_of_the_model():
    rng = generator(purpose="refit without bias")
    u, x = rng.standard_normal(1000), np.zeros(1000)
    for k in range(1, 1000):
        x[k] = 0.8 * x[k - 1] + 0.5 * u[k - 1]
    y = x + 0.5 * rng.standard_normal(1000)
    plain = narxbench.Model(("y(k-1)", "u(k-1)"), (0.7, 0.4), ("u",), "y")
    biased = narxbench.refit(plain, input=u, output=y).coefficients
    unbiased = narxbench.refit(replace(plain, noise_model="noe"), input=u, output=y).coefficients
    assert unbiased == pytest.approx((0.8, 0.5), abs=0.04) and biased[0] < 0.7


@pytest.mark.parametrize("kind", ["unpruned", "last value"])
def test_simple_models_keep_the_rule_of_their_weights(kind):
    """The columns of all candidates depend on each other here: least squares would give no weights."""
    record = known_model.record(5, 200, None)
    terms = ("y(k-1)", "u1(k-1)", "u2(k-1)") if kind == "unpruned" else ("y(k-1)",)
    about = {"kind": kind, "shrinkage": 1e-4}
    model = narxbench.Model(terms, (0.1,) * len(terms), ("u", "v"), "y", about=about)
    data = {"u": record.u[:, 0], "v": record.u[:, 0], "y": record.y}
    again = narxbench.refit(model, data)
    if kind == "last value":
        assert again.coefficients == (1.0,)
        return
    assert again.coefficients[1] == pytest.approx(again.coefficients[2], rel=1e-3)
    assert again.coefficients[1] == pytest.approx(0.5, abs=0.05)
    with pytest.raises(NarxbenchError, match="depend on each other"):
        narxbench.refit(replace(model, about={}), data)
