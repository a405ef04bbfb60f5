"""The genetic algorithm of pymoo: tournament, uniform crossover, bit-flip mutation, survival of the best.

Source: J. Blank and K. Deb, pymoo: Multi-Objective Optimization in Python, IEEE Access 8, 2020, pages 89497-89509. The
package's class ``GA`` is used as its documentation shows for binary variables, with a mutation rate of one bit in N_t.
"""

from typing import Any

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Blank and Deb, pymoo: Multi-Objective Optimization in Python, IEEE Access 8, 2020",
    # It ends if it cannot create a new individual.
    stops_early=True,
    requires=("pymoo",),
    options={"population_size": [20], "uniform_cardinality": [False]},
)

# The J that pymoo gets instead of an infinite one, which it cannot sort.
_NOT_FINITE = 1e300


class Settings(BaseSettings):
    """Settings of pymoo's GA."""

    population_size: int = Field(default=100, ge=2, le=100_000, description="number of individuals, pop_size")
    uniform_cardinality: bool = Field(
        default=True, description="first structures of a uniform number of terms; else each term with probability 1/2"
    )


def load() -> None:
    """Import the packages that the runs need."""
    import pymoo.algorithms.soo.nonconvex.ga
    import pymoo.optimize  # noqa: F401


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let pymoo minimise J until the budget is spent."""
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.core.termination import NoTermination
    from pymoo.operators.crossover.ux import UniformCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.optimize import minimize

    n_terms, size = objective.n_terms, settings.population_size
    share: Any = 0.5
    if settings.uniform_cardinality:
        share = rng.integers(1, n_terms + 1, (size, 1)) / n_terms
    first = rng.random((size, n_terms)) < share

    class Structures(Problem):
        """The structure problem in the form of pymoo."""

        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            # When the budget is spent, the objective raises an error, which ends the run.
            fitness = objective.evaluate(x)
            out["F"] = np.where(np.isfinite(fitness), fitness, _NOT_FINITE)

    algorithm = GA(
        pop_size=size,
        sampling=first,
        crossover=UniformCrossover(),
        mutation=BitflipMutation(prob=1.0, prob_var=1.0 / n_terms),
        eliminate_duplicates=True,
    )
    task = Structures(n_var=n_terms, n_obj=1, xl=0, xu=1, vtype=bool)
    minimize(task, algorithm, NoTermination(), seed=int(rng.integers(1 << 32)))
    return Found(objective.best_position)
