"""Exact best subsets: for each number of terms the structure whose least squares explain most, one step ahead.

Source: G. M. Furnival and R. W. Wilson, Regressions by leaps and bounds, Technometrics 16, 1974, pages 499-511. Terms
are left out one by one, those of most effect first; a branch ends where even the terms that it may still leave out
cannot make any size better. The sum of squared residuals never falls when a term is left out, which bounds a branch.

The time grows exponentially with the number of candidate terms. Beyond ``max_candidates`` the run ends without a
structure, and says so, as it does after ``max_regressions``. All samples are used.
"""

import sys
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.likelihood_choice import chosen_by_likelihood
from narxbench._algorithms.training import CHOICE, Choice, chosen, estimated, products
from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled

ABOUT = About(
    reference="Furnival and Wilson, Regressions by leaps and bounds, Technometrics 16, 1974",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"choice": ["likelihood", "free_run"], "max_candidates": [8], "max_regressions": [10]},
)


class Settings(BaseSettings):
    """Settings of the search."""

    choice: Choice | Literal["likelihood"] = Field(
        default="bic", description=f"{CHOICE}; or this project's noise models and criterion"
    )
    max_candidates: int = Field(default=40, ge=1, le=60, description="candidate terms at most")
    max_regressions: int = Field(default=5_000_000, ge=1, le=10**9, description="regressions at most")


@compiled
def sweep(inverse, size, term):
    """Take a term out of a regression, in place.

    ``inverse`` has the inverse of the Gram matrix of the terms that are in, the weights in its last column and minus
    the sum of squared residuals in its last corner; rows and columns of terms that are out have no meaning.
    """
    pivot = inverse[term, term]
    for i in range(size + 1):
        if i != term:
            factor = inverse[i, term] / pivot
            for j in range(size + 1):
                if j != term:
                    inverse[i, j] -= factor * inverse[term, j]


@compiled
def effect(regression, size, term):
    """Return by how much the sum of squared residuals grows when this term is left out."""
    return regression[term, size] ** 2 / regression[term, term]


@compiled
def eliminate(start, best, subsets):
    """Leave out the term of least effect, one after the other, as a first bound for each number of terms."""
    n = start.shape[0] - 1
    regression, present = start.copy(), np.ones(n, np.uint8)
    best[n], subsets[n] = -start[n, n], present
    for size in range(n - 1, 0, -1):
        weakest, least = -1, np.inf
        for term in range(n):
            if present[term] and effect(regression, n, term) < least:
                weakest, least = term, effect(regression, n, term)
        if weakest < 0:
            return
        sweep(regression, n, weakest)
        present[weakest] = 0
        best[size], subsets[size] = -regression[n, n], present


@compiled
def leaps(start, most_regressions, best, subsets):
    """Find the least sum of squared residuals for each number of terms; return the regressions, or -1 if too many.

    Parameters
    ----------
    start : array, shape (n + 1, n + 1)
        The regression on all n terms, as :func:`sweep` has it.
    most_regressions : int
        After so many the search ends.
    best : array, shape (n + 1,)
        Receives the least sum of squared residuals for each number of terms.
    subsets : array, shape (n + 1, n)
        Receives the terms of each.
    """
    n = start.shape[0] - 1
    best[:] = np.inf
    eliminate(start, best, subsets)
    regressions, present = np.empty((n, n + 1, n + 1)), np.ones((n, n), np.uint8)
    # At each depth the terms that may still leave stand from the place that follows on.
    orders, following = np.empty((n, n), np.int64), np.zeros(n, np.int64)
    regressions[0], orders[0] = start, np.arange(n)
    _sort_by_effect(start, orders[0])
    depth, n_regressions = 0, 0
    while depth >= 0:
        regression, place, size = regressions[depth], following[depth], n - depth
        if place >= n or size < 2 or _is_hopeless(-regression[n, n], size, n - place, best):
            depth -= 1
            continue
        following[depth] += 1
        term = orders[depth, place]
        residual = effect(regression, n, term) - regression[n, n]
        if residual < best[size - 1]:
            best[size - 1], subsets[size - 1] = residual, present[depth]
            subsets[size - 1, term] = 0
        if _is_hopeless(residual, size - 1, n - place - 1, best):
            continue
        if n_regressions >= most_regressions:
            return -1
        n_regressions += 1
        depth += 1
        regressions[depth], present[depth], orders[depth] = regression, present[depth - 1], orders[depth - 1]
        sweep(regressions[depth], n, term)
        present[depth, term] = 0
        following[depth] = place + 1
        _sort_by_effect(regressions[depth], orders[depth, place + 1 :])
    return n_regressions


@compiled
def _sort_by_effect(regression, terms):
    # Those of most effect first: the widest branch begins with the worst fit, and is cut soonest.
    effects = np.empty(terms.shape[0])
    for i in range(terms.shape[0]):
        effects[i] = -effect(regression, regression.shape[0] - 1, terms[i])
    terms[:] = terms[np.argsort(effects)]


@compiled
def _is_hopeless(residual, size, n_free, best):
    # Whether no set that is left when some of the free terms leave can be better than the best of its size.
    largest = -np.inf
    for smaller in range(max(1, size - n_free), size):
        largest = max(largest, best[smaller])
    return residual >= largest


def best_subsets(
    gram: NDArray[np.float64], moments: NDArray[np.float64], energy: float, most_regressions: int
) -> NDArray[np.uint8] | None:
    """Return the best structure of each number of terms from 1 on; None if there are too many regressions.

    Terms that depend on those before them are never in a structure. Where products overflow, there is no structure.
    """
    scale = np.sqrt(np.diag(gram))
    independent = _independent(gram, scale)
    n, products_with_y = len(independent), moments[independent] / scale[independent]
    if not n or not np.isfinite(products_with_y).all():
        return np.zeros((0, len(moments)), np.uint8)
    scaled = gram[np.ix_(independent, independent)] / np.outer(scale[independent], scale[independent])
    start = np.zeros((n + 1, n + 1))
    inverse = np.linalg.inv(scaled)
    with np.errstate(all="ignore"):
        weights = inverse @ products_with_y
        residual = energy - float(weights @ products_with_y)
    if not np.isfinite(residual):
        return np.zeros((0, len(moments)), np.uint8)
    start[:n, :n], start[:n, n], start[n, :n] = inverse, weights, weights
    start[n, n] = -max(residual, 0.0)
    best, subsets = np.empty(n + 1), np.zeros((n + 1, n), np.uint8)
    if leaps(start, most_regressions, best, subsets) < 0:
        return None
    structures = np.zeros((n, len(moments)), np.uint8)
    structures[:, independent] = subsets[1:]
    return structures


def _independent(gram: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the terms that do not depend on those before them."""
    independent: list[int] = []
    for term in range(len(scale)):
        if not scale[term] > 0.0:
            continue
        terms = [*independent, term]
        with np.errstate(invalid="ignore"):  # if products overflow, no term is independent
            scaled = gram[np.ix_(terms, terms)] / np.outer(scale[terms], scale[terms])
        if np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled)[0] > SINGULAR:
            independent = terms
    return np.array(independent, np.int64)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Find the best subsets, then choose one of them."""
    nothing = Found(np.zeros(objective.n_terms, np.uint8))
    if objective.n_terms > settings.max_candidates:
        message = f"candidate terms: found {objective.n_terms}; allowed: {settings.max_candidates}"
        print(f"best_subset: {message}", file=sys.stderr)
        return nothing
    inner_products = products(problem)
    structures = best_subsets(
        inner_products.gram, inner_products.moments, inner_products.energy, settings.max_regressions
    )
    if structures is None:
        print(f"best_subset: regressions: found more than {settings.max_regressions}", file=sys.stderr)
        return nothing
    if settings.choice == "likelihood":
        return chosen_by_likelihood(problem, structures)
    return estimated(problem, chosen(problem, structures, settings.choice, inner_products))
