"""The prediction error method against true structures, and against all structures."""

import math
from itertools import combinations

import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.fitness.prediction_error import NOISE_MODELS, PredictionErrors
from narxbench.model.terms import monomials_of

S1 = load_system("S1").terms
NOISES = {"output": "noe", "equation": "narx", "coloured": "narmax"}


def coloured(samples, seed=1, deviation=0.05):
    """Return u, y of S1 with the noise e(k) + 0.8 e(k-1) inside of its equation."""
    rng = np.random.default_rng(seed)
    u, e, y = rng.uniform(-1.0, 1.0, samples + 100), deviation * rng.normal(size=samples + 100), np.zeros(samples + 100)
    for k in range(1, samples + 100):
        y[k] = 0.5 * y[k - 1] + 0.3 * u[k - 1] + 0.3 * y[k - 1] * u[k - 1] + 0.5 * u[k - 1] ** 2 + e[k] + 0.8 * e[k - 1]
    return u[100:], y[100:]


def data_of(noise, samples, seed=1, snr_db=20):
    if noise == "coloured":
        return coloured(samples, seed)
    return load_system("S1").simulate(samples, snr_db=snr_db, seed=seed, noise=noise)


def problem_of(u, y, **orders):
    return StructureProblem(u, y, **({"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100} | orders))


def found_by(problem, **settings):
    return search(problem, algorithm="pem", seed=1, **settings)


def criterion_of(problem, errors, noise_model, terms, *, gamma=1.25, order=2):
    """Return the criterion of a structure by its definition, from innovations in the units of the data."""
    fit = errors.fit(noise_model, terms, order=order)
    if not fit.sse < math.inf:
        return math.inf
    n, per_term = errors.samples, math.log(errors.samples) + 2.0 * gamma * math.log(errors.n_terms)
    innovations = errors.innovations(fit)
    sse = float(np.sum(innovations[len(innovations) - n :] ** 2))
    # Outputs before the first sample, which an NOE model estimates, count as the others do.
    scale = 2.0 ** math.frexp(np.abs(problem.training_y).max())[1]
    begin, depth = int(problem.stretches[0, 0]), fit.initial.shape[1]
    sse += float(np.sum((scale * fit.initial[0] - problem.training_y[begin - depth : begin][::-1]) ** 2))
    noise = order * math.log(n) if noise_model == "narmax" else 0.0
    return n * math.log(sse / n) + len(fit.terms) * per_term + noise


class TestTrueStructures:
    def test_noise_on_the_output_does_not_bring_in_further_terms(self):
        problem = problem_of(*data_of("output", 2000, seed=13), n_u=5, n_y=5, n_validation=600)
        found = found_by(problem)
        assert found.terms == S1 and found.details["noise_model"] == "noe"
        np.testing.assert_allclose(found.coefficients, [0.5, 0.3, 0.3, 0.5], atol=0.02)
        assert search(problem, algorithm="multistart", seed=1).terms != S1

    def test_coloured_noise_in_the_equation(self):
        found = found_by(problem_of(*data_of("coloured", 2000), n_u=5, n_y=5))
        assert found.terms == S1 and found.details["noise_model"] == "narmax"
        np.testing.assert_allclose(found.details["noise_weights"], [0.8, 0.0], atol=0.06)


class TestDetails:
    @pytest.mark.parametrize("settings", [{}, {"gamma": 0.5, "order": 1}])
    @pytest.mark.parametrize("noise", NOISES)
    def test_all_is_there_and_as_it_is_defined(self, noise, settings):
        problem = problem_of(*data_of(noise, 600))
        found, errors = found_by(problem, **settings), PredictionErrors(problem)
        details, order = found.details, settings.get("order", 2)
        assert details["noise_model"] == NOISES[noise] and details["passed_over"] == []
        assert details["samples"] == errors.samples == 598 - 29
        assert set(details["noise_models"]) == set(NOISE_MODELS)
        for noise_model, best in details["noise_models"].items():
            assert len(best["noise_weights"]) == (order if noise_model == "narmax" else 0)
            terms = [problem.terms.index(term) for term in best["terms"]]
            expected = criterion_of(problem, errors, noise_model, terms, **settings)
            assert best["criterion"] == pytest.approx(expected, abs=1e-5)
            penalty = len(terms) * (math.log(569) + 2.0 * settings.get("gamma", 1.25) * math.log(15))
            deviance = expected - penalty - len(best["noise_weights"]) * math.log(569)
            likelihood = -0.5 * (deviance + 569 * (math.log(2.0 * math.pi) + 1.0))
            assert best["log_likelihood"] == pytest.approx(likelihood, abs=1e-5)
        chosen = details["noise_models"][details["noise_model"]]
        assert chosen == {"terms": found.terms} | {name: details[name] for name in chosen if name != "terms"}
        assert details["criterion"] == min(best["criterion"] for best in details["noise_models"].values())

    @pytest.mark.parametrize("noise", NOISES)
    def test_weights_and_standard_errors_are_those_of_the_fit(self, noise):
        problem = problem_of(*data_of(noise, 600))
        found, errors = found_by(problem), PredictionErrors(problem)
        fit = errors.fit(found.details["noise_model"], [problem.terms.index(term) for term in found.terms])
        uncertainty, n = errors.uncertainty(fit), len(found.terms)
        np.testing.assert_allclose(found.details["standard_errors"], uncertainty.classical[:n], rtol=1e-3)
        np.testing.assert_allclose(found.details["robust_standard_errors"], uncertainty.robust[:n], rtol=1e-3)
        differences = np.abs(errors.coefficients(fit) - found.coefficients)
        assert (differences < 1e-3 * uncertainty.classical[:n]).all()
        evaluation = problem.evaluate(found.terms)
        assert (found.fitness, found.sse, found.evaluations) == (evaluation.fitness, evaluation.sse, 1)
        assert found.coefficients != evaluation.coefficients


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("noise", NOISES)
def test_of_all_structures_and_noise_models_none_is_better(noise, seed):
    """The noise is so strong that some true terms are not worth their penalty."""
    u, y = coloured(150, seed, 0.3) if noise == "coloured" else data_of(noise, 150, seed, snr_db=3)
    monomials = [m for m in monomials_of([(0, 1), (0, 2), (1, 1)], 2) if m != ((0, 2), (0, 2))][:8]
    problem = StructureProblem.of_records(u[:, None], y, monomials, rows=np.arange(2, 150), segments=[range(100, 150)])
    found, errors = found_by(problem), PredictionErrors(problem)
    values = {
        (noise_model, terms): criterion_of(problem, errors, noise_model, terms)
        for noise_model in NOISE_MODELS
        for size in range(1, 9)
        for terms in combinations(range(8), size)
    }
    best = min(values, key=lambda key: values[key])
    assert len(values) == 3 * 255
    # One that is bounded only from the outputs that it estimates for its beginning is passed over.
    first = [*found.details["passed_over"], found.details | {"terms": found.terms}][0]
    assert first["criterion"] == pytest.approx(values[best], abs=1e-5)
    assert (first["noise_model"], first["terms"]) == (best[0], [problem.terms[term] for term in best[1]])
    for noise_model, theirs in found.details["noise_models"].items():
        lowest = min(value for (name, _), value in values.items() if name == noise_model)
        assert theirs["criterion"] > lowest - 1e-5


@pytest.mark.parametrize("noise", NOISES)
def test_the_same_in_other_units(noise):
    u, y = data_of(noise, 500)
    plain, scaled = found_by(problem_of(u, y)), found_by(problem_of(1000.0 * u, 1000.0 * y))
    assert scaled.terms == plain.terms and scaled.details["noise_model"] == plain.details["noise_model"]
    difference = scaled.details["criterion"] - plain.details["criterion"]
    assert difference == pytest.approx(plain.details["samples"] * math.log(1e6), abs=1e-5)


class TestPassedOver:
    def test_an_unstable_system_under_feedback_has_a_model_without_a_free_run(self):
        """y(k) = 1.1 y(k-1) + u(k-1) + e(k) is bounded only because u reacts to e."""
        rng = np.random.default_rng(1)
        u, y, r, e = np.zeros(2000), np.zeros(2000), rng.uniform(-1.0, 1.0, 2000), 0.3 * rng.normal(size=2000)
        for k in range(1, 2000):
            y[k] = 1.1 * y[k - 1] + u[k - 1] + e[k]
            u[k] = -0.4 * y[k] + r[k]
        problem = problem_of(u, y, n_u=5, n_y=5, n_validation=200)
        found, errors = found_by(problem), PredictionErrors(problem)
        passed = found.details["passed_over"]
        assert passed[0]["noise_model"] == "narx" and passed[0]["terms"] == ["y(k-1)", "u(k-1)"]
        diverging = {"noise_model": "narx", "reason": "its free run diverges"}
        assert passed[0] == found.details["noise_models"]["narx"] | diverging
        criteria = [*(model["criterion"] for model in passed), found.details["criterion"]]
        assert criteria == sorted(criteria) and math.isfinite(found.fitness)
        for model in passed:
            fit = errors.fit(model["noise_model"], [problem.terms.index(term) for term in model["terms"]])
            assert errors.bounded(fit) == (model["reason"] == "its J is infinite")
        run, terms = y.tolist(), [problem.monomials[problem.terms.index(term)] for term in found.terms]
        for k in range(5, 2000):
            factors = [math.prod((run, u)[signal][k - lag] for signal, lag in monomial) for monomial in terms]
            run[k] = float(np.dot(found.coefficients, factors))
        assert max(map(abs, run)) < 10.0 * np.abs(y).max()

    def test_a_model_of_more_terms_than_j_allows(self):
        """AICc of 5 samples allows 3 terms at most."""
        problem = problem_of(*data_of("output", 500), n_validation=5, criterion="aicc")
        found = found_by(problem, starts=[2])
        passed = found.details["passed_over"]
        assert passed[0]["terms"] == S1 and {model["reason"] for model in passed} == {"its J is infinite"}
        assert all(len(model["terms"]) > 3 for model in passed)
        assert 1 <= len(found.terms) <= 3 and math.isfinite(found.fitness)
        # No more than 20 are named.
        assert len(passed) == min(20, found.evaluations - 1)


class TestCorners:
    u, y = data_of("output", 300)

    @pytest.mark.parametrize("monomial", [(), ((0, 1),), ((1, 1), (1, 2))])
    def test_one_candidate(self, monomial):
        problem = StructureProblem.of_records(
            self.u[:, None], self.y, [monomial], rows=np.arange(2, 200), segments=[range(200, 300)]
        )
        found = found_by(problem)
        assert found.terms == problem.terms and math.isfinite(found.fitness)

    @pytest.mark.parametrize("samples", [9, 12, 40])
    def test_fewer_samples_than_candidates(self, samples):
        problem = problem_of(self.u[:samples], self.y[:samples], n_u=5, n_y=5, n_validation=2)
        found = found_by(problem)
        models = [model["terms"] for model in found.details["noise_models"].values()]
        assert len(problem.terms) == 66 and len(models) == 3
        assert max(map(len, [found.terms, *models])) <= max(1, (samples - 5) // 2)

    def test_noise_free_data(self):
        found = found_by(problem_of(*load_system("S1").simulate(300)))
        # Of noise models that explain as much the simplest is named.
        assert (found.terms, found.details["noise_model"]) == (S1, "narx")


@pytest.mark.parametrize("noise_models", [["noe"], ["narmax", "narx"]])
def test_no_other_noise_model_is_chosen(noise_models):
    found = found_by(problem_of(*data_of("output", 500)), noise_models=noise_models)
    assert set(found.details["noise_models"]) == set(noise_models)
    assert found.details["noise_model"] in noise_models
