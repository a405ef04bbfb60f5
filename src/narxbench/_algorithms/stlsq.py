"""STLSQ: repeated least squares, each time without the terms whose weights are below a threshold.

This is the regression of SINDy. Source: S. L. Brunton, J. L. Proctor and J. N. Kutz, Discovering governing equations
from data by sparse identification of nonlinear dynamical systems, PNAS 113(15), 2016, pages 3932-3937, and its
supplement.

In the source the user chooses the threshold. Here many thresholds from large to small are tried, on columns scaled to
the same length, and the structure of the best free run is chosen, by BIC. All samples are used.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.training import Products, at_unit_length, chosen, estimated, products
from narxbench._io.settings import Settings as BaseSettings

Floats = NDArray[np.float64]

ABOUT = About(
    reference="Brunton, Proctor and Kutz, Discovering governing equations from data by sparse identification of "
    "nonlinear dynamical systems, PNAS 113, 2016",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"thresholds": [3], "ridge": [0.1]},
)


class Settings(BaseSettings):
    """Settings of sequentially thresholded least squares."""

    thresholds: int = Field(default=100, ge=2, le=10_000, description="thresholds that are tried, evenly by ratio")
    smallest: float = Field(default=1e-4, gt=0, lt=1, description="the smallest, as a share of the largest weight")
    ridge: float = Field(default=1e-9, gt=0, le=1, description="what is added to the squared length of each column, 1")


def _weights(gram: Floats, moments: Floats, terms: NDArray[np.int64]) -> Floats:
    """Return the weights of some terms, or NaN if they depend on each other despite the ridge."""
    try:
        return np.asarray(np.linalg.solve(gram[np.ix_(terms, terms)], moments[terms]), np.float64)
    except np.linalg.LinAlgError:
        return np.full(len(terms), np.nan)


def _remaining(gram: Floats, moments: Floats, all_weights: Floats, threshold: float) -> NDArray[np.int64]:
    """Return the terms that remain of all when those below a threshold are dropped again and again."""
    terms = np.flatnonzero(abs(all_weights) >= threshold)
    while True:
        kept = terms[abs(_weights(gram, moments, terms)) >= threshold]
        if len(kept) in (0, len(terms)):
            return terms
        terms = kept


def thresholds_of(all_weights: Floats, settings: Settings) -> Floats:
    """Return the thresholds to try, from the largest weight on, or none if no weight is finite and not 0."""
    largest = abs(all_weights).max(initial=0.0)
    if not largest > 0:
        return np.empty(0)
    thresholds: Floats = largest * np.geomspace(1.0, settings.smallest, settings.thresholds)
    return thresholds


def structures(inner_products: Products, settings: Settings) -> NDArray[np.uint8]:
    """Return the different structures of all thresholds, shape (structures, N_t)."""
    scaled, lengths = at_unit_length(inner_products)
    varying = np.flatnonzero(lengths > 0)
    gram, moments = scaled.gram[np.ix_(varying, varying)], scaled.moments[varying]
    gram[np.diag_indices_from(gram)] += settings.ridge
    # Where products overflow, weights are not numbers, and no structure has a term.
    all_weights = _weights(gram, moments, np.arange(len(varying)))
    different: dict[bytes, NDArray[np.uint8]] = {}
    for threshold in thresholds_of(all_weights, settings):
        position = np.zeros(len(lengths), np.uint8)
        position[varying[_remaining(gram, moments, all_weights, threshold)]] = 1
        different.setdefault(position.tobytes(), position)
    return np.array([*different.values()], np.uint8).reshape(-1, len(lengths))


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Try all thresholds, then choose one."""
    return estimated(problem, chosen(problem, structures(products(problem), settings)))
