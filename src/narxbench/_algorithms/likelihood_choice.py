"""A choice between structures by this project's noise models and criterion, for searches that know nothing of either.

Each structure is fitted under the noise models of :mod:`narxbench._algorithms.likelihood_search`: noise in the equation
and on the output, each with the filter that it calls for, with drift, and with heavy tails where the innovations have
them. The criterion is that of the algorithm ``pem``, with its defaults.
"""

import math

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import Found, OwnCriterion, ProblemView
from narxbench._algorithms.likelihood_search import LikelihoodSearch, SearchSettings, Structure
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._fitness.structure_fit import noise_price
from narxbench._model.noise_models import GAUSSIAN, Distribution


class LikelihoodChoice:
    """Fits structures of a problem under all noise models."""

    def __init__(self, problem: ProblemView) -> None:
        self.errors = PredictionErrors(problem)
        self.search = LikelihoodSearch(self.errors, SearchSettings())

    def best_fit(self, structure: Structure) -> Fit:
        """Return the fit of a structure under the noise model of lowest criterion."""
        best = self._best_of([*self.search.fits_of(structure), *self._fits(structure, GAUSSIAN, is_integrated=True)])
        distribution, gain = self.errors.tails(best)
        if gain > noise_price(self.errors):
            is_integrated = best.noise_model.is_integrated
            best = self._best_of([best, *self._fits(structure, distribution, is_integrated=is_integrated)])
        return best

    def value(self, structure: Structure) -> float:
        """Return the lowest criterion of a structure."""
        return self.search.value(self.best_fit(structure))

    def chosen(self, structures: NDArray[np.uint8]) -> Found:
        """Return the structure of lowest criterion whose free run is bounded, with its weights."""
        fits = [self.best_fit(structure) for structure in structures if structure.any()]
        for fit in sorted(fits, key=self.search.value):
            if self.search.value(fit) < math.inf and self.errors.bounded(fit):
                return self.found(fit)
        return Found(np.zeros(self.errors.n_terms, np.uint8))

    def found(self, fit: Fit) -> Found:
        """Return a fit as a result, with the noise model in the details."""
        fit = self.search.refined(fit)
        details = {"noise_model": fit.noise_model.description, "criterion": self.search.value(fit)}
        return Found(self.search.structure(fit), self.search.coefficients(fit), details)

    def _best_of(self, fits: list[Fit]) -> Fit:
        return min(fits, key=self.search.value)

    def _fits(self, structure: Structure, distribution: Distribution, *, is_integrated: bool) -> list[Fit]:
        """Return a fit for each place of the noise, with the filter that it calls for."""
        ma_lags = (1,) if is_integrated else ()
        fits = []
        for place in self.search.filters.places:
            noise_model = self.search.filters.noise_model(
                place, (), ma_lags, is_integrated=is_integrated, distribution=distribution
            )
            if self.search.fit(noise_model, structure) < math.inf:
                fits.append(self.search.adapt(self.search.fits[noise_model, structure.tobytes()]))
        return fits


def chosen_by_likelihood(problem: ProblemView, structures: NDArray[np.uint8]) -> Found:
    """Return the best of several structures, shape (structures, N_t), with its weights."""
    return LikelihoodChoice(problem).chosen(structures)


def likelihood_criterion(problem: ProblemView) -> OwnCriterion:
    """Return the criterion of a structure under its best noise model."""
    return LikelihoodChoice(problem).value
