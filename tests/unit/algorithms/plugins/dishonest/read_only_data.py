"""Changes the data that it is given."""

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    problem.gram[0] = 0.0
    return climb(objective, rng.integers)
