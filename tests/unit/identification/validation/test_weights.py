"""Weights and their errors, as identify and refit return them: plain formulas, exact arithmetic, and simulation."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.signal import lfilter
from tests.unit.identification.quick import identified

import narxbench
from narxbench import Model, NarxbenchError
from narxbench import _cli as cli

TERMS, WEIGHTS = ("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4)
KNOWN = Model(TERMS, WEIGHTS, inputs=("u",), output="y")
SHIFTED = ("1", "y(k-1)", "u(k-1)", "u(k-2)")


def record(seed, samples, decimation=1, noise=0.1):
    """Return a record of the known model with noise in its equation."""
    rng = np.random.default_rng(seed)
    u, y = rng.normal(size=(2, samples))
    for k in range(2 * decimation, samples):
        y[k] = 0.6 * y[k - decimation] + u[k - decimation] + 0.4 * u[k - 2 * decimation] ** 2 + noise * rng.normal()
    return {"u": u, "y": y}


def columns_of(terms, signals, rows, decimation=1):
    """Return the values of terms at some samples, by their names."""
    columns = np.ones((len(rows), len(terms)))
    for place, term in enumerate(terms):
        for name, lag, power in re.findall(r"(\w+)\(k-(\d+)\)(?:\^(\d))?", term):
            columns[:, place] *= signals[name][rows - decimation * int(lag)] ** int(power or 1)
    return columns


def covariances(x, residuals, homes, decimation):
    """Return covariances of weights by White (HC1) and by Newey and West, as plain sums over pairs of samples."""
    n_rows, n = x.shape
    bandwidth = 2 * decimation + int(4 * (n_rows / 100) ** (2 / 9))
    inverse, scores, hac = np.linalg.inv(x.T @ x), x * residuals[:, None], np.zeros((n, n))
    for i in range(n_rows):
        for j in range(max(0, i - bandwidth), min(n_rows, i + bandwidth + 1)):
            if homes[i] == homes[j]:
                hac += (1 - abs(i - j) / (bandwidth + 1)) * np.outer(scores[i], scores[j])
    correction = n_rows / (n_rows - n)
    return inverse @ (scores.T @ scores) @ inverse * correction, inverse @ hac @ inverse * correction


@pytest.mark.parametrize("decimation", [1, 3])
def test_plain_formulas(decimation):
    records, blocks, outputs = [], [], []
    for seed, samples in ((1, 90), (2, 60)):
        signals = record(seed, samples, decimation)
        records.append(signals)
        blocks.append(columns_of(TERMS, signals, np.arange(2 * decimation, samples), decimation))
        outputs.append(signals["y"][2 * decimation :])
    new = narxbench.refit(replace(KNOWN, decimation=decimation), records)
    x, y = np.vstack(blocks), np.concatenate(outputs)
    weights = np.linalg.lstsq(x, y)[0]
    np.testing.assert_allclose(new.coefficients, weights, rtol=1e-9)
    _, hac = covariances(x, y - x @ weights, np.repeat([1, 2], list(map(len, outputs))), decimation)
    np.testing.assert_allclose(new.covariance, hac, rtol=1e-7, atol=1e-9 * hac.max())


@pytest.fixture(scope="module")
def identification():
    """Return an identification of two inputs, of which the second is nearly twice the first."""
    rng = np.random.default_rng(3)
    u, e = rng.normal(size=(2, 240))
    data = {"u": u, "v": 2.0 * u + 0.1 * rng.normal(size=240), "y": lfilter([0.0, 1.0], [1.0, -0.5], u) + 0.3 * e}
    return identified(data, "y", input=["u", "v"], u_lags=2), data


def test_the_table_of_weights(identification):
    """Compare errors under all assumptions, t, p and error reduction ratios."""
    identified, data = identification
    model, table = identified.model, pd.DataFrame(identified.weights)
    signals, rows = {"u1": data["u"], "u2": data["v"], "y": data["y"]}, np.arange(model.max_lag, 240)
    x, y = columns_of(model.terms, signals, rows), data["y"][rows]
    residuals, n = y - x @ model.coefficients, len(model.terms)
    hc, hac = covariances(x, residuals, np.zeros(len(y)), 1)
    classical = np.linalg.inv(x.T @ x) * (residuals @ residuals) / (len(y) - n)
    columns = {"standard_error": hac, "standard_error_hc": hc, "standard_error_classical": classical}
    for name, covariance in columns.items():
        np.testing.assert_allclose(table[name], np.sqrt(np.diag(covariance)), rtol=1e-7)
    np.testing.assert_allclose(table["t"], table["coefficient"] / table["standard_error"], rtol=1e-9)
    np.testing.assert_allclose(table["p"], 2 * stats.t.sf(np.abs(table["t"]), len(y) - n), rtol=1e-6)
    assert table["err"].sum() == pytest.approx(1 - residuals @ residuals / (y @ y), rel=1e-9)
    # The first to enter is the one that explains most alone.
    assert table["err"].max() == pytest.approx(max((x.T @ y) ** 2 / (x**2).sum(axis=0)) / (y @ y), rel=1e-9)
    assert json.loads(json.dumps(identified.weights, allow_nan=False)) == identified.weights


def test_a_term_and_the_candidate_that_could_take_its_place(identification):
    """Compare with the correlation after a regression of both on the other terms."""
    identified, data = identification
    signals, rows = {"u1": data["u"], "u2": data["v"], "y": data["y"]}, np.arange(2, 240)
    ((term, rival, r),) = identified.alike
    assert {term, rival} == {"u1(k-1)", "u2(k-1)"} and term in identified.model.terms
    rest = columns_of(set(identified.model.terms) - {term}, signals, rows)
    both = columns_of((term, rival), signals, rows)
    a, b = (both - rest @ np.linalg.lstsq(rest, both)[0]).T
    assert r == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)), abs=1e-9) and r > 0.95


def test_more_digits_than_the_normal_equations_have():
    signals = {"u": np.arange(3000.0, 3041.0), "y": np.append(0.0, 7.0 * np.arange(40) % 11)}
    # In the middle of the range this fit loses no digits.
    exact = np.polynomial.Polynomial.fit(signals["u"][:-1], signals["y"][1:], 3).convert().coef
    cubic = Model(("1", "u(k-1)", "u(k-1)^2", "u(k-1)^3"), (1.0,) * 4, ("u",), "y")
    np.testing.assert_allclose(narxbench.refit(cubic, signals).coefficients, exact, rtol=1e-5)


def test_rows_that_are_too_many_to_be_held_at_once():
    rng = np.random.default_rng(4)
    u = rng.normal(size=120_000)
    y = lfilter([0.0, *(1.0 / lag for lag in range(1, 11))], [1.0], u) + rng.normal(size=120_000)
    terms = tuple(f"u(k-{lag})" for lag in range(1, 11))
    new = narxbench.refit(Model(terms, (1.0,) * 10, ("u",), "y"), {"u": u, "y": y})
    x = columns_of(terms, {"u": u}, np.arange(10, 120_000))
    np.testing.assert_allclose(new.coefficients, np.linalg.lstsq(x, y[10:])[0], rtol=1e-9)
    # Independent errors of variance 1.
    np.testing.assert_allclose(new.standard_errors, np.sqrt(np.diag(np.linalg.inv(x.T @ x))), rtol=0.03)


def test_new_weights_for_other_data():
    """The scaling is centred at zero, so that the true terms stay the same."""
    old = replace(KNOWN, coefficients=(0.1, 0.2, 0.3), decimation=3, offsets=(0.0, 0.0), scales=(2.0, 2.0))
    wrong = {"u": np.arange(50.0), "y": -np.arange(50.0)}
    new = narxbench.refit(old, {**record(1, 600, 3), "z": np.zeros(600)}, test=wrong)
    assert new.expanded().coefficients == pytest.approx(WEIGHTS, abs=0.03)
    assert (new.terms, new.inputs, new.decimation) == (old.terms, old.inputs, 3)
    assert len(new.data_digest) == 64 and new.about["refit_of"] == old.data_digest


@pytest.mark.parametrize(
    ("terms", "data", "words"),
    [
        (SHIFTED, {"u": np.arange(50.0), "y": np.arange(50.0) % 7}, r"1, u\(k-1\) and u\(k-2\) depend on each other"),
        (TERMS, {"u": np.zeros(50), "y": np.arange(50.0)}, r"u\(k-1\) is zero on all estimation rows"),
        (TERMS, {"u": np.arange(50.0) * 1e200, "y": np.ones(50)}, "too large"),
        (TERMS, {"v": np.ones(50), "y": np.ones(50)}, "no column 'u'"),
        (("u(k-8)", *TERMS), {"u": np.arange(11.0), "y": np.arange(11.0)}, "found 3 rows for 4 terms"),
    ],
)
def test_data_that_give_no_weights(terms, data, words):
    with pytest.raises(NarxbenchError, match=words):
        narxbench.refit(replace(KNOWN, terms=terms, coefficients=(1.0,) * len(terms)), data)


def test_the_command(tmp_path, capsys):
    signals = record(3, 100, noise=0.0)
    old, data, new = str(tmp_path / "old.json"), str(tmp_path / "data.csv"), str(tmp_path / "new.json")
    pd.DataFrame({"drive": signals["u"], "y": signals["y"]}).to_csv(data, index=False)
    replace(KNOWN, coefficients=(0.1, 0.1, 0.1)).save(old)
    assert cli.main(["refit", old, data, "--input", "drive", "-o", new]) == 0
    assert capsys.readouterr().out == f"y(k) = 0.6 y(k-1) + 1 u(k-1) + 0.4 u(k-2)^2\nThe model is {new}\n"
    assert Model.load(new).coefficients == pytest.approx(WEIGHTS, rel=1e-9)
    assert cli.main(["refit", old, data, "--input", "drive,y", "-o", new]) == 2
    assert "--input" in capsys.readouterr().err


NOISE_MODELS = ("narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins")


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE_MODELS)
@pytest.mark.parametrize("decimation", [1, 2])
def test_the_same_data_give_the_same_model(noise, decimation):
    rng = np.random.default_rng(6)
    u, e = rng.normal(size=400), 0.2 * rng.normal(size=400)
    y = lfilter([0.0, 1.0], [1.0, -0.8], 0.5 * u + 0.1 * u**2) + lfilter([1.0, 0.6], [1.0], e)
    model = identified(u, y, noise=noise, decimation=decimation, degree=2, y_lags=2, u_lags=2).model
    again = narxbench.refit(model, input=u, output=y)
    assert model.noise_model == noise and again.noise == model.noise
    for name in ("coefficients", "autoregression", "moving_average"):
        assert getattr(again, name) == pytest.approx(getattr(model, name), rel=1e-6)
    np.testing.assert_allclose(again.covariance, model.covariance, rtol=1e-4)


def test_weights_of_long_records_are_those_of_all_samples():
    """Compare under output noise, where a search has errors from stretches, and a refit from all samples."""
    rng = np.random.default_rng(7)
    u = rng.normal(size=24_000)
    y = lfilter([0.0, 0.5], [1.0, -0.8], u) + 0.3 * rng.normal(size=24_000)
    model = identified(u, y, u_lags=1, noise="noe").model
    again = narxbench.refit(model, input=u, output=y)
    np.testing.assert_allclose(model.coefficients, again.coefficients, rtol=1e-3)
    ratios = np.array(model.standard_errors) / again.standard_errors
    assert (ratios > 0.6).all() and (ratios < 1.6).all()


def test_simple_models_keep_the_rule_of_their_weights():
    """The columns of all candidates depend on each other here: least squares would give no weights."""
    signals = record(5, 200)
    signals["v"] = signals["u"]
    about = {"kind": "unpruned", "shrinkage": 1e-4}
    full = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.1, 0.1, 0.1), ("u", "v"), "y", about=about)
    _, first, second = narxbench.refit(full, signals).coefficients
    assert first == pytest.approx(second, rel=1e-3) and first == pytest.approx(0.5, abs=0.05)
    with pytest.raises(NarxbenchError, match="depend on each other"):
        narxbench.refit(replace(full, about={}), signals)
    last_value = Model(("y(k-1)",), (0.1,), ("u", "v"), "y", about={"kind": "last value"})
    assert narxbench.refit(last_value, signals).coefficients == (1.0,)
