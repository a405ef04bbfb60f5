"""Levels and units that numbers do not bear."""

import warnings

import numpy as np
import pytest
from tests.tiers import mostly_slow

import narxbench
from narxbench._identification.data.scaling import scaled, scaling
from narxbench._model.records import Record, Recording
from narxbench._model.scaling import FAR, is_far, round_number
from narxbench._numerics.random_streams import generator

TERMS = ("y(k-1)", "u(k-1)", "u(k-1)^2")
QUICK = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.1}


def signals(samples=400):
    """Return input and output of y(k) = 0.8 y(k-1) + 0.5 u(k-1) + 0.1 u(k-1)^2 with a little noise."""
    rng = generator(purpose="levels and units")
    u, e = rng.standard_normal(samples), 0.02 * rng.standard_normal(samples)
    y = np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + e[k]
    return u, y


U, Y = signals()


@pytest.fixture(scope="module")
def plain():
    return narxbench.identify(U, Y, test="20%", **QUICK)


def test_signals_about_zero_are_taken_as_they_are(plain):
    assert plain.model.terms == TERMS and plain.model.offsets is None


def error_of(identification):
    return identification.to_dict()["metrics"]["test"]["free_run"]["rrse"]


@pytest.mark.parametrize(
    ("u_level", "y_level"),
    mostly_slow([(0.0, 1e3), (0.0, 1e6), (0.0, -1e7), (1e3, 0.0), (1e7, 0.0), (-1e5, 1e9)], (0.0, -1e7), (-1e5, 1e9)),
)
def test_a_level_changes_neither_terms_nor_errors(plain, u_level, y_level):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        identification = narxbench.identify(U + u_level, Y + y_level, test="20%", **QUICK)
    model = identification.model
    assert model.terms == TERMS and model.offsets == (y_level, u_level)
    assert model.coefficients == pytest.approx(plain.model.coefficients, rel=1e-4)
    assert error_of(identification) == pytest.approx(error_of(plain), rel=1e-3)


@pytest.mark.parametrize(
    ("u_unit", "y_unit"),
    mostly_slow(
        [(1e-150, 1e-150), (1.0, 1e-150), (1e-150, 1.0), (1e-30, 1e-6), (1e9, 1e9), (1e30, 1.0)],
        *[(1e-150, 1e-150), (1e30, 1.0)],
    ),
)
def test_a_unit_changes_neither_terms_nor_errors(plain, u_unit, y_unit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        identification = narxbench.identify(U * u_unit, Y * y_unit, test="20%", **QUICK)
    assert identification.model.terms == TERMS
    assert error_of(identification) == pytest.approx(error_of(plain), rel=1e-6)


def recording_of(y):
    return Recording((Record("r", np.zeros((len(y), 1)), y),), ("u",), "y")


def test_signals_near_zero_are_taken_as_they_are():
    near, far = Y + 0.9 * FAR * Y.std(), Y + 1.5 * FAR * Y.std()
    assert scaling(recording_of(near), False) is None and not is_far(near)
    offsets, scales = scaling(recording_of(far), False)
    assert far.min() <= offsets[0] <= far.max() and offsets[1] == 0.0 and scales == (1.0, 1.0)
    # A constant has no variation to be far from.
    assert scaling(recording_of(np.full(9, 1e9)), False) is None


def test_scaled_records_have_the_values_that_are_computed_with():
    record = Record("r", np.ones((3, 1)), 1e-30 * np.arange(1.0, 4.0))
    by = scaling(Recording((record,), ("u",), "y"), False)
    np.testing.assert_allclose(scaled(record, by).y, [1.0, 2.0, 3.0], rtol=1e-15)
    assert scaled(record, None) is record


@pytest.mark.parametrize(
    ("low", "high", "number"), [(-3.0, 5.0, 0.0), (1234566.4, 1234569.1, 1234567.0), (-1e-7, -0.9e-7, -1e-7)]
)
def test_round_numbers(low, high, number):
    assert round_number(low, high, number + 0.1 * (high - low) * (number != low)) == number
