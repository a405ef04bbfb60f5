"""The t-test of the terms of a structure: what the methods share that drop insignificant terms."""

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.numerics.compilation import compiled


@compiled
def drop_insignificant(gram, moments, output_energy, n_rows, thresholds, position):
    """Drop the terms whose weights do not differ from zero with significance, in place.

    The weights and the variances of their errors are those of least squares: theta = A^-1 b and s^2 (A^-1)_jj, A and b
    being the normal equations and s^2 the sum of squared residuals by its degrees of freedom. A term stays if theta^2
    by its variance exceeds ``thresholds[n]`` in a structure of n terms; all stay if it is singular, or none were left.
    ``output_energy`` is y'y, ``gram`` and ``moments`` may have further rows behind those of the N_t terms.
    """
    terms = np.flatnonzero(position)
    n = terms.shape[0]
    if n == 0 or n >= n_rows:
        return
    # The transposed Cholesky factor, row by row, and behind it what forward substitution makes of the moments.
    upper = np.empty((n, n + 1))
    for i in range(n):
        for j in range(i, n):
            upper[i, j] = gram[terms[i], terms[j]]
        upper[i, n] = moments[terms[i]]
        for k in range(i):
            weight = upper[k, i]
            for j in range(i, n + 1):
                upper[i, j] -= weight * upper[k, j]
        if not upper[i, i] > SINGULAR * gram[terms[i], terms[i]]:
            return
        inverse = 1.0 / np.sqrt(upper[i, i])
        for j in range(i, n + 1):
            upper[i, j] *= inverse
    # The inverse of the factor, row by row: A^-1 is the product of its transpose with it.
    squares, theta, variance, row = output_energy, np.zeros(n), np.zeros(n), np.empty((n, n))
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
    limit = thresholds[n] * max(squares, 0.0) / (n_rows - n)
    kept = 0
    for j in range(n):
        kept += theta[j] * theta[j] > limit * variance[j]
    if kept > 0:
        for j in range(n):
            position[terms[j]] = theta[j] * theta[j] > limit * variance[j]


def squared_t_values(significance: float, n_rows: int, n_terms: int) -> NDArray[np.float64]:
    """Return the square of the t-value that a two-sided test at a level asks for, for structures of 0 to N_t terms.

    SciPy computes the quantiles. They are rounded, as its last digits may depend on the machine. Where there is no
    degree of freedom the value is zero.
    """
    from scipy.special import stdtrit

    freedom = np.maximum(n_rows - np.arange(n_terms + 1), 0)
    values = stdtrit(np.maximum(freedom, 1), 1.0 - significance / 2.0)
    return np.array([float(f"{value:.10g}") ** 2 if f else 0.0 for value, f in zip(values, freedom, strict=True)])
