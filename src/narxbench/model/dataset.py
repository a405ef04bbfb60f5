"""Data sets: input and output of one experiment, as arrays and as CSV files."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench.io.csv import number, read_rows, wrong
from narxbench.io.errors import NarxbenchError, did_you_mean, show
from narxbench.io.files import StrPath, write_atomically


class Signals(NamedTuple):
    """Input ``u`` and output ``y`` of one experiment, each of shape (samples,)."""

    u: NDArray[np.float64]
    y: NDArray[np.float64]


def as_signals(name: str, values: ArrayLike, columns: int = 1) -> NDArray[np.float64]:
    """Return numbers of shape (samples, columns); of one column they may have the shape (samples,).

    What is no array of numbers of this shape raises :class:`NarxbenchError`, which calls it ``name``.
    """
    try:
        found = np.asarray(values)
    except ValueError:  # rows of different lengths
        found = np.array(None)
    if found.dtype.kind not in "biuf":
        raise NarxbenchError(f"{name}: not an array of numbers; allowed: one number per sample")
    array = found[:, None] if found.ndim == 1 and columns == 1 else found
    if array.ndim != 2 or array.shape[1] != columns:
        allowed = f"(samples, {columns})" + (" or (samples,)" if columns == 1 else "")
        raise NarxbenchError(f"{name}: found an array of shape {found.shape}; allowed: {allowed}")
    return np.ascontiguousarray(array, np.float64)


def finite_signals(name: str, values: ArrayLike, columns: int = 1) -> NDArray[np.float64]:
    """Return finite numbers as :func:`as_signals` does; others raise :class:`NarxbenchError` too."""
    array = as_signals(name, values, columns)
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if wrong.size:
        bad = array[wrong[0]]
        raise NarxbenchError(
            f"{name}: found {bad[~np.isfinite(bad)][0]} at sample {wrong[0] + 1}; allowed: finite numbers"
        )
    return array


def read_signals(path: StrPath, columns: tuple[str, ...] = ("u", "y")) -> list[NDArray[np.float64]]:
    """Return the named columns of a CSV file.

    The process that plans a study reads every data set of it, so that this goes without pandas.

    Parameters
    ----------
    path : path
        A file in UTF-8 whose first line names the columns; it may have others too, in any order.
    columns : tuple of str
        Names of the columns that are wanted.

    Returns
    -------
    list of numpy.ndarray
        One array of shape (samples,) for each column: the doubles that the texts mean.

    Raises
    ------
    NarxbenchError
        One line with file, line, column, what was found and what is allowed: finite numbers, at least one row.
    """
    header, rows = read_rows(path)
    header = [name.strip() for name in header]
    for name in columns:
        if header.count(name) != 1:
            found = f"found columns {show(header, kind=False)}; needed: {', '.join(columns)}, each once"
            raise NarxbenchError(f"{path}: line 1: {found}{did_you_mean(name, {*header} - {name})}")
    if not rows:
        raise NarxbenchError(f"{path}: found no samples below the header; allowed: at least one")
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
    """Return finite inputs and outputs as the text of a CSV file, whose numbers read back as the same doubles."""
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
    """Return the text of an SNR in file names, ``50`` or ``37.5``; different numbers differ in it."""
    number = float(snr_db)
    return str(int(number)) if number.is_integer() else repr(number)
