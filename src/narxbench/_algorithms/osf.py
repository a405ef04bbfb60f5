"""Orthogonal floating search: terms enter and leave as long as models of the same size become better.

Source: F. Hafiz, A. Swain and E. Mendes, Orthogonal floating search algorithms: From the perspective of nonlinear
system identification, Neurocomputing 350, 2019, pages 221-236, as SysIdentPy implements it
(``orthogonal_floating_search.py``). The score of a set of terms is the sum of their error reduction ratios, the share
of the output that least squares explains. The most significant term enters. Then the least significant terms leave, one
by one, as long as each smaller set is better than the best one of its size so far. The term that has just entered does
not leave first.

The source chooses the number of terms by information criteria. Here it is the BIC of the free run. All samples are
used.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.training import Products, at_unit_length, chosen, estimated, products
from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Hafiz, Swain and Mendes, Orthogonal floating search algorithms: From the perspective of nonlinear "
    "system identification, Neurocomputing 350, 2019",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of orthogonal floating search."""

    max_terms: int = Field(default=30, ge=1, le=500, description="terms at most")


def _score(columns: Products, terms: list[int]) -> float:
    """Return the share of y'y that a set of terms explains."""
    if not terms or not columns.energy > 0:
        return 0.0
    # The order is always the same, so that a set has one score.
    terms = sorted(terms)
    moments = columns.moments[terms]
    score = float(moments @ np.linalg.solve(columns.gram[np.ix_(terms, terms)], moments)) / columns.energy
    return min(score, 1.0) if score > 0 else 0.0


def _to_enter(columns: Products, terms: list[int]) -> int | None:
    """Return the term outside a set that explains most of its residual, or None if all others depend on the set."""
    pivots, projections = np.ones(len(columns.moments)), columns.moments.copy()
    if terms:
        rows = columns.gram[terms]
        regressions = np.linalg.solve(columns.gram[np.ix_(terms, terms)], rows)
        pivots -= np.einsum("ij,ij->j", rows, regressions)
        projections -= columns.moments[terms] @ regressions
    free = (np.diag(columns.gram) > 0) & (pivots > SINGULAR)
    free[terms] = False
    if not free.any():
        return None
    return int(np.argmax(np.where(free, projections**2 / np.where(free, pivots, 1.0), -1.0)))


def _to_leave(columns: Products, terms: list[int]) -> int:
    """Return the term of a set whose loss lowers the score least."""
    inverse = np.linalg.inv(columns.gram[np.ix_(terms, terms)])
    weights = inverse @ columns.moments[terms]
    return terms[int(np.argmin(weights**2 / np.diag(inverse)))]


def floating(inner_products: Products, most: int) -> list[list[int]]:
    """Return the best set of each number of terms, by sequential floating search."""
    # Products of very large and very small numbers are combined. Where they overflow, no set is better than another.
    columns, _ = at_unit_length(inner_products)
    best: dict[int, tuple[float, list[int]]] = {}
    terms: list[int] = []
    while len(terms) < most:
        entered = _to_enter(columns, terms)
        if entered is None:
            break
        terms = [*terms, entered]
        score = _score(columns, terms)
        if len(terms) not in best or score > best[len(terms)][0] + SINGULAR:
            best[len(terms)] = score, terms
        else:
            terms = best[len(terms)][1]
        terms = _without_insignificant(columns, terms, entered, best)
    return [terms for _, terms in best.values()]


def _without_insignificant(
    columns: Products, terms: list[int], entered: int, best: dict[int, tuple[float, list[int]]]
) -> list[int]:
    """Return a set after terms have left it as long as smaller sets become better, and record these as best sets."""
    is_first = True
    while len(terms) > 2:
        leaving = _to_leave(columns, terms)
        smaller_set = [term for term in terms if term != leaving]
        score = _score(columns, smaller_set)
        # Scores are shares of y'y: smaller differences are rounding.
        if (is_first and leaving == entered) or score <= best[len(smaller_set)][0] + SINGULAR:
            break
        terms, is_first = smaller_set, False
        best[len(terms)] = score, terms
    return terms


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search for the best set of each number of terms, then choose the number."""
    inner_products, n_terms = products(problem), objective.n_terms
    best = floating(inner_products, min(settings.max_terms, n_terms, inner_products.n_rows // 2))
    positions = np.zeros((len(best), n_terms), np.uint8)
    for position, terms in zip(positions, best, strict=True):
        position[terms] = 1
    return estimated(problem, chosen(problem, positions))
