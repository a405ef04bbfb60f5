"""Predictions of a polynomial NARX model: free runs, and some steps ahead with a noise model."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._model.dataset import DIVERGED
from narxbench._model.terms import OUTPUT, Monomial, max_lag_of
from narxbench._numerics.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def simulated(
    monomials: Sequence[Monomial],
    coefficients: Sequence[float],
    u: ArrayLike,
    y_initial: ArrayLike = (),
    *,
    bound: float = DIVERGED,
    stride: int = 1,
    offset: float = 0.0,
    scale: float = 1.0,
) -> tuple[NDArray[np.float64], int]:
    """Return the free run of a model as far as it goes, and how far that is.

    The operations are the same as in :meth:`narxbench._model.system.System.simulate`, in the order of the terms. With
    the terms and coefficients of a system the result is its noise-free output to the last bit.

    Parameters
    ----------
    monomials, coefficients
        The terms and their weights. Terms and their sum are in units of ``(y - offset) / scale``.
    u : array, shape (samples,) or (samples, inputs)
        The inputs.
    y_initial : array
        The first outputs, in their own unit. Before the first sample all signals are zero.
    bound : float
        An output of a larger magnitude has diverged.
    stride : int
        The number of samples in a step of a lag.
    offset, scale : float
        Offset and scale of the output.

    Returns
    -------
    outputs : array of float, shape (samples,)
        The outputs in their own unit.
    end : int
        The first sample that diverges, or the number of samples if none does.
    """
    initial = np.asarray(y_initial, np.float64)
    inputs = np.ascontiguousarray(u, np.float64)
    if inputs.ndim == 1:
        inputs = inputs[:, None]
    y = np.zeros(len(inputs))
    y[: len(initial)] = initial
    terms = compiled_terms(monomials, coefficients, stride)
    return y, _simulate(*terms, inputs, y, len(initial), float(bound), float(offset), float(scale))


def compiled_terms(
    monomials: Sequence[Monomial], coefficients: Sequence[float], stride: int
) -> tuple[Integers, Integers, Integers, Floats]:
    """Return terms as compiled code takes them: ends, signals and delays of their factors, and their weights.

    Term t has the factors from ``ends[t - 1]`` to ``ends[t]``. Delays count samples.
    """
    factors = list(chain.from_iterable(monomials))
    ends = np.cumsum([len(monomial) for monomial in monomials], dtype=np.int64)
    signals = np.array([signal for signal, _ in factors], np.int64)
    delays = np.array([lag * stride for _, lag in factors], np.int64)
    return ends, signals, delays, np.array(coefficients, np.float64)


@dataclass(frozen=True)
class NoiseFilter:
    """The filter D(q) w(k) = C(q) e(k) of a noise w(k), D(q) = (1 + d_1 q^-1 + ...)(1 - q^-1)^i.

    Attributes
    ----------
    autoregression, moving_average : tuple of float
        d_1, d_2, ... and c_1, c_2, ....
    is_integrated : bool
        Whether i is 1.
    """

    autoregression: tuple[float, ...] = ()
    moving_average: tuple[float, ...] = ()
    is_integrated: bool = False

    @property
    def is_white(self) -> bool:
        """Whether the noise is white."""
        return not any(self.autoregression) and not any(self.moving_average) and not self.is_integrated

    def forecasts(self, noise: Floats) -> Iterator[Floats]:
        """Yield the best forecasts of a noise one step ahead, two steps ahead, and so on without end.

        Parameters
        ----------
        noise : array, shape (samples, series)
            The noise of all samples. Before the first sample it is zero, or as at the first if it is integrated.

        Yields
        ------
        array, shape (samples, series)
            Row k is the forecast of w(k) from the noise up to w(k - steps), 0 where that is before the first.
        """
        differences = self._differences(noise)
        innovations = self._innovations(differences)
        # Forecasts of the differences with shorter horizons, the longest horizon first.
        shorter: deque[Floats] = deque(maxlen=len(self.autoregression))
        level = noise
        step = 0
        while True:
            forecast = np.zeros_like(noise)
            for lag, weight in enumerate(self.moving_average[step:], 1 + step):
                forecast[lag:] += weight * innovations[:-lag]
            for lag, weight in enumerate(self.autoregression, 1):
                past = shorter[lag - 1] if lag <= step else differences
                forecast[lag:] -= weight * past[:-lag]
            shorter.appendleft(forecast)
            if self.is_integrated:
                forecast = forecast.copy()
                forecast[1:] += level[:-1]
                level = forecast
            yield forecast
            step += 1

    def innovations(self, noise: Floats, stride: int = 1) -> Floats:
        """Return the innovations e(k) behind a noise w(k), shape (samples,), with ``stride`` samples in a step."""
        if self.is_white:
            return noise
        return self._innovations(self._differences(_folded(noise, stride))).ravel()[: len(noise)]

    def continued(self, noise: Floats, innovations: Floats, places: Integers, samples: int, stride: int = 1) -> Floats:
        """Return the best forecasts of the samples of a noise that follow some places.

        Parameters
        ----------
        noise, innovations : array, shape (samples,)
            The noise and its innovations. Before the first sample both are zero.
        places : array of int
            The last sample that each forecast knows.
        samples : int
            The number of samples to forecast.
        stride : int
            The number of samples in a step.

        Returns
        -------
        array, shape (places, samples)
        """
        forecasts = np.zeros((len(places), samples))
        if self.is_white:
            return forecasts
        changes = np.zeros_like(forecasts)
        differences = self._differences(_folded(noise, stride)).ravel()[: len(noise)]
        for j in range(samples):
            for lag, weight in enumerate(self.moving_average, 1):
                # The forecast of innovations to come is zero.
                if j < lag * stride:
                    changes[:, j] += weight * _values_at(innovations, places + 1 + j - lag * stride)
            for lag, weight in enumerate(self.autoregression, 1):
                if j < lag * stride:
                    past = _values_at(differences, places + 1 + j - lag * stride)
                else:
                    past = changes[:, j - lag * stride]
                changes[:, j] -= weight * past
            forecasts[:, j] = changes[:, j]
            if self.is_integrated and j < stride:
                forecasts[:, j] += _values_at(noise, places + 1 + j - stride)
            elif self.is_integrated:
                forecasts[:, j] += forecasts[:, j - stride]
        return forecasts

    def _differences(self, noise: Floats) -> Floats:
        """Return a noise, shape (steps, series), or its differences from step to step if it is integrated."""
        if self.is_integrated:
            return np.diff(noise, axis=0, prepend=noise[:1])
        return noise

    def _innovations(self, differences: Floats) -> Floats:
        innovations = np.empty_like(differences)
        _filter(differences, np.array(self.autoregression), np.array(self.moving_average), innovations)
        return innovations


def _values_at(series: Floats, places: Integers) -> Floats:
    """Return the values of a series at some places, zero before its first."""
    return np.append(0.0, series)[np.maximum(places + 1, 0)]


def predicted_ahead(
    monomials: Sequence[Monomial],
    coefficients: Sequence[float],
    u: Floats,
    y: Floats,
    steps: int,
    noise_filter: NoiseFilter,
    *,
    initial_samples: int,
    stride: int = 1,
    offset: float = 0.0,
    scale: float = 1.0,
) -> Floats:
    """Return predictions from outputs measured some steps before, with noise in the equation.

    Parameters
    ----------
    monomials, coefficients, u, stride, offset, scale
        As for :func:`simulated`.
    y : array, shape (samples,)
        The measured outputs.
    steps : int
        The number of steps ahead. A sample that is closer to the beginning is predicted from the beginning.
    noise_filter : NoiseFilter
        The filter of the noise.
    initial_samples : int
        The number of first outputs that are returned as measured: at least the largest lag times ``stride``.
    """
    first = initial_samples
    measured = (y - offset) / scale
    largest_lag = max_lag_of(monomials)
    # Outputs that lag 1, 2, ... of y refers to. For lag 1 these are the predictions of a horizon one step shorter. The
    # first samples are always measured ones.
    outputs = deque([measured] * largest_lag, maxlen=largest_lag)
    sums = summed_terms(monomials, coefficients, u, outputs, first, stride)
    forecasts = noise_filter.forecasts(_folded(measured[first:] - sums, stride))
    predicted = y.copy()
    for step in range(min(steps, -((first - len(y)) // stride))):
        if step > 0:
            sums = summed_terms(monomials, coefficients, u, outputs, first, stride)
        values = sums
        if not noise_filter.is_white:
            values = sums + next(forecasts).ravel()[: len(sums)]
        predicted[first:] = values * scale + offset
        outputs.appendleft((predicted - offset) / scale)
    return predicted


def forecast_noise(noise: Floats, steps: int, noise_filter: NoiseFilter, stride: int = 1) -> Floats:
    """Return the forecast of each sample of a noise from the noise some steps earlier, or 0 at the beginning.

    Parameters
    ----------
    noise : array, shape (samples,)
        The noise.
    steps : int
        The number of steps ahead.
    noise_filter : NoiseFilter
        The filter of the noise.
    stride : int
        The number of samples in a step.
    """
    folded = _folded(noise, stride)
    if noise_filter.is_white or steps >= len(folded):
        return np.zeros(len(noise))
    forecast = next(islice(noise_filter.forecasts(folded), steps - 1, None))
    return forecast.ravel()[: len(noise)]


def _folded(series: Floats, stride: int) -> Floats:
    """Return a series in rows of one step each, shape (steps, stride), filled up with zeros at the end."""
    padding = np.zeros(-len(series) % stride)
    return np.concatenate([series, padding]).reshape(-1, stride)


def summed_terms(
    monomials: Sequence[Monomial],
    coefficients: Sequence[float],
    u: Floats,
    outputs: Sequence[Floats],
    first: int,
    stride: int,
) -> Floats:
    """Return the sum of the terms from the sample ``first`` on. ``outputs`` has the series for lag 1, 2, ... of y."""
    count = len(u) - first
    sums = np.zeros(count)
    for weight, monomial in zip(coefficients, monomials, strict=True):
        product = np.full(count, weight)
        for signal, lag in monomial:
            series = outputs[lag - 1] if signal == OUTPUT else u[:, signal - 1]
            product *= series[first - lag * stride : len(u) - lag * stride]
        sums += product
    return sums


@compiled
def _simulate(ends, signals, delays, weights, u, y, start, bound, offset, scale):  # type: ignore[no-untyped-def]
    # Returns the first sample outside the bound. The factors of term t are those from ends[t - 1] to ends[t].
    scaled = (y - offset) / scale
    for k in range(start, u.shape[0]):
        value = 0.0
        f = 0
        for t in range(ends.shape[0]):
            product = weights[t]
            while f < ends[t]:
                past = k - delays[f]
                if past < 0:
                    product *= 0.0
                elif signals[f] == 0:
                    product *= scaled[past]
                else:
                    product *= u[past, signals[f] - 1]
                f += 1
            value += product
        # Later samples use the output itself, scaled anew, as a program does that sees only outputs.
        value = value * scale + offset
        if not abs(value) <= bound:
            return k
        y[k] = value
        scaled[k] = (value - offset) / scale
    return u.shape[0]


@compiled
def _filter(noise, autoregression, moving_average, innovations):  # type: ignore[no-untyped-def]
    # Writes e(k) = w(k) + d_1 w(k-1) + ... - c_1 e(k-1) - ... of each series.
    for k in range(noise.shape[0]):
        for series in range(noise.shape[1]):
            value = noise[k, series]
            for lag in range(1, min(k, autoregression.shape[0]) + 1):
                value += autoregression[lag - 1] * noise[k - lag, series]
            for lag in range(1, min(k, moving_average.shape[0]) + 1):
                value -= moving_average[lag - 1] * innovations[k - lag, series]
            innovations[k, series] = value
