"""SEMP: the term that leaves the smallest error of the free run enters, and terms leave if that does not raise it.

Simulation error minimisation with pruning. Source: L. Piroddi and W. Spinelli, An identification algorithm for
polynomial NARX models based on simulation error minimization, International Journal of Control 76(17), 2003, pages
1767-1781. Weights are those of least squares over all samples, and the error is the mean squared error of the free run
over the same samples:

1. The term outside the model that leaves the smallest error enters. In other words, it has the largest simulation error
   reduction ratio SRR: the decrease of the error as a share of the mean of y^2.
2. Terms leave as long as the error is not larger without them, each time the one that leaves the smallest error.
3. Continue with 1 until no term lowers the error enough.

Each further term fits the noise of the record slightly better. The source leaves it to the user when to stop. Here a
term must lower the error by a certain share, as in a public program (``semp.rs`` of matheuswhite/narmax, which takes
the first candidate that lowers the error at all, in the order of the error reduction ratio, and keeps the last one,
which lowers it by less). The default of that share was chosen on systems of this project that are not held out.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.training import estimated, whole_record
from narxbench._fitness.problem import StructureProblem
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Piroddi and Spinelli, An identification algorithm for polynomial NARX models based on simulation error "
    "minimization, International Journal of Control 76(17), 2003",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"least_gain": [0.5], "max_terms": [3]},
)


class Settings(BaseSettings):
    """Settings of SEMP."""

    least_gain: float = Field(
        default=0.01, ge=0, lt=1, description="share of the error that a term must lower it by to enter"
    )
    max_terms: int = Field(default=50, ge=1, description="terms at most")


def best_change(whole: StructureProblem, position: NDArray[np.uint8], present: int) -> tuple[NDArray[np.uint8], float]:
    """Return the structure of smallest simulation error after a term is dropped (1) or added (0), and the error."""
    terms = np.flatnonzero(position == present)
    structures = np.repeat(position[None], len(terms), axis=0)
    structures[np.arange(len(terms)), terms] ^= 1
    errors = whole.evaluate_positions(structures)[1]
    best = int(errors.argmin())
    return structures[best], float(errors[best])


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter and leave until no term lowers the error enough."""
    whole, position, error = whole_record(problem), np.zeros(objective.n_terms, np.uint8), np.inf
    while position.sum() < min(settings.max_terms, objective.n_terms):
        extended, extended_error = best_change(whole, position, present=0)
        if not extended_error < (1.0 - settings.least_gain) * error:
            break
        position, error = extended, extended_error
        while position.sum() > 1:
            pruned, pruned_error = best_change(whole, position, present=1)
            if not pruned_error <= error:
                break
            position, error = pruned, pruned_error
    return estimated(problem, position)
