"""Arrangement of the samples of all records for a search: phases one after another, rows, parts that take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from narxbench._model.records import Record
from narxbench._model.structure import candidate_columns
from narxbench._model.terms import Monomial

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
NO_PART = -1  # the part of a sample that is not in any
# Parts of the data that take turns in selection, where no record has this role: folds of a cross-validation are usually
# 5 to 10 (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2009, section 7.10).
N_PARTS = 8


@dataclass
class Arrangement:
    """Records at a decimation.

    A record at decimation q is q phases, each of which has every q-th sample: no sample is lost, and a lag counts
    samples of a phase. The phases follow one another, and the first ``max_lag`` steps of each only give lags.
    ``n_parts`` parts take turns in selection if no record has that role. ``most_samples`` are enough: of long records
    at a large decimation, some phases are left out.

    ``u`` has the shape (samples, inputs), ``y`` the shape (samples,), as have the attributes of each sample: its
    ``record``, its ``time`` there, whether it ``has_lags`` in its record, and the ``part`` that it is selected on with,
    -1 for none.
    """

    records: Sequence[Record]
    decimation: int
    max_lag: int
    n_parts: int
    most_samples: int | None = None

    def __post_init__(self) -> None:
        q = self.decimation
        self.n_phases = self._n_phases()
        firsts = [i * q // self.n_phases for i in range(self.n_phases)]
        u, y, numbers, times = [], [], [], []
        for (number, record), first in product(enumerate(self.records), firsts):
            phase = np.arange(first, len(record), q)
            u.append(record.u[phase])
            y.append(record.y[phase])
            numbers.append(np.full(len(phase), number))
            times.append(phase)
        self.u: Floats = np.concatenate(u)
        self.y: Floats = np.concatenate(y)
        self.record: Integers = np.concatenate(numbers)
        self.time: Integers = np.concatenate(times)
        self.has_lags: Mask = self.time >= self.max_lag * q
        self.takes_turns = all(record.role != "selection" for record in self.records)
        self.part = self._parts_in_turn() if self.takes_turns else self._records_as_parts()
        self.n_parts_selected = int(self.part.max()) + 1

    def _n_phases(self) -> int:
        """Return the number of phases that have enough samples together."""
        samples = sum(map(len, self.records))
        if self.most_samples is None or samples <= self.most_samples:
            return self.decimation
        return max(1, self.decimation * self.most_samples // samples)

    def _records_as_parts(self) -> Integers:
        """Return the part of each sample if each record of the selection is one part."""
        is_part = []
        for record in self.records:
            is_part.append(record.role == "selection" and len(record) > self.max_lag * self.decimation)
        parts = np.where(is_part, np.cumsum(is_part) - 1, NO_PART)
        return parts[self.record]

    def _parts_in_turn(self) -> Integers:
        """Return the part of each sample where all records, or those without a role, are shared out evenly."""
        lost = self.max_lag * self.decimation
        has_role = np.array([record.role is not None for record in self.records])
        is_shared = ~has_role | has_role.all()
        # Samples that only give lags are in no part, so that all parts are of the same size.
        lengths = np.array(list(map(len, self.records)))
        starts = np.concatenate([[0], np.cumsum(np.maximum(0, lengths - lost) * is_shared)])
        place = starts[self.record] + self.time - lost
        is_inside = is_shared[self.record] & self.has_lags
        # Each part has a step at least.
        n_parts = min(self.n_parts, max(1, int(starts[-1]) // self.decimation))
        return np.where(is_inside, place * n_parts // max(1, starts[-1]), NO_PART)

    @property
    def enough(self) -> bool:
        """Whether there are samples to estimate with, and parts to select on, two if they take turns."""
        return len(self.rows()) > 0 and self.n_parts_selected >= 1 + self.takes_turns

    def estimates(self, without: int | None = None) -> Mask:
        """Return which samples weights are estimated with, optionally without a part."""
        estimates: Mask = self.has_lags & (self.takes_turns | (self.part == NO_PART))
        return estimates & (without is None or self.part != without)

    def rows(self, without: int | None = None) -> Integers:
        """Return the places of these samples in the order of time, optionally without a part."""
        rows = np.flatnonzero(self.estimates(without))
        return rows[np.lexsort((self.time[rows], self.record[rows]))]

    def columns(self, monomials: Sequence[Monomial], rows: Integers) -> Floats:
        """Return the values of terms at some samples, shape (rows, terms)."""
        return candidate_columns(self.u, self.y, monomials, rows).T

    def segments(self, is_chosen: Mask) -> list[range]:
        """Return the longest stretches of chosen samples that follow one another in a phase and have their lags."""
        places = np.flatnonzero(is_chosen & self.has_lags)
        follows = (np.diff(places) == 1) & (np.diff(self.time[places]) == self.decimation)
        follows &= np.diff(self.record[places]) == 0
        stretches = np.split(places, np.flatnonzero(~follows) + 1)
        return [range(int(stretch[0]), int(stretch[-1]) + 1) for stretch in stretches if len(stretch)]
