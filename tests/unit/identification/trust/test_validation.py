"""Figures against independent formulas, and baselines against NumPy's least squares."""

import math
from itertools import product

import numpy as np
import pytest
from tests.unit.identification.trust.known_model import WEIGHTS, model, record

from narxbench._identification.trust import validation
from narxbench._identification.trust.steady_state import static_curve
from narxbench._identification.trust.validation import (
    ALL,
    COLUMNS,
    DECIMATED,
    FIGURES,
    INCOMING,
    LAST_VALUE,
    MODEL,
    Case,
    linear_arx,
    metrics_by_role,
    row_at,
)
from narxbench._identification.trust.verdicts import summary
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator


def validate(model, records, baselines, **steps):
    return validation.validate([Case(record, model, baselines) for record in records], **steps)


def ahead(u, y, k, steps, q, weights=WEIGHTS):
    """Return the prediction of sample k from outputs measured at least so many steps before, by recursion."""
    if k < 2 * q or steps == 0:
        return y[k]
    before = ahead(u, y, k - q, None if steps is None else steps - 1, q, weights)
    return weights[0] * before + weights[1] * u[k - q] + weights[2] * u[k - 2 * q] ** 2


def figures(measured, predicted):
    """Return RRSE, NRMSE, fit, MAE, RMSE and the largest error of lists with an entry for each record."""
    errors = np.concatenate([y - p for y, p in zip(measured, predicted, strict=True)])
    every = np.concatenate(measured)
    rmse, sizes = math.sqrt((errors**2).mean()), np.abs(errors)
    rrse = rmse / every.std()
    return [rrse, rmse / (every.max() - every.min()), 100 * (1 - rrse), sizes.mean(), rmse, sizes.max()]


@pytest.mark.parametrize("decimation", [1, 3])
def test_figures(decimation):
    lengths = {"estimation": (80, 50), "selection": (40,), "test": (60, 45, 31)}
    records = [
        record(f"{role} {i}", length, role, decimation) for role, own in lengths.items() for i, length in enumerate(own)
    ]
    own = model(decimation, (0.5, 0.9, 0.3))
    frame = validate(own, records, baselines={"true": model(decimation)}, steps=(1, 2, 4))
    assert tuple(frame.columns) == COLUMNS
    # Six records and three roles, three models, two samplings, four kinds.
    assert len(frame) == 9 * 3 * 2 * 4
    samplings, kinds = ((DECIMATED, 1, decimation), (INCOMING, decimation, 1)), (1, 2, 4, None)
    models = (("model", (0.5, 0.9, 0.3)), ("true", WEIGHTS), (LAST_VALUE, None))
    for (sampling, q, every), steps, (name, weights), role in product(samplings, kinds, models, lengths):
        measured, predicted = [], []
        start = 2 * q if weights else max(2, steps or 1) * q
        for one in (r for r in records if r.role == role):
            u, y = one.u[::every, 0], one.y[::every]
            rows = range(start, len(y))
            if weights:
                predicted.append(np.array([ahead(u, y, k, steps, q, weights) for k in rows]))
            else:
                predicted.append(np.array([y[k - steps * q if steps else start - 1] for k in rows]))
            measured.append(y[start:])
        places = [ALL, *(r.name for r in records if r.role == role)]
        kind = {1: "one_step", None: "free_run"}.get(steps, "k_step")
        place = {"role": role, "model": name, "sampling": sampling, "kind": kind, "steps": steps}
        found = [row_at(frame, record=record, **place) for record in places]
        expected = [figures(measured, predicted)]
        expected += [figures([y], [p]) for y, p in zip(measured, predicted, strict=True)]
        for row, numbers in zip(found, expected, strict=True):
            assert [row[key] for key in FIGURES] == pytest.approx(numbers, rel=1e-9)
            assert row["diverged"] is False
        counts = [len(y) for y in measured]
        assert [row["samples"] for row in found] == [sum(counts), *counts]


def test_what_is_not_defined_is_none():
    constant = Record("constant", np.zeros((9, 1)), np.full(9, 0.1), "selection")
    records = [record("long", 90, "test"), record("short", 2, "test"), constant]
    frame = validate(model(weights=(3.0, 1.0, 0.4)), records, baselines={}, steps=(1,))
    free = {"model": MODEL, "kind": "free_run", "sampling": INCOMING}
    for name, samples in {ALL: 88, "long": 88, "short": 0}.items():
        row = row_at(frame, role="test", record=name, **free)
        assert [row[figure] for figure in FIGURES] == [None] * 6
        assert (row["samples"], row["diverged"]) == (samples, samples > 0)
    row = row_at(frame, role="selection", record="constant", **free)
    assert (row["rrse"], row["nrmse"], row["fit_percent"]) == (None,) * 3 and row["mae"] > 0
    # One step ahead nothing diverges, and the record that is too short adds nothing.
    place = {"role": "test", "model": MODEL, "kind": "one_step", "sampling": INCOMING}
    assert row_at(frame, record=ALL, **place)["rrse"] == row_at(frame, record="long", **place)["rrse"]
    assert not any(isinstance(value, float) and math.isnan(value) for value in frame.to_numpy().ravel())
    assert metrics_by_role(frame)["test"]["free_run"] == dict.fromkeys(set(FIGURES) - {"mae"})


def test_a_series_without_input():
    rng = generator(purpose="validation", seed="series")
    y = np.zeros(200)
    for k in range(1, 200):
        y[k] = 0.9 * y[k - 1] + rng.standard_normal()
    series = Record("series", np.empty((200, 0)), y, "test")
    own = Model(("y(k-1)",), (0.9,), inputs=(), output="y")
    frame = validate(own, [series], baselines={})
    row = row_at(frame, record=ALL, model=MODEL, sampling=INCOMING, kind="k_step")
    # The first samples are predicted from the first one, which is all that is given.
    predicted = np.array([0.9 ** min(5, k) * y[max(k - 5, 0)] for k in range(1, 200)])
    assert row["rrse"] == pytest.approx(figures([y[1:]], [predicted])[0])
    lights = {check.name: check for check in summary(own, frame, [], static_curve(own, [series]))}
    # A free run of a series says nothing: five steps ahead decide.
    assert lights["prediction"].values["steps"] == 5
    assert lights["fixed_points"].values["points"] == [[0.0, True]]


@pytest.mark.parametrize("decimation", [1, 3])
def test_linear_arx(decimation):
    rng = generator(purpose="validation", seed="arx")
    records = [
        Record("a", rng.standard_normal((70, 2)), rng.standard_normal(70), "estimation"),
        Record("b", 1e-3 * rng.standard_normal((40, 2)), 1e3 * rng.standard_normal(40), "estimation"),
        Record("shorter than a lag", rng.standard_normal((2, 2)), rng.standard_normal(2), "estimation"),
        Record("c", rng.standard_normal((50, 2)), rng.standard_normal(50), "test"),
    ]
    own = linear_arx(
        records, inputs=("one", "two"), output="y", decimation=decimation, y_lags=(1, 3), u_lags=[(2,), (0, 1)]
    )
    q = decimation
    rows, target = [], []
    for one in records[:2]:
        for k in range(3 * q, len(one)):
            u, y = one.u, one.y
            rows.append([1.0, y[k - q], y[k - 3 * q], u[k - 2 * q, 0], u[k, 1], u[k - q, 1]])
            target.append(y[k])
    assert own.terms == ("1", "y(k-1)", "y(k-3)", "u1(k-2)", "u2(k)", "u2(k-1)")
    assert own.coefficients == pytest.approx(np.linalg.lstsq(np.array(rows), np.array(target))[0], rel=1e-8)
    assert (own.decimation, own.inputs, own.output) == (decimation, ("one", "two"), "y")


def test_linear_arx_of_a_constant_input_and_of_nothing():
    one = record("arx", 50, "estimation")
    two_inputs = Record("a", np.column_stack([one.u, np.full(50, 2.0)]), one.y, "estimation")
    settings = {"output": "y", "decimation": 1, "y_lags": [1]}
    own = linear_arx([two_inputs], inputs=("u", "lid"), u_lags=[[1], [1]], **settings)
    alone = linear_arx([one], inputs=("u",), u_lags=[[1]], **settings)
    assert own.terms == ("1", "y(k-1)", "u1(k-1)")
    assert own.coefficients == pytest.approx(alone.coefficients)
    with pytest.raises(NarxbenchError):
        linear_arx([record("arx", 50, "test")], inputs=("u",), u_lags=[[1]], **settings)
