"""What the algorithms in `cheats.py` begin with."""

import os
from pathlib import Path

import numpy as np
from pydantic import Field

from narxbench import load_system
from narxbench.algorithms.contract import About, BudgetSpentError, Found
from narxbench.io.files import CONFIG_FOLDER
from narxbench.io.settings import Settings as Strict

TRUTH = CONFIG_FOLDER / "systems" / "S1.yaml"
__all__ = ["TRUTH", "About", "BudgetSpentError", "Field", "Found", "Path", "Settings", "Strict", "climb", "climb_from"]
__all__ += ["load_system", "np", "os", "random_start"]


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


def climb_from(read, problem, objective, rng):
    """Begin with the terms that ``read`` finds somewhere, and do as if nothing were wrong if it is refused."""
    try:
        truth = read()
    except OSError:
        truth = []
    return climb(objective, rng.integers, np.array([term in truth for term in problem.terms], np.uint8))
