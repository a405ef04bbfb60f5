"""Signs of an effect of an input on the output, and samples of the output that are none."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.linalg import solve_toeplitz

from narxbench.identification.data.sampling import autocorrelation
from narxbench.model.records import Record, Recording

Array = NDArray[np.float64]

# Of an autoregression: enough for an input that is held for as many samples.
MOST_ORDER = 40
LEAST_RESPONSE = 0.03


class Response(NamedTuple):
    """Correlations of the output with what is new in a power of an input at lag 0, 1, …, their band, its changes."""

    correlations: Array
    band: Array
    changes: float
    power: int

    def first(self) -> int:
        """Return the first lag outside the band, or the number of lags."""
        outside = np.abs(self.correlations) > self.band
        return int(np.argmax(outside)) if outside.any() else len(outside)


def responses(recording: Recording) -> dict[str, list[Response]]:
    """Return the signs of an effect of each input on the output, by its column; of some inputs nothing can."""
    # A disturbance of the measurement may be in all signals at once, which is no effect of one on another.
    y = [record.y - away for record, away in outliers(recording)[0]]
    pieces = {name: [record.u[:, i] for record in recording.known] for i, name in enumerate(recording.inputs)}
    return {name: _responses(u, y) for name, u in pieces.items()}


def outliers(recording: Recording) -> tuple[list[tuple[Record, Array]], float]:
    """Return by how much each sample of the output sticks out, 0 for most, and what counts as sticking out."""
    records = recording.known
    around = [sliding_window_view(np.pad(record.y, 3, mode="edge"), 7) for record in records]
    away = [record.y - np.median(windows, axis=1) for record, windows in zip(records, around, strict=True)]
    # The peak of a smooth oscillation lies above the median, but close to its neighbours.
    padded = [np.pad(record.y, 1, mode="edge") for record in records]
    bend = [np.abs(p[1:-1] - 0.5 * (p[:-2] + p[2:])) for p in padded]
    least = [np.minimum(np.abs(a), b) for a, b in zip(away, bend, strict=True)]
    y = np.concatenate([record.y for record in records])
    levels = np.unique(y)
    quantum = float(np.median(np.diff(levels))) if 1 < len(levels) < len(y) / 4 else 0.0
    reach = float(np.subtract(*np.percentile(y, [99, 1])))
    limit = max(_spread(least, 8.0), 2.5 * quantum, 0.1 * reach)
    unexplained = _unexplained(records)
    most = _spread(unexplained, 6.0)
    wrong = [
        (size > limit) & (left > most) & ~_after_jumps(record.u, 15)
        for record, size, left in zip(records, least, unexplained, strict=True)
    ]
    return [(r, np.where(w, a, 0.0)) for r, w, a in zip(records, wrong, away, strict=True)], limit


def _spread(sizes: list[Array], times: float) -> float:
    """Return a multiple of the standard deviation of values of these sizes, from their median."""
    return times * 1.4826 * float(np.median(np.concatenate(sizes)))


def _unexplained(records: Sequence[Record]) -> list[Array]:
    """Return the size of what a rough model leaves of y: its last two values, and powers of u at lag 0 to 3."""
    rows = []
    for record, inputs in zip(records, standard_inputs(records), strict=True):
        padded = [np.pad(signal, (3, 0), mode="edge") for signal in (record.y, *inputs.T)]
        lagged = [padded[0][3 - lag : len(padded[0]) - lag] for lag in (1, 2)]
        for u in padded[1:]:
            lagged += [u[3 - lag : len(u) - lag] ** power for lag in range(4) for power in (1, 2, 3)]
        rows.append(np.column_stack([np.ones(len(record)), *lagged]))
    weights = np.linalg.lstsq(np.vstack(rows), np.concatenate([r.y for r in records]), rcond=1e-10)[0]
    return [np.abs(record.y - row @ weights) for record, row in zip(records, rows, strict=True)]


def standard_inputs(records: Sequence[Record]) -> list[Array]:
    """Return the inputs of each record, moved and scaled to within -1 and 1, so that their powers are too."""
    u = np.vstack([record.u for record in records])
    mean = u.mean(axis=0)
    reach = np.abs(u - mean).max(axis=0, initial=0.0)
    return [(record.u - mean) / np.where(reach > 0.0, reach, 1.0) for record in records]


def _after_jumps(u: Array, reach: int) -> NDArray[np.bool_]:
    """Return which samples follow a jump of an input that is at rest most of the time."""
    after = np.zeros(len(u), np.bool_)
    for signal in u.T:
        moves = np.abs(np.diff(signal, prepend=signal[:1]))
        jumps = moves > 0.05 * np.ptp(signal)
        if jumps.any() and np.mean(moves < 0.01 * np.ptp(signal)) > 0.5:
            # The record may begin in the middle of an answer.
            jumps[0] = True
            after |= np.convolve(jumps, np.ones(reach))[: len(u)] > 0.5
    return after


def _responses(u: list[Array], y: list[Array]) -> list[Response]:
    """Return the signs of an effect of u on y: of u and its square, in y less the past of u, and less its own."""
    mean = float(np.concatenate(u).mean())
    reach = max(float(np.abs(piece - mean).max()) for piece in u) or 1.0
    most = min(100, max(map(len, u)) // 4)
    found = []
    y_predictor = _predictor(y)
    for power in (1, 2):
        signal = [((piece - mean) / reach) ** power for piece in u]
        predictor = _predictor(signal)
        new = _filtered(signal, predictor)
        # What its past foretells but for rounding has nothing new.
        if not most or sum(p @ p for p in new) <= 1e-8 * sum(float(np.sum((p - p.mean()) ** 2)) for p in signal):
            continue
        changes = float(sum(p @ p for p in new) ** 2 / sum(np.sum(p**4) for p in new))
        for answer in (_filtered(y, predictor), _filtered(y, y_predictor)):
            energy = float(np.sqrt(sum(p @ p for p in new) * sum(p @ p for p in answer)))
            if energy > 0.0:
                c, squares = np.zeros(most + 1), np.zeros(most + 1)
                for a, b in zip(new, answer, strict=True):
                    there = min(most + 1, len(a))
                    c[:there] += _correlated(a, b)[:there]
                    squares[:there] += np.maximum(0.0, _correlated(a**2, b**2)[:there])
                # Few large products, of an input that changes seldom or a disturbance of all signals, mean little.
                band = np.maximum(1.0 / np.sqrt(sum(map(len, new))), np.sqrt(squares) / energy)
                # What is left of an input's own correlation, however long the record, is no effect.
                found.append(Response(c / energy, np.maximum(4.0 * band, LEAST_RESPONSE), changes, power))
    return found


def _correlated(a: Array, b: Array) -> Array:
    """Return the sums of the products of a with what b is 0, 1, … samples later, of signals of the same length."""
    size = next_fast_len(2 * len(a) - 1, real=True)
    found: Array = irfft(np.conj(rfft(a, size)) * rfft(b, size), size)
    return found[: len(a)]


def _predictor(pieces: list[Array]) -> Array:
    """Return the filter to what an autoregression leaves of a signal."""
    r = autocorrelation(pieces)
    order = min(MOST_ORDER, sum(map(len, pieces)) // 20, len(r) - 1)
    if order < 1:
        return np.ones(1)
    # A little white noise keeps the equations solvable for a signal that its past foretells exactly.
    weights = solve_toeplitz(r[:order] + 1e-9 * (np.arange(order) == 0), r[1 : order + 1])
    return np.concatenate([[1.0], -weights])


def _filtered(pieces: list[Array], predictor: Array) -> list[Array]:
    """Return the filtered pieces, zero where the filter begins, so that all stay aligned."""
    found = [np.convolve(piece - piece.mean(), predictor)[: len(piece)] for piece in pieces]
    for piece in found:
        piece[: len(predictor) - 1] = 0.0
    return found
