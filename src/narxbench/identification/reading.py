"""Measured data as they come: files, frames and arrays become records of evenly sampled signals.

:func:`read_recording` is the one entry. A source (a file, a frame, a mapping) tells the names of its columns and reads
them as numbers; from there on all are alike: missing values and jumps of the time cut an experiment into records, an
uneven time is told or refused, and roles are given. What was done to the data is said in the notes of the recording.
"""

import math
import operator
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.io.delimited import SEPARATORS, Delimited, is_missing, read_delimited
from narxbench.io.errors import NarxbenchError, did_you_mean, printable, show
from narxbench.model.records import ROLES, Record, Recording, Role

# A record that is shorter is of no use: its samples are hardly more than the initial ones of a model.
LEAST_SAMPLES = 10
# Steps of the time, by the median: even, uneven but taken as even, and too far apart to be one step.
_EVEN, _NEARLY_EVEN, _JUMP = 0.01, 0.1, 1.5

Array = NDArray[np.float64]
Columns = str | int | Sequence[str | int]

_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_SECONDS |= {"ns": 1e-9, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
_UNIT = rf"[ _]*[\[(/] *(?P<unit>[^\])]*?) *[\])]?|_(?P<suffix>{'|'.join(_SECONDS)})"
_WORDS = "time|timestamp|time[ _]stamp|(sampling|sample|elapsed)[ _]?time|datetime|date|zeit|zeitstempel|temps|tiempo"
# A single t is one of time, a T is rather a temperature.
_TIME = re.compile(rf"(?P<word>t|(?i:{_WORDS}|sec|seconds))(?:{_UNIT})?")


def read_recording(
    data: Any = None,
    *,
    input: Any = None,
    output: Any = None,
    time: Any = None,
    test: Any = None,
    roles: Mapping[str, Role] | None = None,
    sampling_time: float | None = None,
    units: Mapping[str, str] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Recording:
    """Return measured data as records.

    Rows with a missing value in a column that is wanted (empty, nan, NA, N/A, null, -) and jumps of the time cut an
    experiment into records; those of fewer than 10 samples are left out. The notes of the recording tell it.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own. A file is text in UTF-8 with columns of numbers. None: ``input`` and
        ``output`` are arrays.
    input : column, list of columns, array or None
        A column is its name or its number, counted from 1. A text may hold several, ``"a,b"`` or ``"2,3"``: one that
        is no name of a column but a whole number is a column number. An array is of shape (samples,), (samples, 1) or
        (samples, inputs). None: there is no input, the output depends on its own past only.
    output : column or array
        The output, likewise; an array is of shape (samples,) or (samples, 1).
    time : column, array, None or False
        Numbers (in seconds if the name has no unit in brackets) or ISO 8601 stamps. It tells the sampling time and
        where samples are missing. None: a column whose name says so and that increases; False: no column is the time.
    test : as ``data``, a share such as ``"20%"`` or 0.2, or None
        Data of role "test"; a share is the last part of each record. With arrays also a pair (input, output).
    roles : mapping of str to {"estimation", "selection", "test"} or None
        Roles of experiments of ``data``, by the name of the file, with or without its folder.
    sampling_time : float or None
        Seconds between samples; None: from the time.
    units : mapping of str to str or None
        Units of signals by name.
    header : bool or None
        Whether the first line of files names the columns; None: unless all wanted fields of it are numbers.
    separator : {",", ";", "tab", "blank"} or None
        What stands between the fields of files, a tab and a blank also as such; None: found from the first lines.
    decimal : {".", ","} or None
        The decimal mark of files; None: found.

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
    text_form = _text_form(header, separator, decimal)
    if data is None:
        data, input, time, test = _as_mapping(input, output, time, test)
        output = "y"
    share = _share(test)
    wanted = _Wanted(input, output, time, text_form)
    items = _items(data, "data")
    test_items = [] if share is not None or test is None else _items(test, "test")
    labels = _labels(items, "data") + _labels(test_items, "test")
    role_of = _roles(roles, items, labels[: len(items)])
    notes: list[str] = []
    sources = zip(items + test_items, labels, strict=True)
    experiments = [_read_experiment(_source(item, label, wanted), wanted, notes) for item, label in sources]
    _check_alike(experiments)
    records: list[Record] = []
    for i, experiment in enumerate(experiments):
        role = "test" if i >= len(items) else role_of.get(i)
        records += _records(experiment, role, None if role else share, notes)
    if not any(record.role in (None, "estimation") for record in records):
        if len(role_of) == len(items) and "estimation" not in role_of.values():
            raise NarxbenchError("roles: found no record to estimate a model from; needed: one without another role")
        found = f"found no record of at least {LEAST_SAMPLES} samples"
        raise NarxbenchError(f"{' '.join([f'data: {found}.', *notes])}")
    if test is not None and not any(record.role == "test" for record in records):
        found = f"found no record of at least {LEAST_SAMPLES} samples to test a model on"
        names = printable(", ".join(labels[len(items) :] or labels))
        raise NarxbenchError(f"test: {found} in {names}; allowed: longer data, or a larger share of them")
    first = experiments[0]
    return Recording(
        records=tuple(records),
        inputs=first.titles[1:],
        output=first.titles[0],
        sampling_time=_sampling_time(sampling_time, experiments, notes),
        units=_units(units, first.titles),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _Wanted:
    """What is to be read of each source: specifications of columns, and the form of texts."""

    input: Any
    output: Any
    time: Any
    text_form: dict[str, Any]

    @property
    def columns(self) -> list[int] | None:
        """Columns of the signals, counted from 0, or None where one is wanted by name."""
        parts = [] if self.output is None else [*_parts(self.input), *_parts(self.output)]
        numbers = [_column_number(part) for part in parts]
        return None if not parts or None in numbers else [number - 1 for number in numbers if number is not None]


@dataclass(frozen=True)
class _Source:
    """Columns of one experiment; rows and columns count from 0 here, and from 1 in messages."""

    name: str
    label: str
    names: tuple[str, ...] | None
    width: int
    length: int

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def title(self, column: int) -> str:
        """Return a name of the column that no other column has."""
        name = self.names[column] if self.names else ""
        if not name or (self.names and self.names.count(name) > 1):
            return f"{name} (column {column + 1})".lstrip(" ") if name else f"column {column + 1}"
        return name

    @property
    def overview(self) -> str:
        """The columns, as messages list them."""
        if not self.names:
            return f"1 to {self.width}, in a file without header"
        return printable(", ".join(f"{i} {name!r}" for i, name in enumerate(self.names, 1)), 400)

    def wrong(self, row: int, column: int, message: str) -> NarxbenchError:
        return NarxbenchError(f"{self.name}: {self.place(row)}, column {printable(self.title(column))}: {message}")

    def signals(self, columns: Sequence[int]) -> Array:
        """Return columns as an array of shape (rows, columns), with NaN where a value is missing."""
        raise NotImplementedError

    def moments(self, column: int) -> tuple[Array, bool]:
        """Return numbers or seconds of a column of times, and whether they are stamps; NaN where one is missing."""
        raise NotImplementedError

    def stamps(self, column: int, values: Sequence[Any]) -> Array:
        """Return the seconds since the first of some ISO 8601 stamps; missing ones are None."""
        seconds = np.full(len(values), np.nan)
        first = None
        for row, value in enumerate(values):
            if value is None:
                continue
            try:
                moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
                first = first or moment
                seconds[row] = (moment - first).total_seconds()
            except (ValueError, TypeError):  # TypeError: with and without a time zone
                allowed = "numbers, or date and time as in 2024-05-31T12:00:00.01, all with a time zone or none"
                raise self.wrong(row, column, f"found {show(value, kind=False)}; allowed: {allowed}") from None
        return seconds


@dataclass(frozen=True)
class _File(_Source):
    table: Delimited
    decimal: str | None

    def place(self, row: int) -> str:
        return self.table.place(row)

    def signals(self, columns: Sequence[int]) -> Array:
        mark = self.decimal or self.table.decimal_mark(columns)
        return np.column_stack([self.table.numbers(column, mark) for column in columns])

    def moments(self, column: int) -> tuple[Array, bool]:
        texts = self.table.columns[column]
        first = next((text for text in texts if not is_missing(text)), "")
        try:
            float(first.replace(",", ".") or "nan")
        except ValueError:
            return self.stamps(column, [None if is_missing(text) else text.strip() for text in texts]), True
        return self.table.numbers(column, self.decimal or self.table.decimal_mark([column])), False


@dataclass(frozen=True)
class _Frame(_Source):
    arrays: list[Any] = field(repr=False)
    numbered: bool = False  # whether numbers are names of the columns
    index: Any = None  # times beside the columns

    def signals(self, columns: Sequence[int]) -> Array:
        return np.column_stack([self.floats(column) for column in columns])

    def floats(self, column: int) -> Array:
        """Return a column of numbers of any type; true and false are none."""
        array = self.arrays[column]
        if array.dtype.kind in "iuf":
            values = np.asarray(array, dtype=float)
        elif array.dtype.kind == "O":
            values = np.array([self._float(row, column, value) for row, value in enumerate(array)], dtype=float)
        else:
            found = f"found values of type {array.dtype}; allowed: numbers"
            raise NarxbenchError(f"{self.name}: column {printable(self.title(column))}: {found}")
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise self.wrong(row, column, f"found {array[row]}; allowed: a finite number, or NaN where it is missing")
        return values

    def _float(self, row: int, column: int, value: Any) -> float:
        if _is_none(value):
            return math.nan
        try:
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
                raise ValueError
            return float(value)
        except (ValueError, OverflowError):
            raise self.wrong(
                row, column, f"found {show(value)}; allowed: a number, or NaN where it is missing"
            ) from None

    def moments(self, column: int) -> tuple[Array, bool]:
        array = self.arrays[column]
        if array.dtype.kind in "Mm":
            nanoseconds = array.astype(f"{array.dtype.kind}8[ns]")
            missing = np.isnat(nanoseconds)
            counts = nanoseconds.astype(np.int64)
            first = counts[~missing][:1].sum()
            return np.where(missing, np.nan, (counts - first) / 1e9), True
        values = [None if _is_none(value) else value for value in array] if array.dtype.kind in "OU" else []
        if any(isinstance(value, str | datetime) for value in values):
            return self.stamps(column, values), True
        return self.floats(column), False


def _is_none(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


@dataclass(frozen=True)
class _Experiment:
    """The samples of a source, and the pieces of it (start, end) without gaps."""

    source: _Source
    titles: tuple[str, ...]  # the output first
    values: Array
    pieces: list[tuple[int, int]]
    sampling_time: float | None


# ---------------------------------------------------------------------------------------------------------- arguments


def _text_form(header: Any, separator: Any, decimal: Any) -> dict[str, Any]:
    """Return the form of texts for :func:`narxbench.io.delimited.read_delimited`, checked."""
    separator = {"tab": "\t", "\\t": "\t", "blank": " ", None: None}.get(separator, separator)
    if not isinstance(header, bool | np.bool_ | None):
        raise NarxbenchError(f"header: found {show(header)}; allowed: true, false")
    if separator is not None and separator not in SEPARATORS:
        raise NarxbenchError(f"separator: found {show(separator)}; allowed: ',', ';', tab, blank")
    if decimal is not None and decimal not in (".", ","):
        raise NarxbenchError(f"decimal: found {show(decimal)}; allowed: '.', ','")
    return {"header": None if header is None else bool(header), "separator": separator, "decimal": decimal}


def _as_mapping(input: Any, output: Any, time: Any, test: Any) -> tuple[Any, Any, Any, Any]:
    """Return arrays as a mapping of columns with the specifications that choose them."""
    if output is None or isinstance(output, str | int):
        raise NarxbenchError("data: found none; needed: a file, a frame, a mapping, or arrays as input and output")
    data = _columns_of(input, output, "data")
    inputs = [name for name in data if name != "y"]
    if isinstance(test, tuple) and len(test) == 2:
        test = _columns_of(*test, "test")
    if time is not None and time is not False:
        data["time"] = time
        time = "time"
    return data, inputs or None, time, test


def _columns_of(input: Any, output: Any, name: str) -> dict[str, Any]:
    columns = {} if input is None else dict(_inputs(_array(input, f"{name}: input", 2)))
    return {**columns, "y": _array(output, f"{name}: output", 1)}


def _inputs(array: Any) -> Iterator[tuple[str, Any]]:
    if array.ndim == 1:
        array = array[:, None]
    for i in range(array.shape[1]):
        yield "u" if array.shape[1] == 1 else f"u{i + 1}", array[:, i]


def _array(values: Any, name: str, dimensions: int) -> Any:
    """Return an array of at most so many dimensions; a column is a vector, and masked values are missing."""
    try:
        if np.ma.isMaskedArray(values):
            values = np.ma.filled(values.astype(float), np.nan)
        if isinstance(getattr(values, "dtype", None), np.dtype) or not hasattr(values, "to_numpy"):
            array = np.asarray(values)
        else:
            array = values.to_numpy()
    except (ValueError, TypeError):
        raise NarxbenchError(f"{name}: found {show(values)}; allowed: an array of numbers") from None
    shape = "(samples,) or (samples, 1)" if dimensions == 1 else "(samples,) or (samples, inputs)"
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not 1 <= array.ndim <= dimensions:
        raise NarxbenchError(f"{name}: found an array of shape {array.shape}; allowed: {shape}")
    return array


def _share(test: Any) -> float | None:
    """Return the share of a record that ``test`` is, or None where it is data."""
    text = str(test) if isinstance(test, str | Real) else ""
    match = re.fullmatch(r"\s*([+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*", text)
    if not match or (isinstance(test, str) and os.path.exists(test)):
        if isinstance(test, Real):
            raise NarxbenchError(f"test: found {show(test)}; allowed: a file, data, or a share such as 20% or 0.2")
        return None
    share = float(match[1]) / (100 if match[2] else 1)
    if not 0 < share < 1:
        raise NarxbenchError(f"test: found {show(test, kind=False)}; allowed: a share such as 20% or 0.2, or a file")
    return share


def _items(data: Any, name: str) -> list[Any]:
    items = list(data) if isinstance(data, list | tuple) else [data]
    if not items:
        raise NarxbenchError(f"{name}: found an empty list; needed: at least one file or frame")
    for item in items:
        if not isinstance(item, str | os.PathLike | Mapping) and not _is_frame(item):
            allowed = "a file, a DataFrame, a mapping of column names to arrays, or a list of these"
            found = f"an object of type {type(item).__name__}" if not isinstance(item, Real) else show(item)
            hint = "; arrays are given as input=..., output=... without data" if isinstance(item, np.ndarray) else ""
            raise NarxbenchError(f"{name}: found {found}; allowed: {allowed}{hint}")
    return items


def _is_frame(item: Any) -> bool:
    return hasattr(item, "columns") and hasattr(item, "iloc")


def _labels(items: list[Any], name: str) -> list[str]:
    """Return the names of records: of files without folder where that tells them apart."""
    short = [Path(item).name if isinstance(item, str | os.PathLike) else "" for item in items]
    several = len(items) > 1
    return [
        (label if short.count(label) == 1 else str(item)) if label else f"{name} {i}" if several else name
        for i, (item, label) in enumerate(zip(items, short, strict=True), 1)
    ]


def _roles(roles: Mapping[str, Role] | None, items: list[Any], labels: list[str]) -> dict[int, Role]:
    """Return the roles by the index of the experiment."""
    found: dict[int, Role] = {}
    names = [
        {label, Path(item).name, str(item)} if isinstance(item, str | os.PathLike) else {label}
        for item, label in zip(items, labels, strict=True)
    ]
    if roles is not None and not isinstance(roles, Mapping):
        raise NarxbenchError(f"roles: found {show(roles)}; allowed: a mapping of file names to roles")
    for name, role in (roles or {}).items():
        if role not in ROLES:
            where = f"roles: {printable(str(name))}"
            raise NarxbenchError(f"{where}: found {show(role)}; allowed: {', '.join(ROLES)}{did_you_mean(role, ROLES)}")
        matches = [i for i, known in enumerate(names) if str(name) in known]
        if not matches:
            allowed = f"{printable(', '.join(labels))}{did_you_mean(name, labels)}"
            raise NarxbenchError(f"roles: found {show(name, kind=False)}; allowed: {allowed}")
        found |= dict.fromkeys(matches, role)
    return found


def _units(units: Mapping[str, str] | None, titles: Sequence[str]) -> dict[str, str]:
    if units is not None and not isinstance(units, Mapping):
        raise NarxbenchError(f"units: found {show(units)}; allowed: a mapping of signals to units")
    for name, unit in (units or {}).items():
        if name not in titles:
            found = f"found {show(name, kind=False)}; allowed: {printable(', '.join(titles))}"
            raise NarxbenchError(f"units: {found}{did_you_mean(name, titles)}")
        if not isinstance(unit, str):
            raise NarxbenchError(f"units: {printable(name)}: found {show(unit)}; allowed: text")
    return dict(units or {})


# ------------------------------------------------------------------------------------------------- sources and columns


def _source(item: Any, label: str, wanted: _Wanted) -> _Source:
    if isinstance(item, str | os.PathLike):
        table = read_delimited(item, wanted.columns, **wanted.text_form)
        return _File(
            *(str(item), label, table.names, len(table.columns), len(table.columns[0])),
            table=table,
            decimal=wanted.text_form["decimal"],
        )
    columns = list(item.columns) if _is_frame(item) else list(item)
    pairs = [(str(name), item.iloc[:, i] if _is_frame(item) else item[name]) for i, name in enumerate(columns)]
    arrays = [_array(values, f"{label}: column {printable(name)}", 1) for name, values in pairs]
    if len({len(array) for array in arrays}) != 1:
        lengths = ", ".join(f"{name} {len(array)}" for (name, _), array in zip(pairs, arrays, strict=True))
        raise NarxbenchError(f"{label}: found columns of lengths {printable(lengths) or 'none'}; needed: one length")
    index = getattr(item, "index", None) if _is_frame(item) else None
    stamped = getattr(getattr(index, "dtype", None), "kind", "") in ("M", "m")
    return _Frame(
        *(label, label, tuple(name.strip() for name, _ in pairs), len(pairs), len(arrays[0])),
        arrays=arrays,
        numbered=any(isinstance(name, int | np.integer) for name in columns),
        index=np.asarray(index, dtype=f"{index.dtype.kind}8[ns]") if stamped and index is not None else None,
    )


def _parts(columns: Any) -> list[Any]:
    """Return the columns that a specification lists."""
    if isinstance(columns, str):
        return [part.strip() for part in columns.split(",")]
    if isinstance(columns, np.ndarray) and columns.ndim == 1:
        return list(columns)
    return list(columns) if isinstance(columns, list | tuple) else [] if columns is None else [columns]


def _column_number(part: Any) -> int | None:
    """Return the number, from 1, that a column is given by, or None."""
    if isinstance(part, str):
        return int(part) if re.fullmatch("[0-9]{1,9}", part.strip()) else None
    try:
        return None if isinstance(part, bool | np.bool_) else operator.index(part)
    except TypeError:
        return None


def _resolve(source: _Source, argument: str, columns: Any) -> list[int]:
    """Return the columns, counted from 0, that a specification chooses."""
    whole = isinstance(columns, str) and columns.strip() in (source.names or ())
    return [_column(source, argument, part) for part in ([columns] if whole else _parts(columns))]


def _column(source: _Source, argument: str, part: Any) -> int:
    names = source.names or ()
    where = f"{source.name}: {argument}"
    if isinstance(part, str) and (count := names.count(part.strip())):
        if count > 1:
            same = ", ".join(str(i) for i, name in enumerate(names, 1) if name == part.strip())
            found = f"found {count} columns {part.strip()!r}; allowed: one of them by its number, {same}"
            raise NarxbenchError(f"{where}: {found}")
        return names.index(part.strip())
    number = _column_number(part)
    if number is not None and getattr(source, "numbered", False):
        found = f"found the number {number} for a frame whose columns are named by numbers"
        raise NarxbenchError(f"{where}: {found}; allowed: a name as text, one of {source.overview}")
    if number is not None and 1 <= number <= source.width:
        return number - 1
    if number is None and not isinstance(part, str):
        raise NarxbenchError(f"{where}: found {show(part)}; allowed: a column, one of {source.overview}")
    found = f"no column {show(part, kind=False)}" if number is None else f"column number {number}"
    counted = "" if number is None else ", counted from 1"
    raise NarxbenchError(f"{where}: found {found}; allowed: {source.overview}{counted}{did_you_mean(part, names)}")


# --------------------------------------------------------------------------------------------------------- experiments


def _read_experiment(source: _Source, wanted: _Wanted, notes: list[str]) -> _Experiment:
    """Return the signals of a source, and where they have gaps."""
    if wanted.output is None or not _parts(wanted.output):
        raise NarxbenchError(f"{source.name}: needed: output=..., one of {source.overview}")
    outputs = _resolve(source, "output", wanted.output)
    if len(outputs) > 1:
        raise NarxbenchError(f"{source.name}: output: found {len(outputs)} columns; allowed: one")
    columns = [*outputs, *_resolve(source, "input", wanted.input)]
    twice = next((column for column, count in Counter(columns).items() if count > 1), None)
    if twice is not None:
        what = "both as output and as input" if twice == outputs[0] else "twice as input"
        found = f"found column {printable(source.title(twice))} {what}"
        raise NarxbenchError(f"{source.name}: {found}; allowed: each column once, of {source.overview}")
    values = source.signals(columns)
    time = _time(source, wanted.time, columns, notes)
    present: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
    if time is not None:
        present &= ~np.isnan(time.seconds)
    _tell_reading(source, columns, time, notes)
    jumps = np.zeros(len(values), dtype=bool)
    sampling_time = None
    if not present.all():
        rows = np.flatnonzero(~present)
        what = "row with a missing value was" if len(rows) == 1 else "rows with missing values were"
        notes.append(f"{source.label}: {len(rows)} {what} left out, and the data cut there: {_places(source, rows)}.")
    if time is not None:
        jumps, sampling_time = _steps(source, time, present, notes)
    begins = present & ~np.concatenate(([False], present[:-1] & ~jumps[1:]))
    ends = present & ~np.concatenate((present[1:] & ~jumps[1:], [False]))
    starts, stops = np.flatnonzero(begins).tolist(), (np.flatnonzero(ends) + 1).tolist()
    titles = tuple(source.title(column) for column in columns)
    return _Experiment(source, titles, values, list(zip(starts, stops, strict=True)), sampling_time)


def _tell_reading(source: _Source, columns: Sequence[int], time: "_Time | None", notes: list[str]) -> None:
    if isinstance(source, _File):
        if not source.names:
            notes.append(f"{source.label} has no header: its first line is the first sample.")
        if not source.decimal and source.table.decimal_mark(columns) == ",":
            notes.append(f"{source.label}: the commas in numbers were read as decimal marks.")
    others = [source.title(i) for i in range(source.width) if i not in columns and not (time and i == time.column)]
    if others:
        names = printable(", ".join(map(repr, others)))
        notes.append(f"{source.label}: columns that were not used: {names}.")


def _places(source: _Source, rows: NDArray[np.int64]) -> str:
    """Return the first few of some rows: ``lines 3, 4, 7 and 12 more``."""
    words = [source.place(int(row)).split() for row in rows[:5]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"{words[0][0]}{'s' if len(rows) > 1 else ''} {', '.join(number for _, number in words)}{more}"


# ----------------------------------------------------------------------------------------------------------------- time


@dataclass(frozen=True)
class _Time:
    """A column of times.

    ``seconds`` is NaN where it is missing; ``resolution`` is the last digit that was written; ``known`` is whether
    the unit is known, so that they are seconds indeed.
    """

    column: int
    title: str
    seconds: Array
    resolution: float
    known: bool


def _time(source: _Source, wanted: Any, columns: Sequence[int], notes: list[str]) -> _Time | None:
    """Return the times of a source: of the column that is wanted, or of one that looks like it."""
    if wanted is False or isinstance(wanted, np.bool_):
        return None
    if wanted is not None:
        chosen = _resolve(source, "time", wanted)
        if len(chosen) != 1 or chosen[0] in columns:
            found = f"found {show(wanted)}; allowed: one column that is neither input nor output"
            raise NarxbenchError(f"{source.name}: time: {found}, of {source.overview}")
        return _read_time(source, chosen[0])
    refused = []
    for column, name in enumerate(source.names or ()):
        if column not in columns and _TIME.fullmatch(name):
            try:
                time = _read_time(source, column)
            except NarxbenchError as error:
                refused.append(f"{error}. So the column was not taken as the time.")
                continue
            notes.append(f"Column {name!r} was taken as the time, by its name.")
            return time
    notes += refused
    if isinstance(source, _Frame) and source.index is not None:
        frame = _Frame(source.name, source.label, ("index",), 1, source.length, arrays=[source.index])
        notes.append("The index of the frame was taken as the time.")
        time = _read_time(frame, 0)
        return _Time(-1, "index", time.seconds, time.resolution, time.known)
    return None


def _read_time(source: _Source, column: int) -> _Time:
    """Return the times of a column; those that do not increase raise NarxbenchError."""
    values, stamps = source.moments(column)
    match = _TIME.fullmatch(source.names[column]) if source.names else None
    unit = (match["unit"] or match["suffix"] or "s").strip().lower() if match and not stamps else "s"
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        name = printable(source.title(column))
        raise NarxbenchError(f"{source.name}: column {name}: found no value; needed: times")
    wrong = np.flatnonzero(np.diff(values[rows]) <= 0)
    if len(wrong):
        before, row = rows[wrong[0]], int(rows[wrong[0] + 1])
        found = "the same time as" if values[row] == values[before] else "an earlier time than"
        raise source.wrong(row, column, f"found {found} in {source.place(int(before))}; allowed: times that increase")
    scale = _SECONDS.get(unit, 1.0)
    resolution = _resolution(values[rows]) * scale
    return _Time(column, source.title(column), values * scale, resolution, unit in _SECONDS)


def _resolution(values: Array) -> float:
    """Return the place of the last decimal that all values need, 0 where they need more than 12."""
    noise = 4 * np.finfo(float).eps * np.abs(values).max()
    exact = (digits for digits in range(13) if (np.abs(np.round(values, digits) - values) <= noise).all())
    return float(10.0 ** -next(exact, math.inf))


def _steps(
    source: _Source, time: _Time, present: NDArray[np.bool_], notes: list[str]
) -> tuple[NDArray[np.bool_], float | None]:
    """Return before which rows the time jumps, and the sampling time; an uneven time is told or refused."""
    seconds, where = time.seconds, f"column {printable(time.title)}"
    follows = np.concatenate(([False], present[1:] & present[:-1]))
    steps = np.concatenate(([np.nan], np.diff(seconds)))
    jumps = np.zeros(len(seconds), dtype=bool)
    if not follows.any():
        return jumps, None
    median = float(np.median(steps[follows]))
    jumps = follows & (steps > _JUMP * median)
    if jumps.sum() > 0.1 * follows.sum():  # steps of 1 and 2 last digits are rather rounded ones of 1.5
        jumps &= steps > median + 1.01 * time.resolution
    inner = follows & ~jumps
    deviations = np.where(inner, np.abs(steps / median - 1), 0.0)
    jitter, row = float(deviations.max()), int(deviations.argmax())
    if jitter > _EVEN and not _even_but_rounded(time, inner):
        if jitter >= _NEARLY_EVEN:
            found = f"found a step of {steps[row]:.4g}, {jitter:.0%} off the median of {median:.4g}"
            remedy = "resample the data to even steps, or say time=False to take the samples as even"
            message = f"{found}, which is uneven; allowed: less than {_NEARLY_EVEN:.0%}"
            raise NarxbenchError(f"{source.name}: {source.place(row)}, {where}: {message}; {remedy}")
        notes.append(
            f"{source.label}: sampling is uneven, steps are up to {jitter:.1%} off the median ({where}, "
            f"{source.place(row)}); the samples were taken as even."
        )
    if jumps.any():
        rows = np.flatnonzero(jumps)
        times = "once" if len(rows) == 1 else f"{len(rows)} times"
        notes.append(f"{source.label}: the time jumps {times}, and the data were cut there: {_places(source, rows)}.")
    mean = float(steps[inner].sum() / inner.sum())
    if not time.known:
        notes.append(f"{source.label}: the unit of {where} is not known, so that the sampling time is not either.")
        return jumps, None
    return jumps, _rounded(mean, int(inner.sum()), time.resolution)


def _even_but_rounded(time: _Time, inner: NDArray[np.bool_]) -> bool:
    """Return whether the times of each piece are those of even steps, but for the rounding of their last digit."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inner, [False])).astype(np.int8)))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        values = time.seconds[start - 1 : end]
        steps = np.arange(len(values)) - (len(values) - 1) / 2
        slope = steps @ (values - values.mean()) / (steps @ steps)
        if np.abs(values - values.mean() - slope * steps).max() > 0.75 * time.resolution:
            return False
    return True


def _rounded(step: float, count: int, resolution: float) -> float:
    """Return a step with as few digits as leave the time of all steps right to its last digit."""
    drift = max(resolution, 1e-9 * step * count) / 2
    texts = (f"{step:.{digits}e}" for digits in range(16))
    return next((float(text) for text in texts if abs(float(text) - step) * count <= drift), step)


def _sampling_time(given: Any, experiments: Sequence[_Experiment], notes: list[str]) -> float | None:
    """Return the sampling time that was given or read; records that differ in it raise NarxbenchError."""
    known = [(each.source.name, each.sampling_time) for each in experiments if each.sampling_time]
    for name, step in known[1:]:
        if abs(step / known[0][1] - 1) > _EVEN:
            found = f"found a sampling time of {step:g} s; allowed: {known[0][1]:g} s as in {known[0][0]}"
            raise NarxbenchError(f"{name}: {found}; resample the data to the same steps")
    if given is None:
        return known[0][1] if known else None
    if isinstance(given, bool | np.bool_) or not isinstance(given, Real) or not 0 < given < 1e300:  # type: ignore[operator]
        raise NarxbenchError(f"sampling_time: found {show(given)}; allowed: a number of seconds above 0")
    if known and abs(float(given) / known[0][1] - 1) > _EVEN:
        notes.append(f"The sampling time is {float(given):g} s as given; by the time it would be {known[0][1]:g} s.")
    return float(given)


# -------------------------------------------------------------------------------------------------------------- records


def _check_alike(experiments: Sequence[_Experiment]) -> None:
    """Raise NarxbenchError where files are the same or name the signals in other ways."""
    first = experiments[0]
    seen: dict[Path, str] = {}
    for each in experiments:
        if first.source.names and each.source.names and each.titles != first.titles:
            found = f"found the columns {printable(', '.join(each.titles))} (output first)"
            raise NarxbenchError(
                f"{each.source.name}: {found}; allowed: {', '.join(first.titles)} as in {first.source.name}"
            )
        if isinstance(each.source, _File):
            path = Path(each.source.name).resolve()
            if path in seen:
                raise NarxbenchError(f"{each.source.name}: found twice in the data; allowed: each file once")
            seen[path] = each.source.name


def _records(experiment: _Experiment, role: Role | None, share: float | None, notes: list[str]) -> Iterator[Record]:
    """Yield the pieces of an experiment that are long enough, with the last part of each for the test."""
    label = experiment.source.label
    whole = Record(label, np.ascontiguousarray(experiment.values[:, 1:]), experiment.values[:, 0].copy(), role)
    short = [piece for piece in experiment.pieces if piece[1] - piece[0] < LEAST_SAMPLES]
    if short:
        listed = ", ".join(f"{start + 1} to {end}" for start, end in short[:5]) + (", …" if len(short) > 5 else "")
        what = "1 record" if len(short) == 1 else f"{len(short)} records"
        notes.append(f"{label}: {what} of fewer than {LEAST_SAMPLES} samples left out: samples {listed}.")
    undivided = 0
    for start, end in experiment.pieces:
        cut = end - round((share or 0) * (end - start))
        if end - start < LEAST_SAMPLES:
            continue
        if share and min(end - cut, cut - start) >= LEAST_SAMPLES:
            yield whole.part(start, cut)
            yield whole.part(cut, end, "test")
            continue
        undivided += share is not None
        yield whole if (start, end) == (0, len(whole)) else whole.part(start, end)
    if undivided:
        what = "1 record is" if undivided == 1 else f"{undivided} records are"
        notes.append(f"{label}: {what} too short to set {share:.0%} of the samples aside for the test.")
