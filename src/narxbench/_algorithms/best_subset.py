"""Exact best subsets: for each number of terms the structure whose least squares explain most, one step ahead.

Source: G. M. Furnival and R. W. Wilson, Regressions by leaps and bounds, Technometrics 16, 1974, pages 499-511. Terms
are left out one by one, those of least effect last; a branch ends where even the terms that it may still leave out
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
    options={"choice": ["likelihood", "free_run"], "max_candidates": [8], "max_regressions": [1000]},
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
def leaps(start, order, most_regressions, best, subsets):
    """Find the least sum of squared residuals for each number of terms; return the regressions, or -1 if too many.

    Parameters
    ----------
    start : array, shape (n + 1, n + 1)
        The regression on all n terms, as :func:`sweep` has it.
    order : array, shape (n,)
        The terms in the order in which they may leave: those of least effect first.
    most_regressions : int
        After so many the search ends.
    best : array, shape (n + 1,)
        Receives the least sum of squared residuals for each number of terms.
    subsets : array, shape (n + 1, n)
        Receives the terms of each.
    """
    n = order.shape[0]
    matrices, present = np.empty((n + 1, n + 1, n + 1)), np.ones((n + 1, n), np.uint8)
    following = np.zeros(n + 1, np.int64)
    matrices[0] = start
    best[:] = np.inf
    best[n], subsets[n] = -start[n, n], 1
    depth, regressions = 0, 0
    while depth >= 0:
        place = following[depth]
        if place >= n or depth >= n - 1 or _is_hopeless(-matrices[depth, n, n], n - depth, n - place, best):
            depth -= 1
            continue
        following[depth] += 1
        term = order[place]
        if regressions >= most_regressions:
            return -1
        regressions += 1
        matrices[depth + 1] = matrices[depth]
        sweep(matrices[depth + 1], n, term)
        present[depth + 1] = present[depth]
        present[depth + 1, term] = 0
        following[depth + 1] = place + 1
        depth += 1
        size, residual = n - depth, -matrices[depth, n, n]
        if residual < best[size]:
            best[size] = residual
            subsets[size] = present[depth]
    return regressions


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
    # Leaving out a term costs its squared weight over its pivot.
    order = np.argsort(weights**2 / np.diag(inverse), kind="stable")
    best, subsets = np.empty(n + 1), np.zeros((n + 1, n), np.uint8)
    if leaps(start, order, most_regressions, best, subsets) < 0:
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
