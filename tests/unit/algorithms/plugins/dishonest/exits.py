"""Ends its process."""

import os

from dishonest._climb import ABOUT, Settings, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective.evaluate(random_start(objective, rng)[None])
    os._exit(0)
