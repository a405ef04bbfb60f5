"""The compiled parts of prediction error methods: innovations, their sensitivities, inner products, Gauss-Newton steps.

A structure explains y(k) by the sum f(k) of its terms. The rest is the noise, w(k) = y(k) - f(k). Where the noise
enters decides what the terms see:

- in the equation: measured past outputs;
- on the output: the past of the model's own free run x, f(k) = x(k).

The innovations are e(k) = D(q) / C(q) w(k), see :mod:`narxbench._model.noise_models`. The sensitivity of f(k) to the
weight of candidate j obeys, for all j with the same coefficients,

    S_j(k) = phi_j(k) + sum over i of a_i(k) S_j(k - i),

with a_i(k) = sum over j of theta_j dphi_j(k)/dx(k - i) where the noise is on the output, and 0 where it is in the
equation. The sensitivity of the prediction one step ahead, y(k) - e(k), is D(q) / C(q) S_j(k). In the sensitivities of
all candidates the choice of terms is, close to the present weights, one of linear regression.

Student-t innovations weigh each squared innovation by (nu + 1) / (nu + e(k)^2 / s^2), so that outliers count little.
The steps are those of scoring, by the information that is expected: (nu + 3) / (nu + 1) times those of weighted least
squares.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapters 7 and 10; K. L. Lange, R. J.
A. Little and J. M. G. Taylor, Robust statistical modeling using the t distribution, Journal of the American Statistical
Association 84, 1989, pages 881-896; E. J. Hannan and J. Rissanen, Biometrika 69, 1982, pages 81-94.

The module is long because its functions are compiled into one another, and share the layout of their arrays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._fitness.kernel.simd import WIDTH, aligned, at, fill, load, store
from narxbench._numerics.compilation import compiled, inlined, inner
from narxbench._numerics.logarithm import natural_log

# Columns that are side by side, and columns whose products with them are computed together.
BAND, TILE = 2 * WIDTH, 4
# A Gauss-Newton iteration ends after this many steps at the latest.
ITERATIONS = 25
# Steps that do not lower the objective are shortened, at most so often.
SHORTER, SHORTENINGS = 0.3, 8
# The zeros of C(q) stay inside of this radius, and those of D(q) inside of the second: innovations forget where they
# began. Drift is slow, so the moving average of its steps may forget more slowly.
RADIUS, AR_RADIUS, DRIFT_RADIUS = 0.995, 0.9998, 0.998
# A sensitivity to the outputs before a stretch is zero below this.
FADED = 1e-9
# The scale of Student-t is known when it changes by less than this share, or after this many steps.
SCALE_KNOWN, SCALE_STEPS = 1e-10, 200
# A Newton step for the logarithm of the scale is short below this.
SHORT = 0.5
# Factors are multiplied up to here before a logarithm is taken of their product, far from what overflows.
LARGE = 1e100


class PredictionData(NamedTuple):
    """The signals of a data set, and where in them the factors of N_t candidate terms are, at most ``degree`` each.

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
    depth: int  # outputs before each stretch that are estimated where the noise is on the output; 0: as measured
    n_counted: int  # N, samples whose errors count
    floor: float  # a sum of squares below this is rounding


class NoiseParts(NamedTuple):
    """A noise model, as the kernel reads it."""

    on_output: bool
    is_integrated: bool
    ar_lags: NDArray[np.int64]  # lags of the free d_i
    ma_lags: NDArray[np.int64]  # lags of the free c_i
    degrees_of_freedom: float  # of Student-t; 0: Gaussian
    constant: float  # -2 times the logarithm of the likelihood of Student-t has this more for each sample
    start_share: float  # what the squares count that estimated outputs before a stretch differ by from measured ones


class State(NamedTuple):
    """The values of all free parameters of a noise model and a structure, and what follows from them.

    ``values`` is a copy of the signals that may differ in the outputs before each stretch; where the noise is on the
    output it receives the free run in place of the output.
    """

    weights: NDArray[np.float64]  # (n,) of the terms
    autoregression: NDArray[np.float64]  # d_1, d_2, ... up to the largest lag
    moving_average: NDArray[np.float64]  # c_1, c_2, ...
    values: NDArray[np.float64]
    noise: NDArray[np.float64]  # (rows,) w(k), its differences if the noise is integrated
    innovations: NDArray[np.float64]  # (rows,)
    row_weights: NDArray[np.float64]  # (rows,) of the squared innovations; ones if they are Gaussian
    scale: NDArray[np.float64]  # (1,) the squared scale of Student-t


@inner
def _copy(source, target):
    # Loops compile in a tenth of the time that assignments of whole arrays take.
    for i in range(source.shape[0]):
        target[i] = source[i]


@inlined
def _finite(matrix):
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += abs(matrix[i, j])
    return total < np.inf


@compiled
def stable(coefficients, radius):
    """Return whether the zeros of 1 + c_1 q^-1 + ... are inside of a radius, by the step-down recursion."""
    order, power = coefficients.shape[0], 1.0
    a, b = np.empty(order), np.empty(order)
    for i in range(order):
        power *= radius
        a[i] = coefficients[i] / power
    for n in range(order, 0, -1):
        reflection = a[n - 1]
        if not abs(reflection) < 1.0:
            return False
        for i in range(n - 1):
            b[i] = (a[i] - reflection * a[n - 2 - i]) / (1.0 - reflection * reflection)
        for i in range(n - 1):
            a[i] = b[i]
    return True


@inner
def is_admissible(noise, state):
    """Return whether the zeros of C(q) and D(q) are where innovations forget where they began."""
    radius = DRIFT_RADIUS if noise.is_integrated else RADIUS
    return stable(state.moving_average, radius) and stable(state.autoregression, AR_RADIUS)


@inlined
def _noise_of(data, on_output, terms, weights, values, noise):
    # Computes w(k) and returns the squares that outputs before the stretches differ by, +inf where the model diverges.
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
            if on_output:
                if not abs(predicted) <= data.bound:
                    return np.inf
                values[k] = predicted
            noise[row] = data.values[k] - predicted
            row += 1
    return total


@inner
def _difference_stretch(data, s, series):
    # The first sample of a stretch has none before it: the level of the noise there is unknown.
    first = data.row[s]
    last = first + data.end[s] - data.begin[s] - 1
    for row in range(last, first, -1):
        series[row] -= series[row - 1]
    series[first] = 0.0


@inner
def _difference(data, series):
    for s in range(data.begin.shape[0]):
        _difference_stretch(data, s, series)


@inner
def _filter_stretch(data, s, autoregression, moving_average, series, filtered):
    # filtered = D(q) / C(q) series, from zero at the beginning of the stretch, with D(q) without the integration.
    row = data.row[s]
    for past in range(data.end[s] - data.begin[s]):
        value = series[row]
        for i in range(min(autoregression.shape[0], past)):
            value += autoregression[i] * series[row - 1 - i]
        for i in range(min(moving_average.shape[0], past)):
            value -= moving_average[i] * filtered[row - 1 - i]
        filtered[row] = value
        row += 1


@inner
def _filter(data, autoregression, moving_average, series, filtered):
    for s in range(data.begin.shape[0]):
        _filter_stretch(data, s, autoregression, moving_average, series, filtered)


@inlined
def _squares_of(data, series):
    total = 0.0
    for s in range(data.begin.shape[0]):
        skipped = data.row[s] - data.begin[s]
        for row in range(data.counted[s] + skipped, data.end[s] + skipped):
            total += series[row] * series[row]
    return total


@inlined
def _student_scale(data, nu, innovations, scale):
    # The squared scale of highest likelihood, from one to begin with: there the weighted squares are N times the scale.
    # Newton steps for its logarithm where they are short, else those of the EM algorithm, which always lead there.
    least = data.floor / data.n_counted
    scale = max(scale, least)
    for _ in range(SCALE_STEPS):
        total, slope = 0.0, 0.0
        for s in range(data.begin.shape[0]):
            skipped = data.row[s] - data.begin[s]
            for row in range(data.counted[s] + skipped, data.end[s] + skipped):
                square = innovations[row] * innovations[row]
                share = square / (nu * scale + square)
                total += share
                slope += share * (1.0 - share)
        ratio, slope = total * (nu + 1.0) / data.n_counted, slope * (nu + 1.0) / data.n_counted
        step = (ratio - 1.0) / slope if slope > 0.0 else np.inf
        following = max(scale * (1.0 + step if abs(step) < SHORT else ratio), least)
        is_known = abs(following - scale) <= SCALE_KNOWN * scale
        scale = following
        if is_known:
            break
    return scale


@inner
def _student(data, noise, state, start_squares):
    # Computes the scale and the weights of Student-t, and returns -2 times the logarithm of the likelihood, less the
    # N (ln(2 pi) + 1) that a Gaussian one has beside N ln(SSE / N).
    nu = noise.degrees_of_freedom
    scale = _student_scale(data, nu, state.innovations, state.scale[0])
    total, product = start_squares / scale, 1.0
    for row in range(state.innovations.shape[0]):
        state.row_weights[row] = (nu + 1.0) / (nu + state.innovations[row] * state.innovations[row] / scale)
    for s in range(data.begin.shape[0]):
        skipped = data.row[s] - data.begin[s]
        for row in range(data.counted[s] + skipped, data.end[s] + skipped):
            product *= 1.0 + state.innovations[row] * state.innovations[row] / (nu * scale)
            # One logarithm of many factors.
            if product > LARGE:
                total += (nu + 1.0) * natural_log(product)
                product = 1.0
    total += (nu + 1.0) * natural_log(product)
    state.scale[0] = scale
    return data.n_counted * (natural_log(scale) + noise.constant) + total


@compiled
def objective(data, noise, terms, state):
    """Compute noise, innovations and their weights for the coefficients of a state.

    Returns what Gauss-Newton steps lower, +inf where the model diverges. That is the sum of squared innovations over
    the samples that count, or -2 times the logarithm of the likelihood of Student-t but for N (ln(2 pi) + 1).
    """
    start_squares = _noise_of(data, noise.on_output, terms, state.weights, state.values, state.noise)
    if not start_squares < np.inf:
        return np.inf
    start_squares *= noise.start_share
    if noise.is_integrated:
        _difference(data, state.noise)
    _filter(data, state.autoregression, state.moving_average, state.noise, state.innovations)
    total = _squares_of(data, state.innovations) + start_squares
    if not total < np.inf:
        return np.inf
    if noise.degrees_of_freedom > 0.0:
        return _student(data, noise, state, start_squares)
    return total


@inner
def _feedback(data, terms, weights, values, feedback):
    # a_i(k) of every row, shape (rows, largest i).
    for row in range(feedback.shape[0]):
        for i in range(feedback.shape[1]):
            feedback[row, i] = 0.0
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


@inlined
def _sensitivities(data, chosen, values, feedback, bands):
    # S_j of some candidates, a band of them side by side. Too many columns of a band are written over by _append.
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


@inlined
def _filter_bands(data, is_integrated, autoregression, moving_average, rows, n, bands):
    # The first n columns, each behind D(q) / C(q), in place: what looks back to columns as they were goes backwards.
    for first in range(0, n, BAND):
        for s in range(data.begin.shape[0]):
            begin = (first // BAND * rows + data.row[s]) * BAND
            samples = data.end[s] - data.begin[s]
            if is_integrated:
                for past in range(samples - 1, 0, -1):
                    to = begin + past * BAND
                    store(bands, to, load(bands, to, BAND) - load(bands, to - BAND, BAND))
                store(bands, begin, fill(0.0, BAND))
            if autoregression.shape[0] > 0:
                for past in range(samples - 1, 0, -1):
                    to = begin + past * BAND
                    column = load(bands, to, BAND)
                    for i in range(min(autoregression.shape[0], past)):
                        column = column + fill(autoregression[i], BAND) * load(bands, to - (i + 1) * BAND, BAND)
                    store(bands, to, column)
            if moving_average.shape[0] > 0:
                for past in range(1, samples):
                    to = begin + past * BAND
                    column = load(bands, to, BAND)
                    for i in range(min(moving_average.shape[0], past)):
                        column = column - fill(moving_average[i], BAND) * load(bands, to - (i + 1) * BAND, BAND)
                    store(bands, to, column)


@inner
def _put(data, s, column, c, bands):
    # Column c receives the rows of a stretch.
    rows = column.shape[0]
    for row in range(data.row[s], data.row[s] + data.end[s] - data.begin[s]):
        bands[(c // BAND * rows + row) * BAND + c % BAND] = column[row]


@inner
def _put_delayed(data, series, lag, sign, c, bands):
    # Column c is a series of the past, and zero where the stretch has none.
    rows = series.shape[0]
    for s in range(data.begin.shape[0]):
        for past in range(data.end[s] - data.begin[s]):
            row = data.row[s] + past
            value = sign * series[row - lag] if past >= lag else 0.0
            bands[(c // BAND * rows + row) * BAND + c % BAND] = value


@inlined
def _start_column(data, s, before, feedback, column):
    # The sensitivity of a stretch to the output this many samples before it. It fades to zero.
    for row in range(data.row[s], data.row[s] + data.end[s] - data.begin[s]):
        column[row] = 0.0
    past, quiet = 0, 0
    while past < data.end[s] - data.begin[s] and quiet <= feedback.shape[1] + data.depth:
        row, value = data.row[s] + past, 0.0
        for i in range(feedback.shape[1]):
            if i < past:
                value += feedback[row, i] * column[row - 1 - i]
            elif i == past + before - 1:
                value += feedback[row, i]
        column[row] = value
        quiet = quiet + 1 if abs(value) < FADED else 0
        past += 1


@inlined
def _append(data, noise, state, feedback, n, depth, bands):
    # Behind n columns: those of the free d_i and c_i, which are noise and innovations of the past behind 1 / C(q);
    # those of the outputs before each stretch; and the innovations.
    rows, c = state.innovations.shape[0], n
    nothing, filtered, column = np.empty(0), np.empty(rows), np.empty(rows)
    last = n + noise.ar_lags.shape[0] + noise.ma_lags.shape[0] + data.begin.shape[0] * depth
    for lane in range(n, -(-(last + 1) // BAND) * BAND):
        for row in range(rows):
            bands[(lane // BAND * rows + row) * BAND + lane % BAND] = 0.0
    if noise.ar_lags.shape[0] > 0:
        _filter(data, nothing, state.moving_average, state.noise, filtered)
        for i in range(noise.ar_lags.shape[0]):
            _put_delayed(data, filtered, noise.ar_lags[i], -1.0, c, bands)
            c += 1
    if noise.ma_lags.shape[0] > 0:
        _filter(data, nothing, state.moving_average, state.innovations, filtered)
        for i in range(noise.ma_lags.shape[0]):
            _put_delayed(data, filtered, noise.ma_lags[i], 1.0, c, bands)
            c += 1
    for s in range(data.begin.shape[0]):
        for before in range(1, depth + 1):
            _start_column(data, s, before, feedback, column)
            if noise.is_integrated:
                _difference_stretch(data, s, column)
            _filter_stretch(data, s, state.autoregression, state.moving_average, column, filtered)
            _put(data, s, filtered, c, bands)
            c += 1
    for s in range(data.begin.shape[0]):
        _put(data, s, state.innovations, c, bands)


@inlined
def _weigh_rows(row_weights, columns, bands):
    rows = row_weights.shape[0]
    for row in range(rows):
        factor = fill(np.sqrt(row_weights[row]), BAND)
        for band in range(-(-columns // BAND)):
            to = (band * rows + row) * BAND
            store(bands, to, factor * load(bands, to, BAND))


@compiled
def linearise(data, noise, terms, state, chosen, depth, bands):
    """Compute the sensitivities of the predictions to the weights of the candidates ``chosen``, at a state.

    The state is that of :func:`objective`. ``depth`` is ``data.depth``, or 0 to leave out the outputs before each
    stretch. ``bands`` receives columns, bands of :data:`BAND` of them one behind the other: those of the candidates, of
    the free d_i and c_i, of the outputs before each stretch, and the innovations. All are multiplied by the square
    roots of the weights of their rows.
    """
    rows, order = state.innovations.shape[0], 0
    if noise.on_output:
        for i in range(terms.shape[0]):
            for f in range(data.lags.shape[1]):
                order = max(order, data.lags[terms[i], f])
    feedback = np.empty((rows, order))
    if order > 0:
        _feedback(data, terms, state.weights, state.values, feedback)
    _sensitivities(data, chosen, state.values, feedback, bands)
    n = chosen.shape[0]
    _filter_bands(data, noise.is_integrated, state.autoregression, state.moving_average, rows, n, bands)
    _append(data, noise, state, feedback, n, depth, bands)
    if noise.degrees_of_freedom > 0.0:
        columns = n + noise.ar_lags.shape[0] + noise.ma_lags.shape[0] + data.begin.shape[0] * depth + 1
        _weigh_rows(state.row_weights, columns, bands)


@inner
def _tile_products(data, bands, places, right, first, last, sums):
    # The products of the TILE columns at ``places`` with the band at ``right`` over the stretches from first to last.
    # Each sum runs over time in order, and all of them stay in registers.
    a = b = c = d = fill(0.0, BAND)
    for s in range(first, last):
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


@compiled
def products(data, rows, bands, wanted, gram):
    """Compute the rows ``wanted`` of the Gram matrix, shape (columns, columns), over the samples that count.

    ``rows`` is their number in all stretches; ``bands`` has the columns, from :func:`linearise`.
    """
    n, sums, places = gram.shape[1], np.empty(TILE * BAND), np.zeros(TILE, np.int64)
    for i in range(0, wanted.shape[0], TILE):
        for r in range(TILE):
            c = wanted[min(i + r, wanted.shape[0] - 1)]
            places[r] = c // BAND * rows * BAND + c % BAND
        for first in range(0, n, BAND):
            _tile_products(data, bands, places, first * rows, 0, data.begin.shape[0], sums)
            for r in range(min(TILE, wanted.shape[0] - i)):
                for j in range(min(BAND, n - first)):
                    gram[wanted[i + r], first + j] = sums[r * BAND + j]


@inner
def _stretches_of(data, first, last, free, size):
    # The first and behind the last of the stretches where some of the columns from first to last are not zero.
    if first < free or last > size:
        return 0, data.begin.shape[0]
    return (first - free) // data.depth, (last - 1 - free) // data.depth + 1


@inlined
def normal_equations(data, rows, bands, free, gram):
    """Compute the lower half of the Gram matrix of all columns from :func:`linearise`, over the samples that count.

    Behind the first ``free`` columns are those of the outputs before each stretch, which are zero in all other
    stretches, and last the innovations. The sums are those of :func:`products`.
    """
    size, sums, places = gram.shape[0] - 1, np.empty(TILE * BAND), np.zeros(TILE, np.int64)
    for i in range(0, size + 1, TILE):
        last = min(i + TILE, size + 1)
        for r in range(TILE):
            c = min(i + r, size)
            places[r] = c // BAND * rows * BAND + c % BAND
        left_begin, left_end = _stretches_of(data, i, last, free, size)
        for first in range(0, last, BAND):
            begin, end = _stretches_of(data, first, min(first + BAND, size + 1), free, size)
            _tile_products(data, bands, places, first * rows, max(begin, left_begin), min(end, left_end), sums)
            for r in range(last - i):
                for j in range(min(BAND, i + r + 1 - first)):
                    gram[i + r, first + j] = sums[r * BAND + j]


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
    """Return how many doubles the bands of a number of columns have."""
    return -(-columns // BAND) * BAND * rows


@inner
def _step(data, noise, state, step, share, following):
    # The coefficients of a state after a share of a step.
    n, c = state.weights.shape[0], 0
    for i in range(n):
        following.weights[i] = state.weights[i] + share * step[i]
    c = n
    for i in range(noise.ar_lags.shape[0]):
        lag = noise.ar_lags[i] - 1
        following.autoregression[lag] = state.autoregression[lag] + share * step[c]
        c += 1
    for i in range(noise.ma_lags.shape[0]):
        lag = noise.ma_lags[i] - 1
        following.moving_average[lag] = state.moving_average[lag] + share * step[c]
        c += 1
    for i in range(step.shape[0] - c):
        k = data.begin[i // data.depth] - 1 - i % data.depth
        following.values[k] = state.values[k] + share * step[c + i]
    following.scale[0] = state.scale[0]


@inner
def _take(source, target):
    for i in range(source.weights.shape[0]):
        target.weights[i] = source.weights[i]
    _copy(source.autoregression, target.autoregression)
    _copy(source.moving_average, target.moving_average)
    _copy(source.values, target.values)
    _copy(source.noise, target.noise)
    _copy(source.innovations, target.innovations)
    _copy(source.row_weights, target.row_weights)
    _copy(source.scale, target.scale)


@inlined
def _start_equations(data, noise, state, first, gram):
    # Outputs before a stretch count as measured with noise: each is one more square of the objective.
    size = gram.shape[0] - 1
    share = noise.start_share
    if noise.degrees_of_freedom > 0.0:
        share /= state.scale[0]
    for c in range(first, size):
        k = data.begin[(c - first) // data.depth] - 1 - (c - first) % data.depth
        gram[c, c] += share
        gram[size, c] += share * (data.values[k] - state.values[k])


@inlined
def _divide(matrix, divisor):
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] /= divisor


@inlined
def _shortened_step(data, noise, terms, state, step, value, following):
    # Takes a step into ``following``, shortened until it lowers the objective below ``value``. Returns the objective.
    # Weighted rows have (nu + 3) / (nu + 1) times the information that is expected of Student-t innovations.
    nu, lower = noise.degrees_of_freedom, np.inf
    share = (nu + 3.0) / (nu + 1.0) if nu > 0.0 else 1.0
    for _ in range(SHORTENINGS):
        _step(data, noise, state, step, share, following)
        if is_admissible(noise, following):
            lower = objective(data, noise, terms, following)
            if lower < value:
                break
        share *= SHORTER
    return lower


@compiled
def gauss_newton(data, noise, terms, state, following, tolerance):
    """Fit all free parameters of a structure and a noise model, beginning with ``state``, which receives them.

    ``following`` is another state of the same shapes, to work in. The iteration ends when the deviance falls by less
    than ``tolerance`` for each sample. Returns the objective of :func:`objective`; +inf if
    the model to begin with diverges, or is not admissible.
    """
    rows, n = state.innovations.shape[0], terms.shape[0]
    depth = data.depth if noise.on_output else 0
    free = n + noise.ar_lags.shape[0] + noise.ma_lags.shape[0]
    size = free + data.begin.shape[0] * depth
    bands, gram = aligned(columns_size(rows, size + 1)), np.zeros((size + 1, size + 1))
    step = np.empty(size)
    if not is_admissible(noise, state):
        return np.inf
    value = objective(data, noise, terms, state)
    if not value < np.inf:
        return np.inf
    _take(state, following)
    for _ in range(ITERATIONS):
        linearise(data, noise, terms, state, terms, depth, bands)
        normal_equations(data, rows, bands, free, gram)
        if noise.degrees_of_freedom > 0.0:
            # The objective is in units of the scale, as its start is.
            _divide(gram, state.scale[0])
        _start_equations(data, noise, state, free, gram)
        if not _finite(gram):
            return value
        solve(gram, size, step)
        lower = _shortened_step(data, noise, terms, state, step, value, following)
        if not lower < value:
            break
        unit = value if noise.degrees_of_freedom == 0.0 else float(data.n_counted)
        is_converged = value - lower < tolerance * unit
        value = lower
        _take(following, state)
        if is_converged:
            break
    return value


@compiled
def lagged_products(data, first_series, second_series, orders, row_weights, gram):
    """Compute the inner products of the past of two series, and of the first one with them.

    ``gram``, shape (p + q + 1, p + q + 1), has the first series at the lags 1 to p, then the second at the lags 1 to q,
    and last the first one itself; of it the lower half is computed. ``orders`` is (p, q).
    """
    p, q = orders
    n = p + q + 1
    column = np.empty(n)
    for i in range(n):
        for j in range(n):
            gram[i, j] = 0.0
    for s in range(data.begin.shape[0]):
        first = data.row[s] + max(p, q, data.counted[s] - data.begin[s])
        for row in range(first, data.row[s] + data.end[s] - data.begin[s]):
            for lag in range(1, p + 1):
                column[lag - 1] = first_series[row - lag]
            for lag in range(1, q + 1):
                column[p + lag - 1] = second_series[row - lag]
            column[n - 1] = first_series[row]
            for i in range(n):
                value = row_weights[row] * column[i]
                for j in range(i + 1):
                    gram[i, j] += value * column[j]


@compiled
def whitened(data, autoregression, moving_average, noise, innovations):
    """Compute innovations of a noise, D(q) / C(q) w(k), both of shape (rows,)."""
    _filter(data, autoregression, moving_average, noise, innovations)


@compiled
def regressions(gram, energy, columns, sizes, weights, errors):
    """Explain the last column of ``gram`` by each of some sets of the others.

    Row i of ``columns`` names the columns of set i, ``sizes[i]`` of them. ``weights``, of the same shape, receives
    their weights, and ``errors`` what is left of ``energy``.
    """
    last = gram.shape[0] - 1
    for i in range(columns.shape[0]):
        n = sizes[i]
        equations = np.empty((n + 1, n + 1))
        for a in range(n + 1):
            row = columns[i, a] if a < n else last
            for b in range(a + 1):
                equations[a, b] = gram[row, columns[i, b] if b < n else last]
        solve(equations, n, weights[i, :n])
        errors[i] = energy
        for a in range(n):
            errors[i] -= weights[i, a] * gram[last, columns[i, a]]


@inlined
def _autocovariances(data, bands, n, errors, bandwidth, total):
    # Adds the autocovariances of S(k) e(k) with their weights to ``total``, shape (n, n).
    rows = errors.shape[0]
    now, before = np.empty(n), np.empty(n)
    for s in range(data.begin.shape[0]):
        skipped = data.row[s] - data.begin[s]
        first = data.counted[s] + skipped
        for row in range(first, data.end[s] + skipped):
            for j in range(n):
                now[j] = bands[(j // BAND * rows + row) * BAND + j % BAND] * errors[row]
            for lag in range(min(bandwidth, row - first) + 1):
                past, share = row - lag, 1.0 - lag / (bandwidth + 1.0)
                for j in range(n):
                    before[j] = bands[(j // BAND * rows + past) * BAND + j % BAND] * errors[past]
                for i in range(n):
                    for j in range(n):
                        product = now[i] * before[j]
                        total[i, j] += share * (product if lag == 0 else product + before[i] * now[j])


@compiled
def covariances(data, bands, n, errors, variance, bandwidth, classical, robust):
    """Compute the covariance of n weights from their sensitivities, ``bands``, at the end of :func:`gauss_newton`.

    ``classical``, shape (n, n), receives s^2 H^-1, H being the Gauss-Newton Hessian S'S and s^2 the ``variance`` of the
    ``errors``; ``robust`` H^-1 M H^-1, M being the sum of autocovariances of S(k) e(k) with the weights
    1 - lag / (bandwidth + 1) (W. K. Newey and K. D. West, Econometrica 55, 1987, pages 703-708).
    """
    rows = errors.shape[0]
    gram, unit = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    step, inverse, middle = np.empty(n), np.empty((n, n)), np.zeros((n, n))
    columns = np.empty(n, np.int64)
    for c in range(n):
        columns[c] = c
    products(data, rows, bands, columns, gram)
    for j in range(n):
        for i in range(n):
            _copy(gram[i], unit[i])
            unit[n, i] = 1.0 if i == j else 0.0
        unit[n, n] = 0.0
        solve(unit, n, step)
        _copy(step, inverse[j])
    _autocovariances(data, bands, n, errors, bandwidth, middle)
    for i in range(n):
        for j in range(n):
            classical[i, j] = inverse[i, j] * variance
            total = 0.0
            for a in range(n):
                for b in range(n):
                    total += inverse[i, a] * middle[a, b] * inverse[j, b]
            robust[i, j] = total
