"""Structures as rows of 0 and 1, one entry for each candidate term, and the values of a term."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._io.errors import NarxbenchError
from narxbench._model.terms import OUTPUT, Factor, Monomial

# Rows whose columns are computed at a time: all of them at once would need much memory. This many doubles are 32 kB.
BLOCK = 4096


def checked_positions(positions: ArrayLike, n_terms: int) -> NDArray[np.uint8]:
    """Return structures, shape (structures, N_t), in the form that compiled code needs, which does not check them.

    Another shape, or an entry other than 0 and 1, raises :class:`NarxbenchError`.
    """
    rows = np.asarray(positions)
    if rows.ndim != 2 or rows.shape[1] != n_terms:
        raise NarxbenchError(f"positions: found shape {rows.shape}; allowed: (structures, {n_terms})")
    if rows.dtype.kind not in "biuf" or not _has_only_zeros_and_ones(rows):
        raise NarxbenchError("positions: found another entry than 0 and 1; allowed: 1 where a structure has the term")
    return np.require(rows, np.uint8, ["C", "W"])


def _has_only_zeros_and_ones(rows: NDArray[Any]) -> bool:
    # Searches check every batch, and for their type one comparison is enough.
    if rows.dtype == np.uint8:
        return int(rows.max(initial=0)) <= 1
    return bool(((rows == 0) | (rows == 1)).all())


def candidate_columns(
    u: NDArray[np.float64], y: NDArray[np.float64], monomials: Sequence[Monomial], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values of terms at some samples, shape (N_t, rows), as :func:`column` returns to the last bit."""
    columns = np.empty((len(monomials), len(rows)))
    for block, values in column_blocks(u, y, monomials, rows):
        columns[:, block] = values
    return columns


def column_blocks(
    u: NDArray[np.float64], y: NDArray[np.float64], monomials: Sequence[Monomial], rows: NDArray[np.int64]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield the same columns at some successive rows, shape (N_t, rows of the block), and where these are."""
    inputs, plan = u.reshape(len(y), -1) if len(y) else u, _column_plan(tuple(monomials))
    for start in range(0, len(rows), BLOCK):
        block = slice(start, min(start + BLOCK, len(rows)))
        yield block, _columns_at(inputs, y, plan, rows[block])[: len(monomials)]


# How the columns of some terms follow from one another: the factors, the products and the number of columns. Each
# product names a column, the earlier one that it is computed from, and the factor. The column of the constant has no
# product and stays 1. Behind the columns of the terms are those that only lead to others.
_ColumnPlan = tuple[list[Factor], list[tuple[int, int, int]], int]


def _columns_at(
    inputs: NDArray[np.float64], y: NDArray[np.float64], plan: _ColumnPlan, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return all columns of a plan. One that begins with the factors of another is computed from its values."""
    factors, products, n_columns = plan
    lagged = np.empty((len(factors), len(rows)))
    for values, (signal, lag) in zip(lagged, factors, strict=True):
        values[:] = y[rows - lag] if signal == OUTPUT else inputs[rows - lag, signal - 1]
    columns = np.ones((n_columns, len(rows)))
    # A structure with a term that overflows, or is infinity times 0, has an infinite J.
    with np.errstate(over="ignore", invalid="ignore"):
        for longer, shorter, factor in products:
            np.multiply(columns[shorter], lagged[factor], out=columns[longer])
    return columns


@lru_cache(maxsize=64)
def _column_plan(monomials: tuple[Monomial, ...]) -> _ColumnPlan:
    place = {monomial: i for i, monomial in enumerate(monomials)}
    for monomial in monomials:
        for size in range(len(monomial)):
            place.setdefault(monomial[:size], len(place))
    factors: dict[Factor, int] = {}
    products = []
    for monomial in sorted(place, key=len):
        if monomial:
            factor = factors.setdefault(monomial[-1], len(factors))
            products.append((place[monomial], place[monomial[:-1]], factor))
    return list(factors), products, len(place)


def column(
    u: NDArray[np.float64], y: NDArray[np.float64], monomial: Monomial, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values of a term at the samples ``rows``, for ``u`` of shape (samples,) or (samples, inputs)."""
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
