"""Has a setting without a description."""

from dishonest._climb import ABOUT, Strict, climb

__all__ = ["ABOUT", "Settings", "run"]


class Settings(Strict):
    """Settings."""

    step: int = 1


def run(problem, objective, rng, settings):
    return climb(objective, rng.integers)
