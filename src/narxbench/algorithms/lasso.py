"""LASSO and elastic net: weights shrink to zero along a path of penalties, the free run chooses the place on it.

Source: R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical Society B 58,
1996, pages 267-288; H. Zou and T. Hastie, Regularization and variable selection via the elastic net, ibid. 67, 2005,
pages 301-320; for NARX models M. Bonin, V. Seghezza and L. Piroddi, NARX model selection based on simulation error
minimisation and LASSO, IET Control Theory and Applications 4, 2010, pages 1157-1168.

The path is scikit-learn's coordinate descent on standardised columns of the estimation part. What the sources leave
open: the structure of each penalty is evaluated, with weights by least squares, and that of lowest J is the result.
"""

import warnings

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, ProblemView
from narxbench.io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Tibshirani, Regression shrinkage and selection via the lasso, J. Royal Statistical Society B 58, 1996",
    deterministic=True,
    stops_early=True,
    minimises=False,
    requires=("scikit-learn",),
    options={"l1_ratio": [0.5], "penalties": [20], "smallest_penalty": [1e-2]},
)


class Settings(BaseSettings):
    """Settings of the path."""

    l1_ratio: float = Field(default=1.0, gt=0, le=1, description="share of absolute values in the penalty; 1: LASSO")
    penalties: int = Field(default=200, ge=2, le=100_000, description="penalties on the path, evenly spaced by ratio")
    smallest_penalty: float = Field(
        default=1e-5, gt=0, lt=1, description="the smallest penalty, as a share of that which leaves no term"
    )


def load() -> None:
    """Import what the runs need."""
    import sklearn.linear_model  # noqa: F401


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Follow the path, then evaluate the structures that lie on it."""
    from sklearn.linear_model import enet_path

    columns, outputs = problem.regressors(), problem.outputs()
    # The constant term takes the mean; it enters every structure, and one without it is evaluated as well.
    centred = columns - columns.mean(axis=0)
    scale = centred.std(axis=0)
    varying = np.flatnonzero(scale > 1e-12 * (1.0 + np.abs(columns).max(axis=0)))
    target = outputs - outputs.mean()
    if not len(varying) or np.ptp(outputs) == 0.0:
        return _best(objective, [[0]])
    standardised = np.asfortranarray(centred[:, varying] / scale[varying])
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
        )
    constant = [i for i, monomial in enumerate(problem.monomials) if not monomial]
    chosen: dict[tuple[int, ...], None] = {}
    for at in range(weights.shape[1]):
        terms = tuple(varying[np.flatnonzero(weights[:, at])].tolist())
        if terms:
            chosen[terms] = chosen[(*constant, *terms)] = None
    return _best(objective, [list(terms) for terms in chosen])


def _best(objective: Objective, structures: list[list[int]]) -> Found:
    positions = np.zeros((len(structures), objective.n_terms), np.uint8)
    for position, terms in zip(positions, structures, strict=True):
        position[terms] = 1
    if len(positions):
        objective.evaluate(positions)
    return Found(objective.best_position)
