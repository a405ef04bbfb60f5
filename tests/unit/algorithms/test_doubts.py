"""Warnings: each kind comes for data that call for it, and for clean data none does."""

import math

import numpy as np
import pytest
from statsmodels.stats.diagnostic import acorr_ljungbox
from tests.lookups import item_with, kinds_of
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import FILTERS, S1, data_of, pem, problem_of

from narxbench._algorithms.certainty import Certainty, RatedStructure
from narxbench._algorithms.doubts import certainty_warnings, excess_kurtosis, ljung_box
from narxbench._io.words import probability

CLEAN = ["white in the equation", "white on the output", "autoregression in the equation", "both on the output"]


@pytest.mark.parametrize("noise", CLEAN)
def test_clean_data_bring_no_warning(noise):
    result = pem(problem_of(*data_of(noise, 800)))
    assert result.terms == S1 and result.warnings == []


def multiplied(samples, seed=1):
    """Return u, y of S1 with noise that grows with the size of u(k-1)."""
    rng = np.random.default_rng(seed)
    u, y = rng.uniform(-1.0, 1.0, samples), np.zeros(samples)
    for k in range(1, samples):
        noise = 0.4 * abs(u[k - 1]) ** 2 * rng.normal()
        y[k] = 0.5 * y[k - 1] + 0.3 * u[k - 1] + 0.3 * y[k - 1] * u[k - 1] + 0.5 * u[k - 1] ** 2 + noise
    return u, y


CASES = {
    "coloured_innovations": lambda: pem(
        problem_of(*data_of("season on the output", 800)), noise_models=["narx", "noe"], drift=False
    ),
    "heavy_tails": lambda: pem(problem_of(*data_of("outliers on the output", 800)), tails=False),
    "changing_variance": lambda: pem(problem_of(*multiplied(800)), tails=False),
    "uncertain_structure": lambda: first_with("uncertain_structure"),
    "uncertain_terms": lambda: first_with("uncertain_terms"),
    "missing_terms": lambda: first_with("missing_terms"),
    "noise_models_disagree": lambda: first_with("noise_models_disagree"),
}


def first_with(kind):
    """Return the result for the first of some data sets, too small for their noise, that brings a warning."""
    for seed in range(1, 40):
        result = pem(problem_of(*data_of("white on the output", 200, seed, deviation=0.3)))
        if kind in kinds_of(result.warnings):
            return result
    raise AssertionError(f"no data set of these brings {kind}")


@pytest.mark.parametrize("kind", mostly_slow(CASES, *[kind for kind in CASES if kind != "noise_models_disagree"]))
def test_each_kind_comes_where_it_is_called_for(kind):
    result = CASES[kind]()
    assert kind in kinds_of(result.warnings)
    check_warnings(result)


def check_warnings(result):
    """Check that each warning of a result has values and is printed in one line."""
    printed = [line for line in str(result).splitlines() if line.startswith("warning: ")]
    assert sorted(printed) == sorted(f"warning: {warning.message}" for warning in result.warnings)
    assert len({*printed}) == len(printed)
    for warning in result.warnings:
        assert warning.values
        for value in warning.values.values():
            assert isinstance(value, str | float)


def test_the_term_that_the_variance_goes_with_is_named():
    result = pem(problem_of(*multiplied(800)), tails=False)
    warning = item_with(result.warnings, kind="changing_variance")
    assert warning.values["term"] == "u(k-1)^2" and warning.values["standard_errors"] > 5.0


def test_a_result_prints_a_line_for_all_that_it_has():
    result = pem(problem_of(*data_of("white on the output", 800)))
    lines = str(result).splitlines()
    assert [line.split()[0] for line in lines[:4]] == S1 and lines[4] == "noise: NOE" and len(lines) == 5
    for line, weight, term in zip(lines, result.coefficients, S1, strict=False):
        assert float(line.split()[1]) == pytest.approx(weight, rel=1e-5)
        assert line.endswith(f"probability {probability(result.probabilities[term])}")


def test_no_probability_is_said_to_be_zero():
    structures = [RatedStructure((0,), 0.997, 0.0, "NARX"), RatedStructure((1,), 0.003, 11.6, "NARX")]
    warnings = certainty_warnings([1], Certainty(np.array([0.997, 0.003]), structures, []), ["y(k-1)", "u(k-1)"])
    assert [warning.message for warning in warnings] == [
        "the probability of the structure is below 0.01, that of the next one, with y(k-1), without u(k-1), "
        "is above 0.99",
        "the data do not clearly support u(k-1) (< 0.01)",
        "the data support y(k-1) (> 0.99) too",
    ]


@pytest.mark.parametrize("n_parameters", [0, 3])
def test_ljung_box_is_that_of_statsmodels(n_parameters):
    series = np.random.default_rng(1).normal(size=300)
    series[1:] += 0.2 * series[:-1]
    series -= series.mean()
    statistic, probability = ljung_box(series, 25, n_parameters)
    expected = acorr_ljungbox(series, lags=[25], model_df=n_parameters)
    assert statistic == pytest.approx(expected["lb_stat"].iloc[0], rel=1e-10)
    assert probability == pytest.approx(expected["lb_pvalue"].iloc[0], rel=1e-10)


def test_excess_kurtosis():
    rng = np.random.default_rng(2)
    assert abs(excess_kurtosis(rng.normal(size=20_000))) < 5.0 * math.sqrt(24.0 / 20_000)
    assert excess_kurtosis(rng.laplace(size=200_000)) == pytest.approx(3.0, abs=0.3)
    assert excess_kurtosis(np.array([-1.0, 1.0])) == -2.0


def test_all_kinds_of_noise_are_looked_at():
    assert {*CLEAN} < {*FILTERS}
