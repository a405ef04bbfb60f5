"""Copies of records, whatever file they are in: the same samples, one after the other, in two experiments.

Output and inputs are compared together, as numbers. A record at rest repeats itself, so that only *moves* count:
samples that differ from the one before them, each with the time until the next move. Two records have the same data

- if all of their moves are the same, at least as many as the samples of the shortest record, or
- if 50 or more successive moves are the same, at least half of the moves of the shorter record. No 50 of them may come
  twice in one experiment, because data that repeat themselves are not evidence of a copy.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from narxbench._identification.data.experiments import LEAST_SAMPLES
from narxbench._identification.data.signals import all_signals
from narxbench._model.records import Record

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

# Successive moves that are compared at once. Repeated measurements never share this many, even with few levels.
PASSAGE = 50
# Smaller differences, as a share of the range of a signal, are rounding: a file may have numbers in single precision.
RESOLUTION = float(np.finfo(np.float32).resolution)
_WEIGHTS = np.cumprod(np.full(PASSAGE, 0x9E3779B97F4A7C15, np.uint64))


# A stretch of samples that occurs in two records: their places in the list, its first sample in each, counted from 0,
# and its length.
Copy = tuple[tuple[int, int], tuple[int, int], int]


def find_copies(records: Sequence[Record], groups: Sequence[Hashable]) -> list[Copy]:
    """Return the longest stretch of samples that records of two groups share, for each two groups."""
    if len(set(groups)) < 2:
        return []
    starts, ends, hashes = zip(*map(_moves, _rounded_signals(records)), strict=True)
    copies = _whole_copies(ends, hashes, groups) + _partial_copies(starts, ends, hashes, groups)
    longest: dict[frozenset[Hashable], Copy] = {}
    for copy in sorted(copies, key=lambda copy: -copy[-1]):
        first, second = copy[0]
        longest.setdefault(frozenset((groups[first], groups[second])), copy)
    return list(longest.values())


def _rounded_signals(records: Sequence[Record]) -> list[Integers]:
    """Return output and inputs of each record as whole numbers of the smallest difference that counts."""
    signals = np.concatenate(all_signals(records))
    largest = np.abs(signals).max(axis=0)
    signals = signals / np.where(largest > 0, largest, 1)
    low, high = signals.min(axis=0), signals.max(axis=0)
    steps = np.where(high > low, RESOLUTION * (high - low), 1)
    rounded = np.rint((signals - low) / steps).astype(np.int64)
    ends = np.cumsum(list(map(len, records)))
    return np.split(rounded, ends[:-1])


def _moves(values: Integers) -> tuple[Integers, Integers, Hashes]:
    """Return the sample of each move and of the next one, and a hash of its values and of the time between them."""
    differs = (np.diff(values, axis=0) != 0).any(axis=1)
    starts = np.flatnonzero(np.append(True, differs))
    ends = np.append(starts[1:], len(values))
    table = pd.DataFrame(np.column_stack([values[starts], ends - starts]))
    return starts, ends, pd.util.hash_pandas_object(table, index=False).to_numpy()


def _whole_copies(ends: Sequence[Integers], hashes: Sequence[Hashes], groups: Sequence[Hashable]) -> list[Copy]:
    """Return the pairs of records of different groups with the same moves from the first sample to the last."""
    copies = []
    first_places: dict[bytes, int] = {}
    for place, hashes_of_record in enumerate(hashes):
        first = first_places.setdefault(hashes_of_record.tobytes(), place)
        if groups[first] != groups[place] and len(hashes_of_record) >= LEAST_SAMPLES:
            copies.append(((first, place), (0, 0), int(ends[place][-1])))
    return copies


def _partial_copies(
    starts: Sequence[Integers], ends: Sequence[Integers], hashes: Sequence[Hashes], groups: Sequence[Hashable]
) -> list[Copy]:
    """Return the stretches of the same moves in two records, where they are at least half of the shorter record."""
    copies = []
    for record, earlier_record, move, earlier_move, n_passages in _shared_passages(hashes, groups):
        n_moves = n_passages + PASSAGE - 1
        if 2 * n_moves < min(len(starts[record]), len(starts[earlier_record])):
            continue
        start, end = starts[record][move], ends[record][move + n_moves - 1]
        earlier_start = starts[earlier_record][earlier_move]
        copies.append(((earlier_record, record), (int(earlier_start), int(start)), int(end - start)))
    return copies


def _shared_passages(hashes: Sequence[Hashes], groups: Sequence[Hashable]) -> list[tuple[int, int, int, int, int]]:
    """Return passages in sequence that two records share: both records, first move in each, number of passages."""
    if not _have_common_passages(hashes, groups):
        return []
    passages = _unique_passages(hashes, groups)
    earlier = passages.groupby("hash")[["record", "move"]].shift()
    shared = passages[["record", "move"]].join(earlier.add_prefix("earlier_")).dropna().astype(np.int64)
    differs = shared[["record", "earlier_record"]].diff() != 0
    jumps = shared[["move", "earlier_move"]].diff() != 1
    sequence = (differs.any(axis=1) | jumps.any(axis=1)).cumsum()
    by_sequence = shared.groupby(sequence)
    firsts = by_sequence.first()[["record", "earlier_record", "move", "earlier_move"]]
    return list(firsts.assign(n_passages=by_sequence.size()).itertuples(index=False, name=None))


def _have_common_passages(hashes: Sequence[Hashes], groups: Sequence[Hashable]) -> bool:
    """Return whether some passage comes in two groups."""
    hashes_by_group: dict[Hashable, list[Hashes]] = {}
    for group, hashes_of_record in zip(groups, hashes, strict=True):
        hashes_by_group.setdefault(group, []).append(_passage_hashes(hashes_of_record))
    hashes_of_groups = [_distinct(np.concatenate(passages)) for passages in hashes_by_group.values()]
    all_hashes = np.concatenate(hashes_of_groups)
    return len(_distinct(all_hashes)) < len(all_hashes)


def _distinct(hashes: Hashes) -> Hashes:
    """Return each hash once: np.unique takes seconds for a million of them."""
    ordered = hashes.copy()
    ordered.sort()
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    distinct: Hashes = ordered[is_new]
    return distinct


def _passage_hashes(hashes: Hashes) -> Hashes:
    """Return a hash of each passage of the moves of a record."""
    if len(hashes) < PASSAGE:
        return np.empty(0, np.uint64)
    return np.asarray(sliding_window_view(hashes, PASSAGE) @ _WEIGHTS, np.uint64)


def _unique_passages(hashes: Sequence[Hashes], groups: Sequence[Hashable]) -> pd.DataFrame:
    """Return the passages of all records that come once in their group: record, first move, hash."""
    tables = []
    group_numbers = [groups.index(group) for group in groups]
    for record, (group, hashes_of_record) in enumerate(zip(group_numbers, hashes, strict=True)):
        passage_hashes = _passage_hashes(hashes_of_record)
        count = np.arange(len(passage_hashes))
        tables.append(pd.DataFrame({"group": group, "record": record, "move": count, "hash": passage_hashes}))
    passages = pd.concat(tables, ignore_index=True)
    return passages.drop_duplicates(["group", "hash"], keep=False)
