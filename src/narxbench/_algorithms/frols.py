"""FROLS: terms enter one by one, each time the one that explains most of the rest of the output.

Forward regression with orthogonal least squares. Source: S. A. Billings, S. Chen and M. J. Korenberg, Identification
of MIMO non-linear systems using a forward-regression orthogonal estimator, International Journal of Control 49(6),
1989, pages 2157-2189; S. A. Billings, Nonlinear System Identification, 2013, chapter 3.

The source leaves open when to stop. Here terms enter up to a limit, and the best free run of all these lengths is
chosen, by BIC. All samples are used, and none are held out.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.forward_regression import forward, nested
from narxbench._algorithms.training import chosen, estimated, products
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Billings, Chen and Korenberg, Identification of MIMO non-linear systems using a forward-regression "
    "orthogonal estimator, International Journal of Control 49(6), 1989",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of FROLS."""

    max_terms: int = Field(default=50, ge=1, description="terms that enter at most")


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose their number."""
    inner_products = products(problem)
    longest = min(settings.max_terms, objective.n_terms)
    order, explained = np.empty(longest, np.int64), np.empty(longest)
    entered = forward(inner_products.gram, inner_products.moments, -1, order, explained)
    return estimated(problem, chosen(problem, nested(order[:entered], objective.n_terms)))
