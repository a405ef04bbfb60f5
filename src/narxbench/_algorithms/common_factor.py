"""Common factors: structures that are another one times a filter of the noise.

Terms of the same shape, lagged, are a polynomial in q^-1 times the term of smallest lag: 0.5 u(k-1) - 0.4 u(k-2) is
0.5 (1 - 0.8 q^-1) u(k-1). A model whose polynomials all vanish at the same point, that of y(k) and its lagged copies
among them, is a shorter model times a filter. It explains no more of the input than the shorter one does, but noise.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, section 16.4 (pole-zero cancellations).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narxbench._model.terms import OUTPUT, Monomial
from narxbench._numerics.rounding import DIGITS

# A polynomial vanishes at a point where its value is below this share of the sum of its terms.
VANISHING = 0.01

Shape = tuple[tuple[int, int], ...]
Polynomial = NDArray[np.float64]

# The shape of y(k) and its lagged copies.
OF_OUTPUT: Shape = ((OUTPUT, 0),)


def polynomials(monomials: Sequence[Monomial], weights: Sequence[float]) -> dict[Shape, tuple[int, Polynomial]]:
    """Return the polynomials in q^-1 of a model by the shape of their terms, the output's own with 1 for y(k).

    Each is the lag of its first coefficient, and the coefficients of rising powers.

    Parameters
    ----------
    monomials : sequence of monomials
        The terms of the model.
    weights : sequence of float
        Their weights.
    """
    by_shape: dict[Shape, dict[int, float]] = {OF_OUTPUT: {0: 1.0}}
    for monomial, weight in zip(monomials, weights, strict=True):
        advance = min((lag for _, lag in monomial), default=0)
        shape = tuple((signal, lag - advance) for signal, lag in monomial)
        by_shape.setdefault(shape, {})[advance] = -weight if shape == OF_OUTPUT else weight
    return {shape: _polynomial(weight_by_lag) for shape, weight_by_lag in by_shape.items()}


def _polynomial(weight_by_lag: dict[int, float]) -> tuple[int, Polynomial]:
    first = min(weight_by_lag)
    coefficients = np.zeros(max(weight_by_lag) - first + 1)
    for lag, weight in weight_by_lag.items():
        coefficients[lag - first] = weight
    return first, coefficients


def common_factor(monomials: Sequence[Monomial], weights: Sequence[float]) -> list[complex]:
    """Return the zeros that all polynomials of a model share: none where the model has no common factor.

    A constant shares the zero at 1 only, where a filter hides it.

    Examples
    --------
    >>> from narxbench._model.terms import parse_term
    >>> terms = [parse_term(term, 1) for term in ("y(k-1)", "y(k-2)", "u(k-1)", "u(k-2)")]
    >>> common_factor(terms, [1.4, -0.45, 1.0, -0.9])
    [(0.9+0j)]
    >>> common_factor(terms, [1.4, -0.45, 1.0, -0.2])
    []
    """
    by_shape = polynomials(monomials, weights)
    _, of_output = by_shape.pop(OF_OUTPUT)
    of_inputs = [coefficients for _, coefficients in by_shape.values()]
    # A factor cancels between output and inputs only.
    if not of_inputs or min(map(len, [of_output, *of_inputs])) == 1:
        return []
    zeros = []
    for zero in np.roots(of_output).astype(complex).tolist():
        if abs(zero) > 0.0 and all(_vanishes(polynomial, zero) for polynomial in of_inputs):
            zeros.append(complex(round(zero.real, DIGITS), round(zero.imag, DIGITS)))
    return zeros


def without_factor(monomials: Sequence[Monomial], weights: Sequence[float], zeros: Sequence[complex]) -> list[Monomial]:
    """Return the terms of the shorter model that is left when all polynomials of a model are divided by a factor.

    Examples
    --------
    >>> from narxbench._model.terms import parse_term, term_name
    >>> terms = [parse_term(term, 1) for term in ("y(k-1)", "y(k-2)", "u(k-1)", "u(k-2)")]
    >>> [term_name(monomial, 1) for monomial in without_factor(terms, [1.4, -0.45, 1.0, -0.9], [0.9])]
    ['y(k-1)', 'u(k-1)']
    """
    factor = np.real(np.poly(np.array(zeros)))
    remaining = []
    for shape, (first_lag, coefficients) in polynomials(monomials, weights).items():
        quotient = np.polydiv(coefficients, factor)[0]
        is_there = np.abs(quotient) > VANISHING * np.abs(quotient).sum()
        for lag in np.flatnonzero(is_there).tolist():
            advance = first_lag + lag
            if shape != OF_OUTPUT or advance > 0:
                remaining.append(tuple((signal, shift + advance) for signal, shift in shape))
    return remaining


def _vanishes(polynomial: Polynomial, zero: complex) -> bool:
    powers = zero ** -np.arange(len(polynomial), dtype=float)
    return bool(abs(polynomial @ powers) < VANISHING * (np.abs(polynomial) @ np.abs(powers)))
