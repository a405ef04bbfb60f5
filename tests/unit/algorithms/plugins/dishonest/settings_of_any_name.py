"""Takes settings of any name."""

from dishonest._climb import ABOUT, Strict, climb

__all__ = ["ABOUT", "Settings", "run"]


class Settings(Strict, extra="allow"):
    """Settings."""


def run(problem, objective, rng, settings):
    return climb(objective, rng.integers)
