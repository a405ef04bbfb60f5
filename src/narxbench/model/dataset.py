"""Data sets as CSV files with a header: reading with clear errors, writing with every digit."""

import csv
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import write_atomically
from narxbench.io.settings import show


def read_signals(path: str | Path, columns: tuple[str, ...] = ("u", "y")) -> list[NDArray[np.float64]]:
    """Return the named columns of a CSV file, one array each; errors name file, line and column."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream, strict=True)
            rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NarxbenchError(f"{path}: not a CSV text file in UTF-8: {error}") from None
    except ValueError:  # of open() itself
        raise NarxbenchError(f"{show(str(path), kind=False)}: cannot be read: not a name of a file") from None
    header = [name.strip() for name in rows[0][1]] if rows else []
    missing = [name for name in columns if name not in header]
    if missing:
        hint = did_you_mean(missing[0], header)
        found = show(header, kind=False)
        raise NarxbenchError(f"{path}: line 1: found columns {found}; needed: {', '.join(columns)}{hint}")
    repeated = [name for name in columns if header.count(name) > 1]
    if repeated:
        raise NarxbenchError(f"{path}: line 1: found the column {repeated[0]!r} twice; allowed: once")
    values: list[list[float]] = [[] for _ in columns]
    places = [header.index(name) for name in columns]
    if not rows[-1][1]:
        rows.pop()
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise NarxbenchError(f"{path}: line {line}: found {len(row)} fields; the header has {len(header)}")
        for name, place, column in zip(columns, places, values, strict=True):
            column.append(_number(row[place], f"{path}: line {line}, column {name!r}"))
    if not values[0]:
        raise NarxbenchError(f"{path}: found no samples below the header")
    return [np.array(column) for column in values]


def _number(text: str, place: str) -> float:
    try:
        # float() would also take 1_000 and digits of other scripts.
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NarxbenchError(f"{place}: found {text[:40]!r}; allowed: a finite number")
    return value


def signals_csv(u: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Return input and output as the text of a CSV file, whose numbers read back as the same doubles."""
    lines = [f"{float(a)!r},{float(b)!r}" for a, b in zip(u, y, strict=True)]
    return "\n".join(["u,y", *lines]) + "\n"


def write_signals(path: str | Path, u: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Write input and output as a CSV file whose numbers read back as the same doubles."""
    write_atomically(path, signals_csv(u, y))
