"""The matrix of a study: the wildcards of each job of runs, as the settings combine them."""

import csv
import io
import os
from collections.abc import Iterable, Mapping

from narxbench._io.csv import guarded

Row = Mapping[str, str]


class Matrix:
    """The combinations that exist, a row of wildcards for each job of runs."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def paths(self, pattern: str) -> list[str]:
        """Return the paths that a pattern with wildcards stands for, each once, in the order of the settings."""
        return list(dict.fromkeys(pattern.format_map(row) for row in self.rows))

    def finished(self, *patterns: str) -> "Matrix":
        """Return the rows of the conditions for which the files of all patterns exist."""
        unfinished = set()
        for row in self.rows:
            if not all(os.path.exists(pattern.format_map(row)) for pattern in patterns):
                unfinished.add(_condition(row))
        return Matrix(row for row in self.rows if _condition(row) not in unfinished)

    def csv(self) -> str:
        """Return the matrix as a table that people read, with the wildcards as columns."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        if self.rows:
            writer.writerow(self.rows[0])
        for row in self.rows:
            writer.writerow(map(guarded, row.values()))
        return stream.getvalue()


def _condition(row: Row) -> tuple[str, ...]:
    """Return what tells the condition of a row from others: all wildcards but the seeds."""
    return tuple(value for name, value in row.items() if name != "seeds")
