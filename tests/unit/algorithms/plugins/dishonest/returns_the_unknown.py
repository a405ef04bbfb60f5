"""Returns a structure that it did not evaluate."""

from dishonest._climb import ABOUT, Found, Settings, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    while objective.remaining:
        objective.evaluate(np.eye(objective.n_terms)[:1])
    return Found(np.ones(objective.n_terms))
