"""Sources of measured data: the columns of a file, a frame or a mapping, which are alike from here on."""

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error, data_error
from narxbench._identification.data.frames import frame_of
from narxbench._identification.data.missing_codes import missing_codes
from narxbench._identification.data.time_names import is_name_of_time
from narxbench._io.binary import read_columns
from narxbench._io.delimited import SEPARATORS, read_delimited
from narxbench._io.encodings import check_encoding
from narxbench._io.errors import NarxbenchError, is_whole_number, printable, show
from narxbench._io.formats import TABLES, open_data_file
from narxbench._io.text_columns import TextColumns
from narxbench._io.units import split_names
from narxbench._io.words import counted
from narxbench._model.functions import applied

Array = NDArray[np.float64]


class Signal(NamedTuple):
    """A column of a source, or a function of that column."""

    column: int  # counted from 0
    function: str = ""  # "" for the column itself


@dataclass(frozen=True)
class Source:
    """Columns of one experiment; rows and columns count from 0 here, and from 1 in messages."""

    name: str  # in messages; that of a file has its folder
    label: str  # of records and in notes
    names: tuple[str, ...] | None  # without units
    columns: Sequence[Any]  # texts of a file, or arrays
    table: TextColumns | None = None  # the file
    has_numeric_names: bool = False  # numbers choose columns by name, not by place
    index: Any = None  # times next to the columns
    has_zone: bool = False  # whether the index has a time zone
    full_names: tuple[str, ...] | None = None  # with units, as the file has them
    units: tuple[str, ...] | None = None  # "" where there is none
    guesses: tuple[str, ...] = ()  # sentences on what was guessed of its form
    rows: Sequence[int] | None = None  # of arrays, where some rows are left out

    def place(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        if self.table:
            return self.table.place(row)
        return f"row {(row if self.rows is None else self.rows[row]) + 1}"

    def at_rows(self, rows: Sequence[int]) -> "Source":
        """Return the source with some of its rows alone."""
        if self.table:
            table = self.table.at_rows(rows)
            return replace(self, table=table, columns=table.columns)
        return replace(self, columns=[column[rows] for column in self.columns], rows=rows)

    def newest_last(self) -> "Source":
        """Return the source with its rows from the last to the first."""
        return self.at_rows(range(len(self.columns[0]))[::-1])

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
        """Return the error of a value: ``what`` was found there, and what is allowed."""
        return data_error(f"{self.name}: {self.place(row)}, column {printable(title)}", what, allowed)

    def numbers(self, signals: Sequence[Signal], notes: list[str] | None = None) -> Array:
        """Return signals as an array of shape (rows, signals), with NaN where a value is missing.

        So are numbers that stand for a missing value, which is noted where there are ``notes``.
        """
        columns = [signal.column for signal in signals]
        if self.table:
            numbers = self.table.numbers(columns)
        else:
            numbers = np.column_stack(list(map(self._floats, columns)))
        for place, signal in enumerate(signals):
            found = self._remove_codes(numbers[:, place], self.column_title(signal.column))
            if notes is not None:
                notes += found
            if signal.function:
                numbers[:, place] = self._function_values(signal, numbers[:, place])
        return numbers

    def _remove_codes(self, values: Array, title: str) -> list[str]:
        """Put NaN in the place of numbers that stand for a missing value, and return a note on each of them."""
        notes = []
        for code in missing_codes(values):
            is_code = values == code
            values[is_code] = np.nan
            place = f"{counted(int(is_code.sum()), 'row', 'rows')} of column {printable(title)}"
            text = f"{code:.6g} in {place} lies far from all other values, and was taken as missing."
            notes.append(f"{self.label}: {text}")
        return notes

    def _function_values(self, signal: Signal, numbers: Array) -> Array:
        """Return the function of the numbers of a column; where it is no finite number, NarxbenchError is raised."""
        results = applied(signal.function, numbers)
        wrong_rows = np.flatnonzero(np.isfinite(numbers) & ~np.isfinite(results))
        if len(wrong_rows):
            row = int(wrong_rows[0])
            allowed = f"values for which {signal.function} is a finite number"
            raise self.error(row, self.title(signal), f"{numbers[row]:g}", allowed)
        return results

    def _floats(self, column: int) -> Array:
        """Return an array of numbers of any type as floats; true and false are 1 and 0."""
        array, title = self.columns[column], self.column_title(column)
        if array.dtype.kind not in "biufO":
            raise data_error(f"{self.name}: column {printable(title)}", f"values of type {array.dtype}", "numbers")
        if array.dtype.kind == "O":
            floats = self._floats_of_objects(array, title)
        else:
            floats = array.astype(float)
        infinite_rows = np.flatnonzero(np.isinf(floats))
        if len(infinite_rows):
            row = int(infinite_rows[0])
            raise self.error(row, title, str(array[row]), "a finite number, or NaN where it is missing")
        return floats

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
    """Return whether a value stands for a missing one."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def is_file(item: Any) -> bool:
    """Return whether an item of the data is the path of a file."""
    return isinstance(item, str | os.PathLike)


class SourceForm(NamedTuple):
    """The form of files, as far as the user says it."""

    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    skip_rows: int | None = None
    encoding: str | None = None
    part: str | None = None


def checked_form(form: SourceForm) -> SourceForm:
    """Return the form of files with the separator as a character; what is not allowed raises FieldError."""
    if not isinstance(form.header, bool | np.bool_ | None):
        raise argument_error("header", show(form.header), "true, false")
    separator = {"tab": "\t", "\\t": "\t", "blank": " "}.get(str(form.separator), form.separator)
    if separator not in (None, *SEPARATORS):
        raise argument_error("separator", show(separator), "',', ';', tab, blank")
    if form.decimal not in (None, ".", ","):
        raise argument_error("decimal", show(form.decimal), "'.', ','")
    if form.skip_rows is not None and not is_whole_number(form.skip_rows, 0):
        raise argument_error("skip_rows", show(form.skip_rows), "a whole number of lines from 0 on")
    check_encoding(form.encoding)
    if not isinstance(form.part, str | None):
        raise argument_error("part", show(form.part), "the name of a sheet, group, structure or member")
    return form._replace(separator=separator)


def open_source(
    item: Any, label: str, number_columns: Sequence[int] | None, column_names: Collection[str], form: SourceForm
) -> Source:
    """Return a file, frame or mapping as a source.

    ``number_columns`` are the columns that have to hold numbers, if they are known, ``column_names`` names of columns
    that are chosen by name, and ``form`` is that of files.
    """
    if not is_file(item):
        return source_of_columns(item, label, label)
    file = open_data_file(item, form.part)
    if file.format not in TABLES:
        columns = read_columns(file)
        source = source_of_columns(columns.columns, str(item), label)
        units = list(source.units or ())
        for place, name in enumerate(columns.columns):
            units[place] = columns.units.get(name, units[place])
        return replace(source, units=tuple(units), guesses=tuple(columns.guesses))
    arguments = form._asdict()
    del arguments["part"]
    table = read_delimited(file, number_columns, column_names=column_names, **arguments)
    return Source(
        name=str(item),
        label=label,
        names=table.names,
        columns=table.columns,
        table=table,
        full_names=table.full_names,
        units=table.units,
        guesses=table.guesses,
    )


def source_of_columns(columns: Any, source_name: str, label: str) -> Source:
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
        has_numeric_names=has_numeric_names,
        index=_times_in_index(frame, label),
        has_zone=getattr(getattr(frame, "index", None), "tz", None) is not None,
        full_names=tuple(full_names),
        units=units,
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
    """Return an array of one or two dimensions; a single column is a vector, and masked values are missing."""
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
    for row in rows[:5].tolist():
        noun, number = source.place(row).split()
        numbers.append(number)
    if len(rows) == 1:
        return f"{noun} {numbers[0]}"
    text = f"{noun}s {', '.join(numbers)}"
    if len(rows) > 5:
        text += f" and {len(rows) - 5} more"
    return text
