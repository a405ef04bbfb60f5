"""Models whose weights are drawn from the distribution of an estimate, all computed at once."""

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.validation.steady_state import TIME_CONSTANTS
from narxbench._model.narx import Model
from narxbench._model.terms import OUTPUT, lags_of
from narxbench._numerics.random_streams import generator, standard_normal

Floats = NDArray[np.float64]

# Newton steps towards a rest: five times the four that double one digit to sixteen.
NEWTON_STEPS = 20
# Half of the digits of a number.
ROUNDING = math.sqrt(np.finfo(np.float64).eps)


class DrawnModels:
    """A model, and copies of it with drawn weights, each near its rest at a working point.

    Parameters
    ----------
    model : Model
        The model, which is the first draw. Without a covariance all draws are the model.
    n_draws : int
        How many there are with the model.
    point : (tuple of float, float)
        The inputs, and an output near which the rests are sought.
    outputs : (float, float)
        The middle of the outputs, and how far from it a rest may be.
    **axes
        Axes of the random draws.

    Attributes
    ----------
    y : array, shape (draws,)
        The outputs at rest, or NaN if there is none.
    a, b : array, shape (draws, largest lag) and (draws, inputs, 1 + largest lag)
        Weights of small deviations of the output, from lag 1 on, and of the inputs, from lag 0 on, in the units of the
        signals.
    sizes : array, shape (draws,)
        The largest magnitude of a pole, or NaN without a rest.
    """

    def __init__(
        self,
        model: Model,
        n_draws: int,
        point: tuple[tuple[float, ...], float],
        outputs: tuple[float, float],
        **axes: object,
    ) -> None:
        self.model = model
        self.coefficients = _drawn_coefficients(model, n_draws, **axes)
        self._offsets, self._scales = model.scaling()
        # Computed in the scaling of the model: a level would drown an expanded polynomial.
        self._monomials = replace(model, covariance=None, offsets=None, scales=None).monomials
        inputs, (centre, reach) = np.array(point[0]), outputs
        self.y = self.rests(inputs[None], np.array([point[1]]))[:, 0]
        self.y[np.abs(self.y - centre) > reach] = np.nan
        self.a, self.b = self._linearised(inputs, self.y)
        self.sizes = self._largest_poles()

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether each draw rests stably."""
        return self.sizes < 1.0

    @property
    def settling(self) -> Floats:
        """Samples until 2 % of a deviation are left, infinite where a draw is not stable."""
        settling = np.full(len(self.sizes), np.inf)
        with np.errstate(divide="ignore"):
            settling[self.stable] = TIME_CONSTANTS / -np.log(self.sizes[self.stable]) * self.model.decimation
        return settling

    def rests(self, u: Floats, start: Floats, *, most: int | None = None) -> Floats:
        """Return the outputs at rest with constant inputs, shape (draws, levels), or NaN where none is reached.

        Parameters
        ----------
        u : array, shape (levels, inputs)
            The inputs.
        start : array, shape (levels,)
            Outputs that the rests are sought from, by Newton's method.
        most : int, optional
            Only the first draws are used.
        """
        inner_u = (u - self._offsets[1:]) / self._scales[1:]
        balance, sizes = self._balance(inner_u, self.coefficients[:most])
        first = (start - self._offsets[OUTPUT]) / self._scales[OUTPUT]
        y = np.broadcast_to(first, balance.shape[:2]).copy()
        slopes = balance[..., 1:] * np.arange(1, balance.shape[2])
        with np.errstate(all="ignore"):
            for _ in range(NEWTON_STEPS):
                y -= _horner(balance, y) / _horner(slopes, y)
            residual, largest = np.abs(_horner(balance, y)), _horner(sizes, np.abs(y))
            y[~(residual <= ROUNDING * largest)] = np.nan
        rests: Floats = y * self._scales[OUTPUT] + self._offsets[OUTPUT]
        return rests

    def _balance(self, u: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the polynomial in y that is zero at rest, shape (draws, levels, powers), and sizes of its terms."""
        powers = [sum(signal == OUTPUT for signal, _ in monomial) for monomial in self._monomials]
        balance = np.zeros((len(coefficients), len(u), max(2, 1 + max(powers, default=0))))
        sizes = np.zeros_like(balance)
        for place, (monomial, power) in enumerate(zip(self._monomials, powers, strict=True)):
            weight = np.ones(len(u))
            for signal, _ in monomial:
                if signal != OUTPUT:
                    weight = weight * u[:, signal - 1]
            product = coefficients[:, place, None] * weight
            balance[:, :, power] += product
            sizes[:, :, power] += np.abs(product)
        balance[:, :, 1] -= 1.0
        sizes[:, :, 1] += 1.0
        return balance, sizes

    def _linearised(self, u: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the weights of small deviations from a rest of each draw, as in ``a`` and ``b``."""
        n_draws, n_signals = len(y), 1 + len(u)
        signals = np.empty((n_draws, n_signals))
        signals[:, OUTPUT] = y
        signals[:, 1:] = u
        signals = (signals - self._offsets) / self._scales
        slopes = np.zeros((n_draws, n_signals, 1 + self.model.max_lag))
        for place, monomial in enumerate(self._monomials):
            for position, (signal, lag) in enumerate(monomial):
                product = self.coefficients[:, place]
                for factor_signal, _ in (*monomial[:position], *monomial[position + 1 :]):
                    product = product * signals[:, factor_signal]
                slopes[:, signal, lag] += product
        slopes *= (self._scales[OUTPUT] / self._scales)[:, None]
        return slopes[:, OUTPUT, 1:], slopes[:, 1:]

    def poles(self, a: Floats) -> NDArray[np.complex128]:
        """Return the poles of each draw, shape (draws, largest lag of the output)."""
        order = max(lags_of(self._monomials, OUTPUT), default=0)
        companions = np.zeros((len(a), order, order))
        companions[:] = np.eye(order, k=-1)
        companions[:, :1] = a[:, None, :order]
        return np.linalg.eigvals(companions).astype(np.complex128)

    def _largest_poles(self) -> Floats:
        """Return the largest magnitude of a pole of each draw, or NaN where a weight is."""
        is_known = ~np.isnan(self.a).any(axis=1)
        sizes = np.full(len(self.a), np.nan)
        sizes[is_known] = np.abs(self.poles(self.a[is_known])).max(axis=1, initial=0.0)
        return sizes

    def step_response(self, b: Floats, n_steps: int) -> Floats:
        """Return the change of the output of each stable draw after a unit step, shape (stable draws, 1 + steps).

        ``b`` are the weights of the input, shape (draws, 1 + largest lag). The steps are the model's.
        """
        a, b = self.a[self.stable], b[self.stable]
        lag = a.shape[1]
        # The output before the step is zero.
        response = np.zeros((len(a), lag + 1 + n_steps))
        driven, reversed_a = np.cumsum(b, axis=1), a[:, ::-1]
        for k in range(n_steps + 1):
            free = (reversed_a * response[:, k : k + lag]).sum(axis=1)
            response[:, lag + k] = free + driven[:, min(k, lag)]
        return response[:, lag:]


def _drawn_coefficients(model: Model, n_draws: int, **axes: object) -> Floats:
    """Return the weights of the model, and draws of them, shape (draws, terms)."""
    coefficients = np.tile(np.array(model.coefficients), (n_draws, 1))
    if model.covariance is None or not model.coefficients:
        return coefficients
    covariance = np.array(model.covariance)
    deviations = np.sqrt(np.diag(covariance))
    deviations[deviations == 0.0] = 1.0
    root = _lower_root(covariance / np.outer(deviations, deviations))
    rng = generator(purpose="drawn weights", terms=",".join(model.terms), **axes)
    normal = np.array(standard_normal(rng, (n_draws - 1) * len(coefficients[0]))).reshape(n_draws - 1, -1)
    coefficients[1:] += normal @ root.T * deviations
    return coefficients


def _lower_root(correlation: Floats) -> Floats:
    """Return a lower triangular matrix whose product with its transpose is a correlation matrix, up to rounding."""
    identity = np.eye(len(correlation))
    # Not by eigenvectors: rounding decides their signs. Nearly singular matrices need a little more on the diagonal.
    with suppress(np.linalg.LinAlgError):
        return np.asarray(np.linalg.cholesky(correlation + ROUNDING * identity), np.float64)
    return identity


def _horner(polynomials: Floats, y: Floats) -> Floats:
    """Return the values of polynomials, whose coefficients of ascending powers are the last axis."""
    value: Floats = polynomials[..., -1]
    for power in range(polynomials.shape[-1] - 2, -1, -1):
        value = value * y + polynomials[..., power]
    return value
