"""Has a seed of its own."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, np.random.default_rng(42).integers)
