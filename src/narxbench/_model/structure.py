"""Structures as rows of 0 and 1, one entry for each candidate term, and the values of a term."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._io.errors import NarxbenchError
from narxbench._model.terms import OUTPUT, Factor, Monomial


def checked_positions(positions: ArrayLike, n_terms: int) -> NDArray[np.uint8]:
    """Return structures, shape (structures, N_t), in the form that compiled code needs; it does not check them itself.

    Another shape, or an entry other than 0 and 1, raises :class:`NarxbenchError`.
    """
    rows = np.asarray(positions)
    if rows.ndim != 2 or rows.shape[1] != n_terms:
        raise NarxbenchError(f"positions: found shape {rows.shape}; allowed: (structures, {n_terms})")
    if rows.dtype.kind not in "biuf" or not ((rows == 0) | (rows == 1)).all():
        raise NarxbenchError("positions: found another entry than 0 and 1; allowed: 1 where a structure has the term")
    return np.require(rows, np.uint8, ["C", "W"])


def candidate_columns(
    u: NDArray[np.float64], y: NDArray[np.float64], monomials: Sequence[Monomial], rows: NDArray[np.int64]
) -> Iterator[NDArray[np.float64]]:
    """Yield the values of each term at some samples, those of :func:`column` to the last bit.

    A term that begins with the factors of another one is computed from its values.
    """
    inputs = u.reshape(len(y), -1) if len(y) else u
    prefixes = {monomial[:-1] for monomial in monomials}
    lagged: dict[Factor, NDArray[np.float64]] = {}
    columns: dict[Monomial, NDArray[np.float64]] = {(): np.ones(len(rows))}

    for monomial in monomials:
        size = len(monomial)
        while monomial[:size] not in columns:
            size -= 1
        values = columns[monomial[:size]]
        for place in range(size, len(monomial)):
            factor = monomial[place]
            if factor not in lagged:
                signal, lag = factor
                lagged[factor] = y[rows - lag] if signal == OUTPUT else inputs[rows - lag, signal - 1]
            # A structure with a term that overflows, or is infinity times 0, has an infinite J.
            with np.errstate(over="ignore", invalid="ignore"):
                values = values * lagged[factor]
            if monomial[: place + 1] in prefixes:
                columns[monomial[: place + 1]] = values
        yield values


def column(
    u: NDArray[np.float64], y: NDArray[np.float64], monomial: Monomial, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values of a term at the samples ``rows``; ``u`` has the shape (samples,) or (samples, inputs)."""
    values = np.ones(len(rows))
    inputs = u
    if len(y):
        inputs = u.reshape(len(y), -1)
    # A structure with a term that overflows, or is infinity times 0, has an infinite J.
    with np.errstate(over="ignore", invalid="ignore"):
        for signal, lag in monomial:
            if signal == OUTPUT:
                values *= y[rows - lag]
            else:
                values *= inputs[rows - lag, signal - 1]
    return values
