"""Arrays of inputs and outputs as data with named columns, with the arguments that choose these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from narxbench._identification.data.errors import argument_error, data_error
from narxbench._identification.data.frames import indexed_frame_of
from narxbench._identification.data.sources import array_of
from narxbench._io.errors import FieldError, did_you_mean, printable, show

_BY_POSITION = "one index for both, or arrays, as of to_numpy(), to join them by position"


def named_arrays(
    input: Any, output: Any, time: Any, test: Any
) -> tuple[Any, list[str] | None, str, Any, Any, list[str]]:
    """Return arrays as columns of data, and the names of these as input, output, time and test, with notes.

    Signals of pandas are aligned on their index, and refused if their labels differ.
    """
    if output is None or isinstance(output, str | int):
        raise FieldError("data", "found none; needed: a file, a frame, a mapping, or arrays as input and output")
    notes: list[str] = []
    input, output = indexed_frame_of(input, "input"), _series_of(output, "output")
    input, time = _separate_time(input, time)
    names = _pandas_names(input)
    title = _title_of_output(output, names or ["u"])
    times = {}
    if time is not None and time is not False:
        times, time = {"time": time}, "time"
    data = _columns(input, output, names, title, "data", times, notes)
    inputs = [name for name in data if name not in (title, *times)]
    if isinstance(test, tuple) and len(test) == 2:
        test_input = indexed_frame_of(test[0], "test: input")
        test = _columns(test_input, _series_of(test[1], "test: output"), inputs, title, "test", {}, notes)
    return data, inputs or None, title, time, test, notes


def _series_of(output: Any, name: str) -> Any:
    """Return an output as a series of pandas if it is a frame with one column, else as it is."""
    frame = indexed_frame_of(output, name)
    if isinstance(frame, pd.DataFrame) and frame.shape[1] == 1:
        return frame.iloc[:, 0]
    return frame


def _separate_time(input: Any, time: Any) -> tuple[Any, Any]:
    """Return the inputs and the times, where the time is a column of the inputs by its name or number."""
    if isinstance(time, bool) or not isinstance(time, str | int | np.integer):
        return input, time
    if not hasattr(input, "columns"):
        raise argument_error("time", show(time, kind=False), "an array of times, or a column of a frame of inputs")
    place = _place_of_time(list(input.columns), time)
    is_input = np.arange(input.shape[1]) != place
    inputs = input.loc[:, is_input] if is_input.any() else None
    return inputs, input.iloc[:, place]


def _place_of_time(names: Sequence[Any], time: Any) -> int:
    """Return the place of the column of a name or number, counted from 0."""
    if time in names:
        return names.index(time)
    if str(time).strip().isdecimal() and 1 <= int(time) <= len(names):
        return int(time) - 1
    texts = list(map(str, names))
    listing = printable(", ".join(f"{number} {text!r}" for number, text in enumerate(texts, 1)))
    allowed = f"an array of times, or a column of the inputs, {listing}{did_you_mean(time, texts)}"
    raise argument_error("time", show(time, kind=False), allowed)


def _pandas_names(input: Any) -> list[str]:
    """Return the names of the columns of a frame or of a series. Arrays have none."""
    if hasattr(input, "columns"):
        return list(map(str, input.columns))
    name = getattr(input, "name", None)
    return [name] if isinstance(name, str) else []


def _title_of_output(output: Any, inputs: Sequence[str]) -> str:
    """Return the name of the output, which no input has."""
    title = getattr(output, "name", None)
    if not isinstance(title, str):
        title = "y"
    while title in inputs:
        title += "_"
    return title


def _columns(
    input: Any,
    output: Any,
    names: Sequence[str],
    title: str,
    argument: str,
    times: Mapping[str, Any],
    notes: list[str],
) -> Any:
    """Return a mapping of columns, or a frame if input or output has an index of pandas, which may be the time."""
    signals = {"output": output, "input": input, **times}
    with_index = {name: values for name, values in signals.items() if hasattr(values, "iloc")}
    index = next((values.index for values in (input, output) if hasattr(values, "iloc")), None)
    for name, values in signals.items():
        if name in with_index:
            signals[name] = _aligned(values, index, f"{argument}: {name}", notes)
        elif values is not None and index is not None and not isinstance(index, pd.RangeIndex):
            notes.append(f"{argument}: {name} has no index, so that it was joined by position.")
    y = array_of(signals["output"], f"{argument}: output", 1)
    columns = dict(_input_columns(signals["input"], names, argument, len(y)))
    columns[title] = y
    columns.update({name: np.asarray(signals[name]) for name in times})
    if index is None or set(map(len, columns.values())) != {len(index)}:
        return columns
    return pd.DataFrame({name: np.asarray(values) for name, values in columns.items()}, index=index)


def _aligned(values: Any, index: Any, name: str, notes: list[str]) -> Any:
    """Return a series or frame with the rows in the order of an index.

    Another set of labels raises NarxbenchError. Series of another length are returned unchanged, because lengths are
    reported for all signals together.
    """
    if index is None or len(values) != len(index) or _is_same_index(values.index, index):
        return values
    unknown_rows = np.flatnonzero(~values.index.isin(index))
    if len(unknown_rows):
        row = int(unknown_rows[0])
        what = f"{values.index[row]} in the index, row {row + 1}, which that of the input does not have"
        raise data_error(name, what, _BY_POSITION)
    if not (index.is_unique and values.index.is_unique):
        raise data_error(
            name, "an index in another order than that of the input, with labels that repeat", _BY_POSITION
        )
    notes.append(f"{name}: the rows were put in the order of the index of the input.")
    return values.reindex(index)


def _is_same_index(first: Any, second: Any) -> bool:
    """Return whether two indices have the same labels in the same order, with a time zone or without."""
    has_zones = [getattr(index, "tz", None) is not None for index in (first, second)]
    return has_zones[0] == has_zones[1] and bool(first.equals(second))


def _input_columns(input: Any, names: Sequence[str], argument: str, samples: int) -> Iterator[tuple[str, Any]]:
    """Yield name and values of each input, with other names if they are not as many as the columns.

    Inputs along the rows, with as many columns as the output has ``samples``, raise NarxbenchError.
    """
    if input is None:
        return
    for name in names:
        if names.count(name) > 1:
            raise data_error(f"{argument}: input", f"{names.count(name)} columns {name!r}", "each name once")
    u = np.atleast_2d(array_of(input, f"{argument}: input", 2).T)
    if u.shape[1] != samples == len(u):
        shape = u.T.shape
        raise data_error(f"{argument}: input", f"an array of shape {shape}", f"{shape[::-1]}, a column for each input")
    if len(names) != len(u):
        names = [f"u{number}" for number in range(1, len(u) + 1)]
        if len(u) == 1:
            names = ["u"]
    yield from zip(names, u, strict=True)
