"""Simulated data sets, compared with what their settings give.

A simulation has the same bytes each time. So a reader of a data set can tell whether it was changed, however it was
changed and whatever its date. A simulation takes as long as a few searches: its digest is kept for the process.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_bytes, sha256
from narxbench._study.data_sets import simulated_csv

_REALISATION = re.compile(r"realisation-([0-9]+)\.csv")
# The digest of each data set that was simulated in this process, by its path, and the simulation that it is of.
_DIGESTS: dict[str, tuple[Mapping[str, Any], str]] = {}


def simulated(path: str, simulation: Mapping[str, Any]) -> str:
    """Return the data set (CSV) that a path represents.

    ``simulation`` has the parameters of :func:`narxbench._study.data_sets.simulated_csv`. The number of a realisation
    is part of the path.
    """
    realisation = _REALISATION.fullmatch(Path(path).name)
    number = int(realisation[1]) if realisation else None
    text = simulated_csv(**simulation, realisation=number)
    _DIGESTS[path] = simulation, sha256(text)
    return text


def check_data_sets(paths: Iterable[str], simulation: Mapping[str, Any]) -> None:
    """Raise NarxbenchError for the first data set of a problem that is not what its simulation gives."""
    for path in dict.fromkeys(paths):
        if not is_simulated(path, simulation):
            raise changed_data([path])


def changed_data(paths: list[str]) -> NarxbenchError:
    """Return the error that data sets are not what their simulations give."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return NarxbenchError(f"{paths[0]}{more}: changed since it was simulated; delete it and run again")


def is_simulated(path: str, simulation: Mapping[str, Any]) -> bool:
    """Return whether a data set is what its simulation gives."""
    if path not in _DIGESTS or _DIGESTS[path][0] != simulation:
        simulated(path, simulation)
    return sha256(read_bytes(path)) == _DIGESTS[path][1]
