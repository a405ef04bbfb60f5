"""How often searches chose a term: with other random draws, and on resampled data.

Searches with other draws show what depends on the draws rather than on the data. Searches of resampled data suppose
nothing about the noise. They serve where no probability can be given, or where the innovations are not white, so that
probabilities are too sure (:mod:`narxbench._identification.trust.probabilities`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from narxbench._numerics.intervals import selection_frequency

_FREQUENCY = ("count", "runs", "frequency", "low", "high")


def selection_table(
    candidates: Sequence[str],
    runs: Sequence[Sequence[str]],
    resampled: Sequence[Sequence[str]],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return how often each term was chosen, over seeds and resamples: a row for each candidate that ever was.

    Columns are ``term`` and, for ``seed`` and ``resample``, ``<of>_count``, ``_runs``, ``_frequency``, ``_low`` and
    ``_high``. Wilson's intervals show whether enough searches were made on these same data, and not what another
    experiment gives.
    """
    seed_counts, resample_counts = _counts(runs), _counts(resampled)
    leading = resample_counts if resampled else seed_counts
    chosen = [term for term in candidates if term in seed_counts or term in resample_counts]
    rows = []
    for term in sorted(chosen, key=lambda term: -leading[term]):
        of_seeds = _frequency(seed_counts[term], len(runs), confidence)
        of_resamples = _frequency(resample_counts[term], len(resampled), confidence)
        rows.append([term, *of_seeds, *of_resamples])
    columns = ["term", *map("_".join, product(("seed", "resample"), _FREQUENCY))]
    # As objects, None is not turned into NaN.
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _counts(structures: Sequence[Sequence[str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for structure in structures:
        counts.update(set(structure))
    return counts


def _frequency(count: int, runs: int, confidence: float) -> tuple[float | None, ...]:
    if not runs:
        return count, runs, None, None, None
    value, low, high = selection_frequency(count, runs, confidence)
    return (count, runs, value, low, high) if runs > 1 else (count, runs, value, None, None)


def frequent_structures(
    table: pd.DataFrame,
    candidates: Sequence[str],
    best: Sequence[str],
    resampled: Sequence[Sequence[str]],
    threshold: float = 0.5,
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return structures by how often resampled data led to them, and how they came about.

    Terms are in canonical order. ``threshold`` has the terms whose frequency reaches it, or the most frequent ones, as
    many as the ``best`` structure has. ``most_frequent`` came up most often as a whole. Without resampled data there is
    no structure.
    """
    if not resampled:
        return {}, {}
    position = {term: i for i, term in enumerate(candidates)}
    counts: Counter[tuple[int, ...]] = Counter()
    for terms in filter(None, resampled):
        counts[tuple(sorted({position[term] for term in terms}))] += 1
    of_best = tuple(sorted(position[term] for term in best))
    common = min(counts, key=lambda chosen: (-counts[chosen], chosen != of_best, chosen), default=of_best)
    often = frequent_terms(table, threshold)
    about = {
        "threshold": threshold,
        "is_reached": bool(often),
        "count": counts[common],
        "searches": len(resampled),
    }
    often = often or table["term"].tolist()[: len(best)] or list(best)
    structures = {
        "threshold": sorted(often, key=position.__getitem__),
        "most_frequent": [candidates[i] for i in common],
    }
    return structures, about


def frequent_terms(table: pd.DataFrame, threshold: float) -> list[str]:
    """Return the terms that at least this share of the resampled data sets led to."""
    frequencies = resample_frequencies(table)
    return [term for term, frequency in frequencies.items() if frequency >= threshold]


def resample_frequencies(table: pd.DataFrame) -> Mapping[str, float]:
    """Return the share of the resampled data sets that led to each term of a selection table; none without these."""
    pairs = zip(table["term"], table["resample_frequency"], strict=True)
    return {term: frequency for term, frequency in pairs if frequency is not None}
