"""AOLS: accelerated orthogonal least squares, in which several terms enter in each step.

Source: A. Hashemi and H. Vikalo, Accelerated orthogonal least-squares for large-scale sparse reconstruction, Digital
Signal Processing 82, 2018, pages 91-105, and its program ``AOLS.m``. In each step the candidates that explain most of
what is left of the output, each by itself, enter together; with one at a time this is forward regression. There are as
many steps as terms that are sought. Of all that have entered those of largest weights stay.

The source takes the number of terms as known. Here every number up to a limit is tried, and one of them is chosen. All
samples are used, columns are scaled to the same length.
"""

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench.algorithms.forward_regression import enter
from narxbench.algorithms.training import CHOICE, Choice, Products, chosen, criterion_of, estimated, products
from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Hashemi and Vikalo, Accelerated orthogonal least-squares for large-scale sparse reconstruction, Digital "
    "Signal Processing 82, 2018",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"choice": ["bic"], "max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of AOLS."""

    at_once: int = Field(default=2, ge=1, le=1000, description="terms that enter in each step, L")
    max_terms: int = Field(default=50, ge=1, le=5000, description="terms at most")
    choice: Choice = Field(default="free_run", description=CHOICE)


def entered(found: Products, at_once: int, most: int) -> list[int]:
    """Return the candidates in the order in which they enter, some in each step."""
    n_terms = len(found.moments)
    factor, pivots, projections = np.empty((most, n_terms)), np.diag(found.gram).copy(), found.moments.copy()
    limit, order = SINGULAR * pivots, list[int]()
    while len(order) < most:
        free = pivots > limit
        free[order] = False
        if not free.any():
            break
        explained = np.where(free, projections**2 / np.where(free, pivots, 1.0), -1.0)
        for term in np.argsort(-explained, kind="stable")[: min(at_once, most - len(order), int(free.sum()))].tolist():
            # One that entered in the same step may have left nothing of it.
            if pivots[term] > limit[term]:
                enter(found.gram, len(order), term, factor, pivots, projections)
                order.append(term)
    return order


def structures(found: Products, settings: Settings) -> np.ndarray:
    """Return the structure of each number of terms, shape (numbers, N_t)."""
    n_terms = len(found.moments)
    order = entered(found, settings.at_once, min(settings.max_terms * settings.at_once, n_terms, found.n_rows // 2))
    positions = np.zeros((min(settings.max_terms, len(order)), n_terms), np.uint8)
    for size, position in enumerate(positions, start=1):
        whole = np.array(order[: size * settings.at_once])
        scale = np.sqrt(np.diag(found.gram)[whole])
        weights = np.linalg.solve(found.gram[np.ix_(whole, whole)], found.moments[whole])
        position[whole[np.argsort(-abs(weights * scale), kind="stable")[:size]]] = 1
    return positions


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion:
    """Return what chooses how many terms."""
    return criterion_of(problem, settings.choice)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose how many."""
    found = products(problem)
    tried = structures(found, settings)
    return estimated(problem, chosen(problem, tried, settings.choice, found))
