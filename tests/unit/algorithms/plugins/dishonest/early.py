"""Ends before the budget is spent."""

from dishonest._climb import ABOUT, Found, Settings, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8))
    return Found(objective.best_position)
