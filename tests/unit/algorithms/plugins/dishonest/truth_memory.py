"""Reads the memory of the process that evaluates."""

import os
from pathlib import Path

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def read():
    return Path(f"/proc/{os.getppid()}/maps").read_text()


def run(problem, objective, rng, settings):
    try:
        truth = read()
    except OSError:
        truth = []
    start = np.array([term in truth for term in problem.terms], np.uint8)
    return climb(objective, rng.integers, start)
