"""Where a model comes to rest at constant inputs, and how it answers to small changes there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from narxbench.model.terms import OUTPUT

if TYPE_CHECKING:
    from narxbench.model.narx import Model

# Roots come out with about half the digits where two of them meet, so a small imaginary part is rounding.
REAL, ROUNDING = 1e-6, 1e-13
# What a polynomial leaves at a root, of the sum of its terms: next to a far root, a near one comes out worse.
EXACT = 1e-12


class Linearised(NamedTuple):
    """A model for small deviations from a working point, in steps of the model.

    The deviations obey dy(k) = a[0] dy(k-1) + a[1] dy(k-2) + … + b[0, 0] du1(k) + b[0, 1] du1(k-1) + ….

    Attributes
    ----------
    u : tuple of float, shape (inputs,)
        The constant inputs of the working point.
    y : float
        Its output.
    a : array of float, shape (largest lag,)
        Weights of the deviations of the output, from lag 1 on.
    b : array of float, shape (inputs, 1 + largest lag)
        Weights of those of each input, from lag 0 on.
    """

    u: tuple[float, ...]
    y: float
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The poles, shape (largest lag,): small deviations die out if all lie inside the unit circle."""
        companion = np.eye(len(self.a), k=-1)
        companion[:1] = self.a
        return np.linalg.eigvals(companion).astype(np.complex128)

    @property
    def static_gain(self) -> tuple[float, ...] | None:
        """Change of the output at rest by that of each input; None where a pole is 1."""
        left = 1 - float(self.a.sum())
        return tuple((self.b.sum(axis=1) / left).tolist()) if left else None


def fixed_points(
    model: "Model", u: Sequence[float], around: float = 0.0, scale: float = 1.0
) -> list[tuple[float, float]]:
    """Return the outputs that a model keeps at constant inputs, ascending, each with its largest ``|eigenvalue|``.

    With all lags of a signal equal, y = f(y, …, y, u, …, u) is a polynomial in y: its real roots are the fixed points.
    The eigenvalues are the poles of the model linearised there. ``around`` and ``scale`` are centre and half range of
    the outputs of interest, where the roots come out most exactly.
    """
    plain = model.expanded()
    y = Polynomial([around, scale])
    balance = -y
    for monomial, coefficient in zip(plain.monomials, plain.coefficients, strict=True):
        lags = [lag for signal, lag in monomial if signal == OUTPUT]
        weight = coefficient * np.prod([u[signal - 1] for signal, _ in monomial if signal != OUTPUT])
        balance = balance + weight * y ** len(lags)
    found = []
    # Its variable is about 1 within the data: higher powers with weights no larger than rounding only add far roots.
    kept = balance.trim(ROUNDING * float(np.abs(balance.coef).max()))
    for root in sorted(root.real for root in map(complex, kept.roots()) if abs(root.imag) <= REAL * (1 + abs(root))):
        rest = float(y(_polished(kept, root)))
        rest = 0.0 if abs(rest) <= ROUNDING * (abs(around) + scale) else rest
        found.append((rest, float(np.abs(linearised(plain, u, rest).poles).max(initial=0.0))))
    return found


def _polished(polynomial: Polynomial, root: float) -> float:
    """Return a real root after a few steps of Newton, where it is not exact yet."""
    sizes, slope = Polynomial(np.abs(polynomial.coef)), polynomial.deriv()
    for _ in range(5):
        left, steepness = float(polynomial(root)), float(slope(root))
        if abs(left) <= EXACT * float(sizes(abs(root))) or not steepness:
            break
        root -= left / steepness
    return root


def linearised(model: "Model", u: Sequence[float], y: float) -> Linearised:
    """Return a model for small deviations from constant inputs and an output that it keeps there."""
    plain = model.expanded()
    at = (y, *u)
    # Row 0 is the output, whose lag 0 stays empty.
    slopes = np.zeros((len(at), 1 + plain.max_lag))
    for monomial, coefficient in zip(plain.monomials, plain.coefficients, strict=True):
        for place, (signal, lag) in enumerate(monomial):
            others = (*monomial[:place], *monomial[place + 1 :])
            slopes[signal, lag] += coefficient * np.prod([at[other] for other, _ in others])
    return Linearised(tuple(u), y, slopes[OUTPUT, 1:], slopes[1:])
