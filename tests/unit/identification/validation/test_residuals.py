"""Correlation tests of identified models against their definitions as plain loops, and the bias of free runs."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter
from tests.lookups import items_by_name
from tests.unit.identification.quick import identified


def simulated(seed, samples):
    rng = np.random.default_rng(seed)
    return rng.normal(size=samples), 0.2 * rng.normal(size=samples)


def respond(u, e, square=0.3, q=1):
    y = np.zeros(len(u))
    for k in range(2 * q, len(u)):
        y[k] = 0.5 * y[k - q] + u[k - q] + square * u[k - 2 * q] ** 2 + e[k]
    return y


def correlations(u, y, **options):
    return items_by_name(identified(u, y, **({"u_lags": 2} | options)).tests)


def failures(tests):
    return {name for name, test in tests.items() if not test.passed}


def phi(a, b, tau, home):
    """Return the correlation of two signals at a lag; samples of different records are never multiplied."""
    total = 0.0
    for k in range(max(0, tau), min(len(b), len(b) + tau)):
        if home[k - tau] == home[k]:
            total += a[k - tau] * b[k]
    return total / math.sqrt(np.sum(a * a) * np.sum(b * b))


def centred(values):
    return np.asarray(values) - np.mean(values)


@pytest.mark.parametrize("q", [1, 3])
def test_definitions(q):
    """Compare for two records of an input far from zero, at the steps of the model."""
    records = []
    for seed, samples in ((1, 90), (2, 50)):
        u, e = simulated(seed, samples * q)
        records.append({"u": u + 10.0, "y": respond(u, e, q=q)})
    identification = identified(records, "y", input="u", u_lags=2, degree=2, decimation=q)
    model = identification.model.decimated()
    xi, u, home = [], [], []
    for number, record in enumerate(records):
        inputs, outputs, first = record["u"][::q], record["y"][::q], model.initial_samples
        xi.extend((outputs - model.predict(inputs, outputs, 1))[first:])
        u.extend(inputs[first:])
        home.extend([number] * (len(outputs) - first))
    xi, u = centred(xi), centred(u)
    u2, xi2, xiu = centred(u**2), centred(xi**2), centred(xi * u)
    expected = {
        "phi_xixi": (range(1, 21), lambda tau: phi(xi, xi, tau, home)),
        "phi_uxi": (range(-20, 21), lambda tau: phi(u, xi, tau, home)),
        "phi_xixiu": (range(20), lambda tau: phi(xiu, xi, tau + 1, home)),
        "phi_u2xi": (range(-20, 21), lambda tau: phi(u2, xi, tau, home)),
        "phi_u2xi2": (range(-20, 21), lambda tau: phi(u2, xi2, tau, home)),
    }
    tests = items_by_name(identification.tests)
    assert list(tests) == list(expected)
    limit = stats.norm.isf(0.025 / (20 + 20 + 3 * 41)) / math.sqrt(len(xi))
    for name, (lags, correlation) in expected.items():
        test = tests[name]
        assert test.lags == tuple(lags)
        assert test.values == pytest.approx(list(map(correlation, lags)), abs=1e-9)
        assert (test.band, test.limit) == (pytest.approx(1.96 / math.sqrt(len(xi)), rel=1e-4), pytest.approx(limit))


def test_what_is_missing_fails_the_test_that_sees_it():
    u, e = simulated(1, 800)
    square = correlations(u, respond(u, e))
    # A square is even in the input: no linear correlation sees it.
    assert "phi_u2xi" in failures(square) and not {"phi_uxi", "phi_xixi"} & failures(square)
    assert square["phi_u2xi"].worst_lag == 2
    late = correlations(u, respond(u, e, square=0.0), u_lags=[2])
    assert "phi_uxi" in failures(late) and late["phi_uxi"].worst_lag == 1
    coloured = correlations(u, respond(u, lfilter([1.0, 0.7], [1.0], e), square=0.0))
    assert "phi_xixi" in failures(coloured) and not {"phi_u2xi", "phi_u2xi2"} & failures(coloured)
    growing = correlations(u, respond(u, np.append(0.0, np.abs(u[:-1])) * e, square=0.0))
    assert (growing["phi_u2xi2"].passed, growing["phi_u2xi2"].worst_lag) == (False, 1) and growing["phi_xixi"].passed


def test_a_series_without_input():
    e = np.random.default_rng(2).normal(size=2000)
    right = correlations(None, lfilter([1.0], [1.0, -0.6], e), u_lags="auto", horizon=1)
    assert list(right) == ["phi_xixi", "phi_xi2xi", "phi_xi2xi2"] and not failures(right)
    # A bilinear term of the noise, which autocorrelation does not see.
    bilinear = e + 0.4 * np.r_[0, 0, e[1:-1] * e[:-2]]
    assert "phi_xi2xi2" in failures(correlations(None, lfilter([1.0], [1.0, -0.6], bilinear), u_lags="auto", horizon=1))


def test_two_inputs_and_one_that_is_constant():
    u, e = simulated(3, 400)
    data = {"valve": u, "lid": np.full(400, 3.0), "y": respond(u, e, square=0.0)}
    names = list(correlations(data, "y", input=["valve", "lid"]))
    assert names[:3] == ["phi_xixi", "phi_uxi_u1", "phi_xixiu_u1"]
    # Nothing is correlated with a constant; times the residuals it is the residuals.
    assert not {"phi_uxi_u2", "phi_u2xi_u2", "phi_u2xi2_u2"} & set(names)


def test_rounding_is_no_fault_of_an_exact_model():
    u, _ = simulated(4, 400)
    y = lfilter([0.0, 1.0], [1.0, -0.5], u)
    assert correlations(u, y) == correlations(u, np.round(y, 5)) == {}
    # Coarser data have residuals that matter.
    assert correlations(u, np.round(y, 1))


def significant_bias(clean_record, *tests):
    """Return the errors of free runs over tests that are significant, by what they have in common."""
    identification = identified(clean_record, "y", input="u", test=list(tests), u_lags=2)
    bias = items_by_name(identification.summary)["residuals"].values["free_run"]
    return {name: round(bias[name]["error"], 2) for name in ("rising", "falling", "drift") if bias[name]["seen"]}


def test_errors_of_a_free_run_have_a_side_or_a_drift_in_common():
    u, e = np.random.default_rng(5).normal(size=(2, 1504))
    u, e = np.convolve(u, np.ones(5) / math.sqrt(5), "valid"), 0.2 * e[4:]
    # Noise of the output, however large, is alike on both sides.
    y = respond(u, 0 * e, square=0.0) + e
    clean_record = {"u": u, "y": y - 0.9 * e}
    assert significant_bias(clean_record, {"u": u, "y": y}) == {}
    slope = np.pad(y[2:] - y[:-2], 1)
    falls = y + 0.9 * (slope < -np.sqrt(np.mean(slope**2)))
    assert significant_bias(clean_record, {"u": u, "y": falls}) == {"falling": pytest.approx(0.75, abs=0.2)}
    drifts = y + np.linspace(-0.5, 0.5, len(e))
    pieces = []
    for start in range(0, 1500, 150):
        pieces.append({"u": u[start : start + 150], "y": drifts[start : start + 150]})
    assert significant_bias(clean_record, *pieces) == {"drift": pytest.approx(1.0, abs=0.2)}
    # One that does not matter is not reported.
    clean = y - e
    small = clean + 0.005 * (np.pad(clean[2:] - clean[:-2], 1) > 1)
    assert significant_bias({"u": u, "y": clean + 0.001 * e}, {"u": u, "y": small}) == {}
