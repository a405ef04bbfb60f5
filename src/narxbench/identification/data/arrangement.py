"""The samples of all records as a search needs them: phases one behind the other, rows, and parts that take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from narxbench.model.records import Record
from narxbench.model.structure import column
from narxbench.model.terms import Monomial

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
NO_PART = -1
# Steps of a part, at least.
LEAST_STEPS = 3


@dataclass
class Arrangement:
    """Records at a decimation.

    A record at decimation q is q phases, each of which has every q-th sample: no sample is lost, and a lag counts
    samples of a phase. All phases stand one behind the other; the first ``max_lag`` steps of each only give lags.
    ``n_parts`` parts take turns in selection, where no record has that role. ``most_samples`` are enough: of long
    records at a large decimation, some phases are left out.

    ``u`` has the shape (samples, inputs), ``y`` and what tells of each sample (samples,): its ``record``, its ``time``
    there, whether it ``has_lags`` in its record, and the ``part`` in which it is selected on, -1 for none.
    """

    records: Sequence[Record]
    decimation: int
    max_lag: int
    n_parts: int
    most_samples: int | None = None

    def __post_init__(self) -> None:
        q, samples = self.decimation, sum(map(len, self.records))
        some = q if self.most_samples is None or samples <= self.most_samples else q * self.most_samples // samples
        self.n_phases = max(1, some)
        firsts = [i * q // self.n_phases for i in range(self.n_phases)]
        phases = [(i, np.arange(f, len(record), q)) for i, record in enumerate(self.records) for f in firsts]
        self.u: Floats = np.concatenate([self.records[i].u[places] for i, places in phases])
        self.y: Floats = np.concatenate([self.records[i].y[places] for i, places in phases])
        self.record: Integers = np.repeat([i for i, _ in phases], [len(places) for _, places in phases])
        self.time: Integers = np.concatenate([places for _, places in phases])
        self.has_lags: Mask = self.time >= self.max_lag * q
        self.takes_turns = all(record.role != "selection" for record in self.records)
        self.part = self._part()
        self.n_parts_selected = int(self.part.max()) + 1

    def _part(self) -> Integers:
        lengths, lost = np.array([len(record) for record in self.records]), self.max_lag * self.decimation
        roles = [record.role for record in self.records]
        if not self.takes_turns:
            # The records of the selection are parts of their own.
            selects = np.array([role == "selection" for role in roles]) & (lengths > lost)
            return np.where(selects, np.cumsum(selects) - 1, NO_PART)[self.record]
        shared = np.array([role is None or None not in roles for role in roles])
        # What only gives lags is in no part, so that all parts hold as much.
        starts = np.concatenate([[0], np.cumsum(np.maximum(0, lengths - lost) * shared)])
        place = starts[self.record] + self.time - lost
        inside = shared[self.record] & self.has_lags
        # At least a few steps each.
        n_parts = min(self.n_parts, max(1, int(starts[-1]) // (LEAST_STEPS * self.decimation)))
        return np.where(inside, place * n_parts // max(1, starts[-1]), NO_PART)

    @property
    def enough(self) -> bool:
        """Whether there are samples to estimate with, and parts to select on: two where they take turns."""
        return len(self.rows()) > 0 and self.n_parts_selected >= (2 if self.takes_turns else 1)

    def estimates(self, without: int | None = None) -> Mask:
        """Return whether each sample estimates; those of a part may be left out."""
        estimates: Mask = self.has_lags & (self.takes_turns | (self.part == NO_PART))
        return estimates & (without is None or self.part != without)

    def rows(self, without: int | None = None) -> Integers:
        """Return the samples that estimate, in the order of time; those of a part may be left out."""
        rows = np.flatnonzero(self.estimates(without))
        return rows[np.lexsort((self.time[rows], self.record[rows]))]

    def columns(self, monomials: Sequence[Monomial], rows: Integers) -> Floats:
        """Return the values of terms at some samples, shape (rows, terms)."""
        found = np.empty((len(rows), len(monomials)), order="F")
        for own, monomial in zip(found.T, monomials, strict=True):
            own[:] = column(self.u, self.y, monomial, rows)
        return found

    def segments(self, chosen: Mask) -> list[range]:
        """Return the longest stretches of chosen samples that follow one another in a phase and have their lags."""
        places = np.flatnonzero(chosen & self.has_lags)
        if not len(places):
            return []
        follows = (np.diff(places) == 1) & (np.diff(self.time[places]) == self.decimation)
        follows &= np.diff(self.record[places]) == 0
        edges = np.concatenate([[0], np.flatnonzero(~follows) + 1, [len(places)]])
        return [range(int(places[a]), int(places[b - 1]) + 1) for a, b in pairwise(edges)]
