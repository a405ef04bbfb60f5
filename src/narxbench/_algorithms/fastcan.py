"""The feature selection of fastcan: terms enter by their canonical correlation with the output.

Source: S. Zhang, T. Wang, K. Worden, L. Sun and E. J. Cross, Canonical-correlation-based fast feature selection for
structural health monitoring, Mechanical Systems and Signal Processing 223, 2025, 111895; the package's class
``FastCan``, with which its ``make_narx`` selects terms. For one output it is forward regression on centred columns.

In the package the user chooses the number of terms, and every model has an intercept. Here every number up to a limit
is tried, with the constant term and without it, and the best free run decides, by BIC. All samples are used.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.training import chosen, estimated
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Zhang et al., Canonical-correlation-based fast feature selection for structural health monitoring, "
    "Mechanical Systems and Signal Processing 223, 2025",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    requires=("fastcan",),
    options={"max_terms": [2]},
)


class Settings(BaseSettings):
    """Settings of the selection."""

    max_terms: int = Field(default=50, ge=1, le=5000, description="terms at most, besides the constant")


def load() -> None:
    """Import the packages that the runs need."""
    import fastcan  # noqa: F401


def entered(columns: np.ndarray, y: np.ndarray, most: int) -> list[int]:
    """Return the columns in the order in which they enter, or fewer if this many are dependent."""
    from fastcan import FastCan

    for size in range(min(most, columns.shape[1]), 0, -1):
        try:
            order: list[int] = FastCan(size, verbose=0).fit(columns, y).indices_.tolist()
        except RuntimeError:
            continue
        return order
    return []


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose their number."""
    features = np.array([i for i, monomial in enumerate(problem.monomials) if monomial], np.int64)
    constants = [i for i, monomial in enumerate(problem.monomials) if not monomial]
    columns, y = problem.training_regressors()[:, features], problem.training_outputs()
    order = entered(columns, y, settings.max_terms)
    # Of each size one structure without the constant term, then one with it.
    candidates = np.zeros((2 * len(order), len(problem.terms)), np.uint8)
    for size in range(1, len(order) + 1):
        candidates[2 * size - 2 : 2 * size, features[order[:size]]] = 1
        candidates[2 * size - 1, constants] = 1
    return estimated(problem, chosen(problem, candidates))
