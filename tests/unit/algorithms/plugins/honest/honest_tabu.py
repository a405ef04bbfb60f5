"""Tabu search: deterministic after a random start."""

import itertools

import numpy as np

from narxbench.algorithms.contract import About
from narxbench.io.settings import Settings as Strict

ABOUT = About(reference="Glover, Computers and Operations Research 13, 1986")


class Settings(Strict):
    """None."""


def run(problem, objective, rng, settings):
    position = rng.integers(0, 2, objective.n_terms).astype(np.uint8)
    allowed_from = np.zeros(objective.n_terms)
    for step in itertools.count():
        flips = position ^ np.eye(objective.n_terms, dtype=np.uint8)
        fitness = objective.evaluate(flips)
        chosen = np.where(allowed_from > step, np.inf, fitness).argmin()
        position, allowed_from[chosen] = flips[chosen], step + 4
