"""Evaluates structures with three terms too many."""

from dishonest._climb import ABOUT, Settings, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective.evaluate(np.ones((5, objective.n_terms + 3), np.uint8))
