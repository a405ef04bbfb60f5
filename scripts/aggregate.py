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
    data: Sequence[str],
    output: str,
    log: str,
    *,
    system: dict[str, Any],
    orders: dict[str, Any],
    criterion: str,
    **summary: Any,
) -> None:
    """Read the run files of one cell and write its summary; ``data`` is the data set of all runs, or one for each."""
    with timed(log):
        known = System(**system)
        problems = [StructureProblem(*read_signals(path), criterion=criterion, **orders) for path in data]
        digests = [sha256(Path(path).read_bytes()) for path in data]
        true = [problem.evaluate(known.terms).fitness for problem in problems]
        shared = len(runs) if len(data) == 1 else 1
        cell = summarise(
            [read_run(path) for path in runs],
            problems[0],
            known,
            data_sha256=digests * shared,
            true_fitness=true * shared,
            **summary,
        )
        write_atomically(output, canonical_json(cell))
