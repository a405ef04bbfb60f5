"""Figures against independent formulas, and baselines against NumPy's least squares."""

import math
from itertools import chain, product

import numpy as np
import pytest
from tests.lookups import items_by_name
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
    measured = np.concatenate(measured)
    errors = measured - np.concatenate(predicted)
    rmse, sizes = math.sqrt((errors**2).mean()), np.abs(errors)
    rrse = rmse / measured.std()
    return [rrse, rmse / np.ptp(measured), 100 * (1 - rrse), sizes.mean(), rmse, sizes.max()]


def measured_and_predicted(record, steps, q, every, weights):
    """Return outputs of a record and their predictions by weights, or without weights by the last value."""
    u, y = record.u[::every, 0], record.y[::every]
    start = 2 * q if weights else max(2, steps or 1) * q
    predicted = []
    for k in range(start, len(y)):
        if weights:
            predicted.append(ahead(u, y, k, steps, q, weights))
        elif steps:
            predicted.append(y[k - steps * q])
        else:
            predicted.append(y[start - 1])
    return y[start:], predicted


def check_figures(row, measured, predicted):
    assert [row[key] for key in FIGURES] == pytest.approx(figures(measured, predicted), rel=1e-9)
    assert (row["samples"], row["diverged"]) == (sum(map(len, measured)), False)


@pytest.mark.parametrize("decimation", [1, 3])
def test_figures(decimation):
    lengths = {"estimation": (80, 50), "selection": (40,), "test": (60, 45, 31)}
    records = {}
    for role, sizes in lengths.items():
        records[role] = [record(f"{role} {i}", size, role, decimation) for i, size in enumerate(sizes)]
    models = {"model": (0.5, 0.9, 0.3), "true": WEIGHTS, LAST_VALUE: None}
    frame = validate(
        model(decimation, models["model"]),
        chain.from_iterable(records.values()),
        baselines={"true": model(decimation)},
        steps=(1, 2, 4),
    )
    assert tuple(frame.columns) == COLUMNS
    # Six records and three roles, three models, two samplings, four kinds.
    assert len(frame) == 9 * 3 * 2 * 4
    samplings = ((DECIMATED, 1, decimation), (INCOMING, decimation, 1))
    for (sampling, q, every), steps, name, role in product(samplings, (1, 2, 4, None), models, lengths):
        kind = {1: "one_step", None: "free_run"}.get(steps, "k_step")
        place = {"role": role, "model": name, "sampling": sampling, "kind": kind, "steps": steps}
        measured, predicted = [], []
        for one_record in records[role]:
            y, predictions = measured_and_predicted(one_record, steps, q, every, models[name])
            measured.append(y)
            predicted.append(predictions)
            check_figures(row_at(frame, record=one_record.name, **place), [y], [predictions])
        check_figures(row_at(frame, record=ALL, **place), measured, predicted)


def test_figures_that_are_not_defined_are_none():
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
    numbers = [value for value in frame.to_numpy().ravel() if isinstance(value, float)]
    assert not np.isnan(numbers).any()
    assert metrics_by_role(frame)["test"]["free_run"] == dict.fromkeys(set(FIGURES) - {"mae"})


def test_a_series_without_input():
    rng = generator(purpose="validation", seed="series")
    y = np.zeros(200)
    for k in range(1, 200):
        y[k] = 0.9 * y[k - 1] + rng.standard_normal()
    series = Record("series", np.empty((200, 0)), y, "test")
    autoregression = Model(("y(k-1)",), (0.9,), inputs=(), output="y")
    frame = validate(autoregression, [series], baselines={})
    row = row_at(frame, record=ALL, model=MODEL, sampling=INCOMING, kind="k_step")
    # The first samples are predicted from the first one.
    predicted = np.array([0.9 ** min(5, k) * y[max(k - 5, 0)] for k in range(1, 200)])
    assert row["rrse"] == pytest.approx(figures([y[1:]], [predicted])[0])
    lights = items_by_name(summary(autoregression, frame, [], static_curve(autoregression, [series])))
    # A free run of a series says nothing: five steps ahead decide.
    assert lights["errors"].values["steps"] == 5
    assert lights["steady_states"].values["points"] == [[0.0, True]]


def test_the_season_that_errs_least_is_compared_on_the_same_samples():
    rng = generator(purpose="validation", seed="seasons")
    pattern = np.tile(rng.standard_normal(21), 10)
    y = pattern + np.tile(3 * rng.standard_normal(7), 30) + 0.1 * rng.standard_normal(210)
    series = Record("series", np.empty((210, 0)), y, "test")
    weekly = Model(("y(k-7)",), (0.5,), inputs=(), output="y")
    cases = [validation.Case(series, weekly, {})]
    errors = validation.season_errors(cases, (7, 21), 7)
    assert errors.season == 21
    assert errors.naive == pytest.approx(figures([y[21:]], [y[:-21]])[0])
    assert errors.rrse == pytest.approx(figures([y[21:]], [0.5 * y[14:-7]])[0])
    # Eight steps ahead the value of a week before is not known yet.
    further = validation.season_errors(cases, (7,), 8)
    assert further.naive == pytest.approx(figures([y[14:]], [y[:-14]])[0])
    # A record of less than two of the lags says nothing.
    assert validation.season_errors(cases, (106,), 1) is None
    assert validation.season_errors(cases, (), 1) is None


@pytest.mark.parametrize("decimation", [1, 3])
def test_linear_arx(decimation):
    rng = generator(purpose="validation", seed="arx")
    records = [
        Record("a", rng.standard_normal((70, 2)), rng.standard_normal(70), "estimation"),
        Record("b", 1e-3 * rng.standard_normal((40, 2)), 1e3 * rng.standard_normal(40), "estimation"),
        Record("shorter than a lag", rng.standard_normal((2, 2)), rng.standard_normal(2), "estimation"),
        Record("c", rng.standard_normal((50, 2)), rng.standard_normal(50), "test"),
    ]
    arx = linear_arx(
        records, inputs=("one", "two"), output="y", decimation=decimation, y_lags=(1, 3), u_lags=[(2,), (0, 1)]
    )
    q = decimation
    rows, target = [], []
    for u, y in ((records[0].u, records[0].y), (records[1].u, records[1].y)):
        for k in range(3 * q, len(y)):
            rows.append([1.0, y[k - q], y[k - 3 * q], u[k - 2 * q, 0], u[k, 1], u[k - q, 1]])
            target.append(y[k])
    assert arx.terms == ("1", "y(k-1)", "y(k-3)", "u1(k-2)", "u2(k)", "u2(k-1)")
    assert arx.coefficients == pytest.approx(np.linalg.lstsq(np.array(rows), np.array(target))[0], rel=1e-8)
    assert (arx.decimation, arx.inputs, arx.output) == (decimation, ("one", "two"), "y")


def test_linear_arx_of_a_constant_input_and_of_nothing():
    one_input = record("arx", 50, "estimation")
    two_inputs = Record("a", np.column_stack([one_input.u, np.full(50, 2.0)]), one_input.y, "estimation")
    settings = {"output": "y", "decimation": 1, "y_lags": [1]}
    with_constant = linear_arx([two_inputs], inputs=("u", "lid"), u_lags=[[1], [1]], **settings)
    alone = linear_arx([one_input], inputs=("u",), u_lags=[[1]], **settings)
    assert with_constant.terms == ("1", "y(k-1)", "u1(k-1)")
    assert with_constant.coefficients == pytest.approx(alone.coefficients)
    with pytest.raises(NarxbenchError):
        linear_arx([record("arx", 50, "test")], inputs=("u",), u_lags=[[1]], **settings)
