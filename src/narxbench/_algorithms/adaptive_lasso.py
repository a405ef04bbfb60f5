"""Adaptive LASSO: weights shrink to zero along a path of penalties, the large ones less, and J chooses a point on it.

Source: H. Zou, The adaptive lasso and its oracle properties, Journal of the American Statistical Association 101, 2006,
pages 1418-1429; for NARX models M. Bonin, V. Seghezza and L. Piroddi, NARX model selection based on simulation error
minimisation and LASSO, IET Control Theory and Applications 4, 2010, pages 1157-1168.

The penalty of a term is divided by its weight in a ridge regression. The path is that of scikit-learn's coordinate
descent on standardised columns of all samples. The source does not say how to choose a penalty. Here the structure of
each penalty is evaluated with least-squares weights, and the one of lowest J is the result. Its weights are those of
least squares over all samples.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Zou, The adaptive lasso and its oracle properties, J. American Statistical Association 101, 2006",
    deterministic=True,
    stops_early=True,
    minimises=False,
    requires=("scikit-learn",),
    options={"penalties": [20], "smallest_penalty": [1e-2]},
)

# The ridge regression that precedes the path adds this, times the number of rows, to the squared length of each
# column.
PILOT = 1e-6


class Settings(BaseSettings):
    """Settings of the path."""

    penalties: int = Field(default=200, ge=2, le=100_000, description="penalties on the path, evenly spaced by ratio")
    smallest_penalty: float = Field(
        default=1e-5, gt=0, lt=1, description="the smallest penalty, as a share of that which leaves no term"
    )


def load() -> None:
    """Import the packages that the runs need."""
    import sklearn.linear_model  # noqa: F401


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Follow the path, then evaluate the structures on it."""
    columns, outputs = problem.training_regressors(), problem.training_outputs()
    # The constant term models the mean.
    centred = columns - columns.mean(axis=0)
    scale = centred.std(axis=0)
    varying = np.flatnonzero(scale > 1e-12 * (1.0 + np.abs(columns).max(axis=0)))
    target = outputs - outputs.mean()
    if not len(varying) or np.ptp(outputs) == 0.0:
        return Found(_best(objective, _positions([[0]], objective.n_terms)))
    standardised = centred[:, varying] / scale[varying]
    gram = standardised.T @ standardised
    standardised *= np.abs(np.linalg.solve(gram + PILOT * len(target) * np.eye(len(gram)), standardised.T @ target))
    path = _path(standardised, target, rng, settings)
    constants = [i for i, monomial in enumerate(problem.monomials) if not monomial]
    # Each structure once, in the order of the path, without the constant term and with it.
    structures: dict[tuple[int, ...], None] = {}
    for weights in path.T:
        terms = tuple(varying[np.flatnonzero(weights)].tolist())
        if terms:
            structures[terms] = structures[(*constants, *terms)] = None
    best = _best(objective, _positions([*structures], objective.n_terms))
    coefficients = np.linalg.lstsq(columns[:, np.flatnonzero(best)], outputs, rcond=None)[0]
    if not np.isfinite(coefficients).all():
        return Found(best)
    return Found(best, coefficients)


def _path(
    columns: NDArray[np.float64], target: NDArray[np.float64], rng: np.random.Generator, settings: Settings
) -> NDArray[np.float64]:
    """Return the weights along the path, shape (columns, penalties)."""
    from sklearn.linear_model import lasso_path

    columns = np.asfortranarray(columns)
    largest = np.abs(columns.T @ target).max() / len(target)
    with warnings.catch_warnings():
        # A penalty near zero need not converge: its structure is judged like the others.
        warnings.simplefilter("ignore")
        _, weights, _ = lasso_path(
            columns,
            target,
            alphas=largest * np.geomspace(1.0, settings.smallest_penalty, settings.penalties),
            # With scikit-learn's default the descent ends while small weights are still zero.
            tol=1e-8,
            max_iter=10_000,
            # The function draws a number even though it takes the columns in their order.
            random_state=int(rng.integers(1 << 32)),
            precompute=True,
        )
    return np.asarray(weights)


def _positions(structures: Sequence[Sequence[int]], n_terms: int) -> NDArray[np.uint8]:
    positions = np.zeros((len(structures), n_terms), np.uint8)
    for position, terms in zip(positions, structures, strict=True):
        position[list(terms)] = 1
    return positions


def _best(objective: Objective, structures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if len(structures):
        objective.evaluate(structures)
    return objective.best_position
