"""Weights of a structure under noise models, by runs of samples of an arrangement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.prediction_error import COMPARED, CONVERGED, Fit, PredictionErrors
from narxbench._fitness.structure_fit import fit_noise_model, fit_structure
from narxbench._identification.data.arrangement import Arrangement
from narxbench._model.noise_models import NoiseModel, NoiseName
from narxbench._model.terms import Monomial
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stretches:
    """Runs of samples of all phases, as prediction errors take them."""

    training_u: Floats
    training_y: Floats
    stretches: NDArray[np.int64]
    monomials: Sequence[Monomial]


@dataclass(frozen=True)
class StructureFit:
    """Weights of a structure under a noise model, with the prediction errors that they were estimated by."""

    errors: PredictionErrors
    fit: Fit
    output_exponent: int
    """The output is scaled by this power of two."""

    @property
    def is_finite(self) -> bool:
        """Whether the model does not diverge."""
        return self.fit.is_finite

    @property
    def noise_model(self) -> NoiseModel:
        """The noise model, without values."""
        return self.fit.noise_model

    @cached_property
    def coefficients(self) -> Floats:
        """Weights of the terms in the units of the arrangement, shape (n,)."""
        return self.errors.coefficients(self.fit)

    def regression(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Return the least-squares problem that the weights solve, as far as it is linear about them.

        Student-t innovations enter with their influence on the weights, scaled so that their variance gives the
        variance of the weights (Lange, Little and Taylor, 1989).

        Returns
        -------
        columns : array, shape (rows, n + coefficients of the noise)
            The change of the prediction with each weight.
        explained : array, shape (rows,)
            The values that they explain.
        rows : array of int, shape (rows,)
            The places of these samples in all stretches, without the beginning of each stretch.
        """
        unit = replace(self.fit, weights=np.ones_like(self.fit.weights))
        innovations = self.errors.innovations(self.fit)
        places = np.arange(len(innovations), dtype=np.float64)
        rows = np.concatenate(self.errors.counted(places)).astype(np.int64)
        columns = self.errors.sensitivities(self.fit)[rows]
        columns[:, : len(unit.weights)] /= self.errors.coefficients(unit)
        columns *= 2.0**self.output_exponent
        weights = np.concatenate([self.coefficients, self.fit.noise_weights])
        return columns, columns @ weights + self._influence(innovations[rows]), rows

    def _influence(self, innovations: Floats) -> Floats:
        distribution = self.noise_model.distribution
        if distribution.is_gaussian:
            return innovations
        nu = distribution.degrees_of_freedom
        squares = np.ldexp(innovations, -self.output_exponent) ** 2 / self.fit.scale
        return innovations * (nu + 1.0) / (nu + squares) * ((nu + 3.0) / (nu + 1.0))


def weigh(
    arrangement: Arrangement,
    monomials: Sequence[Monomial],
    segments: Sequence[range],
    families: Sequence[NoiseName],
) -> StructureFit:
    """Fit a structure, to compare it, on some runs of samples under what its noise calls for among some families."""
    errors = prediction_errors(arrangement, monomials, segments, COMPARED)
    return _of(arrangement, errors, fit_structure(errors, range(len(monomials)), families))


def weigh_under(
    arrangement: Arrangement,
    monomials: Sequence[Monomial],
    segments: Sequence[range],
    noise_model: NoiseModel,
    near: Fit | None = None,
    tolerance: float = CONVERGED,
) -> StructureFit:
    """Fit a structure on some runs of samples under one noise model. ``near`` is a fit on other runs.

    The fit ends when the deviance falls by less than ``tolerance`` for each sample.
    """
    errors = prediction_errors(arrangement, monomials, segments, tolerance)
    return _of(arrangement, errors, fit_noise_model(errors, range(len(monomials)), noise_model, near))


def noise_of_model(fit: Fit) -> dict[str, Any]:
    """Return the arguments of a model for its noise, without the last digits, which depend on the machine."""
    noise_model = fit.noise_model
    distribution = noise_model.distribution
    return {
        "noise_model": noise_model.name,
        "autoregression": tuple(map(significant, fit.autoregression.tolist())),
        "moving_average": tuple(map(significant, fit.moving_average.tolist())),
        "is_integrated": noise_model.is_integrated,
        "degrees_of_freedom": None if distribution.is_gaussian else distribution.degrees_of_freedom,
    }


def prediction_errors(
    arrangement: Arrangement, monomials: Sequence[Monomial], segments: Sequence[range], tolerance: float = CONVERGED
) -> PredictionErrors:
    """Return the prediction errors of terms on some runs of samples. Fits end as in :func:`weigh_under`."""
    stretches = np.array([[segment.start, segment.stop] for segment in segments], np.int64)
    return PredictionErrors(Stretches(arrangement.u, arrangement.y, stretches, monomials), tolerance)


def _of(arrangement: Arrangement, errors: PredictionErrors, fit: Fit) -> StructureFit:
    return StructureFit(errors, fit, int(np.frexp(np.abs(arrangement.y).max())[1]))
