"""Sets the count of its evaluations back, ten times."""

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    for _ in range(10):
        found = climb(objective, rng.integers)
        objective._remaining = objective.budget
    return found
