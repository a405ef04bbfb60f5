"""Simulated data sets and their definitions: a data set that is not what its definition gives is named.

A simulation has the same bytes each time. So whoever reads a data set can compare it with its definition, however it
was changed and whatever its date. A simulation takes as long as a few searches: its digest is kept for the process.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_bytes, read_json, sha256
from narxbench._pipeline.definitions import read_definition
from narxbench._study.data_sets import simulated_csv

_REALISATION = re.compile(r"realisation-([0-9]+)\.csv")
# The digest of each data set that was simulated in this process, by its definition and its realisation.
_DIGESTS: dict[tuple[str, int | None], str] = {}


def simulated(definition: str, realisation: int | None) -> str:
    """Return the data set (CSV) of the definition of a problem."""
    simulation = read_definition(definition)["settings"]["simulation"]
    text = simulated_csv(**simulation, realisation=realisation)
    _DIGESTS[definition, realisation] = sha256(text)
    return text


def check_data_sets(paths: Iterable[str], definition: str) -> None:
    """Raise NarxbenchError for the first data set that is not what the definition of its problem gives."""
    for path in dict.fromkeys(paths):
        if not is_simulated(path, definition):
            raise changed_data([path])


def changed_data(paths: list[str]) -> NarxbenchError:
    """Return the error that data sets are not what their definitions give."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return NarxbenchError(f"{paths[0]}{more}: changed since it was simulated; delete it and run again")


def is_simulated(path: str, definition: str) -> bool:
    """Return whether a data set is what the definition of its problem gives."""
    realisation = _REALISATION.fullmatch(Path(path).name)
    number = int(realisation[1]) if realisation else None
    if (definition, number) not in _DIGESTS:
        simulated(definition, number)
    return sha256(read_bytes(path)) == _DIGESTS[definition, number]


def changed_data_sets(summary: str, definitions: Mapping[str, str]) -> list[str]:
    """Return the data sets of a summary that were changed after it was made; ``definitions`` has that of each.

    One that is older than its definition is left to Snakemake, which makes it again. The time of change is that which
    the system keeps, and which no program can set.
    """
    summarised = _changed_at(summary)
    suspects = []
    for path, definition in definitions.items():
        defined = _changed_at(definition)
        if summarised and defined and _changed_at(path) > max(summarised, defined):
            suspects.append(path)
    if not suspects:
        return []
    # To compare with the digest in the summary is quicker than to simulate; of several data sets it has one digest.
    kept = read_json(summary).get("data_sha256")
    return [path for path in suspects if sha256(read_bytes(path)) != kept and not is_simulated(path, definitions[path])]


def _changed_at(path: str) -> int:
    """Return the time of the last change of a file in nanoseconds, by the system's record; 0 if there is no file."""
    try:
        return os.stat(path).st_ctime_ns
    except OSError:
        return 0
