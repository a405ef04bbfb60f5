"""Stability selection: terms stay that are selected on most of many random halves of the data.

Source: N. Meinshausen and P. Bühlmann, Stability selection, Journal of the Royal Statistical Society B 72, 2010, pages
417-473. On each half a forward regression selects the first q terms. Terms that are selected on at least a share pi of
the halves stay. With q = sqrt((2 pi - 1) E N_t), rounded down, at most E terms are wrong on average, under conditions
that lagged outputs hardly meet. The halves are random rows of all samples.
"""

import math

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.forward_regression import forward
from narxbench._algorithms.training import estimated, products
from narxbench._fitness.kernel.problem_data import products_over
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Meinshausen and Bühlmann, Stability selection, J. Royal Statistical Society B 72, 2010",
    stops_early=True,
    needs_objective=False,
    minimises=False,
)


class Settings(BaseSettings):
    """Settings of stability selection; the defaults are the source's."""

    halves: int = Field(default=100, ge=2, le=100_000, description="random halves of the data")
    share: float = Field(default=0.9, gt=0.5, le=1, description="share of the halves that a term is selected on, pi")
    wrong_terms: float = Field(default=1.0, gt=0, le=1000, description="wrong terms that are allowed in the mean, E")


def counts(problem: ProblemView, rng: np.random.Generator, settings: Settings) -> np.ndarray:
    """Return the number of halves on which each candidate is selected, shape (N_t,)."""
    n_terms, rows = len(problem.terms), problem.training_rows
    n_selected = math.isqrt(int((2 * settings.share - 1) * settings.wrong_terms * n_terms))
    n_selected = max(1, min(n_terms, n_selected))
    frequencies, order, explained = np.zeros(n_terms, np.int64), np.empty(n_selected, np.int64), np.empty(n_selected)
    for _ in range(settings.halves):
        half = np.sort(rng.permutation(rows)[: max(1, len(rows) // 2)])
        gram = products_over(problem.training_u, problem.training_y, list(problem.monomials), half)
        entered = forward(np.ascontiguousarray(gram[:-1, :-1]), gram[-1, :-1].copy(), -1, order, explained)
        frequencies[order[:entered]] += 1
    return frequencies


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Select terms on all halves and keep the stable ones; if there are none, the most frequent term."""
    frequencies = counts(problem, rng, settings)
    position = (frequencies >= settings.share * settings.halves).astype(np.uint8)
    if not position.any() and frequencies.any() and products(problem).energy > 0:
        position[int(frequencies.argmax())] = 1
    return estimated(problem, position)
