"""What every search algorithm sees of a problem: evaluations on a budget, recorded in the order they are spent."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.arithmetic import compiled
from narxbench.fitness import StructureProblem
from narxbench.kernel import ProblemData, evaluate_structures


class Record(NamedTuple):
    """The trace of one run, written by :func:`evaluate` and read when the run is over."""

    fitness: NDArray[np.float64]  # (budget,) J of each evaluation
    spent: NDArray[np.int64]  # (1,) evaluations so far
    best_position: NDArray[np.uint8]  # (N_t,) first structure that reached the lowest J
    best_fitness: NDArray[np.float64]  # (1,)


@compiled
def evaluate(data, record, positions, fitness):  # type: ignore[no-untyped-def]
    """Evaluate as many rows of ``positions`` as the budget still allows; write J to ``fitness``; return their number.

    Rows beyond the budget get +inf. Compiled algorithms call this, interpreted ones :meth:`Objective.evaluate`.
    """
    spent = record.spent[0]
    count = min(positions.shape[0], record.fitness.shape[0] - spent)
    fitness[count:] = np.inf
    evaluate_structures(data, positions[:count], fitness, np.empty(positions.shape[0]), np.empty((0, 0)))
    for i in range(count):
        record.fitness[spent + i] = fitness[i]
        if fitness[i] < record.best_fitness[0]:
            record.best_fitness[0] = fitness[i]
            record.best_position[:] = positions[i]
    record.spent[0] = spent + count
    return count


class Objective:
    """A structure problem with a budget of evaluations."""

    def __init__(self, problem: StructureProblem, budget: int) -> None:
        self.n_terms = len(problem.terms)
        self.data: ProblemData = problem.data
        self.record = Record(
            fitness=np.empty(budget),
            spent=np.zeros(1, np.int64),
            best_position=np.zeros(self.n_terms, np.uint8),
            best_fitness=np.full(1, np.inf),
        )

    @property
    def remaining(self) -> int:
        """Evaluations that are left."""
        return len(self.record.fitness) - int(self.record.spent[0])

    def evaluate(self, positions: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return J of each 0/1 row of ``positions`` (structures, N_t); rows beyond the budget get +inf."""
        fitness = np.empty(len(positions))
        evaluate(self.data, self.record, np.ascontiguousarray(positions, np.uint8), fitness)
        return fitness

    def history(self) -> list[tuple[int, float]]:
        """Return (evaluations, best J) for each improvement on the best J so far."""
        improvements: list[tuple[int, float]] = []
        best = np.inf
        for i, fitness in enumerate(self.record.fitness[: self.record.spent[0]].tolist(), start=1):
            if fitness < best:
                best = fitness
                improvements.append((i, best))
        return improvements
