"""Needs a budget of at least one population."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    population = objective.evaluate(rng.integers(0, 2, (30, objective.n_terms)))
    assert np.isfinite(population).sum() >= 5
    return climb(objective, rng.integers)
