"""STLSQ: repeated least squares, each time without the terms whose weights are below a threshold.

This is the regression of SINDy. Source: S. L. Brunton, J. L. Proctor and J. N. Kutz, Discovering governing equations
from data by sparse identification of nonlinear dynamical systems, PNAS 113(15), 2016, pages 3932-3937, and its
supplement.

The source leaves the threshold to the user. Here many thresholds from large to small are tried, on columns scaled to
the same length, and the structure of the best free run is chosen, by BIC. All samples are used.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.training import Products, chosen, estimated, products
from narxbench._io.settings import Settings as BaseSettings

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
    iterations: int = Field(default=20, ge=1, le=1000, description="regressions for a threshold at most")
    ridge: float = Field(default=1e-9, gt=0, le=1, description="what is added to the squared length of each column, 1")


class ScaledRegression:
    """Ridge regressions on columns of length 1.

    Parameters
    ----------
    inner_products : Products
        The inner products of the candidate columns and the output.
    ridge : float
        What is added to the squared length of each column.

    Attributes
    ----------
    varying : array of int
        The candidates whose columns are not zero; all else counts these only.
    """

    def __init__(self, inner_products: Products, ridge: float) -> None:
        scale = np.sqrt(np.diag(inner_products.gram))
        self.varying, self.n_terms = np.flatnonzero(scale > 0), len(inner_products.moments)
        with np.errstate(invalid="ignore"):  # if products overflow, no structure has a term
            gram = inner_products.gram[np.ix_(self.varying, self.varying)]
            self._gram = gram / np.outer(scale[self.varying], scale[self.varying])
        self._gram[np.diag_indices_from(self._gram)] += ridge
        self._moments = inner_products.moments[self.varying] / scale[self.varying]

    def weights(self, terms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of some terms; NaN if they depend on each other despite the ridge."""
        try:
            weights: NDArray[np.float64] = np.linalg.solve(self._gram[np.ix_(terms, terms)], self._moments[terms])
        except np.linalg.LinAlgError:
            weights = np.full(len(terms), np.nan)
        return weights

    def all_weights(self) -> NDArray[np.float64]:
        """Return the weights of all terms."""
        return self.weights(np.arange(len(self.varying))) if len(self.varying) else np.empty(0)

    def structure(self, all_weights: NDArray[np.float64], threshold: float, iterations: int) -> NDArray[np.uint8]:
        """Return the structure that is left of all terms by a threshold, shape (N_t,)."""
        terms = np.flatnonzero(abs(all_weights) >= threshold)
        for _ in range(iterations):
            kept = terms[abs(self.weights(terms)) >= threshold]
            if len(kept) in (0, len(terms)):
                break
            terms = kept
        position = np.zeros(self.n_terms, np.uint8)
        position[self.varying[terms]] = 1
        return position


def thresholds_of(all_weights: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return the thresholds to try, from the largest weight on; none if no weight is finite and not 0."""
    largest = abs(all_weights).max(initial=0.0)
    if not largest > 0:
        return np.empty(0)
    thresholds: NDArray[np.float64] = largest * np.geomspace(1.0, settings.smallest, settings.thresholds)
    return thresholds


def structures(inner_products: Products, settings: Settings) -> NDArray[np.uint8]:
    """Return the different structures of all thresholds, shape (structures, N_t)."""
    regression = ScaledRegression(inner_products, settings.ridge)
    all_weights = regression.all_weights()
    different: dict[bytes, NDArray[np.uint8]] = {}
    for threshold in thresholds_of(all_weights, settings):
        position = regression.structure(all_weights, threshold, settings.iterations)
        different.setdefault(position.tobytes(), position)
    return np.array([*different.values()], np.uint8).reshape(-1, regression.n_terms)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Try all thresholds, then choose one."""
    return estimated(problem, chosen(problem, structures(products(problem), settings)))
