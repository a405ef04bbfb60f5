"""Performance metrics over the runs of one condition: selection frequency and spurious terms (paper, section IV-C)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Selections = NDArray[np.bool_]


class Interval(NamedTuple):
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


def significant(value: float, digits: int = 12) -> float:
    """Return a number rounded to significant digits: what is stored must not hang on the C library's last bit."""
    return float(f"{value:.{digits}g}")


def selections(structures: Sequence[Iterable[int]], candidates: int) -> Selections:
    """Return which candidate terms (columns) each run's structure (rows, indexes of its terms) holds."""
    selected = np.zeros((len(structures), candidates), dtype=bool)
    for row, structure in zip(selected, structures, strict=True):
        row[list(structure)] = True
    return selected


@cache
def selection_frequency(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval, to 12 digits."""
    limits = stats.binomtest(count, runs).proportion_ci(confidence, method="wilson")
    return Interval(*map(significant, (count / runs, limits.low, limits.high)))


def spurious_terms(
    selected: Selections,
    is_system_term: NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> SpuriousTerms:
    """Return r and nu_max (paper, equations 13 and 14) with bootstrap intervals over runs, to 12 digits.

    r = n_spur / N_t counts the terms that at least one run chose wrongly. A resample of the runs holds fewer distinct
    runs, which makes its r too small and its nu_max too large; the resampled values are therefore centred on the
    observed one, and limits are clipped to [0, 1].

    Parameters
    ----------
    selected
        Which candidate terms each run chose; shape (runs, N_t).
    is_system_term
        Which candidate terms belong to the system; shape (N_t,).
    rng
        Generator of the resamples.
    confidence
        Level of the intervals.
    resamples
        Number of bootstrap samples.
    """
    runs, n_terms = selected.shape
    spurious = selected & ~is_system_term
    counts = spurious.sum(axis=0)
    picks = (rng.random((resamples, runs)) * runs).astype(np.int64)
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
    limits = min(value, max(0.0, low / scale)), max(value, min(1.0, high / scale))
    return Interval(*map(significant, (value, *limits)))
