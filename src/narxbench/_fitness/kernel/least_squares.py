"""Least squares of several structures side by side: normal equations, Cholesky factor, substitution.

Every entry of a factor is computed by the same operations in the same order, wherever it is stored: the products with
the previous columns are subtracted one by one from left to right, then the result is multiplied by the inverse pivot.
"""

import numpy as np

from narxbench._fitness.kernel.simd import WIDTH, fill, gather, inverse_root, load, part, repeat, store, where_greater
from narxbench._numerics.compilation import compiled, inner

# The number of structures that are estimated side by side, and of rows and columns of the factor that are computed
# together: each entry that is loaded is used for TILE others.
LANES, TILE = WIDTH, 4
COLUMN = TILE * LANES
# The relative precision of inner products, sums of hundreds of products that are rounded to 2e-16: less is rounding.
EXACT = 1e-13
# If the squared sine between a candidate column and the previous columns is below this, it counts as a combination of
# them: a hundred times the effect of rounding.
SINGULAR = 1e-11
# The error of an exact fit, for instance to zeros, is raised to this, because the logarithm of 0 is not finite.
SMALLEST_SSE = 1e-300


@inner
def _band(i):
    # The beginning of the band of rows i, i + 1, ..., i + TILE - 1; i is a multiple of TILE. A band holds its columns
    # one after the other up to the diagonal, a column its TILE rows, a row its LANES structures.
    return i * (i + TILE) // 2 * LANES


@compiled
def factor_size(n_terms):
    """Return the number of doubles that :func:`estimate` needs as scratch for structures of up to ``n_terms`` terms."""
    return _band(n_terms + TILE - n_terms % TILE)


@inner
def estimate(data, member, size, factor, weights, regular):
    """Estimate the weights of ``LANES`` structures, of which the largest has n terms.

    ``member``, shape (at least n * LANES,), has the first term of each structure, then the second, and so on; entries
    after the last term of a structure are overwritten. ``size``, shape (LANES,), has the numbers of terms, 0 for a lane
    without a structure. ``factor``, of :func:`factor_size`, is scratch. ``weights`` receives the weights in the order
    of ``member``. ``regular``, shape (LANES,), receives 1, or 0 if a column depends on the previous ones.
    """
    n = size[0]
    for lane in range(LANES):
        n = max(n, size[lane])
    _gather(data, member, size, n, factor)
    rows, sound = n + TILE - n % TILE, fill(1.0, LANES)
    for i in range(0, rows, TILE):
        band = _band(i)
        for j in range(0, i, TILE):
            _tile(factor, band, j)
        sound = _diagonal_tile(factor, band, i, i + TILE == rows, sound)
    store(regular, 0, sound)
    last = _band(rows - TILE) + (TILE - 1) * LANES
    for i in range(n - 1, -1, -1):
        s, column = load(factor, last + i * COLUMN, LANES), i * COLUMN
        for k in range(i + 1, n):
            r = k % TILE
            s = s - load(factor, _band(k - r) + column + r * LANES, LANES) * load(weights, k * LANES, LANES)
        r = i % TILE
        store(weights, i * LANES, s * load(factor, _band(i - r) + column + r * LANES, LANES))


@inner
def _gather(data, member, size, n, factor):
    # Write the normal equations. The moments are the last row: the factorisation turns it into the result of forward
    # substitution. Places that a structure does not fill, and rows before the moments, are unit rows, which have
    # no effect on the others.
    gram, n_terms, rows = data.gram.reshape(-1), data.gram.shape[0] - 1, n + TILE - n % TILE
    row_of, zeros = np.empty(n * LANES, np.int64), np.zeros(LANES, np.int64)
    for i in range(n):
        for lane in range(LANES):
            if i >= size[lane]:
                member[i * LANES + lane] = n_terms
            row_of[i * LANES + lane] = member[i * LANES + lane] * (n_terms + 1)
    for i in range(rows):
        to, column = _band(i - i % TILE) + i % TILE * LANES, i * LANES
        for j in range(i):
            if i < n:
                store(factor, to + j * COLUMN, gather(gram, row_of, column, member, j * LANES, LANES))
            elif j < n and i == rows - 1:
                store(factor, to + j * COLUMN, gather(data.moments, member, j * LANES, zeros, 0, LANES))
            else:
                store(factor, to + j * COLUMN, fill(0.0, LANES))
        if i < n:
            store(factor, to + i * COLUMN, gather(data.diagonal, member, column, zeros, 0, LANES))
        else:
            store(factor, to + i * COLUMN, fill(1.0, LANES))


@inner
def _tile(factor, band, j):
    # Compute the entries of a band in the columns j, j + 1, ...: the inner loop of all least squares.
    column_band, tile = _band(j), band + j * COLUMN
    a, b = load(factor, tile, COLUMN), load(factor, tile + COLUMN, COLUMN)
    c, d = load(factor, tile + 2 * COLUMN, COLUMN), load(factor, tile + 3 * COLUMN, COLUMN)
    for k in range(0, j * COLUMN, COLUMN):
        x = load(factor, band + k, COLUMN)
        a = a - x * _spread(factor, column_band + k)
        b = b - x * _spread(factor, column_band + k + LANES)
        c = c - x * _spread(factor, column_band + k + 2 * LANES)
        d = d - x * _spread(factor, column_band + k + 3 * LANES)
    # The columns of the diagonal tile in the band of rows j, j + 1, ....
    first = column_band + j * COLUMN
    second, third, fourth = first + COLUMN, first + 2 * COLUMN, first + 3 * COLUMN
    a = a * _spread(factor, first)
    b = (b - a * _spread(factor, first + LANES)) * _spread(factor, second + LANES)
    c = c - a * _spread(factor, first + 2 * LANES) - b * _spread(factor, second + 2 * LANES)
    c = c * _spread(factor, third + 2 * LANES)
    d = d - a * _spread(factor, first + 3 * LANES) - b * _spread(factor, second + 3 * LANES)
    d = (d - c * _spread(factor, third + 3 * LANES)) * _spread(factor, fourth + 3 * LANES)
    store(factor, tile, a)
    store(factor, tile + COLUMN, b)
    store(factor, tile + 2 * COLUMN, c)
    store(factor, tile + 3 * COLUMN, d)


@inner
def _spread(factor, place):
    # One row of a band's column, repeated for all rows of a column.
    return repeat(load(factor, place, LANES), COLUMN)


@inner
def _diagonal_tile(factor, band, i, last, sound):
    # Entries above the diagonal are computed too, but never used. The diagonal holds the inverse pivots.
    tile = band + i * COLUMN
    a, b = load(factor, tile, COLUMN), load(factor, tile + COLUMN, COLUMN)
    c, d = load(factor, tile + 2 * COLUMN, COLUMN), load(factor, tile + 3 * COLUMN, COLUMN)
    limit = fill(SINGULAR, LANES)
    least_a, least_b = limit * part(a, 0, LANES), limit * part(b, 1, LANES)
    least_c, least_d = limit * part(c, 2, LANES), limit * part(d, 3, LANES)
    for k in range(band, tile, COLUMN):
        x = load(factor, k, COLUMN)
        a = a - x * _spread(factor, k)
        b = b - x * _spread(factor, k + LANES)
        c = c - x * _spread(factor, k + 2 * LANES)
        d = d - x * _spread(factor, k + 3 * LANES)
    inverse, sound = _inverse_pivot(part(a, 0, LANES), least_a, sound)
    a = a * repeat(inverse, COLUMN)
    store(factor, tile, a)
    store(factor, tile, inverse)
    b = b - a * repeat(part(a, 1, LANES), COLUMN)
    inverse, sound = _inverse_pivot(part(b, 1, LANES), least_b, sound)
    b = b * repeat(inverse, COLUMN)
    store(factor, tile + COLUMN, b)
    store(factor, tile + COLUMN + LANES, inverse)
    c = c - a * repeat(part(a, 2, LANES), COLUMN) - b * repeat(part(b, 2, LANES), COLUMN)
    inverse, sound = _inverse_pivot(part(c, 2, LANES), least_c, sound)
    c = c * repeat(inverse, COLUMN)
    store(factor, tile + 2 * COLUMN, c)
    store(factor, tile + 2 * COLUMN + 2 * LANES, inverse)
    # The last row of all are the moments, which have no pivot.
    if not last:
        d = d - a * repeat(part(a, 3, LANES), COLUMN) - b * repeat(part(b, 3, LANES), COLUMN)
        d = d - c * repeat(part(c, 3, LANES), COLUMN)
        inverse, sound = _inverse_pivot(part(d, 3, LANES), least_d, sound)
        store(factor, tile + 3 * COLUMN + 3 * LANES, inverse)
    return sound


@inner
def _inverse_pivot(pivot, least, sound):
    sound = where_greater(pivot, least, sound, fill(0.0, LANES))
    return inverse_root(where_greater(pivot, least, pivot, fill(1.0, LANES))), sound
