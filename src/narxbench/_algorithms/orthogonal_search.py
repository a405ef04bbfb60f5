"""The likelihood search with predictions from orthogonal columns, for candidates that nearly depend on one another.

Products of signals far from zero differ by little. Normal equations lose twice as many digits as orthogonal columns do,
and then predict a criterion for terms that nearly depend on each other that no fit confirms. So changes of a structure
are predicted from orthogonal columns here. Measured data are searched in this way, and the probabilities of a search
are checked in this way.

Neighbouring samples of oversampled data are not independent evidence. The deviance counts as if there were only the
independent ones, as the score of a structure of measured data does.
"""

import math

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from narxbench._algorithms.certainty import Certainty, Window, certainty
from narxbench._algorithms.likelihood_search import LikelihoodSearch, Structure
from narxbench._fitness.kernel.least_squares import EXACT, SINGULAR, SMALLEST_SSE
from narxbench._fitness.prediction_error import Fit, Linearised, PredictionErrors, Training

Floats = NDArray[np.float64]
# Probabilities that differ by no more are the same.
SAME = 0.001
# Values of all candidates on the samples: where there are more, probabilities are not checked, to save memory.
MOST_VALUES = 5_000_000


class OrthogonalRegression(Linearised):
    """The choice of terms close to a model, from the columns themselves instead of their inner products.

    Columns have unit length. ``lengths`` has their lengths before.
    """

    def __init__(self, columns: Floats, explained: Floats) -> None:
        self.lengths = np.sqrt((columns**2).sum(axis=0))
        self.finite = bool(np.isfinite(self.lengths).all() and np.isfinite(explained).all())
        self.lengths[~((self.lengths > 0.0) & (self.lengths < np.inf))] = 1.0
        self.columns, self.explained = columns / self.lengths, explained

    def enter(self, columns: object) -> None:
        """Accept any columns: all are at hand."""

    def weights(self, terms: NDArray[np.int64]) -> Floats:
        """Return the weights of some candidates, shape (n,), the noise model as it is."""
        weights = np.zeros(len(terms))
        basis, triangle, independent = _orthogonal(self.columns[:, terms])
        weights[independent] = np.linalg.solve(triangle, basis.T @ self.explained)
        return np.asarray(weights / self.lengths[terms])

    def changes(self, structure: Structure, samples: float) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Predict by how much each change of a structure changes the deviance of this many samples.

        Arguments and results are those of :func:`narxbench._algorithms.term_changes.predicted`, whose members are the
        terms of the structure and all coefficients of the noise.
        """
        n_terms = len(structure)
        noise = np.arange(n_terms, self.columns.shape[1])
        members = np.concatenate([np.flatnonzero(structure), noise])
        basis, triangle, independent = _orthogonal(self.columns[:, members])
        inverse = np.zeros((len(members), basis.shape[1]))
        inverse[independent] = np.linalg.inv(triangle)
        projections = basis.T @ self.explained
        residuals = self.explained - basis @ projections
        # What rounding has left of the columns in the residuals.
        residuals -= basis @ (basis.T @ residuals)
        energy = float(self.explained @ self.explained)
        left = max(float(residuals @ residuals), EXACT * energy, SMALLEST_SSE)
        inside = basis.T @ self.columns
        # The squared length of each column apart from the members, and of each member apart from the others.
        apart = 1.0 - (inside**2).sum(axis=0)
        squares = (inverse**2).sum(axis=1)
        alone = np.divide(1.0, squares, out=np.zeros(len(members)), where=squares > 0.0)
        weights = inverse @ projections
        without = left + weights**2 * alone
        products = residuals @ self.columns
        flips = samples * _log_ratios(left - _gains(products, apart), left)
        flips[members] = samples * _log_ratios(without, left)
        shares = inverse @ inside
        common = products + shares * (weights * alone)[:, None]
        rest = apart + shares**2 * alone[:, None]
        swaps = samples * _log_ratios(without[:, None] - _gains(common, rest), left)
        swaps[~(rest > SINGULAR)] = np.inf
        swaps[:, members] = np.inf
        return members, flips, swaps


def _orthogonal(columns: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return an orthonormal basis of columns of unit length, its triangle, and which columns it was made of.

    A column that depends on those before it is left out.
    """
    basis, triangle = np.linalg.qr(columns)
    independent = np.flatnonzero(np.diag(triangle) ** 2 > SINGULAR)
    if len(independent) < columns.shape[1]:
        basis, triangle = np.linalg.qr(columns[:, independent])
    return basis, triangle, independent


def _gains(products: Floats, squares: Floats) -> Floats:
    """Return what columns gain by their products with the residuals, 0 where they are hardly independent."""
    return np.divide(products**2, squares, out=np.zeros(products.shape), where=squares > SINGULAR)


def _log_ratios(squares: Floats, before: float) -> Floats:
    return np.asarray(np.log(np.maximum(squares / before, EXACT)))


class OrthogonalErrors(PredictionErrors):
    """Prediction errors whose linearised problems keep their columns."""

    def __init__(self, problem: Training) -> None:
        super().__init__(problem)
        self._problem_of: tuple[Fit, OrthogonalRegression] | None = None

    def linearised(self, fit: Fit) -> OrthogonalRegression:
        """Return the choice of terms close to a model."""
        if self._problem_of is None or self._problem_of[0] is not fit:
            self._problem_of = fit, OrthogonalRegression(*self.regression(fit))
        return self._problem_of[1]

    def is_exact(self, fit: Fit) -> bool:
        """Return whether the residuals of a fit are rounding."""
        innovations = np.concatenate(self.counted(self.innovations(fit)))
        return float(innovations @ innovations) <= math.ldexp(self._least_sse, 2 * self._output_exponent)


class OrthogonalSearch(LikelihoodSearch):
    """A likelihood search that predicts the changes of a structure from orthogonal columns."""

    def changes_of_deviance(self, linear: Linearised, structure: Structure) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return by how much each change is predicted to change the deviance of independent samples."""
        assert isinstance(linear, OrthogonalRegression)
        return linear.changes(structure, self.errors.samples / self.repeated)


def checked_certainty(problem: Training, window: Window) -> Certainty:
    """Return probabilities of terms and structures, from orthogonal columns where inner products predict others.

    The search of the window stays as it is.

    Parameters
    ----------
    problem : Training
        The data of the search.
    window : Window
        The structures near the best one, with criteria that inner products predict.
    """
    certain = certainty(window)
    search = window.search
    if search.errors.samples * search.n_terms > MOST_VALUES:
        return certain
    orthogonal_search = OrthogonalSearch(OrthogonalErrors(problem), search.settings, search.repeated)
    orthogonal_search.fits, orthogonal_search.criteria = dict(search.fits), dict(search.criteria)
    # Sums of a BLAS depend on the number of its threads.
    with threadpool_limits(1, "blas"):
        checked = certainty(Window(orthogonal_search, window.factored, models=window.models))
    return certain if np.abs(checked.terms - certain.terms).max() <= SAME else checked
