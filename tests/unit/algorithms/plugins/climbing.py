"""The common beginning of the algorithms in `cheats.py`."""

import os
from pathlib import Path

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found
from narxbench._io.settings import Settings as Strict

__all__ = ["About", "Field", "Found", "Path", "Settings", "Strict", "climb", "np", "os", "random_start"]


class Settings(Strict):
    """None."""


def random_start(objective, rng):
    return rng.integers(0, 2, objective.n_terms).astype(np.uint8)


def climb(objective, draw, start=None):
    """Flip a term, ``draw(n_terms)``, or two, and keep what is better."""
    best = np.zeros(objective.n_terms, np.uint8) if start is None else start
    lowest = np.inf
    while objective.remaining:
        new = best.copy()
        for _ in range(1 + draw(2)):
            new[draw(objective.n_terms)] ^= 1
        fitness = objective.evaluate(new[None])[0]
        if fitness < lowest:
            best, lowest = new, fitness
    return Found(objective.best_position)
