"""LASSO and elastic net: weights shrink to zero along a path of penalties, a criterion chooses the place on it.

Source: R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical Society B 58,
1996, pages 267-288; H. Zou and T. Hastie, Regularization and variable selection via the elastic net, ibid. 67, 2005,
pages 301-320; for NARX models M. Bonin, V. Seghezza and L. Piroddi, NARX model selection based on simulation error
minimisation and LASSO, IET Control Theory and Applications 4, 2010, pages 1157-1168.

The path is scikit-learn's coordinate descent on standardised columns of all samples. What the sources leave open: the
structure of each penalty is evaluated, with weights by least squares, and that of lowest J is the result, or of lowest
BIC of the prediction one step ahead. Its weights are those of least squares over all samples. With ``adaptive`` the
penalty of a term is divided by its weight by ridge regression: H. Zou, The adaptive lasso and its oracle properties,
Journal of the American Statistical Association 101, 2006, pages 1418-1429.
"""

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, ProblemView
from narxbench.algorithms.training import Products
from narxbench.io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Tibshirani, Regression shrinkage and selection via the lasso, J. Royal Statistical Society B 58, 1996",
    deterministic=True,
    stops_early=True,
    minimises=False,
    requires=("scikit-learn",),
    options={
        **{"l1_ratio": [0.5], "penalties": [20], "smallest_penalty": [1e-2], "choice": ["bic"]},
        "adaptive": [True],
    },
)

# What ridge regression adds to the squared length of each column, by the number of rows: the pilot of adaptive LASSO.
PILOT = 1e-6


class Settings(BaseSettings):
    """Settings of the path."""

    l1_ratio: float = Field(default=1.0, gt=0, le=1, description="share of absolute values in the penalty; 1: LASSO")
    penalties: int = Field(default=200, ge=2, le=100_000, description="penalties on the path, evenly spaced by ratio")
    smallest_penalty: float = Field(
        default=1e-5, gt=0, lt=1, description="the smallest penalty, as a share of that which leaves no term"
    )
    choice: Literal["free_run", "bic"] = Field(
        default="free_run",
        description="what chooses the place on the path: J, an evaluation for each structure, or BIC of the prediction "
        "one step ahead",
    )
    adaptive: bool = Field(default=False, description="whether terms of large weights are shrunk less: adaptive LASSO")


def load() -> None:
    """Import what the runs need."""
    import sklearn.linear_model  # noqa: F401


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Follow the path, then evaluate the structures that lie on it."""
    from sklearn.linear_model import enet_path

    columns, outputs = problem.training_regressors(), problem.training_outputs()
    # The constant term takes the mean; it enters every structure, and one without it is evaluated as well.
    centred = columns - columns.mean(axis=0)
    scale = centred.std(axis=0)
    varying = np.flatnonzero(scale > 1e-12 * (1.0 + np.abs(columns).max(axis=0)))
    target = outputs - outputs.mean()
    if not len(varying) or np.ptp(outputs) == 0.0:
        return Found(_best(objective, _positions([[0]], objective.n_terms)))
    standardised = centred[:, varying] / scale[varying]
    if settings.adaptive:
        gram = standardised.T @ standardised
        standardised *= np.abs(np.linalg.solve(gram + PILOT * len(target) * np.eye(len(gram)), standardised.T @ target))
    standardised = np.asfortranarray(standardised)
    largest = np.abs(standardised.T @ target).max() / (len(target) * settings.l1_ratio)
    with warnings.catch_warnings():
        # A penalty near zero need not converge: its structure is judged like the others.
        warnings.simplefilter("ignore")
        _, weights, _ = enet_path(
            standardised,
            target,
            l1_ratio=settings.l1_ratio,
            alphas=largest * np.geomspace(1.0, settings.smallest_penalty, settings.penalties),
            # With scikit-learn's default a path ends its descent before small weights leave zero.
            tol=1e-8,
            max_iter=10_000,
            # It draws a number even though it goes through the columns in their order.
            random_state=int(rng.integers(1 << 32)),
            precompute=True,
        )
    constant = [i for i, monomial in enumerate(problem.monomials) if not monomial]
    chosen: dict[tuple[int, ...], None] = {}
    for at in range(weights.shape[1]):
        terms = tuple(varying[np.flatnonzero(weights[:, at])].tolist())
        if terms:
            chosen[terms] = chosen[(*constant, *terms)] = None
    structures = _positions([*chosen], objective.n_terms)
    if settings.choice == "free_run":
        best = _best(objective, structures)
    else:
        found = Products(columns.T @ columns, columns.T @ outputs, float(outputs @ outputs), len(outputs))
        of = found.bic()
        best = structures[int(np.argmin([of(structure) for structure in structures]))]
    weights = np.linalg.lstsq(columns[:, np.flatnonzero(best)], outputs, rcond=None)[0]
    return Found(best, weights if np.isfinite(weights).all() else None)


def _positions(structures: Sequence[Sequence[int]], n_terms: int) -> NDArray[np.uint8]:
    positions = np.zeros((len(structures), n_terms), np.uint8)
    for position, terms in zip(positions, structures, strict=True):
        position[list(terms)] = 1
    return positions


def _best(objective: Objective, structures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if len(structures):
        objective.evaluate(structures)
    return objective.best_position
