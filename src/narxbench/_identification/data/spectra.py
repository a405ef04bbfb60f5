"""Spectra of measured signals, and how linearly the output follows each input at each frequency.

Welch's method: segments of all records, half over one another, each less its mean and under a Hann window. The chance
limit of a coherence counts 9 of 11 segments as independent, as P. D. Welch, The use of fast Fourier transform for the
estimation of power spectra, IEEE Transactions on Audio and Electroacoustics 15 (2), 1967, finds for half overlaps.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.fft import rfft

from narxbench._identification.data.signals import NEGLIGIBLE, all_signals
from narxbench._model.records import Recording
from narxbench._numerics.intervals import LEVEL

Array = NDArray[np.float64]

# Samples of a segment at most, a power of two, and segments in the longest record, as pwelch of MATLAB has them.
MOST_LENGTH, SEGMENTS = 1024, 8


@dataclass(frozen=True)
class Spectra:
    """Spectra of all signals of a recording.

    Attributes
    ----------
    frequencies : array of float
        In cycles per sample, up to a half, without zero.
    powers : mapping of str to array
        The share of the power of each signal that changes at each frequency, by its name.
    coherences : mapping of str to array
        The share of the power of the output that follows linearly from each input, at each frequency. It is biased
        upwards.
    chance : float
        The coherence that two unrelated signals exceed at one frequency of twenty.
    """

    frequencies: Array
    powers: Mapping[str, Array]
    coherences: Mapping[str, Array]
    chance: float

    def reach(self, name: str) -> float | None:
        """Return the frequency below which a signal has 95 % of its power, or None if it is constant."""
        if name not in self.powers:
            return None
        place = int(np.searchsorted(np.cumsum(self.powers[name]), 1.0 - NEGLIGIBLE))
        return float(self.frequencies[min(place, len(self.frequencies) - 1)])


def spectra(recording: Recording) -> Spectra | None:
    """Return the spectra of the known records, or None if all are too short for a few segments."""
    records = all_signals(recording.known)
    length = MOST_LENGTH
    while length * SEGMENTS > 2 * max(map(len, records)):
        length //= 2
    # A segment resolves at least as many frequencies as there are segments.
    if length < 2 * SEGMENTS:
        return None
    transforms = np.concatenate([_transforms(values, length) for values in records if len(values) >= length])
    # The output comes first. A constant signal has rounding errors alone.
    sizes = np.abs(np.vstack(records)).max(axis=0)
    powers = np.sum(np.abs(transforms) ** 2, axis=0)
    names = [recording.output, *recording.inputs]
    shares, coherences = {}, {}
    for place, name in enumerate(names):
        total = float(powers[:, place].sum())
        if total <= (1e-12 * float(sizes[place])) ** 2 * transforms.size:
            continue
        shares[name] = powers[:, place] / total
        if place and recording.output in shares:
            common = np.abs(np.sum(np.conj(transforms[:, :, 0]) * transforms[:, :, place], axis=0)) ** 2
            product = powers[:, 0] * powers[:, place]
            coherences[name] = common / np.where(product > 0.0, product, 1.0)
    n_independent = 9 * len(transforms) / 11
    chance = 1.0 - LEVEL ** (1.0 / max(1.0, n_independent - 1.0))
    return Spectra(np.arange(1, length // 2 + 1) / length, shares, coherences, chance)


def _transforms(values: Array, length: int) -> NDArray[np.complex128]:
    """Return the Fourier transforms of the segments of signals in columns, shape (segments, frequencies, signals)."""
    segments = sliding_window_view(values, length, axis=0)[:: length // 2]
    window = np.hanning(length + 1)[:-1]
    centred = segments - segments.mean(axis=-1, keepdims=True)
    transforms: NDArray[np.complex128] = rfft(centred * window, axis=-1)[..., 1:]
    return transforms.swapaxes(1, 2)
