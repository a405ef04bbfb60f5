"""How sure each term is: selection frequencies, and structures side by side."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from narxbench.numerics.intervals import selection_frequency

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
    sources = {"seed": runs, "resample": resampled}
    counts = {of: Counter(term for run in found for term in set(run)) for of, found in sources.items()}
    leading = counts["resample" if resampled else "seed"]
    chosen = [term for term in candidates if any(term in count for count in counts.values())]
    rows = [
        [term, *(value for of in sources for value in _frequency(counts[of][term], len(sources[of]), confidence))]
        for term in sorted(chosen, key=lambda term: -leading[term])
    ]
    # As objects, None is not turned into NaN.
    names = ["term", *(f"{of}_{name}" for of in sources for name in _FREQUENCY)]
    return pd.DataFrame(rows, columns=names, dtype=object)


def _frequency(count: int, runs: int, confidence: float) -> tuple[float | None, ...]:
    value, low, high = selection_frequency(count, runs, confidence) if runs else (None, None, None)
    return count, runs, value, *((low, high) if runs > 1 else (None, None))


def structures(
    table: pd.DataFrame,
    candidates: Sequence[str],
    best: Sequence[str],
    runs: Sequence[Sequence[str]],
    threshold: float = 0.5,
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return three structures, each with its terms in canonical order, and how the last two came about.

    ``best`` has the lowest J. ``threshold`` has the terms whose frequency over resamples (else over seeds) reaches it,
    or the most frequent ones, as many as the best has. ``most_frequent`` came up most often as a whole, among all the
    ``runs``.
    """
    position = {term: i for i, term in enumerate(candidates)}
    found: Counter[tuple[int, ...]] = Counter(tuple(sorted({position[term] for term in run})) for run in runs if run)
    of_best = tuple(sorted(position[term] for term in best))
    common = min(found, key=lambda chosen: (-found[chosen], chosen != of_best, chosen), default=of_best)
    source = frequency_source(table)
    often = table["term"][[(share or 0) >= threshold for share in table[f"{source}_frequency"]]].tolist()
    made = {"threshold": threshold, "source": f"{source}s", "reached": bool(often)}
    made |= {"count": found[common], "searches": len(runs)}
    often = often or table["term"].tolist()[: len(best)] or list(best)
    return {
        "best": [candidates[i] for i in of_best],
        "threshold": sorted(often, key=position.__getitem__),
        "most_frequent": [candidates[i] for i in common],
    }, made


def frequency_source(table: pd.DataFrame) -> str:
    """Return what the frequencies of a selection table come from: ``resample``, or ``seed`` without resamples."""
    return "resample" if len(table) and table["resample_runs"].iloc[0] else "seed"
