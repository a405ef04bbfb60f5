"""Probabilities of a model's terms against those of all structures, and the reason where there are none."""

import json

import numpy as np
import pytest
from scipy.special import entr
from tests.lookups import kinds_of
from tests.regression import probabilities_of, term_probability, terms_at
from tests.unit.algorithms.likelihood import S1, all_criteria, data_of, noise_models_of, problem_of, small_problem

from narxbench import StructureProblem
from narxbench._algorithms.certainty import GAMMA
from narxbench._identification.trust.probabilities import DIVERGES, EXACT, TOO_FEW, structure_certainty
from narxbench._model.noise_models import NOISE_NAMES, Narx, Noe
from narxbench._model.terms import monomials_of


def twins(samples=300):
    """Return a problem of two inputs that are almost the same, of which the output follows the first."""
    rng = np.random.default_rng(3)
    first = rng.normal(size=samples)
    u, y = np.column_stack([first, first + 0.1 * rng.normal(size=samples)]), np.zeros(samples)
    y[1:] = first[:-1] + 2.0 * rng.normal(size=samples - 1)
    monomials = monomials_of([(0, 1), (1, 1), (2, 1)], 1)
    rows, segments = np.arange(1, samples), [range(samples - 100, samples)]
    return StructureProblem.of_records(u, y, monomials, rows=rows, segments=segments)


def structure_probabilities(criteria):
    """Return the probability of each structure by the numbers of its terms."""
    return {members: probability for (_, members), probability in probabilities_of(criteria).items()}


@pytest.mark.parametrize("chosen", [[0, 2], [0, 1, 2, 3, 5]])
@pytest.mark.parametrize(("noise", "noise_model"), [("white in the equation", Narx()), ("white on the output", Noe())])
def test_probabilities_are_those_of_all_structures(noise, noise_model, chosen):
    """Compare them for any structure that was chosen, also for an improbable one."""
    problem = small_problem(*data_of(noise, 150, 2, deviation=0.25))
    name = noise_model.name
    # Heavy tails would be further noise models.
    criteria = all_criteria(problem, noise_models_of((name,)), GAMMA)
    probabilities = structure_probabilities(criteria)
    terms = terms_at(problem, chosen)
    certainty = structure_certainty(problem, terms, noise_model, [name])
    check_rivals(certainty, problem, terms, {members: value for (_, members), value in criteria.items()})
    assert certainty.missing == "" and certainty.samples == 150 - 2 - 7
    assert certainty.probability == pytest.approx(probabilities[tuple(chosen)], abs=0.03)
    for number, term in enumerate(problem.terms):
        expected = term_probability(probabilities, number)
        assert certainty.probabilities.get(term, 0.0) == pytest.approx(expected, abs=0.03)
    assert set(terms) <= set(certainty.probabilities)


def check_rivals(certainty, problem, terms, criteria):
    """Check that rivals are other structures in the order of their probability, with the differences of criteria."""
    probabilities = [rival.probability for rival in certainty.rivals]
    assert probabilities == sorted(probabilities, reverse=True)
    assert terms not in [rival.terms for rival in certainty.rivals]

    def criterion(terms):
        return criteria[tuple(map(problem.terms.index, terms))]

    for rival in certainty.rivals[:3]:
        assert rival.difference == pytest.approx(criterion(rival.terms) - criterion(terms), abs=0.2)


def test_a_wrong_noise_model_makes_no_true_term_improbable():
    """Show it for NARX, whose terms of further lags make up for noise on the output."""
    problem = problem_of(*data_of("white on the output", 800))
    certainty = structure_certainty(problem, S1, Narx(), NOISE_NAMES)
    assert certainty.probability > 0.8
    for term in S1:
        assert certainty.probabilities[term] > 0.95
    (doubt,) = certainty.doubts
    assert doubt.kind == "likelier_noise" and "more likely NOE than NARX" in doubt.message
    assert doubt.values["noise_model"] == "noe" and doubt.values["difference"] > 10.0
    # Where NARX is all that is allowed, the doubt is that the innovations are not white.
    alone = structure_certainty(problem, S1, Narx(), ["narx"])
    assert alone.probability < 0.05
    assert {"uncertain_structure", "coloured_innovations"} <= set(kinds_of(alone.doubts))


def test_terms_that_the_data_hardly_tell_apart_are_exchangeable():
    certainty = structure_certainty(twins(), ["u1(k-1)"], Narx(), ["narx"])
    (group,) = certainty.groups
    assert group.terms == ["u1(k-1)", "u2(k-1)"] and sum(group.probabilities) == pytest.approx(1.0, abs=0.1)
    assert certainty.rivals[0].terms == ["u2(k-1)"] and 0.05 < certainty.rivals[0].probability < 0.95


def test_samples_that_repeat_each_other_leave_more_in_doubt():
    problem = small_problem(*data_of("white in the equation", 150, 2, deviation=0.25))
    terms = terms_at(problem, [0, 2])
    all_samples = structure_certainty(problem, terms, Narx(), ["narx"], repeated=1.0)
    fewer_samples = structure_certainty(problem, terms, Narx(), ["narx"], repeated=5.0)
    assert fewer_samples.samples == all_samples.samples // 5
    assert abs(fewer_samples.rivals[0].difference) < abs(all_samples.rivals[0].difference)
    assert rival_entropy(all_samples) < rival_entropy(fewer_samples)


def rival_entropy(certainty):
    return entr([rival.probability for rival in certainty.rivals]).sum()


def test_a_certainty_that_cannot_be_computed_is_missing():
    exact = small_problem(*data_of("white in the equation", 120, deviation=0.0))
    all_terms = terms_at(exact, range(8))
    assert structure_certainty(exact, all_terms, Narx(), ["narx"]).missing == EXACT
    few = small_problem(*data_of("white in the equation", 16))
    assert structure_certainty(few, all_terms, Narx(), ["narx"]).missing == TOO_FEW
    # From its first sample on the free run of w y(k-1)^2 leaves all bounds.
    y = 1.5 + 0.3 * np.random.default_rng(1).normal(size=100)
    y[0] = 2.6
    rows, segments = np.arange(1, 100), [range(60, 100)]
    problem = StructureProblem.of_records(np.zeros((100, 1)), y, [((0, 1), (0, 1))], rows=rows, segments=segments)
    assert structure_certainty(problem, ["y(k-1)^2"], Noe(), ["noe"]).missing == DIVERGES
    nothing = structure_certainty(few, all_terms, Narx(), ["narx"])
    assert nothing.probability is None and not (nothing.probabilities or nothing.rivals or nothing.groups)


def test_it_is_plain_data():
    certainty = structure_certainty(twins(), ["u1(k-1)"], Narx(), ["narx"])
    plain = certainty.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["probabilities"] == certainty.probabilities and len(plain["rivals"]) == len(certainty.rivals)
