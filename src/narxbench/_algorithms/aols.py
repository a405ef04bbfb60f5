"""AOLS: accelerated orthogonal least squares, in which several terms enter in each step.

Source: A. Hashemi and H. Vikalo, Accelerated orthogonal least-squares for large-scale sparse reconstruction, Digital
Signal Processing 82, 2018, pages 91-105, and its program ``AOLS.m``. In each step the candidates that explain most of
the residual, each by itself, enter together. With one at a time this is forward regression. There are as many steps as
terms in the result. Of all terms that have entered, those of largest weights stay.

In the source the number of terms is known. Here every number up to a limit is tried, and the best free run decides,
by BIC. All samples are used, and columns are scaled to the same length.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.forward_regression import enter
from narxbench._algorithms.training import Products, chosen, estimated, products
from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Hashemi and Vikalo, Accelerated orthogonal least-squares for large-scale sparse reconstruction, Digital "
    "Signal Processing 82, 2018",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of AOLS."""

    at_once: int = Field(default=2, ge=1, le=1000, description="terms that enter in each step, L")
    max_terms: int = Field(default=50, ge=1, le=5000, description="terms at most")


def entered(inner_products: Products, at_once: int, most: int) -> list[int]:
    """Return the candidates in the order in which they enter, several in each step."""
    gram, moments = inner_products.gram, inner_products.moments
    factor, pivots, projections = np.empty((most, len(moments))), np.diag(gram).copy(), moments.copy()
    limit, order = SINGULAR * pivots, list[int]()
    while len(order) < most:
        free = pivots > limit
        free[order] = False
        if not free.any():
            break
        explained = np.where(free, projections**2 / np.where(free, pivots, 1.0), -1.0)
        count = min(at_once, most - len(order), int(free.sum()))
        n_entered = len(order)
        for term in np.argsort(-explained, kind="stable")[:count].tolist():
            # It may depend on terms that entered in the same step.
            if pivots[term] > limit[term]:
                enter(gram, len(order), term, factor, pivots, projections)
                order.append(term)
        if len(order) == n_entered:  # what products that overflow explain is not a number
            break
    return order


def structures(inner_products: Products, settings: Settings) -> np.ndarray:
    """Return a structure for each number of terms, shape (numbers, N_t)."""
    gram, moments, at_once = inner_products.gram, inner_products.moments, settings.at_once
    most = min(settings.max_terms * at_once, len(moments), inner_products.n_rows // 2)
    order = entered(inner_products, at_once, most)
    positions = np.zeros((min(settings.max_terms, len(order)), len(moments)), np.uint8)
    for size, position in enumerate(positions, start=1):
        terms = np.array(order[: size * at_once])
        scale = np.sqrt(np.diag(gram)[terms])
        weights = np.linalg.solve(gram[np.ix_(terms, terms)], moments[terms])
        position[terms[np.argsort(-abs(weights * scale), kind="stable")[:size]]] = 1
    return positions


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose their number."""
    return estimated(problem, chosen(problem, structures(products(problem), settings)))
