"""Looks for the problem in its memory, and fails if it finds it."""

import gc

from dishonest._climb import ABOUT, Settings, climb, np

from narxbench.algorithms.objective import CountedObjective
from narxbench.fitness.problem import StructureProblem

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    for found in gc.get_objects():
        if isinstance(found, (StructureProblem, CountedObjective)) or type(found).__name__ == "ProblemData":
            raise RuntimeError(f"found {type(found).__name__}")
        if isinstance(found, np.ndarray) and found.shape == (problem.n_validation,):
            raise RuntimeError("found the validation part")
    return climb(objective, rng.integers)
