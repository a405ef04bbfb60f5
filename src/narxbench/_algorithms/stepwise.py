"""Stepwise search: add, drop or swap a term while J falls, then start again from a random structure.

Any other search has to be better than this simple method. The first descent starts from the empty structure. A step
evaluates all structures that differ in one term and takes the best. Only if none is better, it evaluates all exchanges
of one term for another. The number of terms of a random structure is uniform.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.population import initial_positions
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.draws import draws_of

Structure = NDArray[np.uint8]
Structures = NDArray[np.uint8]
Values = NDArray[np.float64]


ABOUT = About(
    reference="Miller, Subset Selection in Regression, 2nd edition, 2002, chapter 3 (sequential replacement), from "
    "random starts",
)


class Settings(BaseSettings):
    """The stepwise search has no settings."""


def flips(position: Structure) -> Iterator[Structures]:
    """Yield the structures with one term added or dropped, in one batch."""
    yield position ^ np.eye(len(position), dtype=np.uint8)


def swaps(position: Structure) -> Iterator[Structures]:
    """Yield the structures with one term exchanged for another, in a batch for each term that is dropped."""
    absent = np.flatnonzero(position == 0)
    for dropped in np.flatnonzero(position):
        swapped = np.repeat(position[None], len(absent), axis=0)
        swapped[:, dropped] = 0
        swapped[np.arange(len(absent)), absent] = 1
        yield swapped


def best_of(batches: Iterable[Structures], evaluate: Callable[[Structures], Values]) -> tuple[Structure | None, float]:
    """Return the first structure of lowest J, and its J; None and +inf if no J is finite."""
    position, lowest = None, np.inf
    for structures in batches:
        fitness = evaluate(structures)
        if len(fitness) and fitness.min() < lowest:
            position, lowest = structures[fitness.argmin()], float(fitness.min())
    return position, lowest


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on descents."""
    position, lowest = np.zeros(objective.n_terms, np.uint8), np.inf
    # The run ends when the budget is spent, even within a step.
    while objective.remaining:
        for neighbours in (flips, swaps):
            candidate, fitness = best_of(neighbours(position), objective.evaluate)
            if candidate is not None and fitness < lowest:
                position, lowest = candidate, fitness
                break
        else:
            with draws_of(rng, 1) as draws:
                position = initial_positions(draws, 1, objective.n_terms, True)[0]
            lowest = float(objective.evaluate(position[None])[0])
    return Found(objective.best_position)
