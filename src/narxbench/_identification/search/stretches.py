"""Stretches of long records that structures are searched on; weights are estimated on all of them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from narxbench._model.records import Record, Recording

Floats = NDArray[np.float64]

# Starts of a stretch that are compared within a section, for each length of the stretch.
STARTS = 4


def chosen_stretches(recording: Recording, most_samples: int, n_stretches: int) -> Recording:
    """Return the records before the test, or where they are too long the stretches in which the signals vary most.

    Parameters
    ----------
    recording : Recording
        The data.
    most_samples : int
        The samples that all stretches have together.
    n_stretches : int
        About so many sections, each of which gives a stretch, so that these come from all times.
    """
    records = recording.known
    samples = sum(map(len, records))
    if samples <= most_samples:
        return recording
    stretches = []
    for record in records:
        share = len(record) / samples
        n_sections = max(1, round(n_stretches * share))
        stretches += _stretches(record, n_sections, int(most_samples * share) // n_sections)
    return replace(recording, records=tuple(stretches))


def _stretches(record: Record, n_sections: int, length: int) -> list[Record]:
    """Return the liveliest stretch of each section of a record."""
    bounds = np.linspace(0, len(record), n_sections + 1).astype(int).tolist()
    sums = _sums(record)
    stretches = []
    for begin, end in pairwise(bounds):
        starts = np.arange(begin, max(begin + 1, end - length + 1), max(1, length // STARTS))
        first, last = sums[:, starts], sums[:, np.minimum(starts + length, end)]
        n_signals = len(sums) // 2
        means, squares = ((last - first) / length).reshape(2, n_signals, -1)
        variances = (squares - means**2).sum(axis=0)
        start = int(starts[int(np.argmax(np.round(variances, 6)))])
        stretches.append(record.part(start, min(start + length, end)))
    return stretches


def _sums(record: Record) -> Floats:
    """Return the running sums of the signals, about their means and by their deviations, and of their squares."""
    signals = np.column_stack([record.y, record.u])
    deviations = signals.std(axis=0)
    standard = (signals - signals.mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    sums = np.zeros((2 * signals.shape[1], len(record) + 1))
    np.cumsum(standard.T, axis=1, out=sums[: signals.shape[1], 1:])
    np.cumsum(standard.T**2, axis=1, out=sums[signals.shape[1] :, 1:])
    return sums
