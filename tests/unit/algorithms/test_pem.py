"""The prediction error method: true terms and noise models, what a result has, and how a noise model is added."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.lookups import kinds_of
from tests.regression import numbers_of, product
from tests.unit.algorithms.likelihood import S1, WEIGHTS, data_of, pem, plain_criterion, problem_of

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms.likelihood_search import LikelihoodSearch
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model import noise_models
from narxbench._model.noise_models import NOISE_NAMES, NoiseModel, noise_model_of

RIGHT = {
    "white in the equation": "NARX",
    "moving average in the equation": "NARMAX (MA 1)",
    "autoregression in the equation": "ARARX (AR 1)",
    "white on the output": "NOE",
    "autoregression on the output": "Box-Jenkins (AR 1)",
    "both on the output": "Box-Jenkins (AR 1, MA 1)",
    "long moving average on the output": "Box-Jenkins (MA 4)",
}


class TestTrueStructures:
    @pytest.mark.parametrize("noise", RIGHT)
    def test_terms_and_noise_model(self, noise):
        result = pem(problem_of(*data_of(noise, 800)))
        assert result.terms == S1 and result.details["noise"]["description"] == RIGHT[noise]
        np.testing.assert_allclose(result.coefficients, WEIGHTS, atol=0.04)
        differences = np.abs(np.subtract(result.coefficients, WEIGHTS))
        assert (differences < 4.0 * np.array(result.details["standard_errors"])).all()

    def test_coefficients_of_the_noise(self):
        noise = pem(problem_of(*data_of("both on the output", 1000))).details["noise"]
        np.testing.assert_allclose([*noise["autoregression"], *noise["moving_average"]], [-0.8, 0.6], atol=0.08)
        assert noise["degrees_of_freedom"] is None and not noise["is_integrated"]

    def test_outliers_are_of_student_t(self):
        problem = problem_of(*data_of("outliers on the output", 800))
        result, gaussian = pem(problem), pem(problem, tails=False)
        assert result.terms == S1 and result.details["noise"]["degrees_of_freedom"] in (2.0, 3.0, 4.0, 6.0)
        assert result.details["criterion"] < gaussian.details["criterion"] - 100.0
        assert "look for outliers" in str(gaussian)
        np.testing.assert_allclose(result.coefficients, WEIGHTS, atol=0.03)

    @pytest.mark.parametrize("level", [0.0, 0.7])
    def test_drift_hides_the_constant(self, level):
        """Without the product, whose weight with a level is one more of u(k-1): that cannot be told from the level."""
        u, y = data_of("random walk on the output", 800, 5, weights=(0.5, 0.3, 0.0, 0.5))
        result = pem(problem_of(u, y + level))
        assert result.terms == ["y(k-1)", "u(k-1)", "u(k-1)^2"] and result.details["noise"]["is_integrated"]
        assert result.details["hidden"] == ["1"]
        assert "hidden: drift of the noise hides a term 1" in str(result).splitlines()
        np.testing.assert_allclose(result.coefficients, [0.5, 0.3, 0.5], atol=0.04)

    def test_a_level_that_drift_hides_leaves_structures_that_are_exchangeable(self):
        """With x + 1 in place of x, S1 has a constant and no u(k-1); as the level drifts, both are equally likely."""
        result = pem(problem_of(*data_of("random walk on the output", 800, 2)))
        assert result.terms in (S1, ["1", "y(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"])
        assert result.details["noise"]["is_integrated"]
        (group,) = result.details["groups"]
        assert group["terms"] == ["1", "u(k-1)"]
        assert "uncertain_terms" in kinds_of(result.warnings)

    def test_lagged_copies_stand_for_noise_that_is_not_allowed(self):
        problem = problem_of(*data_of("autoregression in the equation", 800), n_u=3, n_y=3)
        result, narx = pem(problem), pem(problem, noise_models=["narx"])
        assert result.terms == S1
        copies = {"y(k-2)", "u(k-2)", "y(k-2)*u(k-2)", "u(k-2)^2"}
        assert {*narx.terms} == {*S1, *copies}
        assert result.details["criterion"] < narx.details["criterion"] - 20.0

    def test_noise_on_the_output_brings_further_terms_in_under_least_squares_only(self):
        u, y = load_system("S1").simulate(2000, snr_db=20, seed=13, noise="output")
        problem = problem_of(u, y, n_u=5, n_y=5, n_validation=600)
        result = pem(problem)
        assert result.terms == S1 and result.details["noise_model"] == "noe"
        assert search(problem, algorithm="multistart", seed=1).terms != S1


class SeasonalAr(NoiseModel):
    """Noise on the output that comes back after twelve samples."""

    name, title, place = "seasonal", "Seasonal", "output"
    words = "noise on the output that comes back after twelve samples"

    @classmethod
    def filters(cls, largest_order):
        """Yield an autoregression of the one lag."""
        yield (12,), ()


class TestNewNoiseModel:
    """To add one: a class in noise_models.py, its name in NOISE_MODELS and in NoiseName. One file, no more."""

    @pytest.fixture
    def added(self, monkeypatch):
        monkeypatch.setitem(noise_models.NOISE_MODELS, "seasonal", SeasonalAr)

    @pytest.mark.usefixtures("added")
    @pytest.mark.parametrize("names", [[*NOISE_NAMES, "seasonal"], ["seasonal"], ["noe", "seasonal"]])
    def test_it_is_chosen_where_the_noise_is_such(self, names):
        problem = problem_of(*data_of("season on the output", 800))
        # The names that settings allow are checked when they are read: NoiseName is in the same file.
        settings = Settings().model_copy(update={"noise_models": names})
        search = LikelihoodSearch(PredictionErrors(problem), settings)
        search.run()
        best = search.best()
        assert best.terms.tolist() == numbers_of(problem, S1)
        assert isinstance(best.noise_model, SeasonalAr) and best.noise_model.description == "Seasonal (AR 12)"
        np.testing.assert_allclose(search.errors.coefficients(best), WEIGHTS, atol=0.03)
        assert best.noise_weights == pytest.approx([-0.8], abs=0.07)

    @pytest.mark.usefixtures("added")
    def test_its_values_are_checked_as_those_of_all(self):
        noise_model = noise_model_of("seasonal", [*[0.0] * 11, -0.8])
        assert noise_model.ar_lags == (12,) and isinstance(noise_model, SeasonalAr)

    def test_without_it_a_season_is_no_white_noise(self):
        result = pem(problem_of(*data_of("season on the output", 800)))
        assert "Seasonal" not in str(result)
        assert "coloured_innovations" in kinds_of(result.warnings)


def noise_model_in(details):
    """Return the noise model that details of a result name."""
    noise = details["noise"]
    return noise_model_of(
        details["noise_model"],
        noise["autoregression"],
        noise["moving_average"],
        is_integrated=noise["is_integrated"],
        degrees_of_freedom=noise["degrees_of_freedom"],
    )


class TestDetails:
    @pytest.mark.parametrize("settings", [{}, {"gamma": 0.5, "largest_order": 1, "tails": False, "drift": False}])
    @pytest.mark.parametrize("noise", ["white in the equation", "both on the output", "outliers on the output"])
    def test_all_is_there_and_as_it_is_defined(self, noise, settings):
        problem = problem_of(*data_of(noise, 600))
        result, errors = pem(problem, **settings), PredictionErrors(problem)
        details, gamma = result.details, settings.get("gamma", 1.25)
        assert details["samples"] == errors.samples == 598 - 29
        for best in [*details["noise_models"].values(), details | {"terms": result.terms}]:
            noise_model = noise_model_in(best)
            assert best["noise"]["description"] == noise_model.description
            terms = numbers_of(problem, best["terms"])
            per_term = math.log(569) + 2.0 * gamma * math.log(15)
            deviance = -2.0 * best["log_likelihood"] - 569 * (math.log(2.0 * math.pi) + 1.0)
            expected = deviance + len(terms) * per_term + noise_model.n_parameters * math.log(569)
            assert best["criterion"] == pytest.approx(expected, abs=1e-6)
            if noise_model.is_white:
                fitted = plain_criterion(errors, noise_model, terms, gamma)
                assert best["criterion"] == pytest.approx(fitted, abs=0.01)
        noise_models = pd.DataFrame(details["noise_models"].values())
        assert details["criterion"] == pytest.approx(noise_models["criterion"].min(), abs=1e-4)
        assert result.probabilities == details["probabilities"]
        assert pd.Series(result.probabilities).between(0.005, 1.0).all()
        assert pd.DataFrame(details["structures"])["probability"].sum() <= 1.0 + 1e-5

    @pytest.mark.parametrize(
        "noise", ["white in the equation", "white on the output", "autoregression in the equation"]
    )
    def test_weights_and_standard_errors_are_those_of_the_fit(self, noise):
        problem = problem_of(*data_of(noise, 600))
        result, errors = pem(problem), PredictionErrors(problem)
        fit = errors.fit(noise_model_in(result.details), numbers_of(problem, result.terms))
        uncertainty, n = errors.uncertainty(fit), len(result.terms)
        np.testing.assert_allclose(result.details["standard_errors"], uncertainty.classical[:n], rtol=1e-3)
        np.testing.assert_allclose(result.details["robust_standard_errors"], uncertainty.robust[:n], rtol=1e-3)
        differences = np.abs(errors.coefficients(fit) - result.coefficients)
        assert (differences < 1e-3 * uncertainty.classical[:n]).all()
        evaluation = problem.evaluate(result.terms)
        assert (result.fitness, result.sse, result.evaluations) == (evaluation.fitness, evaluation.sse, 1)
        assert result.coefficients != evaluation.coefficients


@pytest.mark.parametrize("noise", ["white in the equation", "both on the output", "outliers on the output"])
@pytest.mark.parametrize("units", [(1000.0, 1000.0), (1e9, 1e-3), (1e-60, 1e-60)])
def test_units_change_no_choice(noise, units):
    u, y = data_of(noise, 500)
    plain, scaled = pem(problem_of(u, y)), pem(problem_of(units[0] * u, units[1] * y, rescaled=False))
    assert (
        scaled.terms == plain.terms and scaled.details["noise"]["description"] == plain.details["noise"]["description"]
    )
    samples = plain.details["samples"]
    difference = scaled.details["criterion"] - plain.details["criterion"]
    assert difference == pytest.approx(2.0 * samples * math.log(units[1]), abs=1e-3)


@pytest.mark.parametrize("unit", [1e-150, 1e-100, 1e9])
def test_very_small_and_large_units_change_no_likelihood(unit):
    """J has squares of products, which leave the range of numbers; the search by likelihood has not."""
    u, y = data_of("both on the output", 500)
    fits = []
    for factor in (1.0, unit):
        search_here = LikelihoodSearch(PredictionErrors(problem_of(factor * u, factor * y, rescaled=False)), Settings())
        search_here.run()
        fits.append(search_here.best())
    assert fits[0].noise_model == fits[1].noise_model and fits[0].terms.tolist() == fits[1].terms.tolist()


def unstable_under_feedback(samples):
    """Return u, y of y(k) = 1.1 y(k-1) + u(k-1) + e(k), which is bounded only because u reacts to e."""
    rng = np.random.default_rng(1)
    u, y, r, e = np.zeros(samples), np.zeros(samples), rng.uniform(-1.0, 1.0, samples), 0.3 * rng.normal(size=samples)
    for k in range(1, samples):
        y[k] = 1.1 * y[k - 1] + u[k - 1] + e[k]
        u[k] = -0.4 * y[k] + r[k]
    return u, y


def free_run(problem, result, u, y):
    """Return the free run of a result after the first five outputs."""
    run = y.copy()
    for k in range(5, len(y)):
        run[k] = 0.0
        for coefficient, number in zip(result.coefficients, numbers_of(problem, result.terms), strict=True):
            run[k] += coefficient * product(problem.monomials[number], (run, u), k)
    return run


class TestPassedOver:
    def test_an_unstable_system_under_feedback_has_a_model_without_a_free_run(self):
        u, y = unstable_under_feedback(2000)
        problem = problem_of(u, y, n_u=5, n_y=5, n_validation=200)
        result, errors = pem(problem), PredictionErrors(problem)
        passed = result.details["passed_over"]
        assert passed[0]["noise_model"] == "narx" and passed[0]["terms"] == ["y(k-1)", "u(k-1)"]
        diverging = {"noise_model": "narx", "reason": "its free run diverges"}
        assert passed[0] == result.details["noise_models"]["narx"] | diverging
        criteria = [model["criterion"] for model in [*passed, result.details]]
        assert criteria == sorted(criteria) and math.isfinite(result.fitness)
        for model in passed:
            fit = errors.fit(noise_model_in(model), numbers_of(problem, model["terms"]))
            assert errors.bounded(fit) == (model["reason"] != "its free run diverges")
        assert np.abs(free_run(problem, result, u, y)).max() < 10.0 * np.abs(y).max()

    def test_a_model_of_more_terms_than_j_allows(self):
        """AICc of 5 samples allows 3 terms at most."""
        problem = problem_of(*data_of("white on the output", 500), n_validation=5, criterion="aicc")
        result = pem(problem, starts=[2])
        passed = result.details["passed_over"]
        assert passed[0]["terms"] == S1
        for model in passed:
            assert len(model["terms"]) > 3 and model["reason"] == "its J is infinite"
        assert 1 <= len(result.terms) <= 3 and math.isfinite(result.fitness)
        # No more than 20 are named.
        assert len(passed) == min(20, result.evaluations - 1)


class TestDegenerateProblems:
    u, y = data_of("white on the output", 300)

    @pytest.mark.parametrize("monomial", [(), ((0, 1),), ((1, 1), (1, 2))])
    def test_one_candidate(self, monomial):
        problem = StructureProblem.of_records(
            self.u[:, None], self.y, [monomial], rows=np.arange(2, 200), segments=[range(200, 300)]
        )
        result = pem(problem)
        assert result.terms == problem.terms and math.isfinite(result.fitness)

    @pytest.mark.parametrize("samples", [9, 12, 40])
    def test_fewer_samples_than_candidates(self, samples):
        problem = problem_of(self.u[:samples], self.y[:samples], n_u=5, n_y=5, n_validation=2)
        result = pem(problem)
        models = [result.details | {"terms": result.terms}, *result.details["noise_models"].values()]
        assert len(problem.terms) == 66 and len(models) > 2
        for model in models:
            assert len(model["terms"]) <= max(1, (samples - 5) // 2)

    def test_noise_free_data(self):
        result = pem(problem_of(*load_system("S1").simulate(300)))
        # Of noise models that explain as much the simplest is named.
        assert (result.terms, result.details["noise_model"]) == (S1, "narx")


@pytest.mark.parametrize("noise_models", [["noe"], ["narmax", "narx"]])
def test_no_other_noise_model_is_chosen(noise_models):
    result = pem(problem_of(*data_of("white on the output", 500)), noise_models=noise_models)
    assert set(result.details["noise_models"]) == set(noise_models)
    assert result.details["noise_model"] in noise_models
