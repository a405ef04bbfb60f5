"""Ends itself as a program does."""

import sys

from dishonest._climb import ABOUT, Settings

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    sys.exit(0)
