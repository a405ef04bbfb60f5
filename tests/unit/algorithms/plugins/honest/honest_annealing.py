"""Annealing whose temperature falls with the share of the budget that is spent."""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found
from narxbench._io.settings import Settings as Strict

ABOUT = About(reference="Kirkpatrick, Gelatt and Vecchi, Science 220, 1983", options={"first_temperature": [50.0]})


class Settings(Strict):
    """Settings."""

    first_temperature: float = Field(default=5.0, gt=0, description="temperature of the first evaluation")


def run(problem, objective, rng, settings):
    position = rng.integers(0, 2, objective.n_terms)
    current = objective.evaluate(position[None])[0]
    while objective.remaining:
        temperature = settings.first_temperature * objective.remaining / objective.budget
        candidate = position.copy()
        candidate[rng.integers(objective.n_terms)] ^= 1
        fitness = objective.evaluate(candidate[None])[0]
        if not np.isfinite(current) or rng.random() < np.exp(min(0.0, (current - fitness) / temperature)):
            position, current = candidate, fitness
    return Found(objective.best_position)
