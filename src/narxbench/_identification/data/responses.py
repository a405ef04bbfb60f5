"""Signs of an effect of an input on the output, and samples of the output that are disturbances."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.linalg import solve_toeplitz

from narxbench._identification.data.sampling import STEPS, autocorrelation
from narxbench._identification.data.signals import MOST_SAMPLES, NEGLIGIBLE, SAMPLES_PER_WEIGHT, SMALL, inputs, outputs
from narxbench._model.records import Record, Recording

Array = NDArray[np.float64]

# Order of an autoregression, enough for an input that is held for two correlation times of a well-sampled output, and
# the longest dead time that is looked for.
MOST_ORDER, MOST_LAGS = 2 * STEPS, 5 * STEPS
# Smaller correlations do not show an effect: they remain from the input's own correlation, however long the record.
LEAST_RESPONSE = 0.03


class Response(NamedTuple):
    """Correlations of the output with the innovations of a power of an input, at lag 0, 1, …"""

    correlations: Array
    band: Array  # correlations within it may be chance
    changes: float  # the effective number of changes of the power
    power: int

    def first(self) -> int:
        """Return the first lag outside the band, or the number of lags."""
        outside = np.abs(self.correlations) > self.band
        return int(np.argmax(outside)) if outside.any() else len(outside)


def responses(recording: Recording) -> dict[str, list[Response]]:
    """Return the signs of an effect of each input on the output, by its column. A constant input has none."""
    # A disturbance of the measurement in all signals at once is not an effect of one on another.
    y = [record.y - deviation for record, deviation in outliers(recording)[0]]
    responses_by_column = {}
    for place, column in enumerate(recording.inputs):
        responses_by_column[column] = _responses(inputs(recording.known, place), y)
    return responses_by_column


def outliers(recording: Recording) -> tuple[list[tuple[Record, Array]], float]:
    """Return by how much each sample of the output sticks out, 0 for most, and the limit for sticking out."""
    records = recording.known
    y = outputs(records)
    deviations = list(map(_deviation_from_median, y))
    # The peak of a smooth oscillation is above the median, but close to its neighbours.
    sizes = list(map(np.minimum, map(np.abs, deviations), map(_bend, y)))
    limit = _limit_of_outliers(np.concatenate(y), sizes)
    unexplained = _unexplained(records)
    unexplained_limit = _spread(unexplained, 6.0)
    outlying = []
    for record, size, rest, deviation in zip(records, sizes, unexplained, deviations, strict=True):
        is_outlier = (size > limit) & (rest > unexplained_limit) & ~_after_jumps(record.u, 15)
        outlying.append((record, np.where(is_outlier, deviation, 0.0)))
    return outlying, limit


def _deviation_from_median(y: Array) -> Array:
    """Return the difference of each sample from the median of 7 samples around it."""
    windows = sliding_window_view(np.pad(y, 3, mode="edge"), 7)
    deviation: Array = y - np.median(windows, axis=1)
    return deviation


def _bend(y: Array) -> Array:
    """Return how far each sample is from the mean of its two neighbours."""
    padded = np.pad(y, 1, mode="edge")
    bend: Array = np.abs(padded[1:-1] - 0.5 * (padded[:-2] + padded[2:]))
    return bend


def _limit_of_outliers(y: Array, sizes: list[Array]) -> float:
    """Return the limit for sticking out: by the noise, the resolution and the range of the output."""
    levels = np.unique(y)
    quantum = 0.0
    if 1 < len(levels) < len(y) / 4:
        quantum = float(np.median(np.diff(levels)))
    reach = float(np.subtract(*np.percentile(y, [99, 1])))
    return max(_spread(sizes, 8.0), 2.5 * quantum, SMALL * reach)


def _spread(sizes: list[Array], times: float) -> float:
    """Return a multiple of the standard deviation of values of these sizes, from their median."""
    return times * 1.4826 * float(np.median(np.concatenate(sizes)))


def _unexplained(records: Sequence[Record]) -> list[Array]:
    """Return the size of the residual of a rough model of y: of its last two values, and powers of u at lag 0 to 3."""
    standard = standard_inputs(records)
    stride = -(-sum(map(len, records)) // MOST_SAMPLES)
    columns = []
    for record, u in zip(records, standard, strict=True):
        columns.append(np.column_stack([term[::stride] for term in _rough_terms(record, u)]))
    y = np.concatenate([record.y[::stride] for record in records])
    weights = np.linalg.lstsq(np.vstack(columns), y, rcond=1e-10)[0]
    sizes = []
    for record, u in zip(records, standard, strict=True):
        rest = record.y.copy()
        for weight, term in zip(weights, _rough_terms(record, u), strict=True):
            rest -= weight * term
        sizes.append(np.abs(rest))
    return sizes


def _rough_terms(record: Record, standard: Array) -> Iterator[Array]:
    """Yield the terms of a rough model of y one by one: together they would take many times the memory of a record."""
    yield np.ones(len(record))
    yield from (_lagged(record.y, 1), _lagged(record.y, 2))
    for u, lag, power in product(standard.T, range(4), (1, 2, 3)):
        yield _lagged(u, lag) ** power


def _lagged(signal: Array, lag: int) -> Array:
    """Return a signal that is ``lag`` samples late, with its first sample repeated before it."""
    return np.pad(signal, (lag, 0), mode="edge")[: len(signal)]


def standard_inputs(records: Sequence[Record]) -> list[Array]:
    """Return the inputs of each record, moved and scaled to within -1 and 1, where their powers stay."""
    u = np.vstack([record.u for record in records])
    mean = u.mean(axis=0)
    reach = np.abs(u - mean).max(axis=0, initial=0.0)
    return [(record.u - mean) / np.where(reach > 0.0, reach, 1.0) for record in records]


def _after_jumps(u: Array, reach: int) -> NDArray[np.bool_]:
    """Return which samples follow a jump of an input that is at rest most of the time."""
    after = np.zeros(len(u), np.bool_)
    for signal in u.T:
        moves = np.abs(np.diff(signal, prepend=signal[:1]))
        jumps = moves > NEGLIGIBLE * np.ptp(signal)
        if jumps.any() and np.mean(moves < 0.01 * np.ptp(signal)) > 0.5:
            # The record may begin in the middle of a response.
            jumps[0] = True
            after |= np.convolve(jumps, np.ones(reach))[: len(u)] > 0.5
    return after


def _responses(u: list[Array], y: list[Array]) -> list[Response]:
    """Return the signs of an effect of u on y: of u and its square, in y without the past of u, and without its own."""
    all_u = np.concatenate(u)
    mean = float(all_u.mean())
    reach = float(np.abs(all_u - mean).max()) or 1.0
    most_lags = min(MOST_LAGS, max(map(len, u)) // 4)
    input_responses = []
    y_predictor = _predictor(y)
    for power in (1, 2):
        signal = [((piece - mean) / reach) ** power for piece in u]
        u_predictor = _predictor(signal)
        new = _filtered(signal, u_predictor)
        # A signal that its past predicts up to rounding has no innovations.
        if _energy(new) <= 1e-8 * sum(float(np.sum((piece - piece.mean()) ** 2)) for piece in signal):
            continue
        changes = float(_energy(new) ** 2 / sum(np.sum(piece**4) for piece in new))
        for predictor in (u_predictor, y_predictor):
            filtered_y = _filtered(y, predictor)
            if _energy(new) * _energy(filtered_y) > 0.0:
                correlations, band = _correlations_and_band(new, filtered_y, most_lags)
                input_responses.append(Response(correlations, band, changes, power))
    return input_responses


def _correlations_and_band(new: list[Array], y: list[Array], most_lags: int) -> tuple[Array, Array]:
    """Return the correlations of y with the innovations of an input, and their band."""
    energy = float(np.sqrt(_energy(new) * _energy(y)))
    sums, squares = np.zeros(most_lags + 1), np.zeros(most_lags + 1)
    for a, b in zip(new, y, strict=True):
        n_lags = min(most_lags + 1, len(a))
        sums[:n_lags] += _correlated(a, b)[:n_lags]
        squares[:n_lags] += np.maximum(0.0, _correlated(a**2, b**2)[:n_lags])
    # Few large products, of an input that changes seldom or a disturbance of all signals, mean little.
    band = np.maximum(1.0 / np.sqrt(sum(map(len, new))), np.sqrt(squares) / energy)
    return sums / energy, np.maximum(4.0 * band, LEAST_RESPONSE)


def _energy(pieces: list[Array]) -> np.float64:
    """Return the sum of the squares of a signal."""
    energy = np.float64(0.0)
    for piece in pieces:
        energy = np.float64(energy + piece @ piece)
    return energy


def _correlated(a: Array, b: Array) -> Array:
    """Return the sums of the products of a with b 0, 1, … samples later, for signals of the same length."""
    size = next_fast_len(2 * len(a) - 1, real=True)
    sums: Array = irfft(np.conj(rfft(a, size)) * rfft(b, size), size)
    return sums[: len(a)]


def _predictor(pieces: list[Array]) -> Array:
    """Return the filter whose output is the residual of an autoregression of a signal."""
    r = autocorrelation(pieces)
    order = min(MOST_ORDER, sum(map(len, pieces)) // SAMPLES_PER_WEIGHT, len(r) - 1)
    if order < 1:
        return np.ones(1)
    # A little white noise keeps the equations solvable for a signal that its past predicts exactly.
    weights = solve_toeplitz(r[:order] + 1e-9 * (np.arange(order) == 0), r[1 : order + 1])
    return np.concatenate([[1.0], -weights])


def _filtered(pieces: list[Array], predictor: Array) -> list[Array]:
    """Return the filtered pieces, zero where the filter begins, so that all stay aligned."""
    filtered_pieces = []
    for piece in pieces:
        filtered = np.convolve(piece - piece.mean(), predictor)[: len(piece)]
        filtered[: len(predictor) - 1] = 0.0
        filtered_pieces.append(filtered)
    return filtered_pieces
