"""Random search: structures drawn independently, the best one kept.

What any search has to beat. Source: S. H. Brooks, A discussion of random methods for seeking maxima, Operations
Research 6(2), 1958, pages 244-251. The number of terms is uniform, or few of the structures would be small: with each
term by the toss of a coin, nearly all have about half of the terms.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, ProblemView
from narxbench.algorithms.population import initial_positions
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.draws import draws_of

ABOUT = About(
    reference="Brooks, A discussion of random methods for seeking maxima, Operations Research 6(2), 1958",
    options={"positions": ["bernoulli"]},
)

# Structures that are evaluated together: the kernel wants many, and more than this gains nothing.
_BATCH = 256


class Settings(BaseSettings):
    """Settings of the random search."""

    positions: Literal["uniform_cardinality", "bernoulli"] = Field(
        default="uniform_cardinality", description="a uniform number of terms, or each term with probability 1/2"
    )


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on independent structures."""
    with draws_of(rng, 1) as draws:
        while objective.remaining:
            count = min(_BATCH, objective.remaining)
            uniform = settings.positions == "uniform_cardinality"
            objective.evaluate(initial_positions(draws, count, objective.n_terms, uniform))
    return Found(objective.best_position)
