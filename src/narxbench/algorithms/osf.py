"""Orthogonal floating search: terms enter and leave again, as long as models of that size get better by it.

Source: F. Hafiz, A. Swain and E. Mendes, Orthogonal floating search algorithms: From the perspective of nonlinear
system identification, Neurocomputing 350, 2019, pages 221-236, as SysIdentPy implements it
(``orthogonal_floating_search.py``). The score of a set of terms is the sum of their error reduction ratios, the share
of the output that least squares explains.

- ``floating`` (OSF): the most significant term enters. Then the least significant terms leave, one by one, as long as a
  set of that size is better than the best one before; the term that has just entered does not leave at once.
- ``oscillating`` (O2S): a set of a number of terms, found by forward regression, swings: some terms leave and as many
  enter, or some enter and as many leave, deeper after swings without success, at most a quarter of the terms. Terms
  enter and leave one by one here; the source lets a swing float.

The source chooses the number of terms by information criteria; here BIC, of the prediction or of the free run. All
samples are used.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench.algorithms.training import CHOICE, Choice, Products, chosen, criterion_of, estimated, products
from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Hafiz, Swain and Mendes, Orthogonal floating search algorithms: From the perspective of nonlinear "
    "system identification, Neurocomputing 350, 2019",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"choice": ["bic"], "max_terms": [3]},
)

# By how much the score of a set must be higher to be better, as a share of y'y: less is rounding.
LEAST_GAIN = 1e-10


class Settings(BaseSettings):
    """Settings of orthogonal floating search."""

    search: Literal["floating", "oscillating"] = Field(default="floating", description="OSF or O2S")
    max_terms: int = Field(default=30, ge=1, le=500, description="terms at most")
    choice: Choice = Field(default="free_run", description=CHOICE)


class Sets:
    """Scores of sets of terms, and which term is the best to enter or leave."""

    def __init__(self, found: Products) -> None:
        # Columns of length 1: products of large and small numbers stand side by side.
        scale = np.sqrt(np.diag(found.gram))
        self.usable = scale > 0
        scale = np.where(self.usable, scale, 1.0)
        with np.errstate(invalid="ignore"):  # nothing is found where products overflow
            self.gram = found.gram / np.outer(scale, scale)
        self.moments, self.energy = found.moments / scale, found.energy

    def score(self, terms: list[int]) -> float:
        """Return the share of y'y that terms explain."""
        if not terms or not self.energy > 0:
            return 0.0
        # In one order, so that a set always has the same score.
        terms = sorted(terms)
        moments = self.moments[terms]
        score = float(moments @ np.linalg.solve(self.gram[np.ix_(terms, terms)], moments)) / self.energy
        return min(score, 1.0) if score > 0 else 0.0

    def to_enter(self, terms: list[int]) -> int | None:
        """Return the term outside of a set that explains most of what it leaves; None if all depend on it."""
        pivots, left = np.ones(len(self.moments)), self.moments.copy()
        if terms:
            across = self.gram[terms]
            solved = np.linalg.solve(self.gram[np.ix_(terms, terms)], across)
            pivots -= np.einsum("ij,ij->j", across, solved)
            left -= self.moments[terms] @ solved
        free = self.usable & (pivots > SINGULAR)
        free[terms] = False
        if not free.any():
            return None
        return int(np.argmax(np.where(free, left**2 / np.where(free, pivots, 1.0), -1.0)))

    def to_leave(self, terms: list[int]) -> int:
        """Return the term of a set without which least is explained less."""
        inverse = np.linalg.inv(self.gram[np.ix_(terms, terms)])
        weights = inverse @ self.moments[terms]
        return terms[int(np.argmin(weights**2 / np.diag(inverse)))]


def floating(sets: Sets, most: int) -> list[list[int]]:
    """Return the best set of each number of terms by sequential floating search."""
    best: dict[int, tuple[float, list[int]]] = {}
    terms: list[int] = []
    while len(terms) < most:
        entered = sets.to_enter(terms)
        if entered is None:
            break
        terms = [*terms, entered]
        score = sets.score(terms)
        if len(terms) not in best or score > best[len(terms)][0] + LEAST_GAIN:
            best[len(terms)] = score, terms
        else:
            terms = best[len(terms)][1]
        first = True
        while len(terms) > 2:
            leaving = sets.to_leave(terms)
            without = [term for term in terms if term != leaving]
            score = sets.score(without)
            if (first and leaving == entered) or score <= best[len(without)][0] + LEAST_GAIN:
                break
            terms, first = without, False
            best[len(terms)] = score, terms
    return [own for _, own in best.values()]


def _swung(sets: Sets, terms: list[int], depth: int, enter_first: bool) -> list[int]:
    """Return a set of terms after a swing, or the set itself where there is none."""
    swung = list(terms)
    for entering in (enter_first,) * depth + (not enter_first,) * depth:
        entered = sets.to_enter(swung) if entering else None
        if entering and entered is None:
            return terms
        if entered is None:
            swung.remove(sets.to_leave(swung))
        else:
            swung.append(entered)
    return swung


def oscillating(sets: Sets, most: int, n_terms: int) -> list[list[int]]:
    """Return the set of each number of terms by oscillating search."""
    found: list[list[int]] = []
    start: list[int] = []
    while len(start) < most and (entered := sets.to_enter(start)) is not None:
        start.append(entered)
        terms, score = list(start), sets.score(start)
        deepest, depth = max(1, min(len(terms), n_terms - len(terms)) // 4), 1
        while depth <= deepest:
            improved = False
            for enter_first in (False, True):
                if enter_first or depth < len(terms):
                    swung = _swung(sets, terms, depth, enter_first)
                    if (better := sets.score(swung)) > score + LEAST_GAIN:
                        terms, score, improved = swung, better, True
            depth = 1 if improved else depth + 1
        found.append(terms)
    return found


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion:
    """Return what chooses how many terms."""
    return criterion_of(problem, settings.choice)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search for the best set of each number of terms, then choose the number."""
    found, n_terms = products(problem), objective.n_terms
    sets, most = Sets(found), min(settings.max_terms, n_terms, found.n_rows // 2)
    best = floating(sets, most) if settings.search == "floating" else oscillating(sets, most, n_terms)
    positions = np.zeros((len(best), n_terms), np.uint8)
    for position, terms in zip(positions, best, strict=True):
        position[terms] = 1
    return estimated(problem, chosen(problem, positions, settings.choice, found))
