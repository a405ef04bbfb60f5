"""How sure each term is: selection frequencies, and structures side by side."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from narxbench.analysis.metrics import selection_frequency


class Structures(NamedTuple):
    """Structures next to one another.

    Attributes
    ----------
    structures : dict of str to list of str
        Under ``"best"``, ``"threshold"`` and ``"most_frequent"`` terms in canonical order, at least one.
    made : dict
        How the last two came about: ``threshold`` and ``source`` (``"resamples"`` or ``"seeds"``) of the frequencies,
        whether any term ``reached`` it, and how often (``count``) of all ``searches`` the last came up.
    """

    structures: dict[str, list[str]]
    made: dict[str, Any]


def selection_table(
    candidates: Sequence[str],
    runs: Sequence[Sequence[str]],
    resampled: Sequence[Sequence[str]],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return how often each term was chosen: over the seeds of the search, and over resamples of the data.

    Parameters
    ----------
    candidates : sequence of str
        Candidate terms in canonical order.
    runs : sequence of sequence of str
        The terms that the search found with each seed; of a method that draws nothing at random just one run.
    resampled : sequence of sequence of str
        The terms that it found on each resample.
    confidence : float
        Confidence level of the intervals.

    Returns
    -------
    DataFrame
        One row for each candidate that was ever chosen, the one most frequent over resamples first (over seeds where
        nothing was resampled), those that are as frequent in canonical order. Columns: ``term`` and, for ``seed`` and
        ``resample``, ``<of>_count``, ``<of>_runs``, ``<of>_frequency``, ``<of>_low``, ``<of>_high``. None stands for
        the frequency of no runs, and for the interval of fewer than two.

    Notes
    -----
    The intervals are Wilson's. They cover what the frequency would be with any number of seeds, or of resamples, on
    these same data, and show whether enough were made. They do not cover what another experiment would give: seeds see
    the same data, and resamples are no independent data sets. They leave the selection records as they are too.

    Examples
    --------
    >>> table = selection_table(["1", "y(k-1)", "u(k-1)"], [["y(k-1)"]], [["1", "y(k-1)"], ["y(k-1)"]])
    >>> table[["term", "resample_frequency", "seed_low"]].values.tolist()
    [['y(k-1)', 1.0, None], ['1', 0.5, None]]
    """
    counts = {name: Counter(term for run in of for term in set(run)) for name, of in _sources(runs, resampled)}
    rows = []
    for term in candidates:
        if any(term in count for count in counts.values()):
            row: dict[str, Any] = {"term": term}
            for name, of in _sources(runs, resampled):
                row |= _frequency(name, counts[name][term], len(of), confidence)
            rows.append(row)
    leading = "resample_count" if resampled else "seed_count"
    rows.sort(key=lambda row: -row[leading])
    names = [
        "term",
        *(column for name, of in _sources(runs, resampled) for column in _frequency(name, 0, 0, confidence)),
    ]
    # As objects, None is not turned into NaN.
    return pd.DataFrame(rows, columns=names, dtype=object)


def structures(
    table: pd.DataFrame,
    candidates: Sequence[str],
    best: Sequence[str],
    runs: Sequence[Sequence[str]],
    threshold: float = 0.5,
) -> Structures:
    """Return three structures side by side.

    ``"best"`` is the one of lowest J. ``"threshold"`` has the terms whose frequency over resamples (over seeds where
    nothing was resampled) reaches the threshold; where none does, the most frequent ones, as many as the best has.
    ``"most_frequent"`` is the structure that came up most often as a whole. Of equally frequent ones it is the best if
    that is among them, else the first in canonical order.

    Parameters
    ----------
    table : DataFrame
        What :func:`selection_table` returns.
    candidates : sequence of str
        Candidate terms in canonical order.
    best : sequence of str
        The structure of lowest J, at least one term.
    runs : sequence of sequence of str
        All structures found, over seeds and resamples.
    threshold : float
        Smallest frequency, from 0 to 1.

    Examples
    --------
    >>> runs = [["1", "y(k-1)"], ["u(k-1)"], ["y(k-1)", "u(k-1)"]]
    >>> table = selection_table(["1", "y(k-1)", "u(k-1)"], runs[:1], runs)
    >>> structures(table, ["1", "y(k-1)", "u(k-1)"], ["1", "y(k-1)"], runs, threshold=0.6).structures
    {'best': ['1', 'y(k-1)'], 'threshold': ['y(k-1)', 'u(k-1)'], 'most_frequent': ['1', 'y(k-1)']}
    """
    position = {term: i for i, term in enumerate(candidates)}
    found: Counter[tuple[int, ...]] = Counter(tuple(sorted({position[term] for term in run})) for run in runs if run)
    of_best = tuple(sorted(position[term] for term in best))
    common = min(found, key=lambda chosen: (-found[chosen], chosen != of_best, chosen), default=of_best)
    resampled = bool(len(table)) and table["resample_runs"].iloc[0] > 0
    column = "resample_frequency" if resampled else "seed_frequency"
    often = [
        term for term, frequency in zip(table["term"], table[column], strict=True) if (frequency or 0) >= threshold
    ]
    made = {
        "threshold": threshold,
        "source": "resamples" if resampled else "seeds",
        "reached": bool(often),
        "count": found[common],
        "searches": len(runs),
    }
    often = often or table["term"].tolist()[: len(best)] or list(best)
    return Structures(
        {
            "best": [candidates[i] for i in of_best],
            "threshold": sorted(often, key=position.__getitem__),
            "most_frequent": [candidates[i] for i in common],
        },
        made,
    )


def _sources(
    runs: Sequence[Sequence[str]], resampled: Sequence[Sequence[str]]
) -> tuple[tuple[str, Sequence[Sequence[str]]], ...]:
    return ("seed", runs), ("resample", resampled)


def _frequency(name: str, count: int, runs: int, confidence: float) -> dict[str, Any]:
    value, low, high = selection_frequency(count, runs, confidence) if runs else (None, None, None)
    if runs < 2:
        low = high = None
    named = {"count": count, "runs": runs, "frequency": value, "low": low, "high": high}
    return {f"{name}_{key}": found for key, found in named.items()}
