"""Files of measured data as frames of pandas: the one place that knows where files end and data begin."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from narxbench._io.binary import frame_of_arrays
from narxbench._io.delimited import checked_options, frame_of_text
from narxbench._io.encodings import as_utf8
from narxbench._io.errors import FieldError, show
from narxbench._io.files import StrPath
from narxbench._io.formats import TABLES, open_data_file
from narxbench._io.workbooks import text_of_sheet


def read_frame(
    path: StrPath, part: str | None = None, read: Mapping[str, Any] | None = None, wanted: Collection[str] = ()
) -> pd.DataFrame:
    r"""Return the columns of a file of data, whatever its format.

    Text (also compressed) and Excel go through :func:`narxbench._io.delimited.frame_of_text`, all other formats through
    :func:`narxbench._io.binary.frame_of_arrays`. Both say which attributes the frame has.

    Parameters
    ----------
    path : path
        The file.
    part : str, optional
        The sheet of a workbook, the group or array of a file of arrays, or the member of an archive.
    read : mapping, optional
        Options that a text does not show: ``sep``, ``decimal``, ``header`` (0 or None), ``skiprows`` and
        ``encoding``, as pandas calls them.
    wanted : collection of str
        Names of columns, which show that a row is the header.

    Raises
    ------
    NarxbenchError
        If the file cannot be read, or can be read in two ways.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.csv")
    ...     _ = path.write_text("Logger 7\n\nt [s];u [V]\n0,0;1,5\n0,5;1,7\n1,0;1,6\n")
    ...     frame = read_frame(path)
    >>> list(frame), frame.attrs["units"], frame["u [V]"].to_list()
    (['t [s]', 'u [V]'], ('s', 'V'), [1.5, 1.7, 1.6])
    """
    options = checked_options(read or {})
    file = open_data_file(path, part)
    if file.format not in TABLES:
        if options:
            problem = f"found {show(next(iter(options)), kind=False)} for a file of the format {file.format}"
            raise FieldError("read", f"{problem}; allowed: none, for it says itself how it is read", file.path)
        return frame_of_arrays(file)
    if file.format == "xlsx":
        content = text_of_sheet(file).encode("utf-8", "surrogatepass")
        return frame_of_text(file.path, content, {**options, "sep": ","}, wanted, "row")
    content = as_utf8(file.path, file.content, options.get("encoding"))
    return frame_of_text(file.path, content, options, wanted, "line")
