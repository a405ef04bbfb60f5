"""The genetic algorithm of pymoo, which draws from a generator of its own and makes global ones."""

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found
from narxbench.io.settings import Settings as Strict

ABOUT = About(
    reference="Blank and Deb, pymoo: Multi-Objective Optimization in Python, IEEE Access 8, 2020",
    requires=("pymoo",),
    options={"population_size": [20]},
)


class Settings(Strict):
    """Settings."""

    population_size: int = Field(default=50, ge=2, description="individuals")


def run(problem, objective, rng, settings):
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.pntx import TwoPointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling
    from pymoo.optimize import minimize

    class Selection(Problem):
        def _evaluate(self, x, out, *args, **kwargs):
            fitness = objective.evaluate(x)
            out["F"] = np.where(np.isfinite(fitness), fitness, 1e30)

    method = GA(
        pop_size=settings.population_size,
        sampling=BinaryRandomSampling(),
        crossover=TwoPointCrossover(),
        mutation=BitflipMutation(),
        eliminate_duplicates=False,
    )
    selection = Selection(n_var=objective.n_terms, n_obj=1, xl=0, xu=1, vtype=bool)
    minimize(selection, method, ("n_gen", objective.budget), seed=int(rng.integers(1 << 31)))
    return Found(objective.best_position)
