"""Run one search with one seed or several and write their run files; the time of each goes to its log."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from scripts.simulate import check_data_set

from narxbench.model.dataset import read_signals
from narxbench.fitness.problem import StructureProblem
from narxbench.experiment.runs import RunAxes, run_of, write_run
from narxbench.algorithms.search import search
from narxbench.pipeline.timing import timed


@lru_cache(maxsize=16)
def load_problem(data: str, digest: str, **orders: Any) -> StructureProblem:
    """Return the structure problem of a data file; ``digest`` makes a changed file a different problem."""
    u, y = read_signals(data)
    return StructureProblem(u, y, **orders)


def run_search(
    data: str,
    output: str,
    log: str,
    *,
    axes: dict[str, str],
    experiment: dict[str, Any],
    orders: dict[str, Any],
    algorithm: str,
    settings: dict[str, Any],
    evaluations: int,
) -> None:
    """Search the structure of one data set, which ``experiment`` defines, with one seed."""
    with timed(log):
        named = RunAxes(**{**axes, "seed": int(axes["seed"])})
        digest = check_data_set(data, named.seed, **experiment)
        problem = load_problem(data, digest, **orders, criterion=named.criterion)
        result = search(
            problem,
            algorithm=algorithm,
            seed=named.seed,
            evaluations=evaluations,
            axes={"system": named.system, "snr_db": named.snr_db},
            **settings,
        )
        write_run(output, run_of(result, problem, named, digest))


def run_searches(
    data: str | Sequence[str], outputs: Sequence[str], logs: Sequence[str], *, axes: dict[str, str], **search: Any
) -> None:
    """Run one search with each seed in turn, on one data set or on one for each seed.

    The names of the run files, ``seed-N.json``, tell the seeds.
    """
    files = [data] * len(outputs) if isinstance(data, str) else data
    for file, output, log in zip(files, outputs, logs, strict=True):
        run_search(file, output, log, axes={**axes, "seed": Path(output).stem.removeprefix("seed-")}, **search)
