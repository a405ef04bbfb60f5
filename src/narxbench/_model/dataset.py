"""Data sets: input and output of one experiment, as arrays and as CSV files."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._io.csv import number, read_rows, wrong
from narxbench._io.errors import FileError, NarxbenchError, did_you_mean, show
from narxbench._io.files import StrPath, write_atomically

# An output has diverged above this multiple of the largest measured one, or this magnitude where none is measured.
DIVERGENCE_FACTOR, DIVERGED = 1e6, 1e12


class Signals(NamedTuple):
    """Input ``u`` and output ``y`` of one experiment, each of shape (samples,) or (samples, signals)."""

    u: NDArray[np.float64]
    y: NDArray[np.float64]


def as_signals(name: str, values: ArrayLike, columns: int = 1) -> NDArray[np.float64]:
    """Return numbers as an array of shape (samples, columns). A single column may also have the shape (samples,).

    Anything else raises :class:`NarxbenchError`, whose message calls the argument ``name``.
    """
    try:
        numbers = np.asarray(values)
    except ValueError:  # rows of different lengths
        numbers = np.array(None)
    if numbers.dtype.kind not in "biuf":
        raise NarxbenchError(f"{name}: not an array of numbers; allowed: one number per sample")
    allowed = f"(samples, {columns})"
    table = numbers
    if columns == 1:
        allowed += " or (samples,)"
        if numbers.ndim == 1:
            table = numbers[:, None]
    if table.ndim != 2 or table.shape[1] != columns:
        raise NarxbenchError(f"{name}: found an array of shape {numbers.shape}; allowed: {allowed}")
    return np.ascontiguousarray(table, np.float64)


def finite_signals(name: str, values: ArrayLike, columns: int = 1) -> NDArray[np.float64]:
    """Return numbers as :func:`as_signals` does, and raise :class:`NarxbenchError` if one of them is not finite."""
    table = as_signals(name, values, columns)
    _refuse_samples(name, table, ~np.isfinite(table), "finite numbers")
    return table


def outputs_with_gaps(name: str, values: ArrayLike, n_first: int) -> NDArray[np.float64]:
    """Return outputs, shape (samples,), NaN where they are missing, which none of the first ``n_first`` may be."""
    table = as_signals(name, values)
    _refuse_samples(name, table, np.isinf(table), "finite numbers")
    needed = f"the first {n_first} outputs, which a prediction begins from; later ones may be missing"
    _refuse_samples(name, table, np.isnan(table) & (np.arange(len(table)) < n_first)[:, None], needed)
    return table[:, 0]


def _refuse_samples(name: str, table: NDArray[np.float64], is_wrong: NDArray[np.bool_], allowed: str) -> None:
    """Raise NarxbenchError for the first sample with a wrong value."""
    if is_wrong.any():
        row = int(is_wrong.any(axis=1).argmax())
        value = table[row][is_wrong[row]][0]
        raise NarxbenchError(f"{name}: found {value} at sample {row + 1}; allowed: {allowed}")


def read_signals(path: StrPath, columns: tuple[str, ...] = ("u", "y")) -> list[NDArray[np.float64]]:
    r"""Return the named columns of a CSV file.

    Parameters
    ----------
    path : path
        A file in UTF-8 whose first line names the columns. It may have other columns too, in any order.
    columns : tuple of str
        Names of the columns to return.

    Returns
    -------
    list of numpy.ndarray
        One array of doubles of shape (samples,) for each column.

    Raises
    ------
    FileError
        If the file cannot be read, a column is missing, a value is not a finite number, or there are no samples. The
        message is one line with the file, the line, the column, the text there and the allowed ones.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "data.csv")
    ...     _ = file.write_text("time,u,y\n0,0.1,0\n1,-1,0.25\n")
    ...     read_signals(file)
    [array([ 0.1, -1. ]), array([0.  , 0.25])]
    """
    # The process that plans a study reads every data set of it: without pandas, which takes long to import.
    header, rows = read_rows(path)
    header = [name.strip() for name in header]
    for name in columns:
        if header.count(name) != 1:
            finding = f"found columns {show(header, kind=False)}; needed: {', '.join(columns)}, each once"
            raise FileError(f"{path}: line 1: {finding}{did_you_mean(name, {*header} - {name})}")
    if not rows:
        raise FileError(f"{path}: found no samples below the header; allowed: at least one")
    signals = [np.empty(len(rows)) for _ in columns]
    for name, values in zip(columns, signals, strict=True):
        place = header.index(name)
        for row, fields in enumerate(rows):
            try:
                values[row] = number(fields[place].strip(" "))
            except ValueError:
                raise wrong(path, row, name, fields[place], "a finite number") from None
    return signals


def signals_csv(u: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Return finite inputs and outputs as the text of a CSV file, from which the same doubles are read."""
    return "u,y\n" + "".join(f"{float(a)!r},{float(b)!r}\n" for a, b in zip(u, y, strict=True))


def write_signals(path: StrPath, u: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Write input and output, each of shape (samples,), as a CSV file for :func:`read_signals`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_signals(f"{folder}/data.csv", np.array([0.1, -1.0]), np.array([0.0, 0.25]))
    ...     read_signals(f"{folder}/data.csv")
    [array([ 0.1, -1. ]), array([0.  , 0.25])]
    """
    write_atomically(path, signals_csv(u, y))


def snr_label(snr_db: float) -> str:
    """Return an SNR as file names have it, such as ``50`` or ``37.5``. Different SNRs have different labels."""
    number = float(snr_db)
    if number.is_integer():
        return str(int(number))
    return repr(number)
