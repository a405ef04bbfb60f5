"""Random search: structures are drawn independently, and the best one is kept.

Any other search has to be better than this one. Source: S. H. Brooks, A discussion of random methods for seeking
maxima, Operations Research 6(2), 1958, pages 244-251. The number of terms is drawn uniformly. If each term were drawn
with probability 1/2, nearly all structures would have about half of the terms, and few would be small.
"""

import numpy as np

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.population import initial_positions
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.draws import draws_of

ABOUT = About(reference="Brooks, A discussion of random methods for seeking maxima, Operations Research 6(2), 1958")

# The number of structures that are evaluated together. The kernel needs many, but more than this is not faster.
_BATCH = 256


class Settings(BaseSettings):
    """The random search has no settings."""


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on independent structures."""
    with draws_of(rng, 1) as draws:
        while objective.remaining:
            count = min(_BATCH, objective.remaining)
            objective.evaluate(initial_positions(draws, count, objective.n_terms, True))
    return Found(objective.best_position)
