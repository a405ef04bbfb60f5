"""Frames of a study: their schemas and their CSV form.

A missing number or truth value is NaN (``pd.NA``) in memory and empty in CSV. A missing text is "".
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from narxbench._io.csv import FLAG, INTEGER, NUMBER, TEXT, Kind, list_of, optional, read_table, wrong
from narxbench._io.errors import NarxbenchError, show
from narxbench._io.files import StrPath

Frames = Mapping[str, pd.DataFrame]

# Kind of a column -> how CSV holds it, and its type in memory.
_KINDS: Mapping[str, tuple[Kind, str]] = {
    "text": (TEXT, "str"),
    "whole": (INTEGER, "int64"),
    "number": (optional(NUMBER), "float64"),
    "known": (NUMBER, "float64"),
    "truth": (optional(FLAG), "boolean"),
    "wholes": (list_of(INTEGER), "object"),
    "numbers": (list_of(optional(NUMBER)), "object"),
}


class FrameSchemas:
    """The schemas of the frames of a study.

    ``columns`` has the columns of each frame in order, as ``name:kind``, with a star before those that identify a row.
    A column without a kind holds numbers. ``kinds`` are those that only this study has. ``shared`` names columns in
    which several frames hold the same rows, so that none of these frames is empty. Nor are those that are
    ``never_empty``. ``complete`` frames have a row for every combination of the values that identify a row. ``checks``
    has further checks by frame.
    """

    def __init__(
        self,
        columns: Mapping[str, str],
        *,
        kinds: Mapping[str, tuple[Kind, str]] | None = None,
        shared: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
        complete: Sequence[str] = (),
        never_empty: Sequence[str] = (),
        checks: Mapping[str, Callable[[StrPath, pd.DataFrame], None]] | None = None,
    ) -> None:
        self._kinds = {**_KINDS, **(kinds or {})}
        self._columns: dict[str, dict[str, str]] = {}
        self._identifying: dict[str, list[str]] = {}
        for frame, text in columns.items():
            self._columns[frame] = {}
            for column in text.split():
                name, _, kind = column.partition(":")
                self._columns[frame][name.lstrip("*")] = kind or "number"
            self._identifying[frame] = re.findall(r"\*(\w+)", text)
        self._shared, self._complete, self._checks = shared, complete, checks or {}
        self._never_empty = set(never_empty).union(*(frames for _, frames in shared))

    @property
    def columns(self) -> dict[str, dict[str, Kind]]:
        """The columns of each frame, and how CSV holds them."""
        return {frame: self._csv_kinds(frame) for frame in self._columns}

    def _csv_kinds(self, frame: str) -> dict[str, Kind]:
        """Return how CSV holds the columns of a frame."""
        return {column: self._kinds[kind][0] for column, kind in self._columns[frame].items()}

    def framed(self, name: str, rows: Iterable[Sequence[Any]] | pd.DataFrame) -> pd.DataFrame:
        """Return rows as the frame ``name``: with its columns and their types. Numbers that are not finite are NaN."""
        kinds = self._columns[name]
        frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=list(kinds))
        typed = frame[list(kinds)].astype({column: self._kinds[kind][1] for column, kind in kinds.items()})
        return typed.replace([math.inf, -math.inf], math.nan)

    def read_frame(self, name: str, path: StrPath) -> pd.DataFrame:
        """Read the CSV file of the frame ``name``. Errors name file, line and column."""
        rows = read_table(path, self._csv_kinds(name), may_be_empty=name not in self._never_empty)
        frame = self.framed(name, rows)
        self._check_rows(name, path, frame)
        return frame

    def read_frames(self, files: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
        """Read the named files that are frames of one study. Errors name the file."""
        frames = {name: self.read_frame(name, path) for name, path in files.items() if name in self._columns}
        for columns, names in self._shared:
            keys = {name: _keys(frames[name], columns) for name in names if name in frames}
            for left, right in pairwise(keys):
                for here, there in ((left, right), (right, left)):
                    missing = keys[there] - keys[here]
                    if missing:
                        problem = f"found no row for {show(min(missing), kind=False)}, which {files[there]} has"
                        raise NarxbenchError(f"{files[here]}: {problem}; delete both and run again")
        return frames

    def _check_rows(self, name: str, path: StrPath, frame: pd.DataFrame) -> None:
        """Refuse a frame in which a row occurs twice or is missing: it was damaged."""
        columns = self._identifying[name]
        duplicates = np.flatnonzero(frame.duplicated(columns)).tolist() if columns else []
        if duplicates:
            row, last_column = duplicates[0], columns[-1]
            raise wrong(path, row, last_column, frame[last_column][row], f"each {', '.join(columns)} once")
        if name in self._checks:
            self._checks[name](path, frame)
        if name in self._complete:
            keys = _keys(frame, columns)
            for key in product(*(dict.fromkeys(frame[column]) for column in columns)):
                if key not in keys:
                    raise NarxbenchError(f"{path}: found no row for {show(key, kind=False)}; delete it and run again")


def _keys(frame: pd.DataFrame, columns: Sequence[str]) -> set[tuple[Any, ...]]:
    """Return the values of some columns, row by row."""
    return set(frame[columns].itertuples(index=False, name=None))
