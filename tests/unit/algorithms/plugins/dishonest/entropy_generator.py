"""Draws from a generator that the system has seeded."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, np.random.default_rng().integers)
