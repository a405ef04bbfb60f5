"""Signals of several records, as lists with the values of each record, and the numbers that checks of them share."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from narxbench._model.records import Record

Array = NDArray[np.float64]

# Samples of a signal that a check computes with, at most: a regression on 40 columns of them takes 0.15 s.
MOST_SAMPLES = 20_000
# Samples that an estimate needs for each weight: the standard error of a mean is then a fifth of the deviation.
SAMPLES_PER_WEIGHT = 20
# Rules of thumb. Three times is not an accident: samples at a level, equal values that may be a code, seasons.
REPEATED = 3
# Shares of a range, a variance or all samples up to which an effect is small, does not count, or is as good as none.
SMALL, NEGLIGIBLE, NOTHING = 0.1, 0.05, 0.01


def outputs(records: Iterable[Record]) -> list[Array]:
    """Return the output of each record."""
    return [record.y for record in records]


def inputs(records: Iterable[Record], place: int) -> list[Array]:
    """Return one of the inputs of each record, by its place among them."""
    return [record.u[:, place] for record in records]


def all_signals(records: Iterable[Record]) -> list[Array]:
    """Return the output and the inputs of each record as the columns of an array."""
    return [np.column_stack([record.y, record.u]) for record in records]
