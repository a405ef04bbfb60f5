"""Summarise all runs of one cell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from narxbench.cells import summarise
from narxbench.data import read_signals
from narxbench.errors import NarxbenchError
from narxbench.files import canonical_json, sha256, write_atomically
from narxbench.fitness import StructureProblem
from narxbench.runs import Run, check_run, read_run, size_of
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
        wanted = {
            "system": system["name"],
            "criterion": criterion,
            "settings": summary["settings"],
            "problem": size_of(problems[0]),
            "evaluations": _spent(summary["evaluations"], summary["settings"]),
        }
        cell = summarise(
            _read_runs(runs, summary["seeds"], digests * shared, wanted),
            problems[0],
            known,
            data_sha256=digests * shared,
            true_fitness=true * shared,
            **summary,
        )
        write_atomically(output, canonical_json(cell))


def _spent(evaluations: int, settings: dict[str, Any]) -> int:
    """Return the evaluations of a run: its first population may come on top of the budget."""
    if settings.get("count_initial_evaluations", True):
        return evaluations
    return evaluations + settings.get("swarm_size", settings.get("population_size", 0))


def _read_runs(paths: Sequence[str], seeds: Sequence[int], digests: Sequence[str], wanted: dict[str, Any]) -> list[Run]:
    """Return the runs; a file that is not the run of its seed under these settings and on this data is told by name."""
    if len(paths) != len(seeds):
        raise NarxbenchError(
            f"{wanted['system']}, {wanted['criterion']}: found {len(paths)} run files; needed: {len(seeds)}, one a seed"
        )
    runs = [read_run(path) for path in paths]
    for path, run, seed, digest in zip(paths, runs, seeds, digests, strict=True):
        check_run(path, run, seed=seed, data_sha256=digest, **wanted)
        # Whichever of two runs is the newer one, making one of them anew would not make them agree.
        if run.versions != runs[0].versions:
            raise NarxbenchError(
                f"{path}: found a run of {run.versions}; needed: the versions of {Path(paths[0]).name}, "
                f"{runs[0].versions}; delete the folder {Path(path).parent} and run again"
            )
    return runs
