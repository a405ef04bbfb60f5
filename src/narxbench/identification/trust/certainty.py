"""How sure each term is: selection frequencies, and structures side by side."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from narxbench.analysis.metrics import selection_frequency

_FREQUENCY = ("count", "runs", "frequency", "low", "high")


def selection_table(
    candidates: Sequence[str],
    runs: Sequence[Sequence[str]],
    resampled: Sequence[Sequence[str]],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return how often each term was chosen: over the seeds of the search, and over resamples of the data.

    There is one row for each candidate (in canonical order) that was ever chosen, the one most frequent over resamples
    first (over seeds where nothing was resampled). Columns: ``term`` and, for ``seed`` and ``resample``,
    ``<of>_count``, ``<of>_runs``, ``<of>_frequency``, ``<of>_low``, ``<of>_high``. None stands for the frequency of no
    runs, and for the interval of fewer than two.

    The intervals are Wilson's. They cover what the frequency would be with any number of seeds, or of resamples, on
    these same data, and show whether enough were made. They do not cover what another experiment would give: seeds see
    the same data, and resamples are no independent data sets. They leave the selection records as they are too.
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
    """Return three structures side by side, each with its terms in canonical order, and how two of them came about.

    ``"best"`` is the one of lowest J. ``"threshold"`` has the terms whose frequency over resamples (over seeds where
    nothing was resampled) reaches the threshold; where none does, the most frequent ones, as many as the best has.
    ``"most_frequent"`` is the structure that came up most often as a whole. Of equally frequent ones it is the best if
    that is among them, else the first in canonical order.

    The runs are all structures found, over seeds and resamples. How two came about: ``threshold`` and ``source``
    (``"resamples"`` or ``"seeds"``) of the frequencies, whether any term ``reached`` it, and how often (``count``) of
    all ``searches`` the last came up.
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
