"""Data sets: input and output of one experiment, as arrays and as CSV files."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.io.csv import number, read_rows, wrong
from narxbench.io.errors import NarxbenchError, did_you_mean, show
from narxbench.io.files import StrPath, write_atomically


class Signals(NamedTuple):
    """Input ``u`` and output ``y`` of one experiment, each of shape (samples,)."""

    u: NDArray[np.float64]
    y: NDArray[np.float64]


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
    return [_numbers(path, name, [row[header.index(name)] for row in rows]) for name in columns]


def _numbers(path: StrPath, name: str, texts: list[str]) -> NDArray[np.float64]:
    values = np.empty(len(texts))
    for row, text in enumerate(texts):
        try:
            values[row] = number(text.strip(" "))
        except ValueError:
            raise wrong(path, row, name, text, "a finite number") from None
    return values


def signals_csv(u: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    r"""Return input and output as the text of a CSV file, whose numbers read back as the same doubles.

    Parameters
    ----------
    u, y : numpy.ndarray
        Finite numbers, each of shape (samples,).

    Examples
    --------
    >>> signals_csv(np.array([0.1, -1.0]), np.array([0.0, 0.25]))
    'u,y\n0.1,0.0\n-1.0,0.25\n'
    """
    lines = [f"{float(a)!r},{float(b)!r}" for a, b in zip(u, y, strict=True)]
    return "\n".join(["u,y", *lines]) + "\n"


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
