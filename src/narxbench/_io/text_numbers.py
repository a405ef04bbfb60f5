"""Columns of numbers in the forms of loggers and spreadsheets, which pandas reads as texts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._io.decimals import (
    TRUTH_VALUES,
    canonical,
    group_name,
    is_grouped,
    is_truth_value,
    marks_of,
    other_mark,
    settled_mark,
)
from narxbench._io.errors import FieldError, NarxbenchError, show
from narxbench._io.fields import is_missing

ALLOWED = "a finite number, or nothing where it is missing"


# Makes the error of a row from the field there and the allowed ones.
RowError = Callable[[int, str, str], NarxbenchError]


def refuse_infinite(numbers: NDArray[Any], error: RowError) -> None:
    """Raise the error of the first number that is infinite."""
    for row in np.flatnonzero(np.isinf(numbers))[:1].tolist():
        raise error(row, str(numbers[row]), ALLOWED)


def numbers_of_texts(
    texts: Sequence[Any], decimal: str | None, error: RowError, source: str
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the numbers of a column of texts, NaN where one is missing, and notes on thousands and truth values.

    Parameters
    ----------
    texts : sequence of str or NaN
        The fields of the column.
    decimal : {".", ","} or None
        The decimal mark, or None if the file does not show it.
    error : callable
        Makes the error of a row from the field there and the allowed ones.
    source : str
        The name of the file, for errors.
    """
    fields = {}
    for row, text in enumerate(texts):
        if isinstance(text, str) and not is_missing(text):
            fields[row] = text.strip()
    has_truth_values = any(map(is_truth_value, fields.values()))
    groups: dict[str, str] = {}
    numbers = np.full(len(texts), np.nan)
    for row, field in fields.items():
        if decimal is None and len(marks_of(field)) > 1 and "," in field:
            raise _ambiguous_comma(row, field, error, source)
        mark = decimal or settled_mark([field]) or "."
        text = TRUTH_VALUES.get(field.lower(), field) if has_truth_values else field
        try:
            numbers[row] = float(canonical(text, mark))
        except ValueError:
            raise _wrong_number(row, field, mark, error) from None
        if is_grouped(field, mark):
            groups.setdefault(group_name(field), field)
    if has_truth_values:
        _refuse_other_numbers(numbers, fields, error)
    notes = []
    for name, text in groups.items():
        notes.append(f"{name} between groups of three digits, as in {text}, were left out of the numbers.")
    return numbers, notes


def _ambiguous_comma(row: int, field: str, error: RowError, source: str) -> FieldError:
    """Return the error of a comma that may be a decimal mark or group thousands."""
    decimal, whole = field.replace(",", "."), field.replace(",", "")
    what = f"{show(field, kind=False)}, which is {decimal} with a decimal comma"
    what += f" or {whole} with commas between thousands"
    text = str(error(row, what, "read decimal=, or read decimal=."))
    return FieldError("read", text.removeprefix(f"{source}: "), source)


def _wrong_number(row: int, field: str, mark: str, error: RowError) -> NarxbenchError:
    """Return the error of a field that is not a finite number."""
    hint = ""
    if marks_of(field) == (other_mark(mark),):
        hint = f" (with read decimal={other_mark(mark)} it is a number)"
    return error(row, show(field, kind=False), f"{ALLOWED}{hint}")


def _refuse_other_numbers(numbers: NDArray[np.float64], fields: dict[int, str], error: RowError) -> None:
    """Raise the error of the first truth value of a column that has other numbers than 0 and 1."""
    present = numbers[np.isfinite(numbers)]
    if np.isin(present, (0.0, 1.0)).all():
        return
    for row, field in fields.items():
        if is_truth_value(field):
            raise error(row, show(field, kind=False), ALLOWED)
