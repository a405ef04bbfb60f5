"""Arrays of inputs and outputs as data with named columns, with the arguments that choose these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench._identification.data.sources import array_of
from narxbench._io.errors import FieldError


class NamedArrays(NamedTuple):
    """Arguments of :func:`~narxbench._identification.data.reading.read_recording` in place of arrays."""

    data: Any
    input: list[str] | None
    output: str
    time: Any
    test: Any


def named_arrays(input: Any, output: Any, time: Any, test: Any) -> NamedArrays:
    """Return arrays as columns of data, and the names of these columns as arguments."""
    if output is None or isinstance(output, str | int):
        raise FieldError("data", "found none; needed: a file, a frame, a mapping, or arrays as input and output")
    names = _pandas_names(input)
    title = _title_of_output(output, names or ["u"])
    times = {}
    if time is not None and time is not False:
        times, time = {"time": time}, "time"
    data = _columns(input, output, names, title, "data", times)
    inputs = [name for name in data if name not in (title, *times)]
    if isinstance(test, tuple) and len(test) == 2:
        test = _columns(*test, inputs, title, "test", {})
    return NamedArrays(data, inputs or None, title, time, test)


def _pandas_names(input: Any) -> list[str]:
    """Return the names of the columns of a frame or of a series; arrays have none."""
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


def _columns(input: Any, output: Any, names: Sequence[str], title: str, argument: str, times: Mapping[str, Any]) -> Any:
    """Return a mapping of columns, or a frame if input or output has an index of pandas, which may be the time."""
    columns = dict(_input_columns(input, names, argument))
    columns[title] = array_of(output, f"{argument}: output", 1)
    columns.update(times)
    indices = [values.index for values in (input, output) if hasattr(values, "iloc")]
    if not indices or set(map(len, columns.values())) != {len(indices[0])}:
        return columns
    return pd.DataFrame({name: np.asarray(values) for name, values in columns.items()}, index=indices[0])


def _input_columns(input: Any, names: Sequence[str], argument: str) -> Iterator[tuple[str, Any]]:
    """Yield name and values of each input, with other names if they are not as many as the columns."""
    if input is None:
        return
    u = np.atleast_2d(array_of(input, f"{argument}: input", 2).T)
    if len(names) != len(u):
        names = [f"u{number}" for number in range(1, len(u) + 1)]
        if len(u) == 1:
            names = ["u"]
    yield from zip(names, u, strict=True)
