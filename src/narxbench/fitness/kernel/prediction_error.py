"""The compiled parts of prediction error methods: innovations, their sensitivities, inner products, Gauss-Newton steps.

A structure predicts y(k) from its terms. Where the error enters decides what it sees:

- equation error, y(k) = sum of theta_j phi_j(k) + C(q) e(k): measured past outputs, and past innovations e weighed by
  the moving average C(q) = 1 + c_1 q^-1 + ..., of order 0 for NARX and above it for NARMAX;
- output error, y(k) = x(k) + e(k): the past of its own free run x (NOE).

The sensitivity of a prediction to the weight of candidate j then obeys, for all j with the same coefficients,

    S_j(k) = phi_j(k) + sum over i of d_i(k) S_j(k - i),

with d_i = -c_i under equation error, and d_i(k) = sum over j of theta_j dphi_j(k)/dx(k - i) under output error. In the
sensitivities of all candidates the choice of terms is, close to the present weights, one of linear regression.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapters 7 and 10.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.fitness.kernel.simd import aligned, at, fill, load, store
from narxbench.numerics.compilation import compiled

# Columns that stand side by side, and columns whose products with them are computed together.
BAND, TILE = 16, 4
# A Gauss-Newton iteration ends when the sum of squares falls by less than this share of it, or after so many steps.
CONVERGED, ITERATIONS = 1e-9, 25
# Steps that do not lower the sum of squares are shortened, at most so often.
SHORTER, SHORTENINGS = 0.3, 8
# The zeros of C(q) stay inside of this radius: innovations forget where they began.
RADIUS = 0.98
# A sensitivity to what was before a stretch that is below this is none.
FADED = 1e-9


class Signals(NamedTuple):
    """What prediction errors need of a data set, with N_t candidate terms of at most ``degree`` factors.

    A stretch is a run of samples that is predicted without a gap, from the measured outputs before it. ``rows`` count
    the samples of all stretches, one behind the other.
    """

    values: NDArray[np.float64]  # (signals * samples,) the output, the inputs one by one, and ones
    factors: NDArray[np.int64]  # (N_t, degree) where factor f of a term is, from the sample of the row on
    sizes: NDArray[np.int64]  # (N_t,) factors of each term; those behind them are ones
    lags: NDArray[np.int64]  # (N_t, degree) the lag of a factor that is a past output, else 0
    begin: NDArray[np.int64]  # (stretches,) first sample of each
    counted: NDArray[np.int64]  # (stretches,) first sample of each whose error counts
    end: NDArray[np.int64]  # (stretches,) behind the last sample of each
    row: NDArray[np.int64]  # (stretches,) row of ``begin``
    bound: float  # a free run above this has diverged
    depth: int  # outputs before each stretch that NOE estimates as well; 0: they are as measured


@compiled
def _copy(source, target):
    # Loops compile in a tenth of the time that assignments of whole arrays take.
    for i in range(source.shape[0]):
        target[i] = source[i]


@compiled
def _finite(matrix):
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += abs(matrix[i, j])
    return total < np.inf


@compiled
def stable(moving):
    """Return whether the zeros of 1 + c_1 q^-1 + ... lie inside of :data:`RADIUS`, by the step-down recursion."""
    order, power = moving.shape[0], 1.0
    a, b = np.empty(order), np.empty(order)
    for i in range(order):
        power *= RADIUS
        a[i] = moving[i] / power
    for n in range(order, 0, -1):
        reflection = a[n - 1]
        if not abs(reflection) < 1.0:
            return False
        for i in range(n - 1):
            b[i] = (a[i] - reflection * a[n - 2 - i]) / (1.0 - reflection * reflection)
        for i in range(n - 1):
            a[i] = b[i]
    return True


@compiled
def innovations(data, output_error, terms, weights, moving, values, errors):
    """Compute the innovations of a model, ``errors`` of shape (rows,).

    ``terms`` are numbers of candidates. ``moving``, c_1, c_2, ..., is empty under output error. ``values`` is a copy of
    ``data.values``, which may differ in ``data.depth`` outputs before each stretch; under output error, where the model
    sees its own past outputs, it receives the free run in place of the output.

    Returns the sum of squares over the rows that count, and the squares of what those outputs differ by; +inf where the
    model diverges.
    """
    total, flat = 0.0, 0
    places, ends = np.empty(data.factors.shape[1] * terms.shape[0], np.int64), np.empty(terms.shape[0], np.int64)
    for i in range(terms.shape[0]):
        for f in range(data.sizes[terms[i]]):
            places[flat] = data.factors[terms[i], f]
            flat += 1
        ends[i] = flat
    for s in range(data.begin.shape[0]):
        row = data.row[s]
        for k in range(data.begin[s] - data.depth, data.begin[s]):
            total += (data.values[k] - values[k]) ** 2
        for k in range(data.begin[s], data.end[s]):
            predicted, flat = 0.0, 0
            for i in range(terms.shape[0]):
                product = weights[i]
                while flat < ends[i]:
                    product *= at(values, at(places, flat) + k)
                    flat += 1
                predicted += product
            if output_error:
                if not abs(predicted) <= data.bound:
                    return np.inf
                values[k] = predicted
            error = data.values[k] - predicted
            for i in range(min(moving.shape[0], k - data.begin[s])):
                error -= moving[i] * errors[row - 1 - i]
            errors[row] = error
            if k >= data.counted[s]:
                total += error * error
            row += 1
    return total if total < np.inf else np.inf


@compiled
def _feedback(data, output_error, terms, weights, moving, values, feedback):
    # d_i(k) of every row, shape (rows, largest i).
    for i in range(feedback.shape[1]):
        constant = 0.0 if output_error else -moving[i]
        for row in range(feedback.shape[0]):
            feedback[row, i] = constant
    if not output_error:
        return
    for i in range(terms.shape[0]):
        for f in range(data.sizes[terms[i]]):
            lag = data.lags[terms[i], f]
            if lag == 0:
                continue
            for s in range(data.begin.shape[0]):
                row = data.row[s] - data.begin[s]
                for k in range(data.begin[s], data.end[s]):
                    slope = weights[i]
                    for g in range(data.sizes[terms[i]]):
                        if g != f:
                            slope *= at(values, data.factors[terms[i], g] + k)
                    feedback[row + k, lag - 1] += slope


@compiled
def _sensitivities(data, chosen, values, feedback, bands):
    # S_j of some candidates, a band of them side by side; what a band has too many is written over by _append.
    rows, order = feedback.shape
    places = np.empty((data.factors.shape[1], BAND), np.int64)
    for first in range(0, chosen.shape[0], BAND):
        lanes, flat = min(BAND, chosen.shape[0] - first), places.reshape(-1)
        for f in range(places.shape[0]):
            for lane in range(lanes):
                places[f, lane] = data.factors[chosen[first + lane], f]
        for s in range(data.begin.shape[0]):
            to = (first // BAND * rows + data.row[s]) * BAND
            for k in range(data.begin[s], data.end[s]):
                for lane in range(lanes):
                    product = at(values, at(flat, lane) + k)
                    for f in range(BAND, flat.shape[0], BAND):
                        product *= at(values, at(flat, f + lane) + k)
                    bands[to + lane] = product
                column, row = load(bands, to, BAND), data.row[s] + k - data.begin[s]
                for i in range(min(order, k - data.begin[s])):
                    column = column + fill(feedback[row, i], BAND) * load(bands, to - (i + 1) * BAND, BAND)
                store(bands, to, column)
                to += BAND


@compiled
def _append(data, moving, feedback, errors, n, depth, bands):
    # Behind n columns: those of the moving average, which are past innovations filtered by 1 / C; those of the outputs
    # before each stretch; and the innovations.
    rows, order, starts = errors.shape[0], moving.shape[0], data.begin.shape[0]
    last = n + order + starts * depth
    for c in range(n, last + 1):
        if c == n or c % BAND == 0:
            first = c // BAND * rows * BAND
            for row in range(rows):
                for lane in range(c % BAND, BAND):
                    bands[first + row * BAND + lane] = 0.0
    filtered, column = np.empty(rows), np.empty(rows)
    for s in range(starts):
        for past in range(data.end[s] - data.begin[s]):
            row = data.row[s] + past
            value = errors[row]
            for i in range(min(order, past)):
                value -= moving[i] * filtered[row - 1 - i]
            filtered[row] = value
            for i in range(min(order, past)):
                c = n + i
                bands[(c // BAND * rows + row) * BAND + c % BAND] = filtered[row - 1 - i]
            bands[(last // BAND * rows + row) * BAND + last % BAND] = errors[row]
        for before in range(1, depth + 1):
            c = n + order + s * depth + before - 1
            past, quiet = 0, 0
            # What the start still does fades; the rest of the column is zero.
            while past < data.end[s] - data.begin[s] and quiet <= feedback.shape[1] + depth:
                row, value = data.row[s] + past, 0.0
                for i in range(feedback.shape[1]):
                    if i < past:
                        value += feedback[row, i] * column[row - 1 - i]
                    elif i == past + before - 1:
                        value += feedback[row, i]
                column[row] = value
                bands[(c // BAND * rows + row) * BAND + c % BAND] = value
                quiet = quiet + 1 if abs(value) < FADED else 0
                past += 1


@compiled
def products(data, rows, bands, wanted, gram):
    """Compute the rows ``wanted`` of the Gram matrix, shape (columns, columns), over the samples that count.

    ``rows`` is their number in all stretches; ``bands`` has the columns, from :func:`linearise`.
    """
    # Each sum runs over time in order. BAND columns meet TILE others at a time; all of their sums stay in registers.
    n, sums, places = gram.shape[1], np.empty(TILE * BAND), np.zeros(TILE, np.int64)
    for i in range(0, wanted.shape[0], TILE):
        for r in range(TILE):
            c = wanted[min(i + r, wanted.shape[0] - 1)]
            places[r] = c // BAND * rows * BAND + c % BAND
        for first in range(0, n, BAND):
            a = b = c = d = fill(0.0, BAND)
            right = first * rows
            for s in range(data.begin.shape[0]):
                skipped = data.row[s] - data.begin[s]
                for k in range((data.counted[s] + skipped) * BAND, (data.end[s] + skipped) * BAND, BAND):
                    x = load(bands, right + k, BAND)
                    a = a + x * fill(at(bands, at(places, 0) + k), BAND)
                    b = b + x * fill(at(bands, at(places, 1) + k), BAND)
                    c = c + x * fill(at(bands, at(places, 2) + k), BAND)
                    d = d + x * fill(at(bands, at(places, 3) + k), BAND)
            store(sums, 0, a)
            store(sums, BAND, b)
            store(sums, 2 * BAND, c)
            store(sums, 3 * BAND, d)
            for r in range(min(TILE, wanted.shape[0] - i)):
                for j in range(min(BAND, n - first)):
                    gram[wanted[i + r], first + j] = sums[r * BAND + j]


@compiled
def squares(data, rows, bands, diagonal):
    """Compute the inner product of each column with itself over the samples that count, shape (columns,)."""
    sums = np.empty(BAND)
    for first in range(0, diagonal.shape[0], BAND):
        total = fill(0.0, BAND)
        for s in range(data.begin.shape[0]):
            skipped = data.row[s] - data.begin[s]
            for k in range((data.counted[s] + skipped) * BAND, (data.end[s] + skipped) * BAND, BAND):
                x = load(bands, first * rows + k, BAND)
                total = total + x * x
        store(sums, 0, total)
        for j in range(min(BAND, diagonal.shape[0] - first)):
            diagonal[first + j] = sums[j]


@compiled
def linearise(data, output_error, terms, weights, moving, values, errors, chosen, depth, bands):
    """Compute the sensitivities of the predictions to the weights of the candidates ``chosen``, at a model.

    The arguments before that are those of :func:`innovations`, after it. ``depth`` is ``data.depth``, or 0 to leave out
    the outputs before each stretch. ``bands`` receives columns, bands of :data:`BAND` of them one behind the other:
    those of the candidates, of the weights of the moving average, of the outputs before each stretch, and the
    innovations.
    """
    order = moving.shape[0]
    if output_error:
        order = 0
        for i in range(terms.shape[0]):
            for f in range(data.lags.shape[1]):
                order = max(order, data.lags[terms[i], f])
    feedback = np.empty((errors.shape[0], order))
    _feedback(data, output_error, terms, weights, moving, values, feedback)
    _sensitivities(data, chosen, values, feedback, bands)
    _append(data, moving, feedback, errors, chosen.shape[0], depth, bands)


@compiled
def solve(gram, n, step):
    """Solve the normal equations of n columns for the one behind them, by a Cholesky factor in place.

    A column that depends on those before it gets 0. ``gram`` has n + 1 rows; its lower half is written over.
    """
    regular = np.empty(n, np.bool_)
    for j in range(n + 1):
        pivot = gram[j, j]
        for i in range(j, n + 1):
            for k in range(j):
                if regular[k]:
                    gram[i, j] -= gram[i, k] * gram[j, k]
        if j < n:
            regular[j] = gram[j, j] > SINGULAR * pivot
            inverse = 1.0 / np.sqrt(gram[j, j]) if regular[j] else 0.0
            for i in range(j, n + 1):
                gram[i, j] *= inverse
    for j in range(n - 1, -1, -1):
        value = gram[n, j]
        for k in range(j + 1, n):
            if regular[k]:
                value -= gram[k, j] * step[k]
        step[j] = value / gram[j, j] if regular[j] else 0.0


@compiled
def columns_size(rows, columns):
    """Return how many doubles bands of so many columns have."""
    return -(-columns // BAND) * BAND * rows


@compiled
def gauss_newton(data, output_error, terms, weights, moving, values, errors):
    """Fit the weights of a structure by least squares of its innovations, ``errors`` of shape (rows,).

    ``weights``, ``moving`` and ``values``, as for :func:`innovations`, say where to begin, and receive what was found.

    Returns the sum of squares of :func:`innovations`; +inf if the model to begin with diverges, or is not stable.
    """
    n, order, rows = terms.shape[0], moving.shape[0], errors.shape[0]
    depth = data.depth if output_error else 0
    free = n + order
    size = free + data.begin.shape[0] * depth
    bands, gram = aligned(columns_size(rows, size + 1)), np.empty((size + 1, size + 1))
    step, wanted = np.empty(size), np.empty(size + 1, np.int64)
    for c in range(size + 1):
        wanted[c] = c
    new_weights, new_moving, new_errors = np.empty(n), np.empty(order), np.empty(rows)
    new_values = np.empty(values.shape[0])
    _copy(values, new_values)
    if not stable(moving):
        return np.inf
    sse = innovations(data, output_error, terms, weights, moving, values, errors)
    if not sse < np.inf:
        return np.inf
    for _ in range(ITERATIONS):
        linearise(data, output_error, terms, weights, moving, values, errors, terms, depth, bands)
        products(data, rows, bands, wanted, gram)
        for c in range(free, size):
            k = data.begin[(c - free) // depth] - 1 - (c - free) % depth
            gram[c, c] += 1.0
            gram[size, c] += data.values[k] - values[k]
        if not _finite(gram):
            return sse
        solve(gram, size, step)
        share, lower = 1.0, np.inf
        for _ in range(SHORTENINGS):
            for i in range(n):
                new_weights[i] = weights[i] + share * step[i]
            for i in range(order):
                new_moving[i] = moving[i] + share * step[n + i]
            for c in range(free, size):
                k = data.begin[(c - free) // depth] - 1 - (c - free) % depth
                new_values[k] = values[k] + share * step[c]
            if stable(new_moving):
                lower = innovations(data, output_error, terms, new_weights, new_moving, new_values, new_errors)
                if lower < sse:
                    break
            share *= SHORTER
        if not lower < sse:
            break
        converged = sse - lower < CONVERGED * sse
        sse = lower
        _copy(new_weights, weights)
        _copy(new_moving, moving)
        _copy(new_errors, errors)
        _copy(new_values, values)
        if converged:
            break
    return sse


@compiled
def covariances(data, bands, n, errors, freedom, bandwidth, classical, robust):
    """Compute the covariance of n weights from their sensitivities, ``bands``, at the end of :func:`gauss_newton`.

    ``freedom`` is the number of samples that count less that of the weights. ``classical``, shape (n, n), receives s^2
    H^-1, H being the Gauss-Newton Hessian S'S and s^2 the variance of the innovations; ``robust`` H^-1 M H^-1, M being
    the sum of autocovariances of S(k) e(k) with the weights 1 - lag / (bandwidth + 1) (W. K. Newey and K. D. West,
    Econometrica 55, 1987, pages 703-708).
    """
    rows = errors.shape[0]
    gram, unit = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    step, inverse, middle = np.empty(n), np.empty((n, n)), np.zeros((n, n))
    wanted = np.empty(n, np.int64)
    for c in range(n):
        wanted[c] = c
    products(data, rows, bands, wanted, gram)
    for j in range(n):
        for i in range(n):
            _copy(gram[i], unit[i])
            unit[n, i] = 1.0 if i == j else 0.0
        unit[n, n] = 0.0
        solve(unit, n, step)
        _copy(step, inverse[j])
    sse, now, before = 0.0, np.empty(n), np.empty(n)
    for s in range(data.begin.shape[0]):
        skipped = data.row[s] - data.begin[s]
        first = data.counted[s] + skipped
        for row in range(first, data.end[s] + skipped):
            sse += errors[row] * errors[row]
            for j in range(n):
                now[j] = bands[(j // BAND * rows + row) * BAND + j % BAND] * errors[row]
            for lag in range(min(bandwidth, row - first) + 1):
                past, share = row - lag, 1.0 - lag / (bandwidth + 1.0)
                for j in range(n):
                    before[j] = bands[(j // BAND * rows + past) * BAND + j % BAND] * errors[past]
                for i in range(n):
                    for j in range(n):
                        product = now[i] * before[j]
                        middle[i, j] += share * (product if lag == 0 else product + before[i] * now[j])
    for i in range(n):
        for j in range(n):
            classical[i, j] = inverse[i, j] * sse / freedom
            total = 0.0
            for a in range(n):
                for b in range(n):
                    total += inverse[i, a] * middle[a, b] * inverse[j, b]
            robust[i, j] = total
