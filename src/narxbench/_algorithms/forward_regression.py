"""Forward regression with orthogonal least squares, for methods that add one term after the other.

The error reduction ratio of a candidate is ERR = (w'y)^2 / (w'w y'y), where w is its column, made orthogonal to those
that have entered. This needs no columns, only their inner products: the steps are those of a Cholesky factorisation
whose next pivot is the candidate of largest ERR. Source: S. A. Billings, S. Chen and M. J. Korenberg, Identification of
MIMO non-linear systems using a forward-regression orthogonal estimator, International Journal of Control 49(6), 1989,
pages 2157-2189.
"""

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.least_squares import EXACT, SINGULAR
from narxbench._numerics.compilation import compiled


@compiled
def enter(gram, step, chosen, factor, pivots, projections):
    """Make all candidates orthogonal to one that enters, by the inner products ``gram`` of the candidate columns.

    Row k of ``factor``, shape (at least step + 1, N_t), holds w_j'w / sqrt(w'w), where w is the column that entered at
    step k and w_j the column of candidate j at that time; row ``step`` is written. ``pivots`` and ``projections``,
    which are w_j'w_j and w_j'y of each candidate, are updated.
    """
    row, inverse = factor[step], 1.0 / np.sqrt(pivots[chosen])
    projection = projections[chosen] * inverse
    for j in range(row.shape[0]):
        row[j] = gram[chosen, j]
    for k in range(step):
        weight = factor[k, chosen]
        for j in range(row.shape[0]):
            row[j] -= weight * factor[k, j]
    for j in range(row.shape[0]):
        row[j] *= inverse
        pivots[j] -= row[j] * row[j]
        projections[j] -= row[j] * projection


@compiled
def forward(gram, moments, first, order, explained):
    """Let terms enter, each time the candidate of largest ERR; ``first`` enters first, unless it is -1.

    ``order`` receives the candidates as they enter. ``explained`` receives ERR times y'y of each, which is by how much
    it lowers the sum of squared residuals. Returns the number of terms that entered; it is smaller than the size of
    ``order`` if all other candidates depend on them.
    """
    n_terms = moments.shape[0]
    factor, is_free = np.empty((order.shape[0], n_terms)), np.ones(n_terms, np.bool_)
    pivots, projections = np.empty(n_terms), moments.copy()
    for j in range(n_terms):
        pivots[j] = gram[j, j]
    for step in range(order.shape[0]):
        chosen, most = -1, -1.0
        for j in range(n_terms):
            if is_free[j] and pivots[j] > SINGULAR * gram[j, j] and (step > 0 or first < 0 or j == first):
                gain = projections[j] * projections[j] / pivots[j]
                # Of candidates that explain equally much, such as constant ones, the first enters despite rounding.
                if gain > most * (1.0 + EXACT):
                    chosen, most = j, gain
        if chosen < 0:
            return step
        order[step], explained[step], is_free[chosen] = chosen, most, False
        enter(gram, step, chosen, factor, pivots, projections)
    return order.shape[0]


def nested(order: NDArray[np.int64], n_terms: int) -> NDArray[np.uint8]:
    """Return the structures of the first term, the first two terms, and so on, shape (len(order), ``n_terms``)."""
    structures = np.zeros((len(order), n_terms), np.uint8)
    for length, term in enumerate(order):
        structures[length:, term] = 1
    return structures
