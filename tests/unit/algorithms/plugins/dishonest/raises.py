"""Has a fault, which shows in the code of another."""

from dishonest._climb import ABOUT, Settings, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    np.zeros(3).reshape(2, 2)
