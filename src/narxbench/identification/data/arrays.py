"""Arrays of inputs and outputs as data with named columns, with the arguments that choose these."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench.identification.data.sources import array_of
from narxbench.io.errors import FieldError


class NamedArrays(NamedTuple):
    """Arguments of :func:`~narxbench.identification.data.reading.read_recording` in place of those that were arrays."""

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
    title = getattr(output, "name", None)
    if not isinstance(title, str):
        title = "y"
    while title in (names or ("u",)):
        title += "_"
    times = {} if time is None or time is False else {"time": time}
    data = _columns(input, output, names, title, "data", times)
    inputs = [name for name in data if name not in (title, *times)]
    if isinstance(test, tuple) and len(test) == 2:
        test = _columns(*test, inputs, title, "test", {})
    return NamedArrays(data, inputs or None, title, "time" if times else time, test)


def _pandas_names(input: Any) -> list[str] | None:
    """Return the names of the columns of a frame or a series, or None for arrays without names."""
    names = getattr(input, "columns", None)
    if names is None and isinstance(getattr(input, "name", None), str):
        names = [input.name]
    return None if names is None else list(map(str, names))


def _columns(
    input: Any, output: Any, names: Sequence[str] | None, title: str, argument: str, times: Mapping[str, Any]
) -> Any:
    """Return a mapping of columns, or a frame if input or output has an index of pandas, which may be the time."""
    u = np.empty((0, 0))
    if input is not None:
        u = np.atleast_2d(array_of(input, f"{argument}: input", 2).T)
    if names is None or len(names) != len(u):
        names = [f"u{number}" for number in range(1, len(u) + 1)] if len(u) != 1 else ["u"]
    columns = {**dict(zip(names, u, strict=True)), title: array_of(output, f"{argument}: output", 1), **times}
    indices = [values.index for values in (input, output) if hasattr(values, "iloc")]
    if not indices or any(len(values) != len(indices[0]) for values in columns.values()):
        return columns
    return pd.DataFrame({name: np.asarray(values) for name, values in columns.items()}, index=indices[0])
