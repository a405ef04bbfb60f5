"""Ensemble of STLSQ, the regression of E-SINDy: terms stay that most regressions on resampled rows keep.

Source: U. Fasel, J. N. Kutz, B. W. Brunton and S. L. Brunton, Ensemble-SINDy: Robust sparse model discovery in the
low-data, high-noise limit, with active learning and control, Proceedings of the Royal Society A 478, 2022. Rows are
drawn with replacement, as often as there are; :mod:`narxbench._algorithms.stlsq` selects terms on each draw; terms that
are selected on less than a share of the draws leave.

The source leaves the threshold of the weights to the user. Here many are tried, and one of the structures is chosen.
All samples are used, and the weights are those of least squares.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms import stlsq
from narxbench._algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench._algorithms.training import Products, chosen, criterion_of, estimated, products
from narxbench._fitness.kernel.problem_data import products_over

ABOUT = About(
    reference="Fasel, Kutz, Brunton and Brunton, Ensemble-SINDy, Proceedings of the Royal Society A 478, 2022",
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"choice": ["bic"], "thresholds": [3], "draws": [2], "share": [0.9]},
)


class Settings(stlsq.Settings):
    """Settings of the ensemble; ``draws`` and ``share`` are the source's."""

    thresholds: int = Field(default=20, ge=2, le=10_000, description="thresholds that are tried, evenly by ratio")
    draws: int = Field(default=100, ge=1, le=10_000, description="draws of rows, with replacement")
    share: float = Field(default=0.6, gt=0, le=1, description="share of the draws that a term is selected on")


def counts(
    problem: ProblemView, thresholds: NDArray[np.float64], rng: np.random.Generator, settings: Settings
) -> NDArray[np.int64]:
    """Return the number of draws on which each candidate is selected, shape (thresholds, N_t)."""
    rows = problem.training_rows
    selected = np.zeros((len(thresholds), len(problem.terms)), np.int64)
    for _ in range(settings.draws):
        drawn = np.sort(rows[rng.integers(len(rows), size=len(rows))])
        gram = products_over(problem.training_u, problem.training_y, list(problem.monomials), drawn)
        resampled = Products(gram[:-1, :-1], gram[-1, :-1], float(gram[-1, -1]), len(drawn))
        regression = stlsq.ScaledRegression(resampled, settings.ridge)
        all_weights = regression.all_weights()
        for number, threshold in enumerate(thresholds):
            selected[number] += regression.structure(all_weights, threshold, settings.iterations)
    return selected


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion:
    """Return the criterion that chooses the number of terms."""
    return criterion_of(problem, settings.choice)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Select terms on all draws with each threshold, then choose a threshold."""
    inner_products = products(problem)
    regression = stlsq.ScaledRegression(inner_products, settings.ridge)
    thresholds = stlsq.thresholds_of(regression.all_weights(), settings)
    is_stable = counts(problem, thresholds, rng, settings) >= settings.share * settings.draws
    candidates = np.unique(is_stable[is_stable.any(axis=1)].astype(np.uint8), axis=0)
    return estimated(problem, chosen(problem, candidates, settings.choice, inner_products))
