"""Files of arrays: MATLAB, NumPy, HDF5, TDMS, Parquet and Feather files become frames of pandas."""

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._io.errors import FileError, NarxbenchError, printable
from narxbench._io.extras import require_packages
from narxbench._io.formats import DataFile, part_error

Array = NDArray[Any]
_IN_MATLAB = "; in MATLAB, writetable makes CSV of tables and timetables"


# Columns of one length by name, their units as far as the file has them, and notes on guesses.
Columns = tuple[dict[str, Array], dict[str, str], list[str]]


def frame_of_arrays(file: DataFile) -> pd.DataFrame:
    """Return a file of arrays as a frame with the attributes ``units`` by column and ``notes``.

    A file without any column raises FileError.
    """
    try:
        columns, units, guesses = _READERS[file.format](file)
    except NarxbenchError:
        raise
    except Exception:  # libraries raise errors of any kind for a damaged file
        problem = f"cannot be read: not in the format {file.format}, damaged, or of a version that is not known"
        raise FileError(f"{file.path}: {problem}; needed: a whole file, or CSV") from None
    if not columns:
        advice = _IN_MATLAB if file.format in ("mat", "mat73") else ""
        raise FileError(f"{file.path}: found no columns of numbers; needed: arrays of numbers{advice}")
    frame = pd.DataFrame(columns)
    frame.attrs = {"units": units, "notes": guesses}
    return frame


def _read_npy(file: DataFile) -> Columns:
    array = np.load(io.BytesIO(file.content), allow_pickle=False)
    if array.dtype.names:
        return _columns_of_arrays({name: array[name] for name in array.dtype.names}, file)
    return _columns_of_arrays({"column": array}, file)


def _read_npz(file: DataFile) -> Columns:
    with np.load(io.BytesIO(file.content), allow_pickle=False) as archive:
        return _columns_of_arrays(_flat(dict(archive)), file)


def _read_mat(file: DataFile) -> Columns:
    import scipy.io

    with warnings.catch_warnings():
        # Values that cannot be read are named below.
        warnings.simplefilter("ignore")
        variables = scipy.io.loadmat(io.BytesIO(file.content), simplify_cells=True)
    variables = {name: value for name, value in variables.items() if not name.startswith("__")}
    return _columns_of_arrays(_flat(variables), file)


def _read_hdf5(file: DataFile) -> Columns:
    require_packages(["h5py"], file.path)
    import h5py

    arrays: dict[str, Any] = {}
    units: dict[str, str] = {}

    def visit(name: str, item: Any) -> None:
        if "pandas_type" in item.attrs:
            line = f"pandas.read_hdf(PATH, {name!r}).to_parquet(PATH + '.parquet')"
            raise FileError(f"{file.path}: found a frame of pandas in HDF5; needed: Parquet, as made by {line}")
        if not isinstance(item, h5py.Dataset) or name.startswith("#"):
            return
        arrays[name] = _values_of_dataset(item)
        unit = item.attrs.get("units", item.attrs.get("unit", ""))
        if isinstance(unit, bytes | str) and unit:
            units[name] = unit.decode("utf-8", "replace") if isinstance(unit, bytes) else unit

    with h5py.File(io.BytesIO(file.content), "r") as content:
        content.visititems(visit)
    return _columns_of_arrays(_flat(arrays), file, units)


def _values_of_dataset(dataset: Any) -> Any:
    """Return the values of a dataset of HDF5, or None for text of MATLAB."""
    matlab_class = dataset.attrs.get("MATLAB_class", b"")
    if matlab_class in (b"char", b"cell") or dataset.dtype.kind == "O" or dataset.shape is None:
        return None
    values = dataset[()]
    if matlab_class == b"logical":
        return values.astype(bool)
    return values


def _read_tdms(file: DataFile) -> Columns:
    require_packages(["nptdms"], file.path)
    import nptdms
    import nptdms.log

    # Problems of a file are reported below.
    nptdms.log.log_manager.set_level(logging.CRITICAL)
    content = nptdms.TdmsFile.read(io.BytesIO(file.content))
    arrays: dict[str, Any] = {}
    units: dict[str, str] = {}
    increments: dict[str, float] = {}
    for group in content.groups():
        for channel in group.channels():
            name = f"{group.name}/{channel.name}"
            arrays[name] = channel[:]
            units[name] = str(channel.properties.get("unit_string", ""))
            increments[name] = float(channel.properties.get("wf_increment", 0.0))
    columns, units, guesses = _columns_of_arrays(arrays, file, units)
    if content.file_status.incomplete_final_segment:
        guesses.append("the file ends within a block of samples: those that are there were read.")
    steps = set(increments.values())
    has_time = any(name.lower() == "time" for name in columns)
    if len(steps) == 1 and steps != {0.0} and columns and not has_time:
        (step,) = steps
        n_samples = len(next(iter(columns.values())))
        columns["time"] = step * np.arange(n_samples)
        guesses.append(f"the time was made from the increment of the channels, {step:g} s.")
    return columns, units, guesses


def _read_frame(file: DataFile) -> Columns:
    require_packages(["pyarrow"], file.path)
    read_frame = pd.read_parquet if file.format == "parquet" else pd.read_feather
    frame = read_frame(io.BytesIO(file.content))
    if frame.index.name is not None and frame.index.name not in frame.columns:
        frame = frame.reset_index()
    columns = {}
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind == "M":
            values = values.dt.tz_convert("UTC").dt.tz_localize(None) if values.dt.tz is not None else values
        columns[str(name)] = values.to_numpy()
    return columns, {}, []


_READERS: Mapping[str, Callable[[DataFile], Columns]] = {
    "npy": _read_npy,
    "npz": _read_npz,
    "mat": _read_mat,
    "mat73": _read_hdf5,
    "hdf5": _read_hdf5,
    "tdms": _read_tdms,
    "parquet": _read_frame,
    "feather": _read_frame,
}


def _flat(variables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return arrays in structures by their path, as in ``run1/u``."""
    arrays: dict[str, Any] = {}
    for name, value in variables.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            arrays |= _flat(value, f"{path}/")
        elif _are_structures(value):
            # dSPACE lists its signals in this way.
            parts = {str(part.get("Name", number)): part for number, part in enumerate(value, 1)}
            arrays |= _flat(parts, f"{path}/")
        elif isinstance(value, np.ndarray) and value.dtype.names:
            arrays |= _flat({field_name: value[field_name] for field_name in value.dtype.names}, f"{path}/")
        else:
            arrays[path] = value
    return arrays


def _are_structures(value: Any) -> bool:
    """Return whether a value is a list of structures."""
    is_list = isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1)
    return is_list and len(value) > 0 and all(isinstance(part, Mapping) for part in value)


def _columns_of_arrays(arrays: Mapping[str, Any], file: DataFile, units: Mapping[str, str] | None = None) -> Columns:
    """Return arrays as columns of the length of the longest, without those that cannot be columns, which a note names.

    The name of the group is left out if all arrays are in the same group, or the user wants this part.
    """
    columns: dict[str, Array] = {}
    units_of_columns: dict[str, str] = {}
    guesses: list[str] = []
    left_out: list[str] = []
    names = _names_in_part(arrays, file)
    for path, name in names.items():
        signals = list(_signals(name, arrays[path], guesses))
        if not signals:
            left_out.append(f"{name} ({_described(arrays[path])})")
        for signal_name, values in signals:
            columns[signal_name] = values
            if units and units.get(path):
                units_of_columns[signal_name] = units[path]
    n_samples = max(map(len, columns.values()), default=0)
    for name in list(columns):
        if len(columns[name]) == 1 < n_samples:
            left_out.append(f"{name} ({columns.pop(name)[0]})")
        else:
            columns[name] = _padded(columns[name], n_samples)
    if left_out:
        guesses.append(f"left out, for they are no columns: {printable(', '.join(left_out))}.")
    return columns, units_of_columns, guesses


def _names_in_part(arrays: Mapping[str, Any], file: DataFile) -> dict[str, str]:
    """Return the names of the arrays of the wanted part, by their paths."""
    groups = list(dict.fromkeys(path.rpartition("/")[0] for path in arrays))
    part = file.part
    if part is None:
        if len(groups) != 1:
            return {path: path for path in arrays}
        (part,) = groups
    elif part in arrays:
        return {part: part}
    elif part not in groups:
        raise part_error(file, "parts", [*filter(None, groups)] or [*arrays])
    prefix = f"{part}/" if part else ""
    return {path: path.removeprefix(prefix) for path in arrays if path.startswith(prefix)}


def _signals(name: str, values: Any, guesses: list[str]) -> Iterator[tuple[str, Array]]:
    """Yield the signals in an array, by name: the columns of a matrix, in which time goes along the longer side."""
    array = np.asarray(values)
    if array.dtype.kind in "SU" and array.ndim == 1:
        yield name, array.astype(str).astype(object)
        return
    if array.dtype.kind not in "biufMm" or array.ndim not in (0, 1, 2) or not array.size:
        return
    if array.ndim < 2 or 1 in array.shape:
        yield name, array.reshape(-1)
        return
    if array.shape[0] < array.shape[1]:
        guesses.append(f"time goes along the rows of {printable(name)}, which has the shape {array.shape}.")
        array = array.T
    for number, signal in enumerate(array.T, 1):
        yield f"{name}_{number}", signal


def _described(value: Any) -> str:
    """Return what kind of value a value is that cannot be a column."""
    array = np.asarray(value)
    if isinstance(value, str) or array.dtype.kind in "SU":
        return "text"
    if array.dtype.kind in "biufc" and array.ndim > 0:
        return f"shape {array.shape}"
    return "no numbers"


def _padded(values: Array, n_samples: int) -> Array:
    """Return a column that is as long as the longest, with missing values at its end."""
    missing = n_samples - len(values)
    if not missing:
        return values
    if values.dtype.kind in "biuf":
        return np.append(values.astype(float), np.full(missing, np.nan))
    return np.append(values.astype(object), np.full(missing, None, object))
