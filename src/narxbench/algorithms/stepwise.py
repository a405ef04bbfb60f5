"""Stepwise search: add, drop or swap a term while J falls, then start anew from a random structure.

The plain method that any other has to beat. The first descent starts from the empty structure, unless told otherwise.
A step evaluates every structure that differs in one term and takes the best; only if none is better, every exchange of
one term for another.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.algorithms.objective import Objective
from narxbench.algorithms.population import initial_positions
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.draws import draws_of


class Settings(BaseSettings):
    """Settings of the stepwise search."""

    start: Literal["empty", "random"] = Field(default="empty", description="where the first descent starts")
    initial_positions: Literal["bernoulli", "uniform_cardinality"] = Field(
        default="uniform_cardinality",
        description="structures after the first descent: each term with probability 1/2, or a uniform number of terms",
    )


def neighbours(position: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """List the structures next to one structure.

    Parameters
    ----------
    position : array of uint8, shape (N_t,)
        A 1 for each of the xi terms of the structure.

    Returns
    -------
    flips : array of uint8, shape (N_t, N_t)
        The structures with one term added or dropped.
    swaps : array of uint8, shape (xi (N_t - xi), N_t)
        The structures with one term exchanged for another.
    """
    n = len(position)
    flips = position ^ np.eye(n, dtype=np.uint8)
    present, absent = np.flatnonzero(position), np.flatnonzero(position == 0)
    swaps = np.repeat(position[None], len(present) * len(absent), axis=0)
    rows = np.arange(len(swaps))
    swaps[rows, np.repeat(present, len(absent))] = 0
    swaps[rows, np.tile(absent, len(present))] = 1
    return flips, swaps


def run(objective: Objective, rng: np.random.Generator, settings: Settings) -> None:
    """Spend the objective's budget on descents."""
    uniform = settings.initial_positions == "uniform_cardinality"

    def random_start() -> tuple[NDArray[np.uint8], float]:
        with draws_of(rng, 1) as draws:
            position = initial_positions(draws, 1, objective.n_terms, uniform)[0]
        return position, float(objective.evaluate(position[None])[0])

    position, best = (np.zeros(objective.n_terms, np.uint8), np.inf) if settings.start == "empty" else random_start()
    while objective.remaining:
        for candidates in neighbours(position):
            fitness = objective.evaluate(candidates)
            if len(fitness) and fitness.min() < best:
                position, best = candidates[fitness.argmin()], fitness.min()
                break
        else:
            position, best = random_start()
