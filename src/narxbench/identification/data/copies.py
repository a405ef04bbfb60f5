"""Whether records are the same data, whatever file they stand in: stretches of equal samples that no chance explains.

Samples are compared as numbers, output and all inputs together, rounded to the coarser of two sources. Stretches are
ranked by doubling their length (as a suffix array is made), so that all that is equal anywhere is found in n log n.

How long may a stretch be by chance? What rests, or goes on as it went, tells nothing: the same step from the same rest
gives the same response. So *turns* count, where a signal begins to fall or to rise. And sources of a kind repeat each
other as they repeat themselves: of n samples with entropy h the longest stretch that recurs has about 2 log(n) / h, and
one of twice as many turns recurs with a probability of about 1 / n². So signals that never repeat themselves are known
again by a few samples, while on/off inputs and coarse outputs need long stretches. Where an input was played again, the
output agrees for a while, differs, and agrees again: a stretch must then be far longer than the others next to it.
Records that agree from their first sample to their last are the same data in any case: a test on one tells what the
other did.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import NDArray

from narxbench.model.records import Record

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Turns that a stretch has at least, changes of values that whole records have, and rows that are looked for first.
_LEAST, _LEAST_CHANGES, _SEED = 12, 16, 8
# How many times longer than chance has it: than what a source repeats of itself, than other stretches next to it.
_LONGER, _MUCH_LONGER = 2, 20
# Finer differences than this share of the range are none; more digits than so many are all that a number has.
_FINEST, _ALL = 1e-6, 13
# Fewest decimals: values that change may be rounded to thousands.
_FEWEST = -3
# What is looked at of all that agrees somewhere: shifts of two sources, pairs of sources, resolutions.
_SHIFTS, _PAIRS, _LEVELS = 8, 200, 12


@dataclass(frozen=True)
class Copy:
    """A stretch that two records share."""

    records: tuple[int, int]  # by their place in the list
    starts: tuple[int, int]  # its first sample in each, counted from 0
    length: int
    sure: bool  # that they are the same data; else these data repeat themselves so much that it may be chance


def last_digit(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than 12."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    exact = (digits for digits in range(_ALL) if (np.abs(np.round(values, digits) - values) <= noise).all())
    return float(10.0 ** -next(exact, math.inf))


def copies(records: Sequence[Record], sources: Sequence[int]) -> list[Copy]:
    """Return the stretches that records share, at most one for each two of the ``sources`` that they are pieces of."""
    order = sorted(range(len(records)), key=sources.__getitem__)
    signals = np.concatenate([np.column_stack([records[i].y, records[i].u]) for i in order])
    source = np.repeat([sources[i] for i in order], [len(records[i]) for i in order])
    record = np.repeat(order, [len(records[i]) for i in order])
    finest = _FINEST * np.maximum(np.ptp(signals, axis=0), 1e-9 * np.abs(signals).max(axis=0))
    finest[finest == 0] = 1
    digits = {int(i): _digits(signals[source == i], finest) for i in np.unique(source)}
    levels = {np.minimum(a, b).tobytes() for a, b in combinations_with_replacement(digits.values(), 2)}
    found: list[Copy] = []
    for level in sorted(levels, reverse=True)[:_LEVELS]:
        least = np.frombuffer(level, dtype=np.int64).reshape(2, -1)
        members = [i for i, own in digits.items() if (own >= least).all()]
        if len(members) > 1:
            rows = np.isin(source, members)
            rounded = _Rounded(signals[rows], source[rows], record[rows], least, finest)
            for a, b, copy in rounded.copies():
                if (np.minimum(digits[a], digits[b]) == least).all():
                    found.append(copy)
    return found


def _digits(signals: Array, finest: Array) -> Integers:
    """Return how many decimals, and how many significant digits, the values of each column have: shape (2, columns)."""
    found = np.full((2, signals.shape[1]), _ALL, dtype=np.int64)
    for column, values in enumerate(signals.T):
        few = values[:: max(1, len(values) // 200)]  # mostly they tell that there is no such number
        for kind in range(2):
            for number in range(kind or (_FEWEST if np.ptp(values) else 0), _ALL):
                steps = [10.0**-number if kind == 0 else _step(part, number) for part in (few, values)]
                if all(_on_grid(part, step) for part, step in zip((few, values), steps, strict=True)):
                    found[kind, column] = number
                    break
        fixed = max(10.0 ** -found[0, column], finest[column])
        found[0, column] = found[0, column] if fixed > finest[column] else _ALL
        if _step(np.abs(values).max(keepdims=True), int(found[1, column]))[0] <= fixed * 1.001:
            found[1, column] = _ALL
    return found


def _step(values: Array, digits: int) -> Array:
    """Return the step of numbers of so many significant digits at some values, 0 at zero."""
    size = np.abs(values)
    power = np.floor(np.log10(np.where(size > 0, size, 1)) + 1e-12)
    return np.where(size > 0, 10.0 ** (power - digits + 1), 0.0)


def _on_grid(values: Array, step: float | Array) -> bool:
    steps = np.where(np.asarray(step) > 0, step, 1)
    return bool((np.abs(np.rint(values / steps) * steps - values) <= 1e-15 * np.abs(values)).all())


@dataclass(frozen=True)
class _Stretch:
    """The stretch of most turns at one shift of two sources, in rows of all."""

    start: int
    shift: int
    length: int
    turns: int
    much_longer: bool  # than the stretches next to it, between places where the output differs and no input does
    whole: bool  # whether both records are this stretch


class _Rounded:
    """Rows of several sources, rounded to the same digits; those of a source stand together."""

    def __init__(self, signals: Array, source: Integers, record: Integers, digits: Integers, finest: Array) -> None:
        self.signals, self.source, self.record = signals, source, record
        fixed = np.where(digits[0] < _ALL, 10.0 ** -digits[0].astype(float), 0)
        fixed = np.maximum(fixed, finest)
        columns = zip(signals.T, digits[1].tolist(), strict=True)
        relative = [_step(values, number) if number < _ALL else np.zeros(len(values)) for values, number in columns]
        self.step = np.maximum(np.column_stack(relative), fixed)
        values = np.rint(np.rint(signals / self.step) * self.step / fixed)
        self.new = np.concatenate([[True], record[1:] != record[:-1]])
        steps = np.sign(np.diff(values, axis=0, prepend=values[:1])) * ~self.new[:, None]
        self.changes = np.cumsum(np.abs(steps).sum(axis=1))
        self.turns = np.cumsum(sum(_turns(column, record) for column in steps.T))
        rows = np.zeros(len(values), dtype=np.int64)
        for column in values.T:
            rows = _ranks(rows * len(rows) + _ranks(column))
        # A run of equal rows is one: its values and how long it lasts.
        self.heads = np.flatnonzero(self.new | steps.any(axis=1))
        lengths = np.diff(self.heads, append=len(rows))
        self.runs = _ranks(rows[self.heads] * (len(rows) + 1) + lengths)

    def copies(self) -> Iterator[tuple[int, int, Copy]]:
        """Yield what two different sources share, with the sources."""
        shifts = self._shifts()
        repeats: dict[int, int] = {}
        pairs = sorted((pair for pair in shifts if pair[0] != pair[1]), key=lambda pair: -shifts[pair][1])
        for a, b in pairs[:_PAIRS]:
            aligned = int(np.searchsorted(self.source, b) - np.searchsorted(self.source, a))
            found = [self._stretch(a, b, shift) for shift in {aligned, *shifts[a, b][0]}]
            found = [each for each in found if each.whole or each.turns >= _LEAST]
            if not found:
                continue
            for own in {a, b} - {*repeats}:
                inside = shifts.get((own, own), ((), 0))[0]
                repeats[own] = max((self._stretch(own, own, shift).turns for shift in inside), default=0)
            chance = _LEAST + _LONGER * max(repeats[a], repeats[b])
            sure = [each.whole or (each.turns >= chance and each.much_longer) for each in found]
            is_sure, best = max(zip(sure, found, strict=True), key=lambda both: (both[0], both[1].turns))
            rows = best.start, best.start + best.shift
            first, second = (int(self.record[row]) for row in rows)
            starts = tuple(int((self.record[:row] == self.record[row]).sum()) for row in rows)
            yield a, b, Copy((first, second), (starts[0], starts[1]), best.length, is_sure)

    def _shifts(self) -> dict[tuple[int, int], tuple[list[int], int]]:
        """Return at which shifts two sources (or one and itself) agree longest, and how long, in runs."""
        count = len(self.runs)
        of_head = self.record[self.heads]
        ends = np.flatnonzero(np.append(of_head[1:] != of_head[:-1], True)) + 1
        room = ends[np.searchsorted(ends, np.arange(count), side="right")] - np.arange(count)
        alive, keys, size = np.arange(count), self.runs, 1
        found = [np.empty((4, 0), dtype=np.int64)]
        while len(alive):
            _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
            again = counts[inverse] > 1
            alive, ranks = alive[again], inverse[again]
            if size >= _SEED and len(alive):
                found.append(self._neighbours(alive, ranks, size))
            rank = np.full(count, -1)
            rank[alive] = ranks
            alive = alive[room[alive] >= 2 * size]
            alive = alive[rank[alive + size] >= 0]
            keys = rank[alive] * count + rank[alive + size]
            size *= 2
        first, second, shift, length = np.concatenate(found, axis=1)
        order = np.lexsort((shift, -length, second, first))
        result: dict[tuple[int, int], tuple[list[int], int]] = {}
        edges = np.flatnonzero(np.diff(first[order] * (self.source[-1] + 1) + second[order], prepend=-1, append=-1))
        for start, end in pairwise(edges):
            own = order[start:end]
            known = dict.fromkeys(shift[own[: 20 * _SHIFTS]].tolist())
            result[int(first[own[0]]), int(second[own[0]])] = ([*known][:_SHIFTS], int(length[own[0]]))
        return result

    def _neighbours(self, places: Integers, ranks: Integers, size: int) -> Integers:
        """Return sources, shifts and lengths of what recurs: each place and the one before of the same rank."""
        order = np.argsort(ranks, kind="stable")
        same = ranks[order][1:] == ranks[order][:-1]
        before, after = places[order][:-1][same], places[order][1:][same]
        order = np.argsort(after)
        before, after = before[order], after[order]
        # Places that follow one another at the same shift are one stretch.
        heads = np.flatnonzero(np.append(True, (np.diff(after) != 1) | (np.diff(before) != 1)))
        lengths = np.diff(heads, append=len(after)) + size - 1
        first, second = self.heads[before[heads]], self.heads[after[heads]]
        return np.array([self.source[first], self.source[second], second - first, lengths])

    def _stretch(self, a: int, b: int, shift: int) -> _Stretch:
        """Return the longest stretch of two sources at a shift: ``b`` has in row + shift what ``a`` has in row."""
        (start, stop), (low, high) = (np.searchsorted(self.source, [i, i + 1]) for i in (a, b))
        start, stop = max(int(start), int(low) - shift), min(int(stop), int(high) - shift)
        one, other = slice(start, max(start, stop)), slice(start + shift, max(start, stop) + shift)
        close = np.abs(self.signals[one] - self.signals[other]) <= 0.6 * self.step[one]
        equal, inputs = (np.logical_and.reduce(part, axis=1) for part in (close, close[:, 1:]))
        begins = equal & (~np.append(False, equal[:-1]) | self.new[one] | self.new[other])
        if not begins.any():
            return _Stretch(0, shift, 0, 0, False, False)
        starts = np.flatnonzero(begins)
        ends = np.flatnonzero(equal & ~np.append(equal[1:] & ~begins[1:], False)) + 1
        changes, turns = (sums[start + ends - 1] - sums[start + starts] for sums in (self.changes, self.turns))
        best = int((turns + changes / (1 + changes.max())).argmax())
        differs = inputs & ~equal
        places = int((differs & ~np.append(False, differs[:-1])).sum())
        much_longer = changes[best] * max(1, places) >= _MUCH_LONGER * (changes.sum() - changes[best])
        first, length = start + int(starts[best]), int(ends[best] - starts[best])
        edges = (np.append(self.new, True)[row : row + length + 1] for row in (first, first + shift))
        whole = changes[best] >= _LEAST_CHANGES and all(new[0] and new[-1] and new.sum() == 2 for new in edges)
        return _Stretch(first, shift, length, int(turns[best]), bool(much_longer), bool(whole))


def _turns(steps: Array, record: Integers) -> Integers:
    """Return where a signal turns: it steps in another direction than when it last moved in its record."""
    moves = np.flatnonzero(steps)
    turns = np.zeros(len(steps), dtype=np.int64)
    turns[moves[1:]] = (steps[moves[1:]] != steps[moves[:-1]]) & (record[moves[1:]] == record[moves[:-1]])
    return turns


def _ranks(keys: NDArray[np.generic]) -> Integers:
    ranks: Integers = np.unique(keys, return_inverse=True)[1]
    return ranks
