"""Columns as a user chooses them, by names, numbers or functions: the signals of a source that are meant."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.sources import Signal, Source
from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean, printable, show
from narxbench._model.functions import check_function, parsed

# The columns of an experiment as arguments specify them, by the names of these, the output first.
Columns = Mapping[str, Any]


def have_test_names(columns: Columns) -> bool:
    """Return whether the user named columns for the test alone."""
    return any(argument.startswith("test_") for argument in columns)


def column_names(choices: Iterable[Columns]) -> set[str]:
    """Return the names that some choices may call columns by, including columns inside a function."""
    names: set[str] = set()
    for columns in choices:
        for specification in columns.values():
            texts = [part for part in [specification, *columns_listed(specification)] if isinstance(part, str)]
            names.update(map(str.strip, texts))
            names.update(function_and_input[1] for function_and_input in map(parsed, texts) if function_and_input)
    return names


def columns_listed(columns: Any) -> list[Any]:
    """Return the columns that a specification lists."""
    if columns is None:
        return []
    if isinstance(columns, str):
        return list(map(str.strip, columns.split(",")))
    if isinstance(columns, list | tuple) or (isinstance(columns, np.ndarray) and columns.ndim == 1):
        return list(columns)
    return [columns]


def _column_number(part: Any) -> int | None:
    """Return the number, from 1, that a column is given by, or None."""
    if isinstance(part, str):
        if re.fullmatch("[0-9]{1,9}", part.strip()):
            return int(part)
        return None
    if isinstance(part, bool | np.bool_):
        return None
    try:
        return operator.index(part)
    except TypeError:
        return None


def chosen_signals(source: Source, argument: str, specification: Any, used: Sequence[Signal] = ()) -> list[Signal]:
    """Return the signals that a specification chooses. Signals that are ``used`` already are refused."""
    parts: list[Any] = []
    for part in [specification] if isinstance(specification, str) else columns_listed(specification):
        # A name may have a comma itself.
        parts += [part] if not isinstance(part, str) or _columns_of_name(source, part) else columns_listed(part)
    if not _is_input(argument) and len(parts) != 1:
        raise argument_error(argument, f"{len(parts)} columns", f"one of {source.overview}", source.name)
    signals: list[Signal] = []
    for part in parts:
        signal = _chosen_signal(source, argument, part)
        if signal in used or signal in signals:
            what = f"column {printable(source.title(signal))}, which is already in use"
            raise argument_error(argument, what, f"each column once, of {source.overview}", source.name)
        signals.append(signal)
    return signals


def _is_input(argument: str) -> bool:
    return argument.endswith("input")


def _chosen_signal(source: Source, argument: str, part: Any) -> Signal:
    """Return the signal that a part of a specification names: a column by name, a function of one, or a number."""
    columns = _columns_of_name(source, part)
    if len(columns) > 1:
        numbers = ", ".join(str(column + 1) for column in columns)
        what, allowed = f"{len(columns)} columns {part.strip()!r}", f"one of them by its number, {numbers}"
        raise argument_error(argument, what, allowed, source.name)
    if columns:
        return Signal(columns[0])
    function_and_input = parsed(part)
    if _is_input(argument) and function_and_input:
        return _function_of_column(source, argument, *function_and_input)
    number = 0 if source.has_numeric_names else _column_number(part) or 0
    if not 1 <= number <= len(source.columns):
        raise _unknown_column(source, argument, part)
    return Signal(number - 1)


def _unknown_column(source: Source, argument: str, part: Any) -> FieldError:
    what = f"column number {part}"
    if _column_number(part) is None:
        what = f"no column {show(part, kind=False)}"
    allowed = source.overview
    if source.has_numeric_names:
        allowed += " by its name as text"
    return argument_error(argument, what, f"{allowed}{did_you_mean(part, source.names or ())}", source.name)


def _columns_of_name(source: Source, name: Any) -> list[int]:
    """Return the columns of a name, with its unit or without."""
    if not isinstance(name, str):
        return []
    for names in (source.names or (), source.full_names or ()):
        columns = [column for column, title in enumerate(names) if title == name.strip()]
        if columns:
            return columns
    return []


def _function_of_column(source: Source, argument: str, function: str, name: str) -> Signal:
    """Return a function of the column of a name. A function of a function is refused."""
    try:
        check_function(function)
    except NarxbenchError as error:
        raise FieldError(argument, str(error), source.name) from None
    if parsed(name) and not _columns_of_name(source, name):
        raise argument_error(argument, f"a function of {printable(name)}", "a function of a column", source.name)
    column = chosen_signals(source, argument, [name])[0].column
    return Signal(column, function)
