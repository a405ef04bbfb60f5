"""Performance metrics over the runs of one cell: selection frequency, spurious terms, final structure (paper, IV-C)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Selections = NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """An observed value with its confidence limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SpuriousTerms:
    """``ratio`` is r, ``frequency_max`` is nu_max, ``most_frequent`` the index of that term (None: there is none)."""

    ratio: Interval
    frequency_max: Interval
    most_frequent: int | None


def selections(structures: Iterable[Iterable[str]], candidates: Sequence[str]) -> Selections:
    """Return which candidate (columns) each run's structure (rows) holds."""
    chosen = [set(structure) for structure in structures]
    return np.array([[term in terms for term in candidates] for terms in chosen], dtype=bool)


def selection_frequency(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval."""
    # Rounded, because the last bit of the normal quantile depends on the C library's logarithm.
    z = round(NormalDist().inv_cdf(0.5 + confidence / 2), 12)
    nu, spread = count / runs, z * z / runs
    centre = (nu + spread / 2) / (1 + spread)
    half = z * math.sqrt(nu * (1 - nu) / runs + spread / (4 * runs)) / (1 + spread)
    return Interval(nu, centre - half if count > 0 else 0.0, centre + half if count < runs else 1.0)


def spurious_terms(
    selected: Selections,
    is_system_term: NDArray[np.bool_],
    draws: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> SpuriousTerms:
    """Return r and nu_max (paper, equations 13 and 14) with bootstrap intervals over runs.

    ``selected`` has shape (runs, N_t), ``is_system_term`` (N_t,). r = n_spur / N_t counts the terms that at least one
    run chose wrongly. A resample of the runs holds fewer distinct runs, which makes its r too small and its nu_max too
    large; the resampled values are therefore centred on the observed one, and limits are clipped to [0, 1].
    """
    runs, n_terms = selected.shape
    spurious = selected & ~is_system_term
    counts = spurious.sum(axis=0)
    picks = (draws.random((resamples, runs)) * runs).astype(np.int64)
    weights = np.zeros((resamples, runs), np.int64)
    np.add.at(weights, (np.arange(resamples)[:, None], picks), 1)
    resampled = weights @ spurious.astype(np.int64)
    return SpuriousTerms(
        ratio=_centred(int(np.count_nonzero(counts)), np.count_nonzero(resampled, axis=1), n_terms, confidence),
        frequency_max=_centred(int(counts.max()), resampled.max(axis=1), runs, confidence),
        most_frequent=int(counts.argmax()) if counts.any() else None,
    )


def _centred(observed: int, resampled: NDArray[np.int64], scale: int, confidence: float) -> Interval:
    # Whole numbers until the last division, so that no rounding depends on the order of a sum.
    shift = observed - int(resampled.sum()) / len(resampled)
    ordered = np.sort(resampled)
    tail = (1 - confidence) / 2
    low = int(ordered[math.floor(tail * (len(ordered) - 1))]) + shift
    high = int(ordered[math.ceil((1 - tail) * (len(ordered) - 1))]) + shift
    value = observed / scale
    return Interval(value, min(value, max(0.0, low / scale)), max(value, min(1.0, high / scale)))


def final_structure(counts: Sequence[int], runs: int, candidates: Sequence[str], threshold: float = 0.9) -> list[str]:
    """Return the terms whose selection frequency reaches the threshold (paper, section IV-C)."""
    # 36 of 40 reaches 0.9 although 0.9 * 40 is not a whole number in floating point.
    return [term for term, count in zip(candidates, counts, strict=True) if count >= threshold * runs - 1e-9]
