"""Linear equations with a positive definite matrix, solved here: the last bits of LAPACK depend on the processor."""

import numpy as np
from numpy.typing import NDArray

from narxbench._numerics.compilation import compiled

Floats = NDArray[np.float64]


def solved(matrix: Floats, right: Floats) -> Floats:
    """Return the solution X of A X = B by elimination without pivoting, in one order of operations.

    Parameters
    ----------
    matrix : array of float, shape (n, n)
        A, symmetric and positive definite.
    right : array of float, shape (n, m)
        B.
    """
    factors, solution = matrix.astype(np.float64), right.astype(np.float64)
    _eliminate(factors, solution)
    return solution


@compiled
def _eliminate(a, b):
    """Overwrite the right sides with the solution, and the matrix with its factors; no sum is taken over a row."""
    n, sides = b.shape
    for k in range(n):
        for i in range(k + 1, n):
            share = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= share * a[k, j]
            for j in range(sides):
                b[i, j] -= share * b[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(sides):
            b[k, j] /= a[k, k]
        for i in range(k):
            for j in range(sides):
                b[i, j] -= a[i, k] * b[k, j]
