"""Forecasts of a model: the outputs after samples of a record, from the state that the noise has there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from narxbench._model.prediction import NoiseFilter, simulated, summed_terms
from narxbench._model.terms import INPUT, OUTPUT, Monomial

if TYPE_CHECKING:
    from narxbench._model.narx import Model

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Forecaster:
    """Forecasts of the output from samples of a record on.

    Noise in the equation: the terms have measured outputs as far as these go, then forecasts, and the forecast of the
    noise is added to their sum. Noise on the output: its forecast is added to the free run.

    Parameters
    ----------
    model : Model
        The model.
    u : array, shape (at least len(y), inputs)
        The inputs of the record, and those after it.
    y : array, shape (samples,)
        The measured outputs.
    start : array, shape (initial samples of the model,)
        The first outputs of the free run.
    bound : float
        An output of a larger magnitude has diverged.
    """

    def __init__(self, model: "Model", u: Floats, y: Floats, start: Floats, bound: float) -> None:
        self._offsets, self._scales = model.scaling()
        self._inputs = (u - self._offsets[1:]) / self._scales[1:]
        self._model, self._y, self._bound = model, y, bound
        self._first, self._stride = model.initial_samples, model.decimation
        self._filter = NoiseFilter(model.autoregression, model.moving_average, model.is_integrated)
        self._free_run: Floats | None = None
        if model.noise.place == "output":
            self._free_run = self._simulated(self._inputs, start)
            noise = (y - self._free_run[: len(y)])[self._first :]
        else:
            noise = self._equation_errors()
        self._noise, self._innovations = noise, self._filter.innovations(noise, self._stride)

    def forecasts(self, origins: Sequence[int], samples: int) -> Floats:
        """Return the forecasts of this many samples after each origin, infinite once they diverge.

        Parameters
        ----------
        origins : sequence of int
            The last sample that is taken as measured, counted from 0.
        samples : int
            The number of samples.

        Returns
        -------
        array, shape (origins, samples)
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._forecasts(origins, samples)

    @property
    def states(self) -> Floats:
        """The outputs of the record that later ones depend on: as measured, or the free run if the noise is on it."""
        if self._free_run is None:
            return self._y
        return self._free_run[: len(self._y)]

    def noise_forecasts(self, origins: Sequence[int], samples: int) -> Floats:
        """Return the forecasts of the noise for this many samples after each origin, shape (origins, samples)."""
        places = np.array(origins, np.int64) - self._first
        return self._filter.continued(self._noise, self._innovations, places, samples, self._stride)

    def _forecasts(self, origins: Sequence[int], samples: int) -> Floats:
        noise = self.noise_forecasts(origins, samples)
        if self._free_run is None:
            forecasts = [self._after(origin, path) for origin, path in zip(origins, noise, strict=True)]
            return np.array(forecasts).reshape(noise.shape)
        following = np.array(origins, np.int64)[:, None] + np.arange(1, samples + 1)
        forecast: Floats = self._free_run[following] + noise
        return np.where(np.abs(forecast) <= self._bound, forecast, np.inf)

    def _simulated(self, inputs: Floats, outputs: Floats, disturbance: Floats | None = None) -> Floats:
        """Return a free run after some outputs, infinite once it diverges. A disturbance is added to each sum."""
        monomials, weights = self._model.monomials, list(self._model.coefficients)
        if disturbance is not None:
            inputs = np.column_stack([inputs, disturbance])
            monomials = [*monomials, _current_input(inputs.shape[1])]
            weights.append(1.0)
        run, end = simulated(
            monomials,
            weights,
            inputs,
            outputs,
            bound=self._bound,
            stride=self._stride,
            offset=float(self._offsets[OUTPUT]),
            scale=float(self._scales[OUTPUT]),
        )
        run[end:] = np.inf
        return run

    def _equation_errors(self) -> Floats:
        """Return the error of the equation at each sample after the first ones, in units of the scaled output."""
        measured = (self._y - self._offsets[OUTPUT]) / self._scales[OUTPUT]
        outputs = [measured] * self._model.max_lag
        inputs = self._inputs[: len(measured)]
        model = self._model
        sums = summed_terms(model.monomials, model.coefficients, inputs, outputs, self._first, self._stride)
        errors: Floats = measured[self._first :] - sums
        return errors

    def _after(self, origin: int, noise: Floats) -> Floats:
        """Return the forecast after an origin, with the forecast of the noise in the equation."""
        begin, end = origin + 1 - self._first, origin + 1 + len(noise)
        disturbance = np.concatenate([np.zeros(self._first), noise])
        run = self._simulated(self._inputs[begin:end], self._y[begin : origin + 1], disturbance)
        return run[self._first :]


def _current_input(number: int) -> Monomial:
    """Return the term that is an input of a number, from 1 on, at the current sample."""
    return ((INPUT + number - 1, 0),)
