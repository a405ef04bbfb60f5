"""Evaluates although it declares that it does not."""

from dishonest._climb import About, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


ABOUT = About(reference="None, it is here to be caught", needs_objective=False)


def run(problem, objective, rng, settings):
    return climb(objective, rng.integers)
