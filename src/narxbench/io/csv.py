"""Strict reading of CSV files: exactly the columns that are asked for, and errors that name file, line and column."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.settings import printable, show

StrPath = str | PathLike[str]

_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Line:
    """A row of a file: its texts by column, and where it stands."""

    path: StrPath
    number: int
    texts: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.texts[column]

    def name(self, column: str) -> str:
        """Return a text that must not be empty."""
        if not self[column]:
            raise self.wrong(column, "a name")
        return self[column]

    def wrong(self, column: str, allowed: str, words: Iterable[str] = ()) -> NarxbenchError:
        """Return the error of a column's text; where one of ``words`` is close to it, it is proposed."""
        found = f"found {show(self[column], kind=False)}; allowed: {allowed}{did_you_mean(self[column], words)}"
        return NarxbenchError(f"{self.path}, line {self.number}, column {column}: {found}")


def read_lines(path: StrPath, columns: Sequence[str]) -> Iterator[Line]:
    """Yield the rows of a file with exactly these columns; one without rows is an error."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            if header != list(columns):
                found = printable(",".join(header))
                raise NarxbenchError(f"{path}, line 1: found columns {found}; allowed: {','.join(columns)}")
            empty = True
            for texts in reader:
                if len(texts) != len(columns):
                    found = f"found {len(texts)} columns; allowed: {len(columns)}"
                    raise NarxbenchError(f"{path}, line {reader.line_num}: {found}")
                empty = False
                yield Line(path, reader.line_num, dict(zip(columns, texts, strict=True)))
            if empty:
                raise NarxbenchError(f"{path}: found no rows; allowed: at least one")
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NarxbenchError(f"{path}: cannot be read as CSV: {error}") from None


def number_of(text: str) -> float:
    """Return the finite number that a text is, or nan."""
    # float() would also take 1_000, blanks and digits of other scripts.
    value = float(text) if _FLOAT.fullmatch(text) else math.nan
    return value if math.isfinite(value) else math.nan
