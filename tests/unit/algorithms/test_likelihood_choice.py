"""Searches that choose by the likelihood: what the noise models change, and what they do not."""

from itertools import compress

import numpy as np
import pytest
from scipy.signal import lfilter

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms import multistart_likelihood
from narxbench._algorithms.likelihood_choice import LikelihoodChoice, chosen_by_likelihood, likelihood_criterion
from narxbench._algorithms.objective import view_of

TRUE = {"y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"}


def noisy_problem(noise):
    u, y = load_system("S1").simulate(600, seed=5)
    return StructureProblem(u, y + noise, n_u=2, n_y=2, degree=2, n_validation=200)


def white(rng, size=0.02):
    return size * rng.standard_normal(600)


@pytest.fixture
def slow_noise(rng):
    return lfilter([1.0], [1.0, -0.9], white(rng))


def structures_of(problem, *lists):
    return np.array([np.isin(problem.terms, list(terms)) for terms in lists], np.uint8)


def test_the_true_structure_wins_under_each_noise(rng, slow_noise):
    spoilt = white(rng) + (rng.random(600) < 0.03) * rng.choice([-1.0, 1.0], 600)
    for noise, words in ((slow_noise, "AR 1"), (spoilt, "Student-t"), (white(rng), "NOE")):
        problem = noisy_problem(noise)
        structures = structures_of(problem, TRUE, TRUE | {"y(k-2)"}, TRUE - {"u(k-1)"})
        solution = chosen_by_likelihood(view_of(problem), structures)
        assert np.array_equal(solution.position, structures[0]), words
        assert words in solution.details["noise_model"]
        terms = list(compress(problem.terms, solution.position))
        assert solution.coefficients[terms.index("y(k-1)")] == pytest.approx(0.5, abs=0.05)


def test_drift_is_tried_with_every_structure(rng):
    problem = noisy_problem(white(rng, 0.01) + np.cumsum(white(rng, 0.05)))
    choice, (structure,) = LikelihoodChoice(view_of(problem)), structures_of(problem, TRUE)
    best = choice.best_fit(structure)
    tried = choice.search.fits.values()
    assert {fit.noise_model.place for fit in tried if fit.noise_model.is_integrated} == {"equation", "output"}
    assert choice.search.value(best) == min(map(choice.search.value, tried))
    assert best.noise_model.ar_lags or best.noise_model.is_integrated


def test_its_criterion_is_that_of_its_best_fit(slow_noise):
    problem = noisy_problem(slow_noise)
    view, (structure,) = view_of(problem), structures_of(problem, TRUE)
    value = likelihood_criterion(view)(structure)
    choice = LikelihoodChoice(view)
    assert (
        value == choice.value(structure) == pytest.approx(choice.found(choice.best_fit(structure)).details["criterion"])
    )
    # No noise model with a filter would do as well without one.
    assert value < min(choice.search.value(fit) for fit in choice.search.fits.values() if not fit.noise_model.ar_lags)


def test_no_bounded_structure_is_no_structure():
    problem = noisy_problem(np.zeros(600))
    empty = np.zeros((1, len(problem.terms)), np.uint8)
    assert not np.any(chosen_by_likelihood(view_of(problem), empty).position)


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("frols", {"stop": "likelihood"}),
        ("multistart_likelihood", {"restarts": 2}),
        ("best_subset", {"choice": "likelihood"}),
    ],
)
def test_slow_noise_deceives_least_squares_and_not_these(slow_noise, algorithm, settings):
    problem = noisy_problem(slow_noise)
    assert set(search(problem, algorithm=algorithm, seed=1, **settings).terms) == TRUE
    plain = {"frols": {"stop": "bic"}, "best_subset": {"choice": "bic"}}
    if algorithm in plain:
        assert set(search(problem, algorithm=algorithm, seed=1, **plain[algorithm]).terms) != TRUE


def test_changed_structures_have_a_few_other_terms(rng):
    structure = np.zeros(50, np.uint8)
    structure[[1, 2, 3]] = 1
    changed = [int((multistart_likelihood.kicked(structure, rng, 4) != structure).sum()) for _ in range(200)]
    assert set(changed) <= {0, 1, 2, 3, 4} and max(changed) == 4 and np.mean(changed) > 1.5


def test_more_restarts_never_end_higher(slow_noise):
    problem = noisy_problem(slow_noise)
    values = []
    for restarts in (0, 5):
        result = search(problem, algorithm="multistart_likelihood", seed=3, restarts=restarts)
        values.append(result.details["criterion"])
    assert values[1] <= values[0] + 1e-6
