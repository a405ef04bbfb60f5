"""Draws from the global generator of Python."""

import random

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, random.randrange)
