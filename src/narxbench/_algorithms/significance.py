"""The t-test of the terms of a structure, for methods that drop insignificant terms."""

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._numerics.compilation import compiled
from narxbench._numerics.rounding import significant


@compiled
def drop_insignificant(gram, moments, output_energy, n_rows, thresholds, position):
    """Drop the terms whose weights do not differ from zero significantly, in place.

    The weights and the variances of their errors are those of least squares: theta = A^-1 b and s^2 (A^-1)_jj, where A
    and b are the normal equations, and s^2 is the sum of squared residuals divided by its degrees of freedom. A term of
    a structure of n terms stays if theta^2, divided by its variance, exceeds ``thresholds[n]``. All terms stay if the
    structure is singular or would become empty. ``output_energy`` is y'y. ``gram`` and ``moments`` may have further
    rows after those of the N_t terms.
    """
    terms = np.flatnonzero(position)
    n = terms.shape[0]
    if n == 0 or n >= n_rows:
        return
    upper = np.empty((n, n + 1))
    if not _factorised(gram, moments, terms, upper):
        return
    theta, variance = np.zeros(n), np.zeros(n)
    squares = _estimate(upper, output_energy, theta, variance)
    limit = thresholds[n] * max(squares, 0.0) / (n_rows - n)
    kept = 0
    for j in range(n):
        kept += theta[j] * theta[j] > limit * variance[j]
    if kept > 0:
        for j in range(n):
            position[terms[j]] = theta[j] * theta[j] > limit * variance[j]


@compiled
def _factorised(gram, moments, terms, upper):
    # Write the transposed Cholesky factor, row by row, and as its last column the result of forward substitution of the
    # moments. Returns whether the terms are independent.
    n = terms.shape[0]
    for i in range(n):
        for j in range(i, n):
            upper[i, j] = gram[terms[i], terms[j]]
        upper[i, n] = moments[terms[i]]
        for k in range(i):
            weight = upper[k, i]
            for j in range(i, n + 1):
                upper[i, j] -= weight * upper[k, j]
        if not upper[i, i] > SINGULAR * gram[terms[i], terms[i]]:
            return False
        inverse = 1.0 / np.sqrt(upper[i, i])
        for j in range(i, n + 1):
            upper[i, j] *= inverse
    return True


@compiled
def _estimate(upper, output_energy, theta, variance):
    # Write the weights and the diagonal of A^-1, and return the sum of squared residuals. The inverse of the factor is
    # computed row by row: A^-1 is the product of its transpose with it.
    n = upper.shape[0]
    squares, row = output_energy, np.empty((n, n))
    for i in range(n):
        for j in range(i):
            row[i, j] = 0.0
        row[i, i] = 1.0
        for k in range(i):
            weight = upper[k, i]
            for j in range(k + 1):
                row[i, j] -= weight * row[k, j]
        inverse, z = 1.0 / upper[i, i], upper[i, n]
        squares -= z * z
        for j in range(i + 1):
            row[i, j] *= inverse
            theta[j] += row[i, j] * z
            variance[j] += row[i, j] * row[i, j]
    return squares


def squared_t_values(significance: float, n_rows: int, n_terms: int) -> NDArray[np.float64]:
    """Return the squared critical t-values of a two-sided test, for structures of 0 to N_t terms.

    The quantiles of SciPy are rounded, because their last digits may depend on the machine. Without a degree of freedom
    the value is zero.
    """
    from scipy.special import stdtrit

    freedom = np.maximum(n_rows - np.arange(n_terms + 1), 0)
    quantiles = stdtrit(np.maximum(freedom, 1), 1.0 - significance / 2.0)
    squares = np.array([significant(quantile, digits=10) ** 2 for quantile in quantiles])
    squares[freedom == 0] = 0.0
    return squares
