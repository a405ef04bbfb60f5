"""States of rest of a model at constant inputs, and its response to small changes there."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from narxbench._model.terms import OUTPUT, lags_of

if TYPE_CHECKING:
    from narxbench._model.narx import Model

# The relative size of rounding errors: of a value that a polynomial has at a root, relative to the sum of the
# magnitudes of its terms, and of its highest weights. Double precision has four more digits for the sums.
ROUNDING = 1e-12
# Where two roots meet, each has only about half of its digits: a smaller imaginary part, relative to 1 + |root|, is
# rounding.
REAL = math.sqrt(ROUNDING)


class LinearModel(NamedTuple):
    """A model for small deviations from a working point, in steps of the model.

    The deviations obey dy(k) = a[0] dy(k-1) + a[1] dy(k-2) + … + b[0, 0] du1(k) + b[0, 1] du1(k-1) + ….

    Attributes
    ----------
    u : tuple of float, shape (inputs,)
        The constant inputs of the working point.
    y : float
        The output at the working point.
    a : array of float, shape (largest lag,)
        Weights of the deviations of the output, from lag 1 on.
    b : array of float, shape (inputs, 1 + largest lag)
        Weights of the deviations of each input, from lag 0 on.
    """

    u: tuple[float, ...]
    y: float
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The poles, shape (largest lag,): small deviations decay if all of them are inside the unit circle."""
        companion = np.eye(len(self.a), k=-1)
        companion[:1] = self.a
        return np.linalg.eigvals(companion).astype(np.complex128)

    @property
    def static_gain(self) -> tuple[float, ...] | None:
        """Change of the output at rest per change of each input, or None if a pole is 1."""
        denominator = 1 - float(self.a.sum())
        if not denominator:
            return None
        return tuple((self.b.sum(axis=1) / denominator).tolist())


def delay_of(model: "Model", signal: int) -> int | None:
    """Return the smallest lag of an input in a model, in samples of the data, or None if no term has this input."""
    lags = lags_of(model.monomials, signal)
    return lags[0] * model.decimation if lags else None


def fixed_points(
    model: "Model", u: Sequence[float], around: float = 0.0, scale: float = 1.0
) -> list[tuple[float, float]]:
    """Return the outputs at which a model rests with constant inputs, ascending, with the largest ``|eigenvalue|``.

    With all lags of a signal equal, y = f(y, …, y, u, …, u) is a polynomial in y: its real roots are the fixed points.
    The eigenvalues are the poles of the model linearised there. ``around`` and ``scale`` are the centre and half range
    of the outputs of interest, where the roots are most exact.
    """
    plain = model.expanded()
    y = Polynomial([around, scale])
    balance = -y
    for monomial, coefficient in zip(plain.monomials, plain.coefficients, strict=True):
        lags = [lag for signal, lag in monomial if signal == OUTPUT]
        weight = coefficient * np.prod([u[signal - 1] for signal, _ in monomial if signal != OUTPUT])
        balance = balance + weight * y ** len(lags)
    # The variable of the polynomial is about 1 within the data. There, the highest powers matter no more than rounding
    # if their weights are that small. They would only add roots that are far away.
    trimmed = balance.trim(ROUNDING * float(np.abs(balance.coef).max()))
    points = []
    for root in _real_roots(trimmed):
        rest = float(y(_polished(trimmed, root)))
        if abs(rest) <= ROUNDING * (abs(around) + scale):
            rest = 0.0
        poles = linearised(plain, u, rest).poles
        points.append((rest, float(np.abs(poles).max(initial=0.0))))
    return points


def _real_roots(polynomial: Polynomial) -> list[float]:
    """Return the real roots of a polynomial, ascending."""
    roots = map(complex, polynomial.roots())
    return sorted(root.real for root in roots if abs(root.imag) <= REAL * (1 + abs(root)))


def _polished(polynomial: Polynomial, root: float) -> float:
    """Return a real root after at most five Newton steps, which end when it is exact.

    Without them, a root far away makes a close one less exact.
    """
    magnitudes, derivative = Polynomial(np.abs(polynomial.coef)), polynomial.deriv()
    for _ in range(5):
        value, slope = float(polynomial(root)), float(derivative(root))
        if abs(value) <= ROUNDING * float(magnitudes(abs(root))) or not slope:
            break
        root -= value / slope
    return root


def linearised(model: "Model", u: Sequence[float], y: float) -> LinearModel:
    """Return the model for small deviations from a working point with these constant inputs and this output."""
    plain = model.expanded()
    working_point = (y, *u)
    # Row 0 is for the output, whose lag 0 stays empty.
    slopes = np.zeros((len(working_point), 1 + plain.max_lag))
    for monomial, coefficient in zip(plain.monomials, plain.coefficients, strict=True):
        for position, (signal, lag) in enumerate(monomial):
            remaining = (*monomial[:position], *monomial[position + 1 :])
            slopes[signal, lag] += coefficient * np.prod(
                [working_point[factor_signal] for factor_signal, _ in remaining]
            )
    return LinearModel(tuple(u), y, slopes[OUTPUT, 1:], slopes[1:])
