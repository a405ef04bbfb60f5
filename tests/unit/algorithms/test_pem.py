"""The prediction error method: true terms and noise models, probabilities, doubts, and what a result has."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.diagnostic import acorr_ljungbox
from tests.lookups import item_with, kinds_of, values_of
from tests.regression import numbers_of, parse_terms, probabilities_of, regressors, term_probability
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import (
    FILTERS,
    LOW_ORDERS,
    S1,
    WEIGHTS,
    all_criteria,
    data_of,
    noise_models_of,
    pem,
    problem_of,
    small_problem,
)

from narxbench import Model, load_system, search

RIGHT = {
    "white in the equation": "NARX",
    "moving average in the equation": "NARMAX (MA 1)",
    "autoregression in the equation": "ARARX (AR 1)",
    "white on the output": "NOE",
    "autoregression on the output": "Box-Jenkins (AR 1)",
    "both on the output": "Box-Jenkins (AR 1, MA 1)",
    "long moving average on the output": "Box-Jenkins (MA 4)",
}
# Noise that the lowest orders have.
FIRST_ORDER = [noise for noise in FILTERS if not noise.startswith(("long", "season", "random", "outliers"))]
# What each term costs beyond BIC for probabilities, in 2 ln(N_t).
GAMMA = 0.75


@cache
def result_of(noise, samples=800, seed=1, **settings):
    """Return the result for one kind of noise."""
    return pem(problem_of(*data_of(noise, samples, seed)), **settings)


@pytest.mark.parametrize("noise", RIGHT)
def test_terms_and_noise_model(noise):
    result = result_of(noise)
    assert result.terms == S1 and result.details["noise"]["description"] == RIGHT[noise]
    np.testing.assert_allclose(result.coefficients, WEIGHTS, atol=0.04)
    differences = np.abs(np.subtract(result.coefficients, WEIGHTS))
    assert (differences < 4.0 * np.array(result.details["standard_errors"])).all()
    assert not noise.startswith(("white", "autoregression", "both")) or result.warnings == []
    found, (_, moving_average, autoregression) = result.details["noise"], FILTERS[noise]
    coefficients = [*autoregression[1:], *moving_average[1:]]
    np.testing.assert_allclose([*found["autoregression"], *found["moving_average"]], coefficients, atol=0.12)
    assert found["degrees_of_freedom"] is None and not found["is_integrated"]


def test_outliers_are_of_student_t():
    result, gaussian = result_of("outliers on the output"), result_of("outliers on the output", tails=False)
    assert result.terms == S1 and result.details["noise"]["degrees_of_freedom"] in (2.0, 3.0, 4.0, 6.0)
    assert result.details["criterion"] < gaussian.details["criterion"] - 100.0
    np.testing.assert_allclose(result.coefficients, WEIGHTS, atol=0.03)
    assert "look for outliers" in str(gaussian) and "heavy_tails" in kinds_of(gaussian.warnings)


def test_drift_hides_the_constant():
    """Without the product, whose weight with a level is one more of u(k-1): that cannot be told from the level."""
    u, y = data_of("random walk on the output", 800, 5, weights=(0.5, 0.3, 0.0, 0.5))
    result = pem(problem_of(u, y + 0.7))
    assert result.terms == ["y(k-1)", "u(k-1)", "u(k-1)^2"] and result.details["noise"]["is_integrated"]
    assert result.details["hidden"] == ["1"]
    assert "hidden: drift of the noise hides a term 1" in str(result).splitlines()
    np.testing.assert_allclose(result.coefficients, [0.5, 0.3, 0.5], atol=0.04)


def test_slow_oscillation_of_the_level_is_no_mode_of_the_model():
    """It could be one without damping: the model times the factor of a sine."""
    rng = np.random.default_rng(5)
    u, x = rng.uniform(-1.0, 1.0, 800), np.zeros(800)
    for k in range(2, 800):
        x[k] = 0.7 * x[k - 1] - 0.5 * x[k - 2] + u[k - 1] + 0.4 * u[k - 2]
    y = x + np.sin(2.0 * np.pi * np.arange(800) / 60.0) + 0.05 * rng.normal(size=800)
    result = pem(problem_of(u, y, n_y=4, n_u=4))
    assert set(result.terms) - {"1"} == {"y(k-1)", "y(k-2)", "u(k-1)", "u(k-2)"}
    assert "share a factor" in " ".join(values_of(result.details["passed_over"], "reason"))
    assert result.probabilities["y(k-1)"] > 0.9 and "y(k-4)" not in result.probabilities


@pytest.mark.parametrize(
    ("noise", "settings"),
    [
        ("white in the equation", {"gamma": 0.5, **LOW_ORDERS}),
        ("both on the output", {}),
        ("outliers on the output", {}),
    ],
)
def test_all_details_are_there_and_as_they_are_defined(noise, settings):
    result, gamma = result_of(noise, 600, **settings), settings.get("gamma", 1.25)
    details = result.details
    assert details["samples"] == 598 - 29
    for best in [*details["noise_models"].values(), details | {"terms": result.terms}]:
        n_noise = np.count_nonzero([*best["noise"]["autoregression"], *best["noise"]["moving_average"]])
        n_noise += best["noise"]["degrees_of_freedom"] is not None
        n_noise += best["noise"]["is_integrated"]
        deviance = -2.0 * best["log_likelihood"] - 569 * (math.log(2.0 * math.pi) + 1.0)
        expected = deviance + len(best["terms"]) * (math.log(569) + 2.0 * gamma * math.log(15))
        assert best["criterion"] == pytest.approx(expected + n_noise * math.log(569), abs=1e-6)
    noise_models = pd.DataFrame(details["noise_models"].values())
    assert details["criterion"] == pytest.approx(noise_models["criterion"].min(), abs=1e-4)
    assert result.probabilities == details["probabilities"]
    assert pd.Series(result.probabilities).between(0.005, 1.0).all()
    assert pd.DataFrame(details["structures"])["probability"].sum() <= 1.0 + 1e-5
    evaluation = problem_of(*data_of(noise, 600)).evaluate(result.terms)
    assert (result.fitness, result.sse, result.evaluations) == (evaluation.fitness, evaluation.sse, 1)
    assert result.coefficients != evaluation.coefficients


@pytest.mark.parametrize("seed", mostly_slow([1, 2, 3, 4, 5], 1))
@pytest.mark.parametrize("noise", mostly_slow(FIRST_ORDER, "white on the output", "autoregression in the equation"))
def test_of_all_structures_and_noise_models_none_is_better(noise, seed):
    """The noise is so strong that some true terms are not worth their penalty."""
    problem = small_problem(*data_of(noise, 200, seed, deviation=0.3), n_terms=6)
    values = all_criteria(problem, noise_models_of())
    assert len(values) == 8 * 63
    details = pem(problem, **LOW_ORDERS).details
    # From another start a fit may end in another minimum.
    assert min(values_of([details, *details["passed_over"]], "criterion")) < min(values.values()) + 0.01


def test_only_noise_that_is_allowed_is_fitted():
    options = {"noise_models": ["narmax", "ararmax"], "largest_order": 2, "tails": False, "drift": False}
    described = pem(problem_of(*data_of("outliers on the output", 400)), **options).details["noise_models"]
    noises = pd.DataFrame(values_of(described.values(), "noise"))
    assert "narmax" in described and {*described} <= {"narx", "narmax", "ararmax"}
    assert not noises["is_integrated"].any() and noises["degrees_of_freedom"].isna().all()
    assert noises[["autoregression", "moving_average"]].map(len).to_numpy().max() <= 2


@pytest.mark.parametrize(
    ("noise", "name", "tolerance"),
    [
        # In a linear problem all predictions of the criterion are exact.
        ("white in the equation", "narx", 0.01),
        ("white on the output", "noe", 0.03),
        ("autoregression in the equation", "ararx", 0.03),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_probabilities_are_those_of_all_structures(noise, name, tolerance, seed):
    """By exp(-criterion / 2), summed over the noise models; the data are so few that much is uncertain."""
    problem = small_problem(*data_of(noise, 150, seed, deviation=0.25))
    each = probabilities_of(all_criteria(problem, noise_models_of((name,)), GAMMA))
    probabilities = pd.Series(each.values(), [terms for _, terms in each]).groupby(level=0).sum()
    expected = [term_probability(probabilities, term) for term in range(8)]
    result = pem(problem, noise_models=[name], **LOW_ORDERS)
    reported = pd.Series(result.probabilities).reindex(problem.terms, fill_value=0.0)
    np.testing.assert_allclose(reported, expected, atol=tolerance)
    assert probabilities.max() < 0.95
    for structure in result.details["structures"]:
        terms = tuple(numbers_of(problem, structure["terms"]))
        assert structure["probability"] == pytest.approx(probabilities[terms], abs=tolerance)


def test_few_data_bring_warnings():
    """Of terms that are not sure, that may be missing, and of a structure that is not sure."""
    result = pem(problem_of(*data_of("white on the output", 200, seed=10, deviation=0.3)))
    assert {*kinds_of(result.warnings)} >= {"uncertain_structure", "uncertain_terms", "missing_terms"}
    shown = [line for line in str(result).splitlines() if line.startswith("warning: ")]
    assert shown == list(map("warning: {0.message}".format, result.warnings))


def test_innovations_that_are_not_white_are_tested_as_in_statsmodels():
    u, y = data_of("season on the output", 800)
    result = pem(problem_of(u, y), noise_models=["narx"], drift=False, tails=False)
    values = item_with(result.warnings, kind="coloured_innovations").values
    design = regressors(u, y, parse_terms(result.terms), np.arange(2, 800))
    innovations = (y[2:] - design @ result.coefficients)[30:]
    expected = acorr_ljungbox(innovations - innovations.mean(), lags=[25])
    assert values["statistic"] == pytest.approx(expected["lb_stat"].iloc[0], rel=1e-3)
    assert "coloured_innovations" in kinds_of(result_of("season on the output").warnings)


def test_the_term_that_the_variance_goes_with_is_named():
    rng = np.random.default_rng(1)
    u, e = rng.uniform(-1.0, 1.0, 800), rng.normal(size=800)
    y = np.roll(0.3 * u + u**2 * (0.5 + 0.4 * e), 1)
    warning = item_with(pem(problem_of(u, y), tails=False).warnings, kind="changing_variance")
    assert warning.values["term"] == "u(k-1)^2" and warning.values["standard_errors"] > 5.0


def test_an_unstable_system_under_feedback_has_a_model_without_a_free_run():
    """y(k) = 1.1 y(k-1) + u(k-1) + e(k) is bounded only because u reacts to e."""
    rng = np.random.default_rng(1)
    u, y, r, e = np.zeros(2000), np.zeros(2000), rng.uniform(-1.0, 1.0, 2000), 0.3 * rng.normal(size=2000)
    for k in range(1, 2000):
        y[k] = 1.1 * y[k - 1] + u[k - 1] + e[k]
        u[k] = -0.4 * y[k] + r[k]
    problem = problem_of(u, y, n_u=5, n_y=5, n_validation=200)
    result = pem(problem)
    passed = result.details["passed_over"]
    assert passed[0]["noise_model"] == "narx" and passed[0]["terms"] == ["y(k-1)", "u(k-1)"]
    diverging = {"noise_model": "narx", "reason": "its free run diverges"}
    assert passed[0] == result.details["noise_models"]["narx"] | diverging
    criteria = values_of([*passed, result.details], "criterion")
    assert criteria == sorted(criteria) and math.isfinite(result.fitness)
    assert np.abs(Model.from_search(result).predict(u, y[:5])).max() < 10.0 * np.abs(y).max()


def test_of_noise_models_that_explain_noise_free_data_the_simplest_is_named():
    result = pem(problem_of(*load_system("S1").simulate(300)))
    assert (result.terms, result.details["noise_model"]) == (S1, "narx")


def test_the_search_from_many_starts_finds_the_same_models_and_more_starts_never_end_higher():
    problem, of_pem = problem_of(*data_of("outliers on the output", 800)), result_of("outliers on the output")
    first = search(problem, algorithm="multistart_likelihood", seed=3, restarts=0)
    last = search(problem, algorithm="multistart_likelihood", seed=3, restarts=3)
    assert last.details["criterion"] <= min(first.details["criterion"], of_pem.details["criterion"]) + 1e-3
    assert (last.terms, last.details["noise_model"]) == (S1, of_pem.details["noise"]["description"])
