"""Returns one weight."""

from dishonest._climb import ABOUT, Found, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    climb(objective, rng.integers)
    return Found(np.ones(objective.n_terms), [1.0])
