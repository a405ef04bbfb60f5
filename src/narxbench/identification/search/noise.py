"""Weights of a structure under a model of the noise: NARX, NARMAX or NOE."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.prediction_error import NOISE_MODELS, Fit, NoiseModel, PredictionErrors
from narxbench.identification.data.arrangement import Arrangement
from narxbench.model.terms import Monomial

Floats = NDArray[np.float64]

# How a noise model is named to a reader.
TITLES: dict[NoiseModel, str] = {name: name.upper() for name in NOISE_MODELS}
# Past errors that NARMAX weighs.
ORDER = 2


@dataclass(frozen=True)
class Stretches:
    """Runs of samples of all phases, as prediction errors take them."""

    training_u: Floats
    training_y: Floats
    stretches: NDArray[np.int64]
    monomials: Sequence[Monomial]


@dataclass(frozen=True)
class NoiseFit:
    """Weights of a structure under a noise model, as scaled in its errors: outputs by a power of two, ``scale``."""

    errors: PredictionErrors
    fit: Fit
    scale: float

    @property
    def finite(self) -> bool:
        """Whether the model does not diverge."""
        return bool(self.fit.sse < np.inf)

    @property
    def coefficients(self) -> Floats:
        """Weights of the terms in the units of the arrangement, shape (n,)."""
        return self.errors.coefficients(self.fit)

    @property
    def moving_average(self) -> tuple[float, ...]:
        """c_1, c_2, … of NARMAX."""
        return tuple(self.fit.moving.tolist())

    def regression(self) -> tuple[Floats, Floats]:
        """Return the least-squares problem that the weights solve, as far as it is linear about them.

        That is what the prediction gains by each weight, shape (rows, n + order), and what they explain, shape (rows,).
        """
        unit = replace(self.fit, weights=np.ones_like(self.fit.weights))
        innovations = self.errors.innovations(self.fit)
        columns = self.errors.sensitivities(self.fit)
        columns[:, : len(unit.weights)] /= self.errors.coefficients(unit)
        columns *= self.scale
        weights = np.concatenate([self.coefficients, self.fit.moving])
        return columns, columns @ weights + innovations


def weighed(
    arrangement: Arrangement,
    monomials: Sequence[Monomial],
    noise_model: NoiseModel,
    segments: Sequence[range],
    start: NoiseFit | None = None,
) -> NoiseFit:
    """Return the weights of a structure under a noise model, by runs of samples; ``start`` are those on others."""
    stretches = np.array([[segment.start, segment.stop] for segment in segments], np.int64)
    errors = PredictionErrors(Stretches(arrangement.u, arrangement.y, stretches, monomials))
    given = {} if start is None else {"weights": start.fit.weights, "moving": start.fit.moving}
    fit = errors.fit(noise_model, range(len(monomials)), order=ORDER, **given)
    return NoiseFit(errors, fit, float(2.0 ** np.frexp(np.abs(arrangement.y).max())[1]))
