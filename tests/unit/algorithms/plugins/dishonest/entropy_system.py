"""Draws from the system."""

import os

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, lambda below: int.from_bytes(os.urandom(4), "little") % below)
