"""RaMSS: terms are drawn with probabilities, which rise for terms whose models are better than those without them.

Randomised model structure selection. Source: A. Falsone, L. Piroddi and M. Prandini, A randomized algorithm for
nonlinear model structure selection, Automatica 60, 2015, pages 227-238, as implemented in a public program
(``RaMSSLS.m`` of jcvcastro/RaMSS_23). The steps of an iteration are:

1. Structures are drawn, each term with its inclusion probability. An empty structure is drawn again.
2. A t-test of least squares drops the terms whose weights do not differ from zero significantly.
3. The score of a structure is J = (1 - a) exp(-K MSPE) + a exp(-K MSSE), where MSPE and MSSE are its mean squared
   errors of the prediction one step ahead and of the free run.
4. The probability of each term changes by the mean J of the structures with it, minus that of the structures without it
   (zero if there are none), times 1 / (10 (J_max - mean J) + 0.1), where J_max is the largest J so far. It stays within
   bounds.

The result are the terms whose probability is 1 in the end or, if there are none, those of the structure of largest J.

The program computes the errors on held-out data; here weights and errors are those of all samples. Its errors have the
unit of y^2; here they are relative to the variance of y, so that units do not matter. It omits structures without past
inputs or outputs. A structure that is singular, or has no significant term, it draws again; here such a structure stays
as it is.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Floats, Found, Objective, ProblemView
from narxbench._algorithms.significance import drop_insignificant, squared_t_values
from narxbench._algorithms.training import estimated, products, whole_record
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Falsone, Piroddi and Prandini, A randomized algorithm for nonlinear model structure selection, "
    "Automatica 60, 2015",
    stops_early=True,
    needs_objective=False,
    minimises=False,
    options={"iterations": [2], "models": [5]},
)


class Settings(BaseSettings):
    """Settings of RaMSS; the defaults are those of the program."""

    models: int = Field(default=100, ge=2, le=100_000, description="structures that are drawn in an iteration")
    iterations: int = Field(default=50, ge=1, le=100_000, description="iterations")
    sharpness: float = Field(default=1.0, gt=0, description="K: how fast J falls with the errors")
    simulation: float = Field(default=0.0, ge=0, le=1, description="a: weight of the free run in J")
    least_probability: float = Field(default=0.1, gt=0, lt=1, description="bound of the probabilities after the first")
    significance: float = Field(default=0.05, gt=0, lt=1, description="p-value above which a term is dropped")


def stepped(probabilities: Floats, structures: NDArray[np.uint8], values: Floats, largest: float) -> Floats:
    """Return the inclusion probabilities, shape (N_t,), after step 4 of an iteration, before they are bounded."""
    n_with = structures.sum(axis=0)
    mean_with = structures.T @ values / np.maximum(n_with, 1)
    mean_without = (1 - structures).T @ values / np.maximum(len(structures) - n_with, 1)
    gain = 1.0 / (10.0 * (largest - float(values.mean())) + 0.1)
    changed: Floats = probabilities + gain * (mean_with - mean_without)
    return changed


class Judge:
    """The test of terms and the score of structures."""

    def __init__(self, problem: ProblemView, settings: Settings) -> None:
        self._products, self._whole, self._settings = products(problem), whole_record(problem), settings
        self._thresholds = squared_t_values(settings.significance, self._products.n_rows, len(problem.terms))
        with np.errstate(over="ignore"):
            # For a constant output the scale of the errors does not matter.
            self._scale = self._products.n_rows * (float(problem.training_outputs().var()) or 1.0)

    def drop_insignificant(self, structure: NDArray[np.uint8]) -> None:
        """Drop the insignificant terms of a structure in place."""
        gram, moments, energy, n_rows = self._products
        drop_insignificant(gram, moments, energy, n_rows, self._thresholds, structure)

    def values(self, structures: NDArray[np.uint8]) -> Floats:
        """Return J of structures, shape (structures,); 0 if a structure is singular or its numbers overflow."""
        _, simulation_errors, weights = self._whole.evaluate_positions(structures)
        a, k = self._settings.simulation, self._settings.sharpness / self._scale
        with np.errstate(over="ignore", invalid="ignore"):
            prediction_errors = np.maximum(self._products.energy - weights @ self._products.moments, 0.0)
            values = (1.0 - a) * np.exp(-k * prediction_errors) + a * np.exp(-k * simulation_errors)
        # The last digits of an exponential may depend on the machine.
        return np.where(weights.any(axis=1) & np.isfinite(values), values, 0.0).round(12)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Draw structures, and change the probabilities according to their scores."""
    judge, n_terms, largest = Judge(problem, settings), objective.n_terms, 0.0
    probabilities, best = np.full(n_terms, 1.0 / n_terms), np.zeros(n_terms, np.uint8)
    for _ in range(settings.iterations):
        structures = np.zeros((settings.models, n_terms), np.uint8)
        for structure in structures:
            while not structure.any():
                structure[:] = rng.random(n_terms) < probabilities
            judge.drop_insignificant(structure)
        values = judge.values(structures)
        if values.max() > largest:
            largest, best = float(values.max()), structures[values.argmax()].copy()
        probabilities = stepped(probabilities, structures, values, largest).clip(settings.least_probability, 1.0)
    certain = (probabilities == 1.0).astype(np.uint8)
    if certain.any():
        best = certain
    return estimated(problem, best)
