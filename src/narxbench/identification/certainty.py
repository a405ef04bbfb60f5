"""How sure each term is: resamples of the estimation rows, selection frequencies, and structures side by side."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench.analysis.metrics import selection_frequency
from narxbench.numerics.random_streams import generator

Rows = NDArray[np.int64]

# Fewer records than these say too little when whole ones are drawn.
MANY_RECORDS = 8
# Records are of similar length if the longest is at most this many times the shortest.
SIMILAR = 1.5


class Structures(NamedTuple):
    """Structures side by side.

    Attributes
    ----------
    structures : dict of str to list of str
        Under ``"best"``, ``"threshold"`` and ``"most_frequent"`` terms in canonical order, at least one.
    note : str
        How the last two came about, in whole sentences.
    """

    structures: dict[str, list[str]]
    note: str


def block_length(n_rows: int, longest_lag: int, correlation: int = 0) -> int:
    """Return the length of the blocks of a moving-block bootstrap, in samples.

    The largest of n^(1/3), the order that is known to be right (P. Hall, J. L. Horowitz and B.-Y. Jing, Biometrika 82,
    1995, pages 561-574), of twice the longest lag, so that most rows of a block stay together with those that they
    share samples with, and of the samples over which residuals are correlated.

    Parameters
    ----------
    n_rows : int
        Estimation rows.
    longest_lag : int
        Largest lag of the candidates times the decimation.
    correlation : int
        Samples over which residuals are correlated, if that is known.

    Examples
    --------
    >>> block_length(1000, longest_lag=3), block_length(1000, longest_lag=24)
    (10, 48)
    """
    return max(math.ceil(round(math.cbrt(n_rows), 9)), 2 * longest_lag, correlation, 1)


def resample(rows_by_record: Sequence[Rows], block: int, *, number: int, **axes: object) -> Rows:
    """Return a resample of the estimation rows: whole records where there are many alike, else moving blocks.

    Records count as many from 8 on, and as alike if the longest has at most 1.5 times the rows of the shortest. As many
    records are drawn, with replacement, as there are. Parameters are those of :func:`moving_blocks`.

    Examples
    --------
    >>> resample([np.array([i, i + 1]) for i in range(0, 160, 20)], block=1, number=1).tolist()
    [20, 21, 40, 41, 40, 41, 80, 81, 120, 121, 0, 1, 80, 81, 140, 141]
    """
    sizes = [len(rows) for rows in rows_by_record]
    if len(sizes) < MANY_RECORDS or max(sizes) > SIMILAR * min(sizes):
        return moving_blocks(rows_by_record, block, number=number, **axes)
    drawn = _generator(number, axes).integers(len(sizes), size=len(sizes))
    return np.concatenate([rows_by_record[i] for i in drawn])


def moving_blocks(rows_by_record: Sequence[Rows], block: int, *, number: int, **axes: object) -> Rows:
    """Return a moving-block bootstrap of the estimation rows: blocks of neighbours, drawn with replacement.

    Each time a record is drawn, the more often the more blocks it holds, and one of its blocks. No block spans two
    records; a record shorter than a block is a block. Source: H. R. Künsch, Annals of Statistics 17, 1989, pages
    1217-1241.

    Parameters
    ----------
    rows_by_record : sequence of arrays of int
        The estimation rows of each record, ascending, without gaps.
    block : int
        Rows of a block: see :func:`block_length`.
    number : int
        Which resample.
    **axes
        Further axes of the random draws, such as the digest of the data.

    Returns
    -------
    array of int, shape (rows,)
        As many rows as there are; the last block is cut for that.

    Examples
    --------
    >>> moving_blocks([np.arange(10, 16), np.arange(30, 36)], block=4, number=1).tolist()
    [11, 12, 13, 14, 11, 12, 13, 14, 30, 31, 32, 33]
    """
    rng = _generator(number, axes)
    records = [rows for rows in rows_by_record if len(rows)]
    sizes = np.array([len(rows) for rows in records])
    lengths = np.minimum(block, sizes)
    total = int(sizes.sum())
    drawn: list[Rows] = []
    missing = total
    # Then each row of a short record is drawn about as often as one of a long record.
    shares = np.cumsum(sizes / lengths)
    while missing > 0:
        record = min(int(np.searchsorted(shares, rng.random() * shares[-1], side="right")), len(records) - 1)
        start = int(rng.integers(sizes[record] - lengths[record] + 1))
        drawn.append(records[record][start : start + min(int(lengths[record]), missing)])
        missing -= len(drawn[-1])
    return np.concatenate(drawn) if drawn else np.empty(0, np.int64)


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
    these same data, and tell whether enough were made. They do not cover what another experiment would give: seeds see
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
    source = "resamples" if resampled else "seeds"
    note = f"The threshold is a frequency of {threshold:g} over {source}."
    if not often:
        often = table["term"].tolist()[: len(best)] or list(best)
        note += " No term reaches it: these are the most frequent ones, at most as many as the best structure has."
    note += f" The most frequent structure came up in {found[common]} of {len(runs)} searches."
    return Structures(
        {
            "best": [candidates[i] for i in of_best],
            "threshold": sorted(often, key=position.__getitem__),
            "most_frequent": [candidates[i] for i in common],
        },
        note,
    )


def _generator(number: int, axes: dict[str, object]) -> np.random.Generator:
    return generator(purpose="resample", number=number, **axes)


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
