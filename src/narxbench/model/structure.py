"""Structures as rows of 0 and 1, one entry for each candidate term, and the values of a term."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import OUTPUT, Monomial


def checked_positions(positions: ArrayLike, n_terms: int) -> NDArray[np.uint8]:
    """Return structures, shape (structures, N_t), as compiled code takes them, which relies on them without looking.

    Another shape, and another entry than 0 and 1, raise :class:`NarxbenchError`.
    """
    found = np.asarray(positions)
    if found.ndim != 2 or found.shape[1] != n_terms:
        raise NarxbenchError(f"positions: found shape {found.shape}; allowed: (structures, {n_terms})")
    if found.dtype.kind not in "biuf" or not ((found == 0) | (found == 1)).all():
        raise NarxbenchError("positions: found another entry than 0 and 1; allowed: 1 where a structure has the term")
    return np.require(found, np.uint8, ["C", "W"])


def column(
    u: NDArray[np.float64], y: NDArray[np.float64], monomial: Monomial, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values of a term at the samples ``rows``; ``u`` is of shape (samples,) or (samples, inputs)."""
    values = np.ones(len(rows))
    inputs = u.reshape(len(y), -1) if len(y) else u
    with np.errstate(over="ignore"):  # J of what overflows is infinite
        for signal, lag in monomial:
            values *= y[rows - lag] if signal == OUTPUT else inputs[rows - lag, signal - 1]
    return values
