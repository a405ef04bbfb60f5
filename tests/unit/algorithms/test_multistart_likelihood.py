"""The search on the likelihood from many starts: what the noise models change, and what further starts do."""

import numpy as np
import pytest
from scipy.signal import lfilter

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms import multistart_likelihood

TRUE = {"y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"}


def noisy_problem(noise):
    u, y = load_system("S1").simulate(600, seed=5)
    return StructureProblem(u, y + noise, n_u=2, n_y=2, degree=2, n_validation=200)


def white(rng, size=0.02):
    return size * rng.standard_normal(600)


@pytest.fixture
def slow_noise(rng):
    return lfilter([1.0], [1.0, -0.9], white(rng))


def test_the_true_structure_wins_under_each_noise(rng, slow_noise):
    spoilt = white(rng) + (rng.random(600) < 0.03) * rng.choice([-1.0, 1.0], 600)
    for noise, words in ((slow_noise, "AR 1"), (spoilt, "Student-t"), (white(rng), "NOE")):
        result = search(noisy_problem(noise), algorithm="multistart_likelihood", seed=1, restarts=2)
        assert set(result.terms) == TRUE, words
        assert words in result.details["noise_model"]
        weights = dict(zip(result.terms, result.coefficients, strict=True))
        assert weights["y(k-1)"] == pytest.approx(0.5, abs=0.05)


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
