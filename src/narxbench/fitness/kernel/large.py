"""Least squares of one large structure, whose factor fills the caches of the processor by itself.

Every entry is computed by the operations of :mod:`~narxbench.fitness.kernel.least_squares`, in the same order. Here the
rows of a band, not several structures, go side by side.
"""

import math

from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.fitness.kernel.simd import at, fill, load, store
from narxbench.numerics.compilation import compiled

# Rows of a band, and columns that are computed together.
BAND, TILE = 16, 4


@compiled
def _band(i):
    # Where the band of row i begins; a band holds its columns one after the other, a column its rows.
    first = i - i % BAND
    return first * (first + BAND) // 2


@compiled
def large_factor_size(n_terms):
    """Return how many doubles :func:`estimate_large` needs as scratch for structures of up to ``n_terms`` terms."""
    return _band(n_terms + BAND)


@compiled
def estimate_large(data, member, n, factor, inverse, weights, regular):
    """Estimate the weights, shape (n,), of one structure.

    ``member``, shape (at least n + BAND,), has its terms; what is behind them is written over. ``factor``, of
    :func:`large_factor_size`, and ``inverse``, shape (n,), are scratch. ``regular``, shape (1,), receives 1, or 0 where
    a column depends on those before it; there are no weights then.
    """
    gram, n_terms = data.gram.reshape(-1), data.gram.shape[0] - 1
    for i in range(n, n + BAND):
        member[i] = n_terms
    regular[0] = 0.0
    # The moments are row n: its entries are what forward substitution gives.
    for i in range(0, n + 1, BAND):
        band = _band(i)
        for j in range(min(i + BAND, n + TILE - n % TILE)):
            row = at(member, j) * (n_terms + 1)
            for r in range(BAND):
                factor[band + j * BAND + r] = at(gram, row + at(member, i + r))
    moments = _band(n) + n % BAND
    for j in range(n):
        factor[moments + j * BAND] = data.moments[member[j]]
    for i in range(0, n + 1, BAND):
        band = _band(i)
        for j in range(0, i, TILE):
            other, tile = _band(j) + j % BAND, band + j * BAND
            _subtract(factor, band, other, tile, j)
            _divide(factor, inverse, other + j * BAND, tile, j)
        # What the band itself holds of the columns of its rows: column by column, each from those behind it.
        for j in range(i, min(i + BAND, n), TILE):
            _subtract(factor, band, band + j - i, band + j * BAND, i)
        for j in range(i, min(i + BAND, n)):
            place = band + j * BAND
            pivot = factor[place + j - i]
            if not pivot > SINGULAR * data.diagonal[member[j]]:
                return
            inverse[j] = 1.0 / math.sqrt(pivot)
            column = load(factor, place, BAND) * fill(inverse[j], BAND)
            store(factor, place, column)
            for later in range(j + 1, min(i + BAND, n)):
                to = band + later * BAND
                store(factor, to, load(factor, to, BAND) - column * fill(at(factor, place + later - i), BAND))
    for i in range(n - 1, -1, -1):
        s, column_i = factor[moments + i * BAND], i * BAND
        for k in range(i + 1, n):
            s -= at(factor, _band(k) + column_i + k % BAND) * at(weights, k)
        weights[i] = s * inverse[i]
    regular[0] = 1.0


@compiled
def _subtract(factor, band, other, tile, end):
    # From the columns of a tile, the products of the band and of the tile's rows in the columns before `end`.
    a, b = load(factor, tile, BAND), load(factor, tile + BAND, BAND)
    c, d = load(factor, tile + 2 * BAND, BAND), load(factor, tile + 3 * BAND, BAND)
    for k in range(0, end * BAND, BAND):
        x = load(factor, band + k, BAND)
        a = a - x * fill(at(factor, other + k), BAND)
        b = b - x * fill(at(factor, other + k + 1), BAND)
        c = c - x * fill(at(factor, other + k + 2), BAND)
        d = d - x * fill(at(factor, other + k + 3), BAND)
    store(factor, tile, a)
    store(factor, tile + BAND, b)
    store(factor, tile + 2 * BAND, c)
    store(factor, tile + 3 * BAND, d)


@compiled
def _divide(factor, inverse, other, tile, j):
    # The columns of a tile by the diagonal tile of its columns, which begins at `other`.
    second, third = other + BAND, other + 2 * BAND
    a = load(factor, tile, BAND) * fill(at(inverse, j), BAND)
    b = load(factor, tile + BAND, BAND) - a * fill(at(factor, other + 1), BAND)
    b = b * fill(at(inverse, j + 1), BAND)
    c = load(factor, tile + 2 * BAND, BAND) - a * fill(at(factor, other + 2), BAND)
    c = (c - b * fill(at(factor, second + 2), BAND)) * fill(at(inverse, j + 2), BAND)
    d = load(factor, tile + 3 * BAND, BAND) - a * fill(at(factor, other + 3), BAND)
    d = d - b * fill(at(factor, second + 3), BAND) - c * fill(at(factor, third + 3), BAND)
    d = d * fill(at(inverse, j + 3), BAND)
    store(factor, tile, a)
    store(factor, tile + BAND, b)
    store(factor, tile + 2 * BAND, c)
    store(factor, tile + 3 * BAND, d)
