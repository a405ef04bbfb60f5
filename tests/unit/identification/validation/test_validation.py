"""Figures of an identification against independent formulas: of its model, of linear ARX, and of repeated values."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.lookups import items_by_name
from tests.unit.identification.quick import identified

import narxbench

FIGURES = ["rrse", "nrmse", "fit_percent", "mae", "rmse", "max_error"]
# Samples of each record by its role.
LENGTHS = {"estimation": (150, 90), "selection": (80,), "test": (90, 75)}


def simulated(seed, samples, q):
    rng = np.random.default_rng(seed)
    u, y = rng.normal(size=(2, samples))
    for k in range(2 * q, samples):
        y[k] = 0.6 * y[k - q] + u[k - q] + 0.4 * u[k - 2 * q] ** 2 + 0.1 * rng.normal()
    return {"u": u, "y": y}


def last_values(y, steps, start, q):
    """Return the last value that is known this many steps before; in free run that before the first sample."""
    if steps is None:
        return np.full(len(y), y[start - 1])
    return np.append(np.full(steps * q, np.nan), y[: len(y) - steps * q])


def figures(measured, expected):
    """Return RRSE, NRMSE, fit, MAE, RMSE and the largest error."""
    errors = measured - expected
    rmse, sizes = math.sqrt((errors**2).mean()), np.abs(errors)
    rrse = rmse / measured.std()
    return [rrse, rmse / np.ptp(measured), 100 * (1 - rrse), sizes.mean(), rmse, sizes.max()]


def linear_arx(records, q):
    """Return the linear model with a constant, a lag of the output and two of the input, by NumPy's least squares."""
    rows, target = [], []
    for record in records:
        u, y = record["u"], record["y"]
        for k in range(2 * q, len(y)):
            rows.append([1.0, y[k - q], u[k - q], u[k - 2 * q]])
            target.append(y[k])
    weights = np.linalg.lstsq(np.array(rows), np.array(target))[0]
    terms = ("1", "y(k-1)", "u(k-1)", "u(k-2)")
    return narxbench.Model(terms, tuple(weights.tolist()), inputs=("u",), output="y", decimation=q)


def expected_run(row, models, u, y, q):
    """Return the outputs of a record that a row of the table counts, and their predictions."""
    stride = q if row["sampling"] == "decimated" else 1
    step, u, y = q // stride, u[::stride], y[::stride]
    start = 2 * step
    if row["model"] == "last value":
        start = max(start, step * (row["steps"] or 1))
        return y[start:], last_values(y, row["steps"], start, step)[start:]
    model = models[row["model"]] if stride == 1 else models[row["model"]].decimated()
    return y[start:], model.predict(u, y, row["steps"])[start:]


def check_row(row, models, records, q):
    """Check a row of the table by the records of its role, or by the one that it names."""
    measured, expected = [], []
    for name, (role, u, y) in records.items():
        if role == row["role"] and row["record"] in ("all", name):
            outputs, run = expected_run(row, models, u, y, q)
            measured.append(outputs)
            expected.append(run)
    outputs = np.concatenate(measured)
    assert row[FIGURES].tolist() == pytest.approx(figures(outputs, np.concatenate(expected)), rel=1e-7), row
    assert (row["samples"], row["diverged"]) == (len(outputs), False)


@pytest.mark.parametrize("q", [1, 3])
def test_figures(q):
    frames, records, roles = [], {}, {}
    for role, sizes in LENGTHS.items():
        for samples in sizes:
            frames.append(simulated(len(frames), samples * q, q))
            name = f"data {len(frames)}"
            records[name], roles[name] = (role, frames[-1]["u"], frames[-1]["y"]), role
    options = {"decimation": q, "degree": 2, "u_lags": 2, "horizon": 2 * q}
    identification = identified(frames, "y", input="u", roles=roles, **options)
    table = identification.validation
    models = {"model": identification.model, "linear ARX": linear_arx(frames[:2], q)}
    assert models["model"].max_lag == 2 and set(table["steps"].dropna()) == {1, 2} and len(table) == 8 * 3 * 2 * 3
    for _, row in table.iterrows():
        check_row(row, models, records, q)
    metrics = identification.to_dict()["metrics"]["test"]["free_run"]
    row = table[(table["role"] == "test") & (table["record"] == "all") & (table["model"] == "model")].iloc[-1]
    assert metrics == row[FIGURES].drop("mae").to_dict()


def test_figures_that_are_not_defined_are_none():
    rng = np.random.default_rng(1)
    u, y = rng.uniform(-1.0, 1.0, 300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k - 1] + 0.3 * y[k - 1] * u[k - 1] + 0.01 * rng.normal()
    frames = [{"u": u, "y": y}, {"u": [0.0] * 40, "y": [0.1] * 40}, {"u": [30.0] * 90, "y": y[:90]}]
    roles = {"data 1": "estimation", "data 2": "test", "data 3": "test"}
    identification = identified(frames, "y", input="u", roles=roles, degree=2, u_lags=1)
    table = identification.validation
    table = table[(table["role"] == "test") & (table["model"] == "model") & (table["sampling"] == "incoming")]
    rows = table.set_index(["kind", "record"])
    constant = rows.loc["free_run", "data 2"]
    assert constant["rrse"] is constant["fit_percent"] is constant["nrmse"] is None and constant["mae"] > 0
    for record, samples in (("data 3", 89), ("all", 39 + 89)):
        row = rows.loc["free_run", record]
        assert row[FIGURES].tolist() == [None] * 6 and (row["samples"], row["diverged"]) == (samples, True)
    # One step ahead nothing diverges.
    assert rows.loc["one_step", "all"]["rmse"] > 0 and not rows.loc["one_step", "all"]["diverged"]
    errors = items_by_name(identification.summary)["errors"]
    assert errors.values["diverged"] == ["data 3"]


def test_a_constant_input_has_no_weight_in_linear_arx():
    signals = simulated(1, 300, 1)
    tables = []
    for constant in ({}, {"lid": np.full(300, 2.0)}):
        table = identified(signals | constant, "y", input=["u", *constant], u_lags=1).validation
        tables.append(table[(table["model"] == "linear ARX") & (table["role"] == "estimation")][FIGURES].to_numpy())
    np.testing.assert_allclose(*np.array(tables, float), rtol=1e-9)


def test_a_series_is_compared_with_the_season_that_errs_least():
    rng = np.random.default_rng(2)
    pattern = np.tile(rng.normal(size=21), 40) + np.tile(3 * rng.normal(size=7), 120)
    y = pattern + 0.1 * rng.normal(size=840)
    identification = identified(None, y, y_lags=7, test="25%", horizon=7)
    last = items_by_name(identification.summary)["competitors"].values["last_value"]
    test = y[630:]
    # The last 21 samples are known seven samples before.
    assert last["season"] == 21 and last["steps"] == 7
    assert last["baseline"] == pytest.approx(figures(test[21:], test[:-21])[0])
    run = identification.model.predict(None, test, 7)
    assert last["rrse"] == pytest.approx(figures(test[21:], run[21:])[0])


def avoidable(u, y, **options):
    """Return the share of the squared error of a linear model that could be foreseen, by an identification."""
    return items_by_name(identified(u, y, **options).summary)["errors"].values["avoidable"]


def test_noise_cannot_be_avoided_and_a_missing_square_can():
    u, e = np.random.default_rng(3).normal(size=(2, 1600))
    for deviation in (0.5, 3.0):
        y = lfilter([0.0, 0.5], [1.0, -0.8], u) + deviation * e
        assert avoidable(u, y, u_lags=1, test="40%", noise="noe") < 0.05
    square = lfilter([0.0, 1.0], [1.0, -0.8], 0.5 * u + 0.3 * u**2)
    assert avoidable(u, square + 0.1 * e, u_lags=1, test="40%") > 0.8
    assert 0.1 < avoidable(u, square + 0.7 * e, u_lags=1, test="40%", noise="noe") < 0.8
    # Few samples do not tell.
    assert avoidable(u[:130], y[:130], u_lags=1, test="25%") is None


def test_a_series_is_foretold_from_its_last_outputs():
    e = np.random.default_rng(4).normal(size=1200)
    assert avoidable(None, lfilter([1.0], [1.0, -0.9], e), test="40%", horizon=2) < 0.1
    # A parabola of the last value has no line.
    y = 0.3 * np.ones(1200)
    for k in range(1, 1200):
        y[k] = 3.7 * y[k - 1] * (1.0 - y[k - 1])
    assert avoidable(None, y, test="40%", horizon=1) > 0.9
