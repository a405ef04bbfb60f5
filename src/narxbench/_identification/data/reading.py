"""Measured data as they come: files, frames and arrays become records of evenly sampled signals.

:func:`read_recording` is the one entry, and the modules beside this one are its steps: arrays become columns
(:mod:`~narxbench._identification.data.arrays`), files, frames and mappings become sources, which are alike from there
on (:mod:`~narxbench._identification.data.sources`), the user's columns become signals
(:mod:`~narxbench._identification.data.columns`), and missing values and jumps of the time
(:mod:`~narxbench._identification.data.times`) cut an experiment into records
(:mod:`~narxbench._identification.data.experiments`). Copies of records are refused as a test
(:mod:`~narxbench._identification.data.copies`). Notes of the recording say how the data were changed.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Unpack

import numpy as np
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from narxbench._identification.data.arrays import named_arrays
from narxbench._identification.data.columns import Columns, column_names, columns_listed, have_test_names
from narxbench._identification.data.copies import find_copies
from narxbench._identification.data.errors import argument_error, data_error, unknown_name
from narxbench._identification.data.experiments import (
    LEAST_SAMPLES,
    Experiment,
    Piece,
    cut_into_pieces,
    form_notes,
    read_experiment,
    refuse_other_signals,
    renamed,
)
from narxbench._identification.data.frames import is_frame
from narxbench._identification.data.gaps import USUAL_GAP, checked_gap
from narxbench._identification.data.missing_codes import checked_codes
from narxbench._identification.data.scaling import LARGEST, SMALLEST
from narxbench._identification.data.sources import Source, SourceForm, is_file, open_source
from narxbench._identification.data.stamps import check_time_format
from narxbench._identification.data.times import find_times
from narxbench._identification.options import refuse_unknown
from narxbench._io.delimited import checked_options
from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean, printable, show
from narxbench._io.settings import option
from narxbench._model.indexes import UNEVEN
from narxbench._model.records import ROLES, Record, Recording, Role

# The heading of these options in the help, and the word for no column.
_DATA, NO_COLUMN = "data", "none"


@with_config(ConfigDict(use_attribute_docstrings=True))
class Reading(TypedDict, total=False):
    """How data are read: the arguments of :func:`read_recording` besides the data.

    A column is its name or its number, from 1 on. A whole number that is not the name of a column is a number. Names
    may have their unit, as in ``u [V]``, or not.
    """

    input: Annotated[Any, option(_DATA, "COLUMNS", without="none")]
    """The inputs, as in ``u``, ``2,3`` or ``u,abs(u)``. A column is its name or its number, from 1 on; ``abs(a)`` is a
    further input, a function of a column. Several are given in a list or in one text. An array has the shape (samples,)
    or (samples, inputs). Of frames and series of pandas, output and input are aligned on their index."""
    output: Annotated[Any, option(_DATA, "COLUMN")]
    """The output, a column by its name or its number from 1 on. An array has the shape (samples,) or (samples, 1). With
    ``joint`` there are several columns."""
    time: Annotated[Any, option(_DATA, "COLUMN", without="a column with a usual name")]
    """The column of the time, or ``none``. It gives the sampling time and shows where samples are missing:
    numbers, in seconds if the name has no unit in brackets, or dates and clock times. An array may be given."""
    test: Annotated[Any, option(_DATA, "FILE")]
    """Data for the test alone, or a share such as ``20%``, the last part of each record. Of arrays, a pair (input,
    output). A copy of data that a model sees is refused, in whatever form of file."""
    test_input: Annotated[Any, option(_DATA, "COLUMNS")]
    """The inputs of the test, if they are other columns."""
    test_output: Annotated[Any, option(_DATA, "COLUMN")]
    """The output of the test, if it is another column. Without ``test``, it is a column of the same data, and
    columns may end at different rows."""
    roles: Annotated[Mapping[str, Role] | None, option(_DATA, "ROLES", example="'day2.csv=selection'")]
    """The role of a file: estimation, selection or test. Files are named with or without their folder."""
    sampling_time: Annotated[float | None, option(_DATA, "SECONDS", without="from the time")]
    """Seconds between samples."""
    units: Annotated[Mapping[str, str] | None, option(_DATA, "UNITS", example="'u=V;y=bar'")]
    """Units of signals by name."""
    missing: Annotated[float | str | Sequence[float] | None, option(_DATA, "NUMBERS", without="ask if in doubt")]
    """Numbers that mean a missing value, as in ``--missing=-200,99999``, or ``none``. In Python a number or a sequence
    of numbers. Without it, a number that may be such a code is refused with the two answers."""
    bridge: Annotated[int | None, option(_DATA, "N", without=str(USUAL_GAP))]
    """Longest gap that is filled, in samples; longer ones cut the data. Outputs are filled by a model.
    Inputs are held or interpolated if that errs by at most 5 % of their standard deviation on the known samples; gaps
    of other inputs cut."""
    part: Annotated[str | None, option(_DATA, "NAME", without="the only one")]
    """The sheet, group, structure, array or archive member that has the data."""
    time_format: Annotated[str | None, option(_DATA, "FORMAT", without="from the times")]
    """The format of the times, as in d/m/y, ms or ``%d.%m.%Y %H:%M``. The order of dates is ``d/m/y``, ``m/d/y`` or
    ``y/m/d``, the unit of numbers ``s``, ``ms``, ``us``, ``ns``, ``min``, ``h`` or ``d`` (days as of MATLAB and Excel);
    any other text is a format of Python's strptime."""
    read: Annotated[Mapping[str, Any] | None, option(_DATA, "KEY=VALUE", without="detected")]
    """How text files are read, with keys of pandas, as in sep=';' or decimal=, or header=none. The keys are ``sep``,
    ``decimal``, ``header`` (0 or None), ``skiprows`` and ``encoding`` of :func:`pandas.read_csv`. In Python a mapping,
    such as ``{"sep": ";", "decimal": ",", "header": None, "skiprows": 3}``."""


def read_recording(data: Any = None, *, with_plan: bool = False, **reading: Unpack[Reading]) -> Recording:
    """Return measured data as records.

    Missing values in a chosen column (empty, nan, NA, N/A, null, -) are bridged in short gaps. Rows with others, and
    jumps of the time, cut an experiment into records, which are left out if they have fewer than 10 samples. The notes
    of the recording say so, and how the form of a file was guessed.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is one experiment. A file is text with columns of numbers, also compressed, or an Excel, MATLAB, NumPy,
        HDF5, TDMS, Parquet or Feather file. Frames are from pandas, polars, pyarrow or xarray. None if input and output
        are arrays.
    with_plan : bool
        Whether records go on after their last output, as far as the inputs do, for a model to predict.
    **reading
        As :class:`Reading` describes.

    Returns
    -------
    Recording
        Records are named by their file, or ``data`` and ``test``, with their samples (from 1) where there are several.

    Raises
    ------
    NarxbenchError
        One line with file, line and column, the value that was found and the values that are allowed.

    Examples
    --------
    >>> recording = read_recording(input=[0, 1] * 50, output=[[0.5]] * 100, test="20%")
    >>> [(record.name, record.role, record.u.shape) for record in recording.records]
    [('data, samples 1 to 80', None, (80, 1)), ('data, samples 81 to 100', 'test', (20, 1))]
    """
    notes: list[str] = []
    form = form_of(reading)
    longest_gap = checked_gap(reading.get("bridge"))
    input, output, test = reading.get("input"), reading.get("output"), reading.get("test")
    if data is None:
        data, input, output, time, test, notes = named_arrays(input, output, form.time, test)
        form = form._replace(time=time)
    columns = {"output": output, "input": input}
    columns_of_test = _columns_of_test(columns, reading.get("test_output"), reading.get("test_input"))
    test_argument, share = _planned_test(test, columns_of_test)
    items, test_items = _items(data, "data"), []
    if test_argument == "test" and share is None:
        test_items = _items(test, "test")
    labels, test_labels = _labels(items, "data"), _labels(test_items, "test")
    _refuse_repeated_files(items + test_items)
    item_roles = _item_roles(reading.get("roles"), items, labels)
    reader = _Reader(form, longest_gap, share, with_plan, notes=notes)
    for item, label, role in zip(items, labels, item_roles, strict=True):
        parts: list[tuple[Columns, Role | None]] = [(columns, role)]
        if test_argument == "test_output":
            parts.append((columns_of_test, "test"))
        reader.read(item, label, parts)
    for item, label in zip(test_items, test_labels, strict=True):
        reader.read(item, label, [(columns_of_test, "test")])
    reader.refuse_without_estimation(item_roles)
    if test_argument != "roles":
        reader.refuse_without_test(test_labels or labels)
    reader.refuse_copied_test(test_argument)
    return reader.recording(reading.get("sampling_time"), reading.get("units"))


def form_of(reading: Reading) -> SourceForm:
    """Return the form of files from arguments of :func:`read_recording`. FieldError is raised for an unknown one."""
    refuse_unknown(reading, Reading.__annotations__)
    time = reading.get("time")
    if isinstance(time, str) and time == NO_COLUMN:
        time = False
    part, read, time_format = reading.get("part"), reading.get("read"), reading.get("time_format")
    if not isinstance(part, str | None):
        raise argument_error("part", show(part), "the name of a sheet, group, structure or member")
    if not isinstance(read, Mapping | None):
        raise argument_error("read", show(read), "a mapping such as {'sep': ';', 'decimal': ','}")
    checked_options(read or {})
    check_time_format(time_format)
    return SourceForm(part, read, checked_codes(reading.get("missing")), time, time_format)


def readings_with_others(reading: Reading) -> dict[str, Reading]:
    """Return how to read the data of each of several outputs with the others as its last inputs.

    Raises
    ------
    FieldError
        For fewer than two outputs, one twice, or columns that the test alone has.
    """
    outputs = several_outputs(reading)
    inputs = columns_listed(reading.get("input"))
    reading_by_output: dict[str, Reading] = {}
    for output in outputs:
        further_inputs = [column for column in outputs if column != output]
        reading_by_output[str(output)] = {**reading, "output": output, "input": [*inputs, *further_inputs]}
    return reading_by_output


def several_outputs(reading: Reading) -> list[str | int]:
    """Return the columns of several outputs, with the errors of :func:`readings_with_others`."""
    output = reading.get("output")
    outputs: list[Any] = []
    if isinstance(output, Iterable) and not isinstance(output, str):
        outputs = list(output)
    are_columns = all(isinstance(column, str | int | np.integer) for column in outputs)
    if len(outputs) < 2 or not are_columns or len({*map(str, outputs)}) < len(outputs):
        raise FieldError("output", f"found {show(output, kind=False)}; allowed: two or more columns, each once")
    if reading.get("test_output") is not None or reading.get("test_input") is not None:
        raise FieldError("output", f"found {len(outputs)} with columns of the test; allowed: test files, or a share")
    return outputs


def read_inputs(item: Any, reading: Reading, label: str, notes: list[str]) -> Experiment:
    """Return the inputs of a file, a frame or a mapping, which has all of them in each row, at even times.

    ``reading`` has arguments of :func:`read_recording`, the inputs among them. A frame or a mapping is called by the
    ``label``.

    Raises
    ------
    NarxbenchError
        As :func:`read_recording`, and if a value is missing or the time jumps.
    """
    (label,) = _labels(_items([item], label), label)
    columns = {"input": reading["input"]}
    form = form_of(reading)
    source = open_source(item, label, column_names([columns]), form)
    experiment = read_experiment(source, columns, form, notes)
    if experiment.pieces != [(0, len(experiment.values))]:
        end = source.place(experiment.pieces[0][1] - 1) if experiment.pieces else "no row"
        raise data_error(source.name, f"inputs without a gap up to {end} alone", "all inputs in each row")
    return experiment


def read_planned_runs(data: Any, outputs: Sequence[float], output: str, reading: Reading) -> Recording:
    """Return planned runs: the inputs of files, frames or mappings, each with the same first outputs.

    ``reading`` has the arguments of :func:`read_inputs`. The column of the output must not have numbers.

    Raises
    ------
    NarxbenchError
        As :func:`read_inputs`, for data of other units or sampling times than the first, and for measured outputs.
    """
    notes: list[str] = []
    experiments: list[Experiment] = []
    records = []
    items = _items(data, "data")
    for item, label in zip(items, _labels(items, "data"), strict=True):
        experiment = read_inputs(item, reading, label, notes)
        experiments.append(experiment)
        refuse_other_signals(experiment, experiments[0])
        source = experiment.source
        if source.names and output in source.names and _has_numbers(source, source.names.index(output)):
            message = f"found next to numbers in column {printable(output)}; allowed: one of them"
            raise FieldError("initial", message, source.name)
        is_planned = np.arange(len(experiment.values)) >= len(outputs)
        y = np.zeros(len(is_planned))
        y[~is_planned] = outputs[: len(y)]
        records.append(Record(experiment.source.label, experiment.values, y, None, experiment.index, is_planned))
    first = experiments[0]
    return Recording(
        records=tuple(records),
        inputs=first.titles,
        output=output,
        sampling_time=_sampling_time(reading.get("sampling_time"), first.sampling_time, notes),
        units=first.units,
        notes=tuple(notes),
    )


def numeric_columns(data: Any, reading: Reading) -> list[str | int]:
    """Return the columns of numbers of the first item of data, except the time, as an argument may choose them.

    ``reading`` has the other arguments of :func:`read_recording`.
    """
    item = _items(data, "data")[0]
    form = form_of(reading)
    source = open_source(item, "data", set(), form)
    no_values = np.zeros((len(source.columns[0]), 0)) if source.columns else np.zeros((0, 0))
    times = find_times(source, form, [], no_values, [])
    columns: list[str | int] = []
    for column in range(len(source.columns)):
        if (times is None or column not in times.columns) and _has_numbers(source, column):
            columns.append(source.column_title(column) if source.has_numeric_names else column + 1)
    return columns


def _has_numbers(source: Source, column: int) -> bool:
    """Return whether all values of a column are numbers or missing, and some are numbers."""
    try:
        return bool(np.isfinite(source.floats(column)).any())
    except NarxbenchError:
        return False


def _planned_test(test: Any, columns_of_test: Columns) -> tuple[str, float | None]:
    """Return the argument that the test comes from, "roles" without any other, and its share of each record if any."""
    share = _share(test)
    has_test_names = have_test_names(columns_of_test)
    if share is not None and has_test_names:
        raise argument_error("test", "a share next to columns of its own", "files, or none")
    if test is not None:
        return "test", share
    if has_test_names:
        _refuse_incomplete_test(columns_of_test)
        return "test_output", None
    return "roles", None


@dataclass
class _Reader:
    """A reader of one item of the data after the other, which collects their experiments, pieces and notes."""

    form: SourceForm
    longest_gap: int
    share: float | None
    with_plan: bool
    experiments: list[Experiment] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def read(self, item: Any, label: str, parts: Sequence[tuple[Columns, Role | None]]) -> None:
        """Read an item: an experiment of each role from its columns."""
        source = open_source(item, label, column_names([columns for columns, _ in parts]), self.form)
        experiments = []
        for columns, _ in parts:
            experiments.append(
                read_experiment(source, columns, self.form, self.notes, self.longest_gap, with_plan=self.with_plan)
            )
        used_columns: list[int] = []
        for experiment in experiments:
            used_columns += experiment.used_columns
        has_inputs = any(len(experiment.signals) > 1 for experiment in experiments)
        self.notes += form_notes(source, used_columns, has_inputs)
        for experiment, (columns, role) in zip(experiments, parts, strict=True):
            first = self.experiments[0] if self.experiments else experiment
            if have_test_names(columns):
                experiment = renamed(experiment, first)
            refuse_other_signals(experiment, first)
            self.experiments.append(experiment)
            self.pieces += cut_into_pieces(experiment, role, self.share, self.notes)

    @property
    def records(self) -> list[Record]:
        """The records that were read so far."""
        return [piece.record for piece in self.pieces]

    @property
    def roles(self) -> set[Role | None]:
        """The roles of these records."""
        return {record.role for record in self.records}

    def refuse_without_estimation(self, item_roles: Sequence[Role | None]) -> None:
        """Raise FieldError unless there is a record to estimate a model from."""
        if not {None, "estimation"}.isdisjoint(self.roles):
            return
        if None not in item_roles and "estimation" not in item_roles:
            raise FieldError("roles", "found no record to estimate a model from; needed: one without another role")
        raise FieldError("data", " ".join([f"found no record of at least {LEAST_SAMPLES} samples.", *self.notes]))

    def refuse_without_test(self, labels: Sequence[str]) -> None:
        """Raise FieldError unless there is a record to test a model on."""
        if "test" not in self.roles:
            what = f"no record of at least {LEAST_SAMPLES} samples to test a model on in {printable(', '.join(labels))}"
            raise argument_error("test", what, "longer data, or a larger share of them")

    def refuse_copied_test(self, argument: str) -> None:
        """Raise FieldError of an argument if a test has data that a model sees, and note copies among other records."""
        groups = [(id(piece.experiment), piece.record.role == "test") for piece in self.pieces]
        for records, starts, length in find_copies(self.records, groups):
            first, second = map(self.pieces.__getitem__, records)
            first_rows, second_rows = first.rows(starts[0], length), second.rows(starts[1], length)
            if first.record.role == "test":
                first, second, first_rows, second_rows = second, first, second_rows, first_rows
            if second.record.role != "test":
                self.notes.append(f"{second_rows} are the same data as {first_rows}: they count twice.")
            elif first.record.role != "test":
                allowed = "data that were measured apart from these"
                if not self.share:
                    allowed += ", or a share such as 20%"
                what = f"in {second_rows} the same data as in {first_rows}, which the model sees"
                raise argument_error(argument, what, allowed)

    def _units_in_data(self) -> dict[str, str]:
        """Return the units that the data have themselves, by signal."""
        units: dict[str, str] = {}
        for experiment in self.experiments:
            units = experiment.units | units
        return units

    def recording(self, sampling_time: Any, units: Any) -> Recording:
        """Return the records, with the sampling time and the units that the user gave."""
        titles = self.experiments[0].titles
        measured = next((experiment.sampling_time for experiment in self.experiments if experiment.sampling_time), None)
        return Recording(
            records=tuple(self.records),
            inputs=titles[1:],
            output=titles[0],
            sampling_time=_sampling_time(sampling_time, measured, self.notes),
            units=self._units_in_data() | _checked_units(units, self.experiments[0]),
            notes=tuple(dict.fromkeys(self.notes)),
        )


def _share(test: Any) -> float | None:
    """Return the share of a record that ``test`` is, or None where it is data."""
    if not isinstance(test, str | Real):
        return None
    match = re.fullmatch(r"\s*([+-]?(?:[0-9]*\.)?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*", str(test))
    if isinstance(test, str) and (not match or os.path.exists(test)):
        return None
    share = math.nan
    if match:
        number, percent = match.groups()
        share = float(number) / (100 if percent else 1)
    if not 0 < share < 1:
        raise argument_error("test", show(test, kind=False), "a share such as 20% or 0.2, or a file")
    return share


def _refuse_incomplete_test(columns_of_test: Columns) -> None:
    """Raise FieldError if the columns of a test in the same data name its input or its output alone."""
    if "test_output" not in columns_of_test:
        raise FieldError("test_output", "missing; needed next to the input of a test in the same data")
    if columns_listed(columns_of_test.get("input")):
        raise FieldError("test_input", "missing; needed next to the output of a test in the same data")


def _columns_of_test(columns: Columns, test_output: Any, test_input: Any) -> dict[str, Any]:
    """Return the columns of the test by argument, by default the columns of the data."""
    columns_of_test = {}
    for (argument, specification), test_specification in zip(columns.items(), (test_output, test_input), strict=True):
        if test_specification is None:
            columns_of_test[argument] = specification
        else:
            columns_of_test[f"test_{argument}"] = test_specification
    return columns_of_test


def _items(data: Any, argument: str) -> list[Any]:
    """Return the files, frames and mappings that an argument lists."""
    items = list(data) if isinstance(data, list | tuple) else [data]
    if not items:
        raise NarxbenchError(f"{argument}: found an empty list; needed: at least one file or frame")
    for item in items:
        if not (is_file(item) or isinstance(item, Mapping) or is_frame(item)):
            raise _wrong_item(item, argument)
    return items


def _wrong_item(item: Any, argument: str) -> NarxbenchError:
    what = show(item) if isinstance(item, Real) else f"an object of type {type(item).__name__}"
    allowed = "a file, a DataFrame, a mapping of column names to arrays, or a list of these"
    if isinstance(item, np.ndarray):
        allowed += "; arrays are given as input=..., output=... without data"
    return data_error(argument, what, allowed)


def _labels(items: Sequence[Any], name: str) -> list[str]:
    """Return the names of records: of files without folder where that is enough to distinguish them."""
    file_names = [Path(file).name for file in filter(is_file, items)]
    labels = []
    for number, item in enumerate(items, 1):
        if not is_file(item):
            labels.append(f"{name} {number}" if len(items) > 1 else name)
        elif file_names.count(Path(item).name) == 1:
            labels.append(Path(item).name)
        else:
            labels.append(str(item))
    return labels


def _refuse_repeated_files(items: Sequence[Any]) -> None:
    files = list(filter(is_file, items))
    # Not Path.resolve, which raises for a link to itself.
    paths = [os.path.realpath(file) for file in files]
    for file, path in reversed(list(zip(files, paths, strict=True))):
        if paths.count(path) > 1:
            raise data_error(str(file), "twice in the data", "each file once")


def _item_roles(roles: Mapping[str, Role] | None, items: Sequence[Any], labels: Sequence[str]) -> list[Role | None]:
    """Return the role of each item, None where it has none."""
    if roles is not None and not isinstance(roles, Mapping):
        raise argument_error("roles", show(roles), "a mapping of file names to roles")
    item_roles: list[Role | None] = [None] * len(items)
    for name, role in (roles or {}).items():
        if role not in ROLES:
            allowed = f"{', '.join(ROLES)}{did_you_mean(role, ROLES)}"
            raise FieldError("roles", f"{printable(str(name))}: found {show(role)}; allowed: {allowed}")
        is_known = False
        for place, (item, label) in enumerate(zip(items, labels, strict=True)):
            if str(name) in _names_of_item(item, label):
                item_roles[place] = role
                is_known = True
        if not is_known:
            raise unknown_name("roles", name, labels)
    return item_roles


def _names_of_item(item: Any, label: str) -> set[str]:
    """Return the names that the roles may call an item by."""
    if is_file(item):
        return {label, Path(item).name, str(item)}
    return {label}


def _sampling_time(sampling_time: Any, measured: float | None, notes: list[str]) -> float | None:
    """Return the sampling time of the user, with a note if it was measured differently, or the measured one."""
    if sampling_time is None:
        if measured is not None and not SMALLEST <= measured <= LARGEST:
            allowed = f"{SMALLEST:g} to {LARGEST:g} s, so use another unit"
            raise NarxbenchError(f"time: found steps of {measured:.3g} s; allowed: {allowed}")
        return measured
    is_number = isinstance(sampling_time, Real) and not isinstance(sampling_time, bool | np.bool_)
    if not is_number or not SMALLEST <= sampling_time <= LARGEST:
        allowed = f"a number of seconds from {SMALLEST:g} to {LARGEST:g}"
        raise argument_error("sampling_time", show(sampling_time), allowed)
    seconds = float(sampling_time)
    if measured and abs(seconds / measured - 1) > UNEVEN:
        notes.append(f"The sampling time is {seconds:g} s as given; by the time it would be {measured:g} s.")
    return seconds


def _checked_units(units: Mapping[str, str] | None, experiment: Experiment) -> dict[str, str]:
    """Return the units of signals by name. A name may have its unit, as in the data."""
    if units is None:
        return {}
    if not isinstance(units, Mapping):
        raise argument_error("units", show(units), "a mapping of signals to units")
    units_by_title = {}
    for name, unit in units.items():
        title = experiment.title_of(name)
        if title is None:
            raise unknown_name("units", name, experiment.titles)
        if not isinstance(unit, str):
            raise FieldError("units", f"{printable(name)}: found {show(unit)}; allowed: text")
        units_by_title[title] = unit
    return units_by_title
