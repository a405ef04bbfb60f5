"""Draws from the global generator of NumPy."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, np.random.randint)
