"""Signals of several records, as lists with the values of each record."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from narxbench._model.records import Record

Array = NDArray[np.float64]


def outputs(records: Iterable[Record]) -> list[Array]:
    """Return the output of each record."""
    return [record.y for record in records]


def inputs(records: Iterable[Record], place: int) -> list[Array]:
    """Return one of the inputs of each record, by its place among them."""
    return [record.u[:, place] for record in records]


def all_signals(records: Iterable[Record]) -> list[Array]:
    """Return the output and the inputs of each record as the columns of an array."""
    return [np.column_stack([record.y, record.u]) for record in records]
