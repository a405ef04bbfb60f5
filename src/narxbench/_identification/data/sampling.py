"""Sampling of measured data: whether it is faster than a model needs, and which stride to take.

Samples that follow each other too fast are nearly equal: the candidate terms become collinear, and the one-step
prediction is good for any model. The rule is from Billings and Aguirre (1995), Effects of the sampling time on the
dynamics and identification of nonlinear models, International Journal of Bifurcation and Chaos 5 (6): tau_m, the
smaller one of the first minima of the autocovariances of y(k) and y(k)^2, shall be 10 to 20 steps, at least 5 to 25.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from narxbench._identification.data.signals import NEGLIGIBLE, inputs, outputs
from narxbench._model.records import Recording

# Steps that tau_m should be at most, and the least and the most that are usual (Billings and Aguirre).
STEPS, FEWEST_STEPS, MOST_STEPS = 20, 5, 25
# Samples that have to remain at a stride: three correlation times.
LEAST_SAMPLES = 3 * STEPS
# An input that is held for m samples loses q / (3 m) of its variance: this allows strides up to 0.6 m.
MOST_LOST = 0.2

Array = NDArray[np.float64]
Limit = Literal["", "input", "length"]
Evidence = Literal["minimum", "decay", "zero"]


@dataclass(frozen=True)
class Sampling:
    """The stride that the correlation of the output calls for, and what limits it, in samples."""

    advised: int  # 1 where the data are to be used as they are
    candidates: tuple[int, ...]  # a few that deserve a comparison, ascending: 1 and the advised one are among them
    by_output: int = 1  # the stride that the output alone calls for
    # The reason for a smaller advised stride: the input changes too fast, or too few samples would remain.
    limit: Limit = ""
    first_minimum: int | None = None  # tau_m, or None for a constant output
    # The evidence for tau_m: a minimum, a correlation that has decayed, or, as there is neither, its first zero.
    evidence: Evidence | Literal["none"] = "none"
    correlations: dict[str, list[float]] = field(default_factory=dict)  # of y and y^2 at lag, for a figure


def plain(values: Array) -> list[float]:
    """Return values for a figure, of 5 digits."""
    return [float(f"{value:.5g}") for value in values]


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and end of each run of true entries."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def autocorrelation(pieces: list[Array]) -> Array:
    """Return the biased autocorrelation of a signal over several records, each less its own mean.

    Its lags are 0, 1, … up to half of the longest record. No product spans two records, and the result is empty for a
    constant signal.
    """
    centred_pieces = [piece - piece.mean() for piece in pieces]
    if all(map(_is_rounding, centred_pieces, pieces)):
        return np.empty(0)
    reach = max(float(np.abs(centred).max()) for centred in centred_pieces)
    sums = np.zeros(max(map(len, centred_pieces)) // 2 + 1)
    for centred in centred_pieces:
        scaled = centred / reach
        size = next_fast_len(2 * len(scaled), real=True)
        spectrum = rfft(scaled, size)
        products = irfft(spectrum.real**2 + spectrum.imag**2, size)[: min(len(sums), len(scaled))]
        sums[: len(products)] += products
    correlation: Array = sums / sums[0]
    return correlation


def _is_rounding(centred: Array, piece: Array) -> bool:
    """Return whether rounding of the mean explains the rest of a signal: it is constant."""
    return not np.abs(centred).max() > 1e-12 * np.abs(piece).max()


def advised_decimations(recording: Recording) -> Sampling:
    """Return the strides that suit the data, by all records except the test.

    A stride over 1 is advised only where output and inputs are slow: between two samples of the stride a straight line
    must give each input, up to a fifth of its variance. For y(k) depends on each sample of a white input.
    """
    records = recording.known
    samples = sum(map(len, records))
    correlations = {
        "y": autocorrelation(outputs(records)),
        "y^2": autocorrelation([y**2 for y in outputs(records)]),
    }
    minima = [_first_minimum(r, samples) for r in correlations.values() if len(r) > 2]
    if not minima:
        return Sampling(1, (1,))
    tau, evidence = min(minima)
    by_output = max(1, round(tau / STEPS)) if tau > MOST_STEPS else 1
    by_length = max(1, samples // LEAST_SAMPLES)
    by_input = _largest_stride_of_inputs(recording, 2 * by_output)
    advised = min(by_output, by_length, by_input)
    limit: Limit = ""
    if advised < by_output:
        limit = "input" if by_input <= by_length else "length"
    candidates = {1, advised}
    if advised > 1:
        candidates |= {(advised + 1) // 2, min(advised + (advised + 1) // 2, by_length, by_input)}
    figure = _figure(correlations, 3 * tau + STEPS, by_output)
    return Sampling(advised, tuple(sorted(candidates)), by_output, limit, tau, evidence, figure)


def _figure(correlations: dict[str, Array], last_lag: int, stride: int) -> dict[str, list[float]]:
    """Return correlations at lags that are a stride apart, for a figure."""
    lags: NDArray[Any] = np.arange(0, min(last_lag + 1, len(correlations["y"])), stride)
    figure: dict[str, list[float]] = {"lag": lags.tolist()}
    for name, correlation in correlations.items():
        if len(correlation):
            figure[name] = plain(correlation[lags])
    return figure


def _first_minimum(r: Array, samples: int) -> tuple[int, Evidence]:
    """Return the lag of the first minimum that is not a ripple, or of what represents it."""
    noise = 1.0 / np.sqrt(samples)
    # The correlation of white noise in y drops at lag 1. Only this part makes ripple.
    depth = max(NEGLIGIBLE, 4.0 * noise * float(np.sqrt(max(0.0, 1.0 - r[1] ** 2))))
    risen = np.flatnonzero(r > np.minimum.accumulate(r) + depth)
    decayed = _decayed_lags(r, max(NEGLIGIBLE, 2.0 * noise))
    if len(risen):
        minimum = int(np.argmin(r[: risen[0]]))
        if not len(decayed) or decayed[0] >= minimum:
            return minimum, "minimum"
    if len(decayed):
        return int(decayed[0]), "decay"
    # The biased correlation sums to less than zero over all lags, but over half of them it may remain above.
    below = np.flatnonzero(r < 0.0)
    return int(below[0]) if len(below) else len(r) - 1, "zero"


def _decayed_lags(r: Array, negligible: float) -> NDArray[np.int64]:
    """Return the lags from which on a correlation stays small for as long again.

    An oscillation crosses zero, but is at its minimum then.
    """
    is_small = np.append(np.abs(r) < negligible, False)
    next_large = np.minimum.accumulate(np.where(is_small, len(r), np.arange(len(r) + 1))[::-1])[::-1][:-1]
    lags = np.arange(len(r))
    return np.flatnonzero(is_small[:-1] & (next_large > 2 * lags) & (2 * lags < len(r)))


def _largest_stride_of_inputs(recording: Recording, most: int) -> int:
    """Return the largest stride, up to ``most``, whose samples represent each input that changes."""
    largest = most
    for place in range(len(recording.inputs)):
        correlation = autocorrelation(inputs(recording.known, place))
        if len(correlation):
            largest = min(largest, _largest_stride(correlation, most))
    return largest


def _largest_stride(r: Array, most: int) -> int:
    """Return the largest stride, up to ``most``, whose samples represent an input of this autocorrelation."""
    most = min(most, len(r) - 1)
    for stride in range(2, most + 1):
        after = np.arange(stride)
        w = after / stride
        # The share of the variance that straight lines between samples this far apart miss.
        lost = 1.0 + (1.0 - w) ** 2 + w**2 + 2.0 * w * (1.0 - w) * r[stride]
        lost -= 2.0 * (1.0 - w) * r[after] + 2.0 * w * r[stride - after]
        if float(lost.mean()) > MOST_LOST:
            return stride - 1
    return max(1, most)
