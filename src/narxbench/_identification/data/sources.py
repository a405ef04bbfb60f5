"""Sources of measured data: the columns of a file, a frame or a mapping, which are alike from here on."""

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error, data_error
from narxbench._identification.data.frames import frame_of
from narxbench._identification.data.missing_codes import MissingCodes, without_codes
from narxbench._identification.data.time_names import is_name_of_time
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.frames import read_frame
from narxbench._io.text_numbers import RowError, numbers_of_texts, refuse_infinite
from narxbench._io.units import split_names
from narxbench._io.words import SHOWN, counted
from narxbench._model.functions import applied

Array = NDArray[np.float64]


class Signal(NamedTuple):
    """A column of a source, or a function of that column."""

    column: int  # counted from 0
    function: str = ""  # "" for the column itself


@dataclass(frozen=True)
class Source:
    """Columns of one experiment. Rows and columns count from 0 here, and from 1 in messages."""

    name: str  # in messages, with its folder for a file
    label: str  # of records and in notes
    names: tuple[str, ...] | None  # without units
    columns: Sequence[Any]  # arrays
    rows: Sequence[int] | NDArray[np.int64]  # their numbers in messages
    noun: str = "row"  # for one of them
    is_text: bool = False  # whether texts may be numbers
    decimal: str | None = "."  # the mark of these numbers, if it is known
    has_numeric_names: bool = False  # numbers choose columns by name, not by place
    index: Any = None  # times next to the columns
    has_zone: bool = False  # whether the index has a time zone
    full_names: tuple[str, ...] | None = None  # with units, as the file has them
    units: tuple[str, ...] | None = None  # "" if there is none
    notes: tuple[str, ...] = ()  # on how it was read
    missing: MissingCodes = None  # the numbers that mean a missing value

    def place(self, row: int) -> str:
        """Return where a row is, as messages say it."""
        return f"{self.noun} {self.rows[row]}"

    def at_rows(self, rows: Any) -> "Source":
        """Return the source with some of its rows alone, given as an index of NumPy."""
        columns = [column[rows] for column in self.columns]
        return replace(self, columns=columns, rows=np.asarray(self.rows)[rows])

    def newest_last(self) -> "Source":
        """Return the source with its rows from the last to the first."""
        return self.at_rows(slice(None, None, -1))

    def title(self, signal: Signal) -> str:
        """Return a name of a signal that no other signal has."""
        name = self.column_title(signal.column)
        if signal.function:
            return f"{signal.function}({name})"
        return name

    def column_title(self, column: int) -> str:
        """Return a name of a column that no other column has."""
        if not self.names or not self.names[column]:
            return f"column {column + 1}"
        name = self.names[column]
        if self.names.count(name) > 1:
            return f"{name} (column {column + 1})"
        return name

    def unit(self, signal: Signal) -> str:
        """Return the unit of a signal, "" where it is not known."""
        if signal.function or not self.units:
            return ""
        return self.units[signal.column]

    @property
    def overview(self) -> str:
        """The columns, as messages list them: by number and name, or only by one where only one chooses them."""
        if not self.names:
            return f"1 to {len(self.columns)}, in a file without header"
        texts = list(map(repr, self.full_names or self.names))
        if not self.has_numeric_names:
            texts = [f"{number} {text}" for number, text in enumerate(texts, 1)]
        return printable(", ".join(texts), 400)

    def error(self, row: int, title: str, what: str, allowed: str) -> NarxbenchError:
        """Return the error of a value: ``what`` was found there, and ``allowed`` would be right."""
        return data_error(f"{self.name}: {self.place(row)}, column {printable(title)}", what, allowed)

    def empty_rows(self) -> NDArray[np.int64]:
        """Return the rows without any value, such as empty lines."""
        is_empty = np.ones(len(self.rows), bool)
        for column in self.columns:
            is_empty[is_empty] = pd.isna(column[is_empty])
        return np.flatnonzero(is_empty)

    def numbers(self, signals: Sequence[Signal], notes: list[str] | None = None) -> Array:
        """Return signals as an array of shape (rows, signals), with NaN where a value is missing.

        Declared codes become missing values, and a number that looks like an undeclared one is refused. ``notes`` gets
        a note on how numbers of unusual forms were read.
        """
        numbers = np.empty((len(self.rows), len(signals)))
        for place, signal in enumerate(signals):
            values = self.floats(signal.column, notes)
            values = without_codes(values, self.missing, self._undeclared_code(signal.column))
            if signal.function:
                values = self._function_values(signal, values)
            numbers[:, place] = values
        return numbers

    def _undeclared_code(self, column: int) -> Callable[[float, int], NarxbenchError]:
        """Return a function that makes the error of a number that may mean a missing value."""

        def error(code: float, count: int) -> NarxbenchError:
            place = f"{counted(count, self.noun, f'{self.noun}s')} of column {printable(self.column_title(column))}"
            text = repr(code).removesuffix(".0")
            what = f"{text} in {place}, far from all other values"
            allowed = f"missing={text} if it means a missing value, missing=none if it is a value"
            return argument_error("missing", what, allowed, self.name)

        return error

    def _function_values(self, signal: Signal, numbers: Array) -> Array:
        """Return the function of the numbers of a column. NarxbenchError is raised where it is not finite."""
        results = applied(signal.function, numbers)
        wrong_rows = np.flatnonzero(np.isfinite(numbers) & ~np.isfinite(results))
        if len(wrong_rows):
            row = int(wrong_rows[0])
            allowed = f"values for which {signal.function} is a finite number"
            raise self.error(row, self.title(signal), f"{numbers[row]:g}", allowed)
        return results

    def floats(self, column: int, notes: list[str] | None = None) -> Array:
        """Return the numbers of a column of any type, with 1 and 0 for true and false and NaN for missing values."""
        array, title = self.columns[column], self.column_title(column)
        if array.dtype.kind not in "biufO":
            raise data_error(f"{self.name}: column {printable(title)}", f"values of type {array.dtype}", "numbers")
        if array.dtype.kind == "O" and self.is_text:
            floats, remarks = numbers_of_texts(array, self.decimal, self._error_of(title), self.name)
            if notes is not None:
                notes += [f"{self.label}: {note}" for note in remarks]
        elif array.dtype.kind == "O":
            floats = self._floats_of_objects(array, title)
        else:
            floats = array.astype(float)
        refuse_infinite(floats, self._error_of(title))
        return floats

    def _error_of(self, title: str) -> RowError:
        return lambda row, what, allowed: self.error(row, title, what, allowed)

    def _floats_of_objects(self, values: Sequence[Any], title: str) -> Array:
        floats = np.full(len(values), np.nan)
        for row, value in enumerate(values):
            if is_none(value):
                continue
            if not isinstance(value, Real | Decimal | np.bool_):
                raise self._no_number(row, title, value)
            try:
                floats[row] = float(value)
            except (ValueError, OverflowError):
                raise self._no_number(row, title, value) from None
        return floats

    def _no_number(self, row: int, title: str, value: Any) -> NarxbenchError:
        return self.error(row, title, show(value), "a number, or NaN where it is missing")


def is_none(value: Any) -> bool:
    """Return whether a value means a missing one."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def is_file(item: Any) -> bool:
    """Return whether an item of the data is the path of a file."""
    return isinstance(item, str | os.PathLike)


class SourceForm(NamedTuple):
    """The form of files, of missing values and of times, as far as the user says it."""

    part: str | None = None
    read: Mapping[str, Any] | None = None
    missing: MissingCodes = None
    time: Any = None  # its column, or False if there is none
    time_format: str | None = None


def open_source(item: Any, label: str, column_names: Collection[str], form: SourceForm) -> Source:
    """Return a file, frame or mapping as a source. ``column_names`` are the names of the chosen columns."""
    if not is_file(item):
        return source_of_columns(item, label, label, form.missing)
    frame = read_frame(item, form.part, form.read, column_names)
    attributes = frame.attrs
    notes = tuple(attributes["notes"])
    if "decimal" not in attributes:
        source = source_of_columns(frame, str(item), label, form.missing)
        units = list(source.units or ())
        for place, name in enumerate(frame):
            units[place] = attributes["units"].get(name, units[place])
        return replace(source, units=tuple(units), notes=notes)
    full_names = None if attributes["names"] is None else tuple(frame.columns)
    return Source(
        name=str(item),
        label=label,
        names=attributes["names"],
        columns=[frame.iloc[:, place].to_numpy() for place in range(frame.shape[1])],
        rows=frame.index.to_numpy(),
        noun=attributes["noun"],
        is_text=True,
        decimal=attributes["decimal"],
        full_names=full_names,
        units=attributes["units"],
        notes=notes,
        missing=form.missing,
    )


def source_of_columns(columns: Any, source_name: str, label: str, missing: MissingCodes = None) -> Source:
    """Return a source of a frame or a mapping of names to arrays."""
    frame = _with_time_of_index(frame_of(columns, label))
    full_names, arrays, lengths = [], [], []
    has_numeric_names = False
    for name, values in frame.items():
        array = array_of(values, f"{label}: column {printable(str(name))}", 1)
        full_names.append(str(name).strip())
        arrays.append(array)
        lengths.append(f"{name} {len(array)}")
        has_numeric_names |= isinstance(name, int | np.integer)
    if len(set(map(len, arrays))) != 1:
        shown = printable(", ".join(lengths)) or "none"
        raise NarxbenchError(f"{label}: found columns of lengths {shown}; needed: one length")
    names, units = split_names(full_names)
    return Source(
        name=source_name,
        label=label,
        names=names,
        columns=arrays,
        rows=range(1, len(arrays[0]) + 1),
        has_numeric_names=has_numeric_names,
        index=_times_in_index(frame, label),
        has_zone=getattr(getattr(frame, "index", None), "tz", None) is not None,
        full_names=tuple(full_names),
        units=units,
        missing=missing,
    )


def _with_time_of_index(frame: Any) -> Any:
    """Return a frame with its index as a last column where that has numbers and the name of a time."""
    index = getattr(frame, "index", None)
    name = getattr(index, "name", None)
    if not isinstance(name, str) or index is None or index.dtype.kind not in "iuf":
        return frame
    if name in frame.columns or not is_name_of_time(name):
        return frame
    return frame.assign(**{name: index})


def _times_in_index(columns: Any, label: str) -> Any:
    """Return the index of a frame if it holds dates, periods (their begin) or durations, else None."""
    if isinstance(columns, Mapping):
        return None
    index = getattr(columns, "index", None)
    if isinstance(index, pd.MultiIndex):
        allowed = "one: a list of frames, one of each experiment"
        raise data_error(label, f"an index of {index.nlevels} levels", allowed)
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    kind = getattr(getattr(index, "dtype", None), "kind", "")
    if kind not in ("M", "m"):
        return None
    return np.asarray(index, dtype=f"{kind}8[ns]")


def array_of(values: Any, name: str, most_dimensions: int) -> Any:
    """Return an array of one or two dimensions, with a single column as a vector and NaN for masked values."""
    try:
        if np.ma.isMaskedArray(values):
            array = np.ma.filled(values.astype(float), np.nan)
        else:
            array = np.asarray(values)
    except (ValueError, TypeError):
        raise data_error(name, show(values), "an array of numbers") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not 1 <= array.ndim <= most_dimensions:
        second = "1" if most_dimensions == 1 else "inputs"
        raise data_error(name, f"an array of shape {array.shape}", f"(samples,) or (samples, {second})")
    return array


def places_of(source: Source, rows: NDArray[Any]) -> str:
    """Return the first few of some rows: ``lines 3, 4, 7 and 12 more``."""
    numbers = []
    for row in rows[:SHOWN].tolist():
        noun, number = source.place(row).split()
        numbers.append(number)
    if len(rows) == 1:
        return f"{noun} {numbers[0]}"
    text = f"{noun}s {', '.join(numbers)}"
    if len(rows) > SHOWN:
        text += f" and {len(rows) - SHOWN} more"
    return text
