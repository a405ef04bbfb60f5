"""Correlation tests against their definitions as plain loops, and on systems whose missing parts are known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.signal import lfilter
from tests.lookups import items_by_name

from narxbench._identification.trust.residuals import _regression, correlation_tests, free_run_bias, residuals
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator

TRUE = Model(("y(k-1)", "u(k-1)", "u(k-2)^2", "y(k-1)*u(k-2)"), (0.5, 1.0, 0.3, 0.1), inputs=("valve",), output="level")


def simulated(seed, samples, noise=0.2, slow=False):
    rng = generator(purpose="residuals", seed=seed)
    u, e = rng.standard_normal(samples + 4), noise * rng.standard_normal(samples)
    u = np.convolve(u, np.ones(5) / math.sqrt(5), "valid") if slow else u[:samples]
    return u, e


def respond(u, e):
    y = np.zeros(len(u))
    for k in range(2, len(u)):
        y[k] = 0.5 * y[k - 1] + u[k - 1] + 0.3 * u[k - 2] ** 2 + 0.1 * y[k - 1] * u[k - 2] + e[k]
    return y


def record(u, y, name="a"):
    return Record(name, np.reshape(u, (len(y), -1)), np.array(y), "estimation")


def without(*terms):
    """Return the true model without some terms; a constant stands for the mean of the square, which is 1."""
    weights = dict(zip(TRUE.terms, TRUE.coefficients, strict=True))
    for term in terms:
        weight = weights.pop(term)
        if term.endswith("^2"):
            weights["1"] = weight
    return Model(tuple(weights), tuple(weights.values()), inputs=("valve",), output="level")


def failures(model, *records):
    return [test.name for test in correlation_tests(model, records) if not test.passed]


def correlations_by_name(model, *records):
    return items_by_name(correlation_tests(model, records))


def centred(values):
    return np.asarray(values) - np.mean(values)


def one_row(records, decimation):
    """Return residuals and inputs of all records in one row, and the number of the record of each sample."""
    xi, inputs, home = [], [], []
    for number, record in enumerate(records):
        u, y = record.u[::decimation, 0], record.y[::decimation]
        for k in range(2, len(y)):
            xi.append(y[k] - 0.5 * y[k - 1] - u[k - 1] - 0.3 * u[k - 2] ** 2 - 0.1 * y[k - 1] * u[k - 2])
            inputs.append(u[k])
            home.append(number)
    return centred(xi), centred(inputs), home


def phi(a, b, tau, home):
    """Return the correlation of two signals at a lag; samples of different records are never multiplied."""
    total = 0.0
    for k in range(max(0, tau), min(len(b), len(b) + tau)):
        if home[k - tau] == home[k]:
            total += a[k - tau] * b[k]
    return total / math.sqrt(np.sum(a * a) * np.sum(b * b))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(12, 60), min_size=1, max_size=3), st.integers(1, 3))
def test_definitions(seed, lengths, decimation):
    records = []
    for number, length in enumerate(lengths):
        u, e = simulated(f"{seed} {number}", length * decimation)
        records.append(record(u, respond(u, e)))
    model = Model(TRUE.terms, TRUE.coefficients, inputs=("valve",), output="level", decimation=decimation)
    tests = correlations_by_name(model, *records)

    xi, u, home = one_row(records, decimation)
    u2, xi2, xiu = centred(u**2), centred(xi**2), centred(xi * u)
    expected = {
        "phi_xixi": lambda tau: phi(xi, xi, tau, home),
        "phi_uxi": lambda tau: phi(u, xi, tau, home),
        "phi_xixiu": lambda tau: phi(xiu, xi, tau + 1, home),
        "phi_u2xi": lambda tau: phi(u2, xi, tau, home),
        "phi_u2xi2": lambda tau: phi(u2, xi2, tau, home),
    }
    assert list(tests) == list(expected)
    largest = min(20, (max(lengths) - 2) // 4)
    for name, test in tests.items():
        first, last = {"phi_xixi": (1, largest), "phi_xixiu": (0, largest - 1)}.get(name, (-largest, largest))
        assert test.lags == tuple(range(first, last + 1))
        assert test.values == pytest.approx(list(map(expected[name], test.lags)), abs=1e-9)
        assert test.band == pytest.approx(1.96 / math.sqrt(len(xi)), rel=1e-4)
        assert abs(test.worst) == max(map(abs, test.values))
        assert test.values[test.lags.index(test.worst_lag)] == test.worst
        assert test.passed == (abs(test.worst) <= test.limit)


@pytest.mark.parametrize("samples", [90, 1000])
def test_the_right_model_passes_all_tests_about_as_often_as_said(samples):
    n_failures, outside = 0, []
    for seed in range(200):
        u, e = simulated(seed, samples, slow=seed % 2)
        tests = correlation_tests(TRUE, [record(u, respond(u, e))])
        n_failures += not all(test.passed for test in tests)
        for test in tests:
            outside.extend(np.abs(test.values) > test.band)
    # 5 % of 200 are 10, with a standard deviation of 3; 9 % are 18.
    assert n_failures <= 25
    assert 0.03 < np.mean(outside) < 0.06


@pytest.mark.parametrize(("term", "name", "lag"), [("u(k-1)", "phi_uxi", 1), ("u(k-2)^2", "phi_u2xi", 2)])
def test_a_missing_term(term, name, lag):
    for seed in range(5):
        u, e = simulated(f"missing {seed}", 800)
        tests = correlations_by_name(without(term), record(u, respond(u, e)))
        assert (tests[name].passed, tests[name].worst_lag) == (False, lag)
        # A square is even in the input: no linear correlation sees it.
        assert tests["phi_uxi"].passed == (term == "u(k-2)^2") and tests["phi_xixi"].passed


def test_noise_that_is_coloured_or_grows_with_the_input():
    for seed in range(5):
        u, e = simulated(f"coloured {seed}", 800)
        e[1:] += 0.7 * e[:-1]
        assert failures(TRUE, record(u, respond(u, e))) == ["phi_xixi"]
    u, e = simulated("heteroscedastic", 2000)
    e[1:] *= np.abs(u[:-1])
    tests = correlations_by_name(TRUE, record(u, respond(u, e)))
    assert (tests["phi_u2xi2"].passed, tests["phi_u2xi2"].worst_lag, tests["phi_xixi"].passed) == (False, 1, True)


def test_a_series_without_input():
    e = generator(purpose="residuals", seed="series").standard_normal(2000)
    right = lfilter([1.0], [1.0, -0.6], e)
    # A bilinear term of the noise, which autocorrelation does not see.
    wrong = lfilter([1.0], [1.0, -0.6], e + 0.4 * np.r_[0, 0, e[1:-1] * e[:-2]])
    model = Model(("y(k-1)",), (0.6,), inputs=(), output="y")
    names = list(correlations_by_name(model, record(np.empty(0), right)))
    assert names == ["phi_xixi", "phi_xi2xi", "phi_xi2xi2"]
    assert failures(model, record(np.empty(0), right)) == []
    assert "phi_xi2xi2" in failures(model, record(np.empty(0), wrong))


def test_two_inputs_and_one_that_is_constant():
    u, e = simulated("two", 400)
    model = Model(("y(k-1)", "u1(k-1)", "u2(k)"), (0.5, 1.0, 1.0), inputs=("valve", "lid"), output="level")
    y = lfilter([1.0], [1.0, -0.5], np.r_[0.0, u[:-1] + 3.0 + e[1:]])
    names = list(correlations_by_name(model, record(np.column_stack([u, np.full(400, 3.0)]), y)))
    assert names[:3] == ["phi_xixi", "phi_uxi_u1", "phi_xixiu_u1"]
    # Nothing is correlated with a constant; times the residuals it is the residuals.
    assert not {"phi_uxi_u2", "phi_u2xi_u2", "phi_u2xi2_u2"} & set(names)


def test_an_offset_of_the_input_changes_nothing():
    u, e = simulated("offset", 300)
    y = respond(u, e)
    moved = Model(TRUE.terms, TRUE.coefficients, ("valve",), "level", offsets=(0.0, 1000.0), scales=(1.0, 1.0))
    tests, moved_tests = correlations_by_name(TRUE, record(u, y)), correlations_by_name(moved, record(u + 1000, y))
    assert list(tests) == list(moved_tests)
    for name, test in tests.items():
        assert test.values == pytest.approx(moved_tests[name].values, abs=1e-9)


def test_nothing_to_test():
    u, e = simulated("exact", 200, noise=0.0)
    assert correlation_tests(TRUE, [record(u, respond(u, e))]) == correlation_tests(TRUE, []) == []
    u, e = simulated("short", 9)
    short = [record(u, respond(u, e)), record(u[:1], e[:1])]
    assert correlation_tests(TRUE, short) == [] and len(residuals(TRUE, short)) == 1


def test_the_rounding_of_data_is_no_fault_of_an_exact_model():
    u, e = simulated("rounded", 400, noise=0.0)
    y = respond(u, e)
    assert correlation_tests(TRUE, [record(u, np.round(y, 5))]) == []
    # Coarser data have residuals that matter: rounding is coloured noise of the equation.
    coarse = correlation_tests(TRUE, [record(u, np.round(y, 1))])
    assert not all(test.passed for test in coarse)


def significant_bias(*runs):
    """Return the errors that are significant, by what they have in common."""
    bias = free_run_bias(runs)
    return {name: round(bias[name]["error"], 2) for name in ("rising", "falling", "drift") if bias[name]["seen"]}


def test_errors_of_a_free_run_have_a_side_or_a_drift_in_common():
    for seed in range(3):
        u, e = simulated(f"bias {seed}", 1500, slow=True)
        right = Record("a", u[:, None], respond(u, 0 * e) + e)
        # Noise of the output, however large, is alike on both sides.
        assert significant_bias((TRUE, right)) == {}
        slope = np.pad(right.y[2:] - right.y[:-2], 1)
        falls = right.y + 0.9 * (slope < -np.sqrt(np.mean(slope**2)))
        assert significant_bias((TRUE, Record("a", u[:, None], falls))) == {"falling": pytest.approx(0.75, abs=0.2)}
        drifts = right.y + np.linspace(-0.5, 0.5, len(e))
        assert significant_bias((TRUE, Record("a", u[:, None], drifts))) == {"drift": pytest.approx(1.0, abs=0.2)}
        runs = []
        for start in range(0, 1500, 150):
            runs.append((TRUE, Record("b", u[start : start + 150, None], drifts[start : start + 150])))
        assert significant_bias(*runs) == {"drift": pytest.approx(1.0, abs=0.2)}
    assert free_run_bias([(TRUE, Record("short", u[:3, None], u[:3]))]) is None
    # One that does not matter is not reported.
    y = respond(u, 0 * u)
    slope = np.pad(y[2:] - y[:-2], 1)
    assert significant_bias((TRUE, Record("a", u[:, None], y + 0.005 * (slope > 1)))) == {}


def test_means_and_slopes_of_blocks_are_those_of_scipy():
    means = generator(purpose="residuals", seed="blocks").normal(0.3, size=20)
    assert _regression(means, np.ones(20)) == pytest.approx((means.mean(), stats.ttest_1samp(means, 0.0).pvalue))
    line, numbers = stats.linregress(range(20), means), np.arange(20) - 9.5
    assert _regression(means - means.mean(), numbers, 2) == pytest.approx((line.slope, line.pvalue))
    assert _regression(numbers, numbers, 2) == (1.0, 0.0)
    assert _regression([0.5] * 20, np.ones(20)) == _regression(means[:4], np.ones(4)) == (0.0, 1.0)
