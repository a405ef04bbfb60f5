"""Weights of all candidate terms at once, shrunk by ridge regression."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narxbench._model.terms import Monomial
from narxbench._numerics.elimination import solved

Floats = NDArray[np.float64]

# What the diagonal of the normal equations is raised by, at least, as a share of each column's sum of squares: columns
# may depend on one another to the last digit.
LEAST = 1e-12


def ridge_inverse(gram: Floats, monomials: Sequence[Monomial], shrinkage: float) -> Floats:
    """Return the inverse of the normal equations of terms with a ridge on their diagonal.

    Parameters
    ----------
    gram : array of float, shape (n, n)
        Inner products of the columns of the terms.
    monomials : sequence of Monomial
        The terms.
    shrinkage : float
        The ridge as a share of each column's sum of squares, about its mean if there is a constant, which is not
        shrunk.
    """
    cosines, sizes = _with_ridge(gram, monomials, shrinkage)
    return solved(cosines, np.eye(len(sizes))) / np.outer(sizes, sizes)


def ridge_weights(products: Floats, monomials: Sequence[Monomial], shrinkage: float) -> Floats:
    """Return the weights of terms by ridge regression. The last row of the products belongs to the output."""
    cosines, sizes = _with_ridge(products[:-1, :-1], monomials, shrinkage)
    right = products[-1, :-1] / sizes
    return solved(cosines, right[:, None])[:, 0] / sizes


def _with_ridge(gram: Floats, monomials: Sequence[Monomial], shrinkage: float) -> tuple[Floats, Floats]:
    """Return the cosines between the columns of the terms, with a ridge on the diagonal, and the columns' lengths."""
    sizes = np.sqrt(np.diag(gram))
    sizes[sizes == 0.0] = 1.0
    cosines = gram / np.outer(sizes, sizes)
    varying = np.ones(len(sizes))
    if () in monomials:
        varying -= np.minimum(1.0, cosines[monomials.index(())] ** 2)
    cosines[np.diag_indices_from(cosines)] += shrinkage * varying + LEAST
    return cosines, sizes
