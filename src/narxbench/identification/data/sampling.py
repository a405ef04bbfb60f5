"""Whether data are sampled faster than a model needs, and which stride to take.

Samples that follow each other too fast are nearly equal: the candidate terms become collinear, and the one-step
prediction is good for any model. The rule is that of Billings and Aguirre (1995), Effects of the sampling time on the
dynamics and identification of nonlinear models, International Journal of Bifurcation and Chaos 5 (6): tau_m, the
smaller one of the first minima of the autocovariances of y(k) and y(k)^2, shall be 10 to 20 steps, at least 5 to 25.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from narxbench.model.records import Recording

STEPS, FEWEST_STEPS, MOST_STEPS = 20, 5, 25
LEAST_SAMPLES = 60
# An input that is held for m samples loses q / (3 m) of its variance: this allows strides up to 0.6 m.
MOST_LOST = 0.2
# A dip or a correlation of less than this is taken for none.
NEGLIGIBLE = 0.05

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """The stride that the correlation of the output asks for, and what limits it, in samples."""

    advised: int  # 1 where the data are to be used as they are
    candidates: tuple[int, ...]  # a few that deserve a comparison, ascending: 1 and the advised one are among them
    wanted: int = 1  # what the output alone asks for
    # What made the advised stride smaller: the input changes too fast, or too few samples would stay.
    limit: Literal["", "input", "length"] = ""
    first_minimum: int | None = None  # tau_m; None for a constant output
    # What was found at tau_m: a minimum, a correlation that has decayed, or, as there is neither, its first zero.
    seen_as: Literal["minimum", "decay", "zero", "none"] = "none"
    correlations: dict[str, list[float]] = field(default_factory=dict)  # of y and y^2 at lag, for a figure


def plain(values: Array) -> list[float]:
    """Return values for a figure, of 5 digits."""
    return [float(f"{value:.5g}") for value in values]


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and end of each run of true entries."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def autocorrelation(pieces: list[Array]) -> Array:
    """Return the autocorrelation of a signal over several records, each less its own mean; no product spans two.

    It is given at lag 0, 1, … up to half of the longest record, biased, and empty for a constant signal.
    """
    centred = [piece - piece.mean() for piece in pieces]
    # What rounding leaves of the mean of a constant is no signal.
    if not any(np.abs(c).max() > 1e-12 * np.abs(p).max() for c, p in zip(centred, pieces, strict=True)):
        return np.empty(0)
    reach = max(float(np.abs(c).max()) for c in centred)
    sums = np.zeros(max(map(len, centred)) // 2 + 1)
    for piece in (c / reach for c in centred):
        size = next_fast_len(2 * len(piece), real=True)
        spectrum = rfft(piece, size)
        products = irfft(spectrum.real**2 + spectrum.imag**2, size)[: min(len(sums), len(piece))]
        sums[: len(products)] += products
    correlation: Array = sums / sums[0]
    return correlation


def advised_decimations(recording: Recording) -> Sampling:
    """Return which strides suit the data, seen from all records but those of role test.

    A stride over 1 is advised only where output and inputs are slow: between two samples of the stride a straight line
    must give each input, up to a fifth of its variance. For y(k) depends on each sample of a white input.
    """
    records = recording.known
    outputs = {"y": [record.y for record in records], "y^2": [record.y**2 for record in records]}
    correlations = {name: autocorrelation(pieces) for name, pieces in outputs.items()}
    samples = sum(map(len, records))
    found = [_first_minimum(r, samples) for r in correlations.values() if len(r) > 2]
    if not found:
        return Sampling(1, (1,))
    tau, seen_as = min(found)
    wanted = max(1, round(tau / STEPS)) if tau > MOST_STEPS else 1
    inputs = [autocorrelation([record.u[:, i] for record in records]) for i in range(len(recording.inputs))]
    by_length = max(1, samples // LEAST_SAMPLES)
    by_input = min((_largest_stride(r, 2 * wanted) for r in inputs if len(r)), default=2 * wanted)
    advised = min(wanted, by_length, by_input)
    limit: Literal["", "input", "length"] = "" if advised == wanted else "input" if by_input <= by_length else "length"
    candidates = {1, advised}
    if advised > 1:
        candidates |= {(advised + 1) // 2, min(advised + (advised + 1) // 2, by_length, by_input)}
    shown = np.unique(np.linspace(0, min(3 * tau + 20, len(correlations["y"]) - 1), 200).astype(np.int64))
    figure: dict[str, list[float]] = {"lag": shown.tolist()}
    figure |= {name: plain(r[shown]) for name, r in correlations.items() if len(r)}
    return Sampling(advised, tuple(sorted(candidates)), wanted, limit, tau, seen_as, figure)


def _first_minimum(r: Array, samples: int) -> tuple[int, Literal["minimum", "decay", "zero"]]:
    """Return the lag of the first minimum that is no ripple, or of what stands for it."""
    noise = 1.0 / np.sqrt(samples)
    # The correlation of white noise in y drops at lag 1; it is this part that makes ripple.
    depth = max(NEGLIGIBLE, 4.0 * noise * float(np.sqrt(max(0.0, 1.0 - r[1] ** 2))))
    risen = np.flatnonzero(r > np.minimum.accumulate(r) + depth)
    minimum = int(np.argmin(r[: risen[0]])) if len(risen) else None
    # Decayed: it stays small for as long again. An oscillation crosses zero, but is at its minimum then.
    small = np.append(np.abs(r) < max(NEGLIGIBLE, 2.0 * noise), False)
    next_large = np.minimum.accumulate(np.where(small, len(r), np.arange(len(r) + 1))[::-1])[::-1][:-1]
    lags = np.arange(len(r))
    decayed = np.flatnonzero(small[:-1] & (next_large > 2 * lags) & (2 * lags < len(r)))
    if len(decayed) and (minimum is None or decayed[0] < minimum):
        return int(decayed[0]), "decay"
    if minimum is not None:
        return minimum, "minimum"
    # The biased correlation sums to less than zero over all lags; over half of them it may stay above.
    below = np.flatnonzero(r < 0.0)
    return int(below[0]) if len(below) else len(r) - 1, "zero"


def _largest_stride(r: Array, most: int) -> int:
    """Return the largest stride, up to ``most``, whose samples represent an input of this autocorrelation."""
    most = min(most, len(r) - 1)
    for stride in range(2, most + 1):
        after = np.arange(stride)
        w = after / stride
        # The share of the variance that straight lines between every so many samples miss.
        lost = 1.0 + (1.0 - w) ** 2 + w**2 + 2.0 * w * (1.0 - w) * r[stride]
        lost -= 2.0 * (1.0 - w) * r[after] + 2.0 * w * r[stride - after]
        if float(lost.mean()) > MOST_LOST:
            return stride - 1
    return max(1, most)
