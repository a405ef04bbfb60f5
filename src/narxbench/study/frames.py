"""Frames of a study: their schemas and their CSV form.

A missing number or truth value is NaN (``pd.NA``) in memory and empty in CSV; a missing text is "".
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from narxbench.io.csv import FLAG, INTEGER, NUMBER, TEXT, Kind, list_of, optional, read_table, wrong
from narxbench.io.errors import NarxbenchError, show
from narxbench.io.files import StrPath

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

    ``columns`` has for each frame its columns in order, as ``name:kind``, a star before those that identify a row; a
    column without a kind holds numbers. ``kinds`` are those that only this study has. ``shared`` names columns of which
    several frames hold the same, so that none of these is empty; nor are those that are ``never_empty``. ``complete``
    frames have a row for every combination of what identifies them; ``checks`` are further ones, by frame.
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
        for frame, text in columns.items():
            parts = [column.partition(":") for column in text.split()]
            self._columns[frame] = {name.lstrip("*"): kind or "number" for name, _, kind in parts}
        self._identifying = {frame: re.findall(r"\*(\w+)", text) for frame, text in columns.items()}
        self._shared, self._complete, self._checks = shared, complete, checks or {}
        self._never_empty = {*never_empty, *chain(*(frames for _, frames in shared))}

    @property
    def columns(self) -> dict[str, dict[str, Kind]]:
        """The columns of each frame, and how CSV holds them."""
        return {
            frame: {name: self._kinds[kind][0] for name, kind in kinds.items()}
            for frame, kinds in self._columns.items()
        }

    def framed(self, name: str, rows: Iterable[Sequence[Any]] | pd.DataFrame) -> pd.DataFrame:
        """Return rows as the frame ``name``: with its columns and their types, and NaN for what is not finite."""
        kinds = self._columns[name]
        frame = rows[list(kinds)] if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=list(kinds))
        typed = frame.astype({column: self._kinds[kind][1] for column, kind in kinds.items()})
        return typed.replace([math.inf, -math.inf], math.nan)

    def read_frame(self, name: str, path: StrPath) -> pd.DataFrame:
        """Read the CSV file of the frame ``name``; errors name file, line and column."""
        schema = {column: self._kinds[kind][0] for column, kind in self._columns[name].items()}
        frame = self.framed(name, read_table(path, schema, may_be_empty=name not in self._never_empty))
        self._check_rows(name, path, frame)
        return frame

    def read_frames(self, files: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
        """Read those of the named files that are frames of one study; errors name the file."""
        frames = {name: self.read_frame(name, path) for name, path in files.items() if name in self._columns}
        for columns, names in self._shared:
            held = {name: _tuples(frames[name], columns) for name in names if name in frames}
            for one, other in pairwise(held):
                for here, there in ((one, other), (other, one)):
                    if missing := held[there] - held[here]:
                        found_none = f"found no row for {show(min(missing), kind=False)}, which {files[there]} has"
                        raise NarxbenchError(f"{files[here]}: {found_none}; delete both and run again")
        return frames

    def _check_rows(self, name: str, path: StrPath, frame: pd.DataFrame) -> None:
        """Refuse a row that stands twice, and a frame that lacks one: it was damaged."""
        columns = self._identifying[name]
        for row in np.flatnonzero(frame.duplicated(columns)).tolist() if columns else ():
            raise wrong(path, row, columns[-1], frame[columns[-1]][row], f"each {', '.join(columns)} once")
        if name in self._checks:
            self._checks[name](path, frame)
        if name in self._complete:
            held = _tuples(frame, columns)
            for wanted in product(*(dict.fromkeys(frame[column]) for column in columns)):
                if wanted not in held:
                    raise NarxbenchError(
                        f"{path}: found no row for {show(wanted, kind=False)}; delete it and run again"
                    )


def _tuples(frame: pd.DataFrame, columns: Sequence[str]) -> set[tuple[Any, ...]]:
    return set(frame[columns].itertuples(index=False, name=None))
