"""FROLS: terms enter one by one, each time the one that explains most of what is left of the output.

Forward regression with orthogonal least squares. Source: S. A. Billings, S. Chen and M. J. Korenberg, Identification
of MIMO non-linear systems using a forward-regression orthogonal estimator, International Journal of Control 49(6),
1989, pages 2157-2189; S. A. Billings, Nonlinear System Identification, 2013, chapter 3.

The source leaves open when to stop. Here all lengths up to a limit are known at the end, and one of them is chosen.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, ProblemView
from narxbench.algorithms.forward_regression import best_length, forward, nested, residuals
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.logarithm import natural_log

ABOUT = About(
    reference="Billings, Chen and Korenberg, Identification of MIMO non-linear systems using a forward-regression "
    "orthogonal estimator, International Journal of Control 49(6), 1989",
    deterministic=True,
    stops_early=True,
    minimises=False,
    options={"stop": ["bic", "aic", "err"], "max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of FROLS."""

    stop: Literal["free_run", "bic", "aic", "err"] = Field(
        default="free_run",
        description="which length is chosen: that of lowest J, which costs an evaluation for each; of lowest BIC or "
        "AIC of the prediction one step ahead on the estimation part; or the shortest that leaves little of the output",
    )
    max_terms: int = Field(default=50, ge=1, description="terms that enter at most")
    unexplained: float = Field(
        default=0.01, gt=0, lt=1, description="with stop err: what 1 minus the sum of ERR must not exceed, rho"
    )


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose how many."""
    longest = min(settings.max_terms, objective.n_terms)
    order, explained = np.empty(longest, np.int64), np.empty(longest)
    entered = forward(problem.gram, problem.moments, -1, order, explained)
    if not entered:
        return Found(np.zeros(objective.n_terms, np.uint8))
    structures = nested(order[:entered], objective.n_terms)
    if settings.stop == "free_run":
        objective.evaluate(structures)
        return Found(objective.best_position)
    sums = residuals(explained[:entered], problem.output_energy)
    if settings.stop == "err":
        enough = settings.unexplained * problem.output_energy
        length = next((length for length, left in enumerate(sums, start=1) if left <= enough), entered)
    else:
        penalty = 2.0 if settings.stop == "aic" else float(natural_log(float(problem.n_rows)))
        length = best_length(sums, problem.n_rows, penalty)
    return Found(structures[length - 1])
