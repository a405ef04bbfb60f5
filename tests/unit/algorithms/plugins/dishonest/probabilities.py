"""Evaluates probabilities in place of structures."""

from dishonest._climb import ABOUT, Settings

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective.evaluate(rng.random((5, objective.n_terms)))
