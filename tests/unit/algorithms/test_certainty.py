"""Probabilities of terms and structures against those of all structures."""

import math

import numpy as np
import pytest
from tests.unit.algorithms.likelihood import S1, all_criteria, data_of, noise_models_of, pem, problem_of, small_problem

from narxbench import StructureProblem
from narxbench._algorithms.certainty import GAMMA, RatedStructure, Window, certainty, exchangeable
from narxbench._algorithms.likelihood_search import LikelihoodSearch
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model.noise_models import Narx
from narxbench._model.terms import monomials_of

LOW_ORDERS = {"largest_order": 1, "tails": False, "drift": False}


def certainty_of(problem, **settings):
    search = LikelihoodSearch(PredictionErrors(problem), Settings(**settings))
    search.run()
    return certainty(Window(search))


def all_probabilities(problem, noise_models, largest=8):
    """Return the probability of each structure by exp(-criterion / 2), summed over the noise models."""
    criteria = all_criteria(problem, noise_models, GAMMA)
    criteria = {key: value for key, value in criteria.items() if len(key[1]) <= largest}
    lowest, weights = min(criteria.values()), {}
    for (_, terms), value in criteria.items():
        weights[terms] = weights.get(terms, 0.0) + math.exp(-0.5 * (value - lowest))
    total = math.fsum(weights.values())
    return {terms: weight / total for terms, weight in weights.items()}


def probabilities_of_terms(probabilities, n_terms=8):
    """Return the probability of each term: that of all structures which have it."""
    sums = np.zeros(n_terms)
    for terms, probability in probabilities.items():
        sums[list(terms)] += probability
    return sums


@pytest.mark.parametrize(
    ("noise", "names", "tolerance"),
    [
        # In a linear problem all predictions of the criterion are exact.
        ("white in the equation", ("narx",), 0.005),
        ("white on the output", ("noe",), 0.03),
        ("autoregression in the equation", ("ararx",), 0.03),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_probabilities_are_those_of_all_structures(noise, names, tolerance, seed):
    problem = small_problem(*data_of(noise, 150, seed, deviation=0.25))
    expected = all_probabilities(problem, noise_models_of(names))
    estimate = certainty_of(problem, noise_models=list(names), **LOW_ORDERS)
    np.testing.assert_allclose(estimate.terms, probabilities_of_terms(expected), atol=tolerance)
    # The data are so few that much is uncertain.
    assert max(expected.values()) < 0.95
    for structure in estimate.structures:
        assert structure.probability == pytest.approx(expected[structure.terms], abs=tolerance)


def test_probabilities_of_few_samples_are_those_of_all_structures():
    """Structures of more terms than half of the samples are none."""
    problem = small_problem(*data_of("white in the equation", 16, deviation=0.2))
    with np.errstate(invalid="raise"):
        estimate = certainty_of(problem, noise_models=["narx"], gamma=0.0, **LOW_ORDERS)
    expected = all_probabilities(problem, [Narx()], largest=7)
    np.testing.assert_allclose(estimate.terms, probabilities_of_terms(expected), atol=0.02)


def test_probabilities_over_all_structures_sum_to_one():
    problem = small_problem(*data_of("white in the equation", 120, deviation=0.5), n_terms=3)
    estimate = certainty_of(problem, noise_models=["narx"], **LOW_ORDERS)
    probabilities = {structure.terms: structure.probability for structure in estimate.structures}
    assert len(probabilities) == len(estimate.structures) <= 7
    values = list(probabilities.values())
    assert math.fsum(values) == pytest.approx(1.0, abs=1e-5)
    assert values == sorted(values, reverse=True)
    for structure in estimate.structures:
        # Occam's factor of each is that of its criterion.
        ratio = math.exp(-0.5 * structure.difference)
        assert structure.probability == pytest.approx(values[0] * ratio, abs=1e-5)
    np.testing.assert_allclose(estimate.terms, probabilities_of_terms(probabilities, 3), atol=1e-5)


def test_clear_data_leave_no_doubt():
    problem = problem_of(*data_of("white on the output", 800))
    result = pem(problem)
    assert result.terms == S1
    for term in S1:
        assert result.probabilities[term] > 0.95
    for term in {*problem.terms} - {*S1}:
        assert result.probabilities.get(term, 0.0) < 0.1
    structure = result.details["structures"][0]
    assert structure["terms"] == S1 and structure["difference"] == 0.0
    assert structure["noise_model"] == "NOE" and result.details["groups"] == []


def test_inputs_that_are_almost_the_same_are_exchangeable():
    rng = np.random.default_rng(3)
    first = rng.normal(size=300)
    u, y = np.column_stack([first, first + 0.1 * rng.normal(size=300)]), np.zeros(300)
    y[1:] = first[:-1] + 2.0 * rng.normal(size=299)
    monomials = monomials_of([(0, 1), (1, 1), (2, 1)], 1)
    problem = StructureProblem.of_records(u, y, monomials, rows=np.arange(1, 300), segments=[range(200, 300)])
    result = pem(problem, noise_models=["narx"])
    (group,) = result.details["groups"]
    assert group["terms"] == ["u1(k-1)", "u2(k-1)"]
    assert group["probabilities"] == [result.probabilities[term] for term in group["terms"]]
    assert sum(group["probabilities"]) == pytest.approx(1.0, abs=0.1)
    shares = ", ".join(f"{share:.2f}" for share in group["probabilities"])
    assert f"exchangeable: one of u1(k-1), u2(k-1) ({shares})" in str(result).splitlines()


class TestExchangeable:
    @staticmethod
    def rated(*terms, probability=0.2):
        return RatedStructure(terms, probability, 0.0, "NARX")

    def test_swaps_are_joined(self):
        structures = [self.rated(0, 1), self.rated(0, 2), self.rated(0, 3), self.rated(4, 1)]
        assert sorted(exchangeable(structures)) == [(0, 4), (1, 2, 3)]

    def test_terms_that_are_added_are_no_swap(self):
        assert exchangeable([self.rated(0, 1), self.rated(0, 1, 2), self.rated(0)]) == []

    def test_two_swaps_at_a_time_say_nothing(self):
        assert exchangeable([self.rated(0, 1), self.rated(2, 3)]) == []

    def test_improbable_structures_say_nothing(self):
        assert exchangeable([self.rated(0, 1), self.rated(0, 2, probability=0.04)]) == []
