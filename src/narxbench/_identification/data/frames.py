"""Frames of other libraries as frames of pandas: polars, pyarrow and xarray, none of which is imported here."""

from typing import Any

import pandas as pd

from narxbench._identification.data.errors import data_error


def is_frame(item: Any) -> bool:
    """Return whether an object is a frame: of pandas or of one of these libraries."""
    return _library(item) in _CONVERSIONS or (hasattr(item, "columns") and hasattr(item, "items"))


def frame_of(item: Any, name: str) -> Any:
    """Return a frame of another library as one of pandas, and anything else as it is.

    The coordinate of an xarray is a column.
    """
    frame = indexed_frame_of(item, name)
    if _library(item) == "xarray" and frame.index.name is not None:
        return frame.reset_index()
    return frame


def indexed_frame_of(item: Any, name: str) -> Any:
    """Return a frame of another library as one of pandas, whose index is the coordinate of an xarray."""
    convert = _CONVERSIONS.get(_library(item))
    if convert is None:
        return item
    return convert(item, name)


def _library(item: Any) -> str:
    """Return the library whose frame or array with names an object is, or ""."""
    library = type(item).__module__.partition(".")[0]
    is_tabular = any(hasattr(item, name) for name in ("collect_schema", "column_names", "to_dataset", "data_vars"))
    return library if is_tabular else ""


def _frame_of_polars(frame: Any, name: str) -> pd.DataFrame:
    if hasattr(frame, "collect"):
        frame = frame.collect()
    return pd.DataFrame({column.name: column.to_numpy() for column in frame.get_columns()})


def _frame_of_pyarrow(table: Any, name: str) -> pd.DataFrame:
    columns = {}
    for column in table.column_names:
        values = table.column(column)
        # Of a chunked array it is the default.
        columns[column] = values.to_numpy(zero_copy_only=False)
    return pd.DataFrame(columns)


def _frame_of_xarray(dataset: Any, name: str) -> pd.DataFrame:
    if hasattr(dataset, "to_dataset"):
        if dataset.ndim == 2:
            dataset = dataset.to_dataset(dim=dataset.dims[1])
        else:
            dataset = dataset.to_dataset(name=dataset.name or "y")
    if len(dataset.dims) != 1:
        raise data_error(name, f"an xarray with the dimensions {', '.join(map(str, dataset.dims))}", "one dimension")
    (dimension,) = dataset.dims
    units = {column: dataset[column].attrs.get("units", "") for column in [*dataset.data_vars, *dataset.coords]}
    frame = dataset.to_dataframe()
    if dimension not in dataset.coords:
        frame.index.name = None
    return frame.rename(columns={column: f"{column} [{unit}]" for column, unit in units.items() if unit})


_CONVERSIONS = {"polars": _frame_of_polars, "pyarrow": _frame_of_pyarrow, "xarray": _frame_of_xarray}
