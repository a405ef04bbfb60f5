"""Wants of readers, and the order of the methods by each of them."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from narxbench._studies.methods.metrics import (
    EXACT,
    FRESH,
    GAP,
    IN_FRESH_ERROR,
    IN_GAP,
    IN_RECOVERY,
    Difference,
    or_infinity,
)

TERMS, NEW_DATA, LOWEST_J, CHEAPEST = "terms", "new-data", "lowest-j", "cheapest"
# What readers may want, in their words.
WANTS = {
    TERMS: "the right terms",
    NEW_DATA: "a model that is good on new data",
    LOWEST_J: "the lowest J",
    CHEAPEST: "little computing time",
}
# The difference by which the best method for a want is tested against the others.
TESTED: dict[str, Difference] = {TERMS: IN_RECOVERY, NEW_DATA: IN_FRESH_ERROR, LOWEST_J: IN_GAP}

Row = dict[str, Any]


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a frame, with None for missing values."""
    rows: list[Row] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def is_ranked(row: Row, n_data_sets: int) -> bool:
    """Return whether a method is ranked in its group, which has so many data sets.

    A method that lacks data sets is not, because its values on other data sets are not comparable.
    """
    return not row["reference"] and row["rank_fresh_error"] is not None and row["data_sets"] == n_data_sets


def first_for(want: str, rows: Iterable[Row]) -> Row | None:
    """Return the best of some methods for a want; None where none has a value."""
    valued = [row for row in rows if ORDERS[want](row)[0] < math.inf]
    return min(valued, key=ORDERS[want], default=None)


def _highest_first(value: float | None) -> float:
    return math.inf if value is None else -value


def _cheapest_useful_first(row: Row) -> tuple[float, ...]:
    seconds = row["seconds"] if row["useful"] else None
    return or_infinity(seconds), _highest_first(row[EXACT.name])


# Sort keys of the methods by what is wanted; infinite for a missing value.
ORDERS: dict[str, Callable[[Row], tuple[float, ...]]] = {
    TERMS: lambda row: (
        _highest_first(row[EXACT.name]),
        _highest_first(row["f1"]),
        or_infinity(row["rank_fresh_error"]),
    ),
    NEW_DATA: lambda row: (or_infinity(row["rank_fresh_error"]), or_infinity(row[FRESH.name])),
    LOWEST_J: lambda row: (or_infinity(row["rank_gap"]), or_infinity(row[GAP.name])),
    CHEAPEST: _cheapest_useful_first,
}
