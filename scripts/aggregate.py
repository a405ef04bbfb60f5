"""Summarise all runs of one cell."""

from collections.abc import Sequence
from typing import Any

from scripts.simulate import check_data_set

from narxbench.experiment.summary import summarise
from narxbench.model.dataset import read_signals
from narxbench.io.files import canonical_json, sealed_json, sha256, write_atomically
from narxbench.fitness.problem import StructureProblem
from narxbench.experiment.runs import read_runs, size_of
from narxbench.algorithms.search import budget, settings_model
from narxbench.model.system import System
from narxbench.pipeline.timing import timed


def definition_digest(**definition: Any) -> str:
    """Return the digest of all that defines a cell: what :func:`aggregate` is given beside files."""
    return sha256(canonical_json(definition))


def aggregate(runs: Sequence[str], data: Sequence[str], output: str, log: str, **definition: Any) -> None:
    """Write the summary of one cell, whose ``definition`` are the arguments of :func:`summary`.

    It carries the digest of its definition, by which later steps tell it from that of another experiment.
    """
    with timed(log):
        cell = summary(runs, data, **definition)
        write_atomically(output, sealed_json({**cell, "definition_sha256": definition_digest(**definition)}))


def summary(
    runs: Sequence[str],
    data: Sequence[str],
    *,
    axes: dict[str, str],
    experiment: dict[str, Any],
    orders: dict[str, Any],
    algorithm: str,
    settings: dict[str, Any],
    seeds: Sequence[int],
    evaluations: int,
    **statistics: Any,
) -> dict[str, Any]:
    """Read the run files of one cell and return its summary; ``data`` is the data set of all runs, or one for each."""
    known = System(**experiment["system"])
    runs_of_data = seeds if len(data) > 1 else seeds[:1]
    digests = [check_data_set(path, seed, **experiment) for path, seed in zip(data, runs_of_data, strict=True)]
    problems = [StructureProblem(*read_signals(path), criterion=axes["criterion"], **orders) for path in data]
    true = [problem.evaluate(known.terms).fitness for problem in problems]
    shared = len(seeds) if len(data) == 1 else 1
    found = read_runs(
        runs,
        seeds,
        digests * shared,
        **axes,
        algorithm=algorithm,
        settings=settings,
        problem=size_of(problems[0]),
        evaluations=budget(settings_model(algorithm).model_validate(settings), evaluations),
    )
    return summarise(found, problems[0], known, true_fitness=true * shared, evaluations=evaluations, **statistics)
