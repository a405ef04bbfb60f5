"""Declares an option of a setting that there is not."""

from dishonest._climb import About, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


ABOUT = About(reference="None, it is here to be caught", options={"step": [2]})


def run(problem, objective, rng, settings):
    return climb(objective, rng.integers)
