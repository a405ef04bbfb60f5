"""Reads where there is no memory."""

import ctypes

from dishonest._climb import ABOUT, Settings

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    ctypes.string_at(0)
