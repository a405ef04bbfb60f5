"""Measured data as they come: files, frames and arrays become records of evenly sampled signals.

:func:`read_recording` is the one entry. Files, frames and arrays become sources, which are alike from there on: missing
values and jumps of the time cut an experiment into records, an uneven time is noted or refused, and roles are given.
What was done to the data is said in the notes of the recording.
"""

import math
import operator
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench.identification.data.copies import copies, last_digit
from narxbench.identification.data.sampling import runs
from narxbench.io.delimited import SEPARATORS, Delimited, is_missing, is_numeric, read_delimited
from narxbench.io.errors import FieldError, NarxbenchError, did_you_mean, printable, show
from narxbench.model.functions import applied, check_function, parsed
from narxbench.model.records import ROLES, Record, Recording, Role

# A record that is shorter is of no use: its samples are hardly more than the initial ones of a model.
LEAST_SAMPLES = 10
# Steps of the time, by the median: even, uneven but taken as even, and too far apart to be one step.
_EVEN, _NEARLY_EVEN, _JUMP = 0.01, 0.1, 1.5

Array = NDArray[np.float64]

_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_SECONDS |= {"ns": 1e-9, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
_UNIT = rf"[ _]*[\[(/] *(?P<unit>[^\])]*?) *[\])]?|_(?P<suffix>{'|'.join(_SECONDS)})"
_WORDS = "time|timestamp|time[ _]stamp|(sampling|sample|elapsed)[ _]?time|datetime|date|zeit|zeitstempel|temps|tiempo"
# A single t is one of time, a T is rather a temperature.
_TIME = re.compile(rf"(?P<word>t|(?i:{_WORDS}|sec|seconds))(?:{_UNIT})?")


class Reading(TypedDict, total=False):
    """What :func:`read_recording` takes besides the data."""

    input: Any
    output: Any
    time: Any
    test: Any
    test_input: Any
    test_output: Any
    roles: Mapping[str, Role] | None
    sampling_time: float | None
    units: Mapping[str, str] | None
    header: bool | None
    separator: str | None
    decimal: str | None


def read_recording(
    data: Any = None,
    *,
    # Written by narxbench.identification.signatures: parameters of reading
    input: Any = None,
    output: Any = None,
    time: Any = None,
    test: Any = None,
    test_input: Any = None,
    test_output: Any = None,
    roles: Mapping[str, Role] | None = None,
    sampling_time: float | None = None,
    units: Mapping[str, str] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    # End
) -> Recording:
    """Return measured data as records.

    Rows with a missing value in a column that is wanted (empty, nan, NA, N/A, null, -) and jumps of the time cut an
    experiment into records; those of fewer than 10 samples are left out. The notes of the recording say so, and what
    was guessed of the form of a file.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own; a file is text with columns of numbers. None: input and output are arrays.
    input : column, list of columns, array or None
        A column is its name or its number, from 1 on. A text may hold several, ``"a,b"`` or ``"2,3"``: what is no name
        of a column but a whole number is a number. ``"abs(a)"`` is a further input that is a function of a column, one
        of :mod:`narxbench.model.functions`. An array is of shape (samples,) or (samples, inputs). None: there is none.
    output : column or array
        The output, likewise; an array is of shape (samples,) or (samples, 1).
    time : column, array, None or False
        Numbers (in seconds if the name has no unit in brackets) or ISO 8601 stamps. It gives the sampling time and
        shows where samples are missing. None: a column whose name says so and that increases; False: there is none.
    test : as ``data``, a share such as ``"20%"`` or 0.2, or None
        Data of role "test"; a share is the last part of each record. With arrays also a pair (input, output). What is
        the same data as any that a model sees, in whatever form, is refused.
    test_input, test_output : as ``input`` and ``output``, columns only, or None
        The columns of the test, where they have other names than in ``data``. Without ``test`` they stand next to the
        others in ``data``, and columns may end at different rows.
    roles : mapping of str to {"estimation", "selection", "test"} or None
        Roles of experiments of ``data``, by the name of the file, with or without its folder.
    sampling_time : float or None
        Seconds between samples; None: from the time.
    units : mapping of str to str or None
        Units of signals by name.
    header : bool or None
        Whether the first line of files names the columns; None: unless all wanted fields of it are numbers.
    separator, decimal : {",", ";", "tab", "blank"}, {".", ","} or None
        What stands between the fields of files, and the decimal mark; None: found from the first lines.

    Returns
    -------
    Recording
        Records are named by their file, or ``data`` and ``test``, with their samples (from 1) where there are several.

    Raises
    ------
    NarxbenchError
        One line that names file, line and column, what was found and what is allowed.

    Examples
    --------
    >>> recording = read_recording(input=[0, 1] * 50, output=[[0.5]] * 100, test="20%")
    >>> [(record.name, record.role, record.u.shape) for record in recording.records]
    [('data, samples 1 to 80', None, (80, 1)), ('data, samples 81 to 100', 'test', (20, 1))]
    """
    form = _text_form(header, separator, decimal)
    own_columns = test_input is not None or test_output is not None
    in_data = own_columns and test is None
    if data is None:
        data, input, output, time, test = _as_columns(input, output, time, test)
    share = _share(test)
    if own_columns and share is not None:
        raise _refused("test", "a share next to columns of its own", "files, or none")
    for name, given, other in (("output", test_output, "input"), ("input", test_input, "output")):
        if in_data and given is None and (name == "output" or columns_listed(input)):
            raise FieldError(f"test_{name}", f"missing; needed next to the {other} of a test in the same data")
    items = _items(data, "data")
    test_items = [] if share is not None or test is None else _items(test, "test")
    labels, test_labels = _labels(items, "data"), _labels(test_items, "test")
    files = [Path(item).resolve() for item in items + test_items if _is_file(item)]
    if twice := [item for item in items + test_items if _is_file(item) and files.count(Path(item).resolve()) > 1]:
        raise _wrong(str(twice[-1]), "twice in the data", "each file once")
    role_of = _roles(roles, items, labels)
    wanted, own = [("output", output), ("input", input)], [test_output, test_input]
    of_test = [each if given is None else (f"test_{each[0]}", given) for each, given in zip(wanted, own, strict=True)]
    notes: list[str] = []
    experiments: list[_Experiment] = []
    pieces: list[_Piece] = []
    for i, (item, label) in enumerate(zip(items + test_items, labels + test_labels, strict=True)):
        kinds = [wanted, of_test] if in_data else [of_test if i >= len(items) else wanted]
        parts = [_column_number(part) for kind in kinds for _, columns in kind for part in columns_listed(columns)]
        # Where all columns are wanted by number, there may be no header.
        numbers = [number - 1 for number in parts if number is not None]
        by_number = output is not None and 0 < len(parts) == len(numbers)
        source = _source(item, label, numbers if by_number else None, form)
        read = [_read_experiment(source, kind, time, notes) for kind in kinds]
        notes += _form_notes(source, [column for experiment in read for column in experiment.used])
        for experiment in read:
            is_test = i >= len(items) or experiment is not read[0]
            role = "test" if is_test else role_of.get(i)
            experiments.append(experiment)
            experiments[-1] = _alike(experiment, experiments[0], is_test and own_columns)
            pieces += _pieces(experiments[-1], role, None if role else share, notes)
    records = [piece.record for piece in pieces]
    if not any(record.role in (None, "estimation") for record in records):
        if len(role_of) == len(items) and "estimation" not in role_of.values():
            raise FieldError("roles", "found no record to estimate a model from; needed: one without another role")
        raise FieldError("data", " ".join([f"found no record of at least {LEAST_SAMPLES} samples.", *notes]))
    if (test is not None or in_data) and not any(record.role == "test" for record in records):
        found = f"no record of at least {LEAST_SAMPLES} samples to test a model on"
        found += f" in {printable(', '.join(test_labels or labels))}"
        raise _refused("test", found, "longer data, or a larger share of them")
    _check_copies(pieces, "test_output" if in_data else "roles" if test is None else "test", share, notes)
    titles = experiments[0].titles
    known = next((experiment.sampling_time for experiment in experiments if experiment.sampling_time), None)
    return Recording(
        records=tuple(records),
        inputs=titles[1:],
        output=titles[0],
        sampling_time=_sampling_time(sampling_time, known, notes),
        units=_units(units, titles),
        notes=tuple(dict.fromkeys(notes)),
    )


def _refused(argument: str, found: str, allowed: str, source: str = "") -> FieldError:
    return FieldError(argument, f"found {found}; allowed: {allowed}", source)


def _wrong(place: str, found: str, allowed: str) -> NarxbenchError:
    return NarxbenchError(f"{place}: found {found}; allowed: {allowed}")


def _text_form(header: Any, separator: Any, decimal: Any) -> dict[str, Any]:
    """Return the form of texts for :func:`narxbench.io.delimited.read_delimited`, checked."""
    if not isinstance(header, bool | np.bool_ | None):
        raise _refused("header", show(header), "true, false")
    separator = {"tab": "\t", "\\t": "\t", "blank": " "}.get(str(separator), separator)
    if separator not in (None, *SEPARATORS):
        raise _refused("separator", show(separator), "',', ';', tab, blank")
    if decimal not in (None, ".", ","):
        raise _refused("decimal", show(decimal), "'.', ','")
    return {"header": header, "separator": separator, "decimal": decimal}


def _as_columns(input: Any, output: Any, time: Any, test: Any) -> tuple[Any, Any, str, Any, Any]:
    """Return arrays as columns, with the specifications that choose them: input, output, time, test."""
    if output is None or isinstance(output, str | int):
        raise FieldError("data", "found none; needed: a file, a frame, a mapping, or arrays as input and output")
    # Frames and series of pandas have names.
    names = getattr(input, "columns", None)
    if names is None and isinstance(getattr(input, "name", None), str):
        names = [input.name]
    names = None if names is None else list(map(str, names))
    named = getattr(output, "name", None)
    title = named if isinstance(named, str) else "y"
    while title in (names or ("u",)):
        title += "_"
    extra = {} if time is None or time is False else {"time": time}
    data = _columns_of(input, output, names, title, "data", extra)
    inputs = [name for name in data if name not in (title, *extra)]
    if isinstance(test, tuple) and len(test) == 2:
        test = _columns_of(*test, inputs, title, "test", {})
    return data, inputs or None, title, "time" if extra else time, test


def _columns_of(
    input: Any, output: Any, names: Sequence[str] | None, title: str, name: str, extra: Mapping[str, Any]
) -> Any:
    """Return a mapping of columns; a frame, where one of them has an index of pandas, for that may be the time."""
    u = np.empty((0, 0)) if input is None else _array(input, f"{name}: input", 2)
    u = u[None] if u.ndim == 1 else u.T
    if names is None or len(names) != len(u):
        names = ["u"] if len(u) == 1 else [f"u{i}" for i in range(1, len(u) + 1)]
    columns = {**dict(zip(names, u, strict=True)), title: _array(output, f"{name}: output", 1), **extra}
    index = next((given.index for given in (input, output) if hasattr(given, "iloc")), None)
    if index is None or any(len(values) != len(index) for values in columns.values()):
        return columns
    return pd.DataFrame({column: np.asarray(values) for column, values in columns.items()}, index=index)


def _array(values: Any, name: str, dimensions: int) -> Any:
    """Return an array of at most so many dimensions; a column is a vector, and masked values are missing."""
    try:
        array = np.ma.filled(values.astype(float), np.nan) if np.ma.isMaskedArray(values) else np.asarray(values)
    except (ValueError, TypeError):
        raise _wrong(name, show(values), "an array of numbers") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not 1 <= array.ndim <= dimensions:
        allowed = f"(samples,) or (samples, {'1' if dimensions == 1 else 'inputs'})"
        raise _wrong(name, f"an array of shape {array.shape}", allowed)
    return array


def _share(test: Any) -> float | None:
    """Return the share of a record that ``test`` is, or None where it is data."""
    match = re.fullmatch(r"\s*([+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*", str(test))
    if not isinstance(test, str | Real) or (isinstance(test, str) and (not match or os.path.exists(test))):
        return None
    share = float(match[1]) / (100 if match[2] else 1) if match else math.nan
    if not 0 < share < 1:
        raise _refused("test", show(test, kind=False), "a share such as 20% or 0.2, or a file")
    return share


def _items(data: Any, name: str) -> list[Any]:
    items = list(data) if isinstance(data, list | tuple) else [data]
    if not items:
        raise NarxbenchError(f"{name}: found an empty list; needed: at least one file or frame")
    for item in items:
        if not (_is_file(item) or isinstance(item, Mapping) or (hasattr(item, "columns") and hasattr(item, "items"))):
            found = show(item) if isinstance(item, Real) else f"an object of type {type(item).__name__}"
            hint = "; arrays are given as input=..., output=... without data" if isinstance(item, np.ndarray) else ""
            allowed = "a file, a DataFrame, a mapping of column names to arrays, or a list of these"
            raise _wrong(name, found, allowed + hint)
    return items


def _is_file(item: Any) -> bool:
    return isinstance(item, str | os.PathLike)


def _labels(items: list[Any], name: str) -> list[str]:
    """Return the names of records: of files without folder where that is enough to distinguish them."""
    short = [Path(item).name if _is_file(item) else "" for item in items]
    return [
        (label if short.count(label) == 1 else str(item)) if label else f"{name} {i}" if len(items) > 1 else name
        for i, (item, label) in enumerate(zip(items, short, strict=True), 1)
    ]


def _roles(roles: Mapping[str, Role] | None, items: list[Any], labels: list[str]) -> dict[int, Role]:
    """Return the roles by the index of the experiment."""
    if roles is not None and not isinstance(roles, Mapping):
        raise _refused("roles", show(roles), "a mapping of file names to roles")
    both = zip(items, labels, strict=True)
    names = [{label, Path(item).name, str(item)} if _is_file(item) else {label} for item, label in both]
    found: dict[int, Role] = {}
    for name, role in (roles or {}).items():
        if role not in ROLES:
            allowed = f"{', '.join(ROLES)}{did_you_mean(role, ROLES)}"
            raise FieldError("roles", f"{printable(str(name))}: found {show(role)}; allowed: {allowed}")
        matches = [i for i, known in enumerate(names) if str(name) in known]
        if not matches:
            raise _unknown("roles", name, labels)
        found |= dict.fromkeys(matches, role)
    return found


def _unknown(argument: str, name: Any, allowed: Sequence[str]) -> FieldError:
    hint = did_you_mean(name, allowed)
    return _refused(argument, show(name, kind=False), f"{printable(', '.join(allowed))}{hint}")


def _units(units: Mapping[str, str] | None, titles: Sequence[str]) -> dict[str, str]:
    if units is not None and not isinstance(units, Mapping):
        raise _refused("units", show(units), "a mapping of signals to units")
    for name, unit in (units or {}).items():
        if name not in titles:
            raise _unknown("units", name, titles)
        if not isinstance(unit, str):
            raise FieldError("units", f"{printable(name)}: found {show(unit)}; allowed: text")
    return dict(units or {})


# A column counted from 0, and the function of it that is an input; "" where it is the column itself.
_Column = tuple[int, str]


@dataclass(frozen=True)
class _Source:
    """Columns of one experiment; rows and columns count from 0 here, and from 1 in messages."""

    name: str  # in messages; that of a file has its folder
    label: str  # of records and in notes
    names: tuple[str, ...] | None
    columns: Sequence[Any]  # texts of a file, or arrays
    table: Delimited | None = None  # the file
    numbered: bool = False  # whether numbers are names of the columns
    index: Any = None  # times next to the columns

    def place(self, row: int) -> str:
        return self.table.place(row) if self.table else f"row {row + 1}"

    def title(self, column: int, function: str = "") -> str:
        """Return a name of the column that no other column has."""
        name = self.names[column] if self.names else ""
        if not name or (self.names and self.names.count(name) > 1):
            name = f"{name} (column {column + 1})" if name else f"column {column + 1}"
        return f"{function}({name})" if function else name

    @property
    def overview(self) -> str:
        """The columns, as messages list them: by number and name, or only by one where only one chooses them."""
        if not self.names:
            return f"1 to {len(self.columns)}, in a file without header"
        names = (repr(name) if self.numbered else f"{i} {name!r}" for i, name in enumerate(self.names, 1))
        return printable(", ".join(names), 400)

    def wrong(self, row: int, title: str, found: str, allowed: str) -> NarxbenchError:
        return _wrong(f"{self.name}: {self.place(row)}, column {printable(title)}", found, allowed)

    def numbers(self, columns: Sequence[_Column]) -> Array:
        """Return columns as an array of shape (rows, columns), with NaN where a value is missing."""
        places = [place for place, _ in columns]
        found = self.table.numbers(places) if self.table else np.column_stack([self._floats(i) for i in places])
        for own, (place, function) in zip(found.T, columns, strict=True):
            if function:
                values = own.copy()
                own[:] = applied(function, values)
                for row in np.flatnonzero(np.isfinite(values) & ~np.isfinite(own)).tolist():
                    allowed = f"values for which {function} is a finite number"
                    raise self.wrong(row, self.title(place, function), f"{values[row]:g}", allowed)
        return found

    def _floats(self, column: int) -> Array:
        """Return an array of numbers of any type as floats; true and false are none."""
        array, title = self.columns[column], self.title(column)
        if array.dtype.kind not in "iufO":
            raise _wrong(f"{self.name}: column {printable(title)}", f"values of type {array.dtype}", "numbers")
        values = np.full(len(array), np.nan) if array.dtype.kind == "O" else array.astype(float)
        for row, value in enumerate(array) if array.dtype.kind == "O" else ():
            is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)
            try:
                values[row] = np.nan if _is_none(value) else float(value if is_number else "no number")
            except (ValueError, OverflowError):
                raise self.wrong(row, title, show(value), "a number, or NaN where it is missing") from None
        for row in np.flatnonzero(np.isinf(values)).tolist():
            raise self.wrong(row, title, str(array[row]), "a finite number, or NaN where it is missing")
        return values

    def times(self, column: int) -> tuple[Array, bool]:
        """Return numbers or seconds of a column of times, and whether they are stamps; NaN where one is missing."""
        values = self.columns[column]
        if self.table:
            stamped = not is_numeric(next((text for text in values if not is_missing(text)), "nan"))
            values = [None if is_missing(text) else text.strip() for text in values] if stamped else values
        elif values.dtype.kind in "Mm":
            missing = np.isnat(values)
            counts = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
            return np.where(missing, np.nan, (counts - counts[~missing][:1].sum()) / 1e9), True
        else:
            of_time = (isinstance(value, str | datetime) and not _is_none(value) for value in values)
            stamped = values.dtype.kind in "OU" and any(of_time)
        if not stamped:
            return self.numbers([(column, "")])[:, 0], False
        seconds = np.full(len(values), np.nan)
        first = None
        for row, value in enumerate(values):
            if _is_none(value):
                continue
            try:
                moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
                first = first or moment
                seconds[row] = (moment - first).total_seconds()
            except (ValueError, TypeError):  # TypeError: with and without a time zone
                allowed = "numbers, or date and time as in 2024-05-31T12:00:00.01, all with a time zone or none"
                raise self.wrong(row, self.title(column), show(value, kind=False), allowed) from None
        return seconds, True


def _is_none(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def _source(item: Any, label: str, wanted: Sequence[int] | None, form: dict[str, Any]) -> _Source:
    """Return a file, frame or mapping as a source; ``wanted`` are columns that have to be numbers, if known."""
    if _is_file(item):
        table = read_delimited(item, wanted, **form)
        return _Source(str(item), label, table.names, table.columns, table)
    arrays = [_array(values, f"{label}: column {printable(str(name))}", 1) for name, values in item.items()]
    names = [name for name, _ in item.items()]
    if len(set(map(len, arrays))) != 1:
        lengths = ", ".join(f"{name} {len(array)}" for name, array in zip(names, arrays, strict=True))
        raise NarxbenchError(f"{label}: found columns of lengths {printable(lengths) or 'none'}; needed: one length")
    index = None if isinstance(item, Mapping) else getattr(item, "index", None)
    kind = getattr(getattr(index, "dtype", None), "kind", "")
    return _Source(
        *(label, label, tuple(str(name).strip() for name in names), arrays),
        numbered=any(isinstance(name, int | np.integer) for name in names),
        index=np.asarray(index, dtype=f"{kind}8[ns]") if kind in ("M", "m") else None,
    )


def columns_listed(columns: Any) -> list[Any]:
    """Return the columns that a specification lists."""
    if isinstance(columns, str):
        return [part.strip() for part in columns.split(",")]
    if isinstance(columns, list | tuple) or (isinstance(columns, np.ndarray) and columns.ndim == 1):
        return list(columns)
    return [] if columns is None else [columns]


def _column_number(part: Any) -> int | None:
    """Return the number, from 1, that a column is given by, or None."""
    if isinstance(part, str):
        return int(part) if re.fullmatch("[0-9]{1,9}", part.strip()) else None
    try:
        return None if isinstance(part, bool | np.bool_) else operator.index(part)
    except TypeError:
        return None


def _columns(source: _Source, argument: str, specification: Any, used: Sequence[_Column] = ()) -> list[_Column]:
    """Return the columns that a specification chooses, of those that are not used yet."""
    names, found = source.names or (), list(used)
    whole = isinstance(specification, str) and specification.strip() in names
    parts = [specification] if whole else columns_listed(specification)
    if not argument.endswith("input") and len(parts) != 1:
        raise _refused(argument, f"{len(parts)} columns", f"one of {source.overview}", source.name)
    for part in parts:
        number = 0 if source.numbered else _column_number(part) or 0
        same = [i for i, name in enumerate(names) if isinstance(part, str) and name == part.strip()]
        if len(same) > 1:
            allowed = f"one of them by its number, {', '.join(str(i + 1) for i in same)}"
            raise _refused(argument, f"{len(same)} columns {part.strip()!r}", allowed, source.name)
        if not same and argument.endswith("input") and (function := parsed(part)):
            column = _function(source, argument, *function)
        elif same or 1 <= number <= len(source.columns):
            column = (same[0] if same else number - 1), ""
        else:
            what = f"no column {show(part, kind=False)}" if _column_number(part) is None else f"column number {part}"
            hint = f"{' by its name as text' if source.numbered else ''}{did_you_mean(part, names)}"
            raise _refused(argument, what, f"{source.overview}{hint}", source.name)
        if column in found:
            what = f"column {printable(source.title(*column))}, which is already in use"
            raise _refused(argument, what, f"each column once, of {source.overview}", source.name)
        found.append(column)
    return found[len(used) :]


def _function(source: _Source, argument: str, function: str, of: str) -> _Column:
    try:
        check_function(function)
    except NarxbenchError as error:
        raise FieldError(argument, str(error), source.name) from None
    if parsed(of) and of not in (source.names or ()):
        raise _refused(argument, f"a function of {printable(of)}", "a function of a column", source.name)
    return _columns(source, argument, [of])[0][0], function


@dataclass(frozen=True)
class _Experiment:
    """The samples of a source, and the pieces of it (start, end) without gaps."""

    source: _Source
    titles: tuple[str, ...]  # the output first
    values: Array
    pieces: list[tuple[int, int]]
    sampling_time: float | None
    used: Sequence[int]  # columns, also that of the time


def _read_experiment(source: _Source, wanted: list[tuple[str, Any]], time: Any, notes: list[str]) -> _Experiment:
    """Return the signals of a source, and where they have gaps."""
    columns: list[_Column] = []
    for argument, specification in wanted:
        if argument == "output" and not columns_listed(specification):
            raise FieldError("output", f"missing; allowed: one of {source.overview}", source.name)
        columns += _columns(source, argument, specification, columns)
    values, titles = source.numbers(columns), tuple(source.title(*column) for column in columns)
    times = _times(source, time, columns, notes)
    used = [*(column for column, _ in columns), *([times.column] if times else [])]
    # Columns of other lengths end before others do.
    end = int(np.flatnonzero(np.append(True, np.isfinite(values).any(axis=1)))[-1])
    if 0 < end < len(values):
        named = printable(", ".join(titles))
        notes.append(f"{source.label}: the data end in {source.place(end - 1)} of {named}; below it they are empty.")
        values, times = values[:end], times and replace(times, seconds=times.seconds[:end])
    present: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
    if times:
        present &= ~np.isnan(times.seconds)
    if not present.all():
        rows = np.flatnonzero(~present)
        what = "row with a missing value was" if len(rows) == 1 else "rows with missing values were"
        notes.append(f"{source.label}: {len(rows)} {what} left out, and the data cut there: {_places(source, rows)}.")
    jumps, sampling_time = _steps(source, times, present, notes) if times else (np.zeros(len(values), bool), None)
    rows = np.flatnonzero(present)
    gaps = np.flatnonzero((np.diff(rows) > 1) | jumps[rows[1:]]) + 1
    pieces = [(int(piece[0]), int(piece[-1]) + 1) for piece in np.split(rows, gaps) if len(piece)]
    return _Experiment(source, titles, values, pieces, sampling_time, used)


def _form_notes(source: _Source, used: Sequence[int]) -> list[str]:
    """Return what was guessed of the form of a source, and what of it was not used."""
    notes = list(source.table.guesses) if source.table else []
    columns = [column for column in used if column >= 0]
    if source.table and not source.table.decimal and source.table.decimal_mark(columns) == ",":
        notes.append("the commas in numbers were read as decimal marks.")
    if others := [repr(source.title(i)) for i in range(len(source.columns)) if i not in used]:
        notes.append(f"columns that were not used: {printable(', '.join(others))}.")
    return [f"{source.label}: {note}" for note in notes]


def _places(source: _Source, rows: NDArray[np.int64]) -> str:
    """Return the first few of some rows: ``lines 3, 4, 7 and 12 more``."""
    words = [source.place(int(row)).split() for row in rows[:5]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"{words[0][0]}{'s' if len(rows) > 1 else ''} {', '.join(number for _, number in words)}{more}"


@dataclass(frozen=True)
class _Times:
    """A column of times."""

    column: int
    where: str
    seconds: Array  # NaN where it is missing
    resolution: float  # the last digit that was written
    known: bool  # whether the unit is known, so that they are seconds indeed


def _times(source: _Source, wanted: Any, columns: Sequence[_Column], notes: list[str]) -> _Times | None:
    """Return the times of a source: of the column that is wanted, or of one that looks like it."""
    if wanted is False or isinstance(wanted, np.bool_):
        return None
    if wanted is not None:
        return _read_times(source, _columns(source, "time", wanted, columns)[0][0])
    refused = []
    for column, name in enumerate(source.names or ()):
        if (column, "") not in columns and _TIME.fullmatch(name):
            try:
                times = _read_times(source, column)
            except NarxbenchError as error:
                refused.append(f"{error}. So the column was not taken as the time.")
                continue
            notes.append(f"Column {name!r} was taken as the time, by its name.")
            return times
    notes += refused
    if source.index is None:
        return None
    notes.append("The index of the frame was taken as the time.")
    return replace(_read_times(replace(source, names=("index",), columns=[source.index]), 0), column=-1)


def _read_times(source: _Source, column: int) -> _Times:
    """Return the times of a column; those that do not increase raise NarxbenchError."""
    (values, stamps), title = source.times(column), source.title(column)
    match = _TIME.fullmatch(source.names[column]) if source.names else None
    unit = (match["unit"] or match["suffix"] or "s").strip().lower() if match and not stamps else "s"
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        raise NarxbenchError(f"{source.name}: column {printable(title)}: found no value; needed: times")
    for i in np.flatnonzero(np.diff(values[rows]) <= 0):
        before, row = rows[i : i + 2].tolist()
        found = "the same time as" if values[row] == values[before] else "an earlier time than"
        raise source.wrong(row, title, f"{found} in {source.place(before)}", "times that increase")
    scale = _SECONDS.get(unit, 1.0)
    where = f"column {printable(title)}"
    return _Times(column, where, values * scale, last_digit(values[rows]) * scale, unit in _SECONDS)


def _steps(
    source: _Source, times: _Times, present: NDArray[np.bool_], notes: list[str]
) -> tuple[NDArray[np.bool_], float | None]:
    """Return before which rows the time jumps, and the sampling time; an uneven time is noted or refused."""
    follows = np.append(False, present[1:] & present[:-1])
    steps = np.diff(times.seconds, prepend=np.nan)
    if not follows.any():
        return follows, None
    median = float(np.median(steps[follows]))
    jumps = follows & (steps > _JUMP * median)
    if jumps.sum() > 0.1 * follows.sum():  # steps of 1 and 2 last digits are rather rounded ones of 1.5
        jumps &= steps > median + 1.01 * times.resolution
    inner = follows & ~jumps
    deviations = np.where(inner, np.abs(steps / median - 1), 0.0)
    jitter, row = float(deviations.max()), int(deviations.argmax())
    if jitter > _EVEN and not _even_but_rounded(times, inner):
        if jitter >= _NEARLY_EVEN:
            found = f"a step of {steps[row]:.4g}, {jitter:.0%} off the median of {median:.4g}, which is uneven"
            remedy = "resample the data to even steps, or take none as the time if the samples are even"
            where = f"{source.name}: {source.place(row)}, {times.where}"
            raise _wrong(where, found, f"less than {_NEARLY_EVEN:.0%}; {remedy}")
        notes.append(
            f"{source.label}: sampling is uneven, steps are up to {jitter:.1%} off the median ({times.where}, "
            f"{source.place(row)}); the samples were taken as even."
        )
    if jumps.any():
        rows = np.flatnonzero(jumps)
        often = "once" if len(rows) == 1 else f"{len(rows)} times"
        notes.append(f"{source.label}: the time jumps {often}, and the data were cut there: {_places(source, rows)}.")
    if not times.known:
        what = f"the unit of {times.where} is not known, so that the sampling time is not either"
        notes.append(f"{source.label}: {what}.")
        return jumps, None
    count = int(inner.sum())
    return jumps, _rounded(float(steps[inner].sum() / count), count, times.resolution)


def _even_but_rounded(times: _Times, inner: NDArray[np.bool_]) -> bool:
    """Return whether the times of each piece are those of even steps, but for the rounding of their last digit."""
    for start, end in runs(inner):
        values = times.seconds[start - 1 : end]
        steps = np.arange(len(values)) - (len(values) - 1) / 2
        slope = steps @ (values - values.mean()) / (steps @ steps)
        if np.abs(values - values.mean() - slope * steps).max() > 0.75 * times.resolution:
            return False
    return True


def _rounded(step: float, count: int, resolution: float) -> float:
    """Return a step with as few digits as leave the time of all steps right to its last digit."""
    drift = max(resolution, 1e-9 * step * count) / 2
    texts = (f"{step:.{digits}e}" for digits in range(16))
    return next((float(text) for text in texts if abs(float(text) - step) * count <= drift), step)


def _sampling_time(given: Any, known: float | None, notes: list[str]) -> float | None:
    """Return the sampling time that was given, or the known one."""
    if given is None:
        return known
    if isinstance(given, bool | np.bool_) or not isinstance(given, Real) or not 0 < given < 1e300:  # type: ignore[operator]
        raise _refused("sampling_time", show(given), "a number of seconds above 0")
    if known and abs(float(given) / known - 1) > _EVEN:
        notes.append(f"The sampling time is {float(given):g} s as given; by the time it would be {known:g} s.")
    return float(given)


def _alike(experiment: _Experiment, first: _Experiment, renamed: bool) -> _Experiment:
    """Return an experiment that is named and sampled as the first; ``renamed`` has the names of the first from here."""
    where, model = experiment.source.name, first.source.name
    if renamed:
        if len(experiment.titles) != len(first.titles):
            found = f"{len(experiment.titles) - 1} inputs"
            raise _refused("test_input", found, f"{len(first.titles) - 1}, as the model has", where)
        if experiment.source.label == first.source.label:
            experiment = replace(experiment, source=replace(experiment.source, label=f"{first.source.label} (test)"))
        experiment = replace(experiment, titles=first.titles)
    if first.source.names and experiment.source.names and experiment.titles != first.titles:
        found = f"the columns {printable(', '.join(experiment.titles))} (output first)"
        raise _wrong(where, found, f"{', '.join(first.titles)} as in {model}")
    times = experiment.sampling_time, first.sampling_time
    if times[0] and times[1] and abs(times[0] / times[1] - 1) > _EVEN:
        allowed = f"{times[1]:g} s as in {model}; resample the data to the same steps"
        raise _wrong(where, f"a sampling time of {times[0]:g} s", allowed)
    return experiment


class _Piece(NamedTuple):
    """A record, and where it stands in its experiment."""

    experiment: _Experiment
    start: int
    record: Record


def _pieces(experiment: _Experiment, role: Role | None, share: float | None, notes: list[str]) -> Iterator[_Piece]:
    """Yield the pieces of an experiment that are long enough, with the last part of each for the test."""
    label = experiment.source.label
    whole = Record(label, np.ascontiguousarray(experiment.values[:, 1:]), experiment.values[:, 0].copy(), role)
    short = [f"{start + 1} to {end}" for start, end in experiment.pieces if end - start < LEAST_SAMPLES]
    if short:
        listed = ", ".join(short[:5]) + (", …" if len(short) > 5 else "")
        what = "1 record" if len(short) == 1 else f"{len(short)} records"
        notes.append(f"{label}: {what} of fewer than {LEAST_SAMPLES} samples left out: samples {listed}.")
    undivided = 0
    for start, end in experiment.pieces:
        cut = end - round((share or 0) * (end - start))
        if min(end - cut, cut - start) >= LEAST_SAMPLES:
            yield _Piece(experiment, start, whole.part(start, cut))
            yield _Piece(experiment, cut, whole.part(cut, end, "test"))
        elif end - start >= LEAST_SAMPLES:
            undivided += share is not None
            yield _Piece(experiment, start, whole if (start, end) == (0, len(whole)) else whole.part(start, end))
    if undivided:
        what = "1 record is" if undivided == 1 else f"{undivided} records are"
        notes.append(f"{label}: {what} too short to set {share:.0%} of the samples aside for the test.")


def _check_copies(pieces: Sequence[_Piece], argument: str, share: float | None, notes: list[str]) -> None:
    """Raise FieldError where a test has data that a model sees; note what else is the same."""

    def rows(piece: _Piece, first: int, count: int) -> str:
        """Return some samples of a record, as messages say where they stand."""
        source, start = piece.experiment.source, piece.start + first
        (kind, low), (_, high) = (source.place(row).split() for row in (start, start + count - 1))
        return f"{kind}s {low} to {high} of {printable(source.label)}"

    place = {id(piece.experiment): i for i, piece in enumerate(pieces)}
    sources = [2 * place[id(piece.experiment)] + (piece.record.role == "test") for piece in pieces]
    for copy in copies([piece.record for piece in pieces], sources):
        both = [(pieces[i], start) for i, start in zip(copy.records, copy.starts, strict=True)]
        (seen, first), (other, second) = sorted(both, key=lambda each: each[0].record.role == "test")
        after, before = rows(other, second, copy.length), rows(seen, first, copy.length)
        if other.record.role != "test":
            if copy.sure:
                notes.append(f"{after} are the same data as {before}: they count twice.")
        elif seen.record.role != "test":
            if copy.sure:
                allowed = "data that were measured apart from these" + (", or a share such as 20%" if not share else "")
                raise _refused(argument, f"in {after} the same data as in {before}, which the model sees", allowed)
            if 2 * copy.length >= len(other.record):
                notes.append(
                    f"{after} repeat {before}, in all signals. These data repeat themselves, so that it may be chance; "
                    "but such a test hardly shows what the model does on new data."
                )
