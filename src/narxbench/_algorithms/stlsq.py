"""STLSQ: repeated least squares, each time without the terms whose weights are below a threshold.

This is the regression of SINDy. Source: S. L. Brunton, J. L. Proctor and J. N. Kutz, Discovering governing equations
from data by sparse identification of nonlinear dynamical systems, PNAS 113(15), 2016, pages 3932-3937, and its
supplement.

The source leaves the threshold to the user. Here many thresholds from large to small are tried, on columns scaled to
the same length, and one of the structures is chosen. All samples are used.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench._algorithms.training import CHOICE, Choice, Products, chosen, criterion_of, estimated, products
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Brunton, Proctor and Kutz, Discovering governing equations from data by sparse identification of "
    "nonlinear dynamical systems, PNAS 113, 2016",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"choice": ["bic"], "thresholds": [3], "ridge": [0.1]},
)


class Settings(BaseSettings):
    """Settings of sequentially thresholded least squares."""

    thresholds: int = Field(default=100, ge=2, le=10_000, description="thresholds that are tried, evenly by ratio")
    smallest: float = Field(default=1e-4, gt=0, lt=1, description="the smallest, as a share of the largest weight")
    iterations: int = Field(default=20, ge=1, le=1000, description="regressions for a threshold at most")
    ridge: float = Field(default=1e-9, gt=0, le=1, description="what is added to the squared length of each column, 1")
    choice: Choice = Field(default="free_run", description=CHOICE)


def structures(inner_products: Products, settings: Settings) -> np.ndarray:
    """Return the different structures of all thresholds, shape (structures, N_t)."""
    scale, n_terms = np.sqrt(np.diag(inner_products.gram)), len(inner_products.moments)
    varying = np.flatnonzero(scale > 0)
    with np.errstate(invalid="ignore"):  # if products overflow, no structure has a term
        gram = inner_products.gram[np.ix_(varying, varying)] / np.outer(scale[varying], scale[varying])
    gram[np.diag_indices_from(gram)] += settings.ridge
    moments = inner_products.moments[varying] / scale[varying]

    def regression(terms: np.ndarray) -> np.ndarray:
        weights: np.ndarray = np.linalg.solve(gram[np.ix_(terms, terms)], moments[terms])
        return weights

    different: dict[bytes, np.ndarray] = {}
    all_weights = np.empty(0)
    if len(varying):
        all_weights = regression(np.arange(len(varying)))
    largest = abs(all_weights).max(initial=0.0)
    if not largest > 0:
        return np.zeros((0, n_terms), np.uint8)
    for threshold in largest * np.geomspace(1.0, settings.smallest, settings.thresholds):
        terms = np.flatnonzero(abs(all_weights) >= threshold)
        for _ in range(settings.iterations):
            kept = terms[abs(regression(terms)) >= threshold]
            if len(kept) in (0, len(terms)):
                break
            terms = kept
        position = np.zeros(n_terms, np.uint8)
        position[varying[terms]] = 1
        different.setdefault(position.tobytes(), position)
    return np.array([*different.values()], np.uint8).reshape(-1, n_terms)


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion:
    """Return the criterion that chooses the number of terms."""
    return criterion_of(problem, settings.choice)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Try all thresholds, then choose one."""
    inner_products = products(problem)
    candidates = structures(inner_products, settings)
    return estimated(problem, chosen(problem, candidates, settings.choice, inner_products))
