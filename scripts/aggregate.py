"""Summarise all runs of one cell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from narxbench.cells import summarise
from narxbench.data import read_signals
from narxbench.files import canonical_json, sha256, write_atomically
from narxbench.fitness import StructureProblem
from narxbench.runs import read_run
from narxbench.systems import System
from narxbench.timing import timed


def aggregate(
    runs: Sequence[str],
    data: str,
    output: str,
    log: str,
    *,
    system: dict[str, Any],
    n_validation: int,
    criterion: str,
    **summary: Any,
) -> None:
    """Read the run files of one cell and write its summary."""
    with timed(log):
        u, y = read_signals(data)
        known = System(**system)
        problem = StructureProblem(
            u, y, n_u=known.n_u, n_y=known.n_y, degree=known.degree, n_validation=n_validation, criterion=criterion
        )
        digest = sha256(Path(data).read_bytes())
        cell = summarise([read_run(path) for path in runs], problem, known, data_sha256=digest, **summary)
        write_atomically(output, canonical_json(cell))
