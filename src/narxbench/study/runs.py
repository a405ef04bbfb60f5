"""Runs and their files: JSON with all that is needed to know where the numbers come from.

A file holds the runs of one condition that share a job: one seed, or several one after the other.
"""

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pydantic

from narxbench.algorithms.registry import algorithm as algorithm_of
from narxbench.algorithms.search import AlgorithmFailedError, Runner, SearchResult, prepared
from narxbench.fitness.problem import ErrorKind, Estimation, StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, read_bytes, sha256
from narxbench.io.settings import Settings, read_result, show
from narxbench.model.dataset import read_signals
from narxbench.study.condition import ConditionKey, History
from narxbench.study.provenance import algorithm_digest, versions

logger = logging.getLogger("narxbench")


class ProblemSize(Settings):
    """The structure problem that was searched."""

    n_u: int
    n_y: int
    degree: int
    n_terms: int
    n_validation: int
    estimation: Estimation
    error: ErrorKind


class Run(Settings):
    """One run. ``fitness`` and ``sse`` are null when every structure was divergent, or the run has failed."""

    seed: int
    data_sha256: str
    evaluations: int
    fitness: float | None
    sse: float | None
    terms: list[str]
    coefficients: list[float]
    history: History
    failure: str = ""
    details: dict[str, Any] = pydantic.Field(default_factory=dict)
    """What else the algorithm has found."""

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "Run":
        terms, weights, made, best = self.terms, self.coefficients, self.history.evaluations, self.history.fitness
        ordered = made == sorted(set(made)) and (not made or 1 <= made[0] <= made[-1] <= self.evaluations)
        for wrong, found in (
            (len(terms) != len(weights), f"{len(terms)} terms and {len(weights)} coefficients"),
            ((self.fitness is None) != (not terms), "terms without a fitness, or a fitness without terms"),
            (bool(self.failure and terms), "terms of a run that has failed"),
            (len(set(terms)) != len(terms), "a term twice"),
            (len(made) != len(best), "a history of unequal columns"),
            (not ordered, "a history that is not in the order of the evaluations"),
        ):
            if wrong:
                raise ValueError(f"found {found}")
        return self


class RunFile(Settings):
    """The content of a run file."""

    condition: ConditionKey
    algorithm: str
    algorithm_sha256: str
    settings: dict[str, Any]
    problem: ProblemSize
    versions: dict[str, str]
    runs: list[Run]


def run_seeds(
    data: Mapping[int, str],
    *,
    condition: Mapping[str, Any],
    axes: Mapping[str, str],
    structure: Mapping[str, Any],
    algorithm: str,
    settings: Mapping[str, Any],
    evaluations: int,
    time_limit: float | None = None,
) -> str:
    """Run one method on one problem with each seed in turn and return the text of the run file.

    ``data`` is the data set (CSV) of each seed; ``axes`` are those of the random streams other than algorithm,
    criterion and seed, ``structure`` the arguments of :class:`~narxbench.fitness.problem.StructureProblem` other than
    data and criterion. A run that fails through its algorithm is recorded as failed, and reported; the others go on.
    """
    runs = []
    with prepared(algorithm, settings, keep=True) as runner:
        for seed, path in data.items():
            made = {"evaluations": evaluations, "axes": axes, "time_limit": time_limit}
            run, problem, _ = one_run(runner, path, condition=condition, structure=structure, seed=seed, **made)
            runs.append(run)
    content = RunFile(
        condition=ConditionKey(**condition),
        algorithm=algorithm,
        algorithm_sha256=algorithm_digest(algorithm),
        settings=dict(settings),
        problem=size_of(problem),
        versions={**versions(), **algorithm_of(algorithm).versions},
        runs=runs,
    )
    return canonical_json(content.model_dump(mode="json", exclude_defaults=True))


def one_run(
    runner: Runner, path: str, *, condition: Mapping[str, Any], structure: Mapping[str, Any], seed: int, **made: Any
) -> tuple[Run, StructureProblem, float | None]:
    """Make one run on a data set, and return it with its problem and the CPU seconds of its own process.

    ``made`` are ``evaluations``, ``axes`` and ``time_limit`` of :meth:`~narxbench.algorithms.search.Runner.run`, the
    others are as for :func:`run_seeds`.
    """
    digest = sha256(read_bytes(path))
    problem = load_problem(path, digest, criterion=condition["criterion"], **structure)
    try:
        observed = runner.run(problem, seed=seed, **made)
    except AlgorithmFailedError as error:
        load_problem.cache_clear()
        logger.error("narxbench: method %s: %s", condition["method"], error)
        found, failure, seconds = SearchResult([], math.inf, math.inf, [], 0, [], "", seed), str(error), None
    else:
        found, failure, seconds = observed.result, "", observed.cpu_seconds
    run = Run(
        seed=seed,
        data_sha256=digest,
        evaluations=found.evaluations,
        fitness=finite(found.fitness),
        sse=finite(found.sse),
        terms=found.terms,
        coefficients=found.coefficients,
        history=History(evaluations=[e for e, _ in found.history], fitness=[j for _, j in found.history]),
        failure=failure,
        details=found.details,
    )
    return run, problem, seconds


def by_seed(seeds: Sequence[int], files: Sequence[str]) -> Mapping[int, str]:
    """Return the data set of each seed: one of its own, or the one that all share."""
    return dict(zip(seeds, files if len(files) > 1 else list(files) * len(seeds), strict=True))


@lru_cache(maxsize=16)
def load_problem(path: str, digest: str, **structure: Any) -> StructureProblem:
    """Return the structure problem of a data file; ``digest`` makes a changed file a different problem."""
    u, y = read_signals(path)
    try:
        # The true terms are of the signals as they are.
        return StructureProblem(u, y, **structure, rescaled=False)
    except NarxbenchError as error:
        raise NarxbenchError(f"{path}: {error}") from None


def finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinities: they become None."""
    return value if math.isfinite(value) else None


def size_of(problem: StructureProblem) -> ProblemSize:
    """Return what a run file says of the problem."""
    own = ProblemSize.model_fields.keys() - {"n_terms"}
    return ProblemSize(**{name: getattr(problem, name) for name in own}, n_terms=len(problem.terms))


def read_run_file(path: str | Path) -> RunFile:
    """Read a run file; one that is missing, damaged or of another version raises NarxbenchError."""
    return read_result(RunFile, path, "run file")


def read_runs(
    paths: Iterable[str | Path],
    data_sha256: Mapping[int, str],
    evaluations: int,
    candidates: Collection[str],
    stops_early: bool = False,
    **wanted: Any,
) -> tuple[RunFile, list[Run]]:
    """Return the first of the run files of a condition, and all runs, after a check that they belong together.

    Files, the digests of each seed's data set and the runs are in the order of the seeds. Each run must have spent the
    ``evaluations``, or less if it ``stops_early``, on terms among the ``candidates``; ``wanted`` are fields that each
    file must have. The error names the file that is damaged or of another condition, data set or version.
    """
    files = {path: read_run_file(path) for path in paths}
    first = next(iter(files.values()), None)
    runs: list[Run] = []
    seeds = list(data_sha256)
    for path, found in files.items():
        same = {name: getattr(first, name) for name in ("versions", "algorithm_sha256")}
        for name, needed in {**wanted, **same}.items():
            _must_be(path, name, getattr(found, name), needed)
        _must_be(path, "seeds", [run.seed for run in found.runs], seeds[len(runs) : len(runs) + len(found.runs)])
        for run in found.runs:
            _must_be(path, "data_sha256", run.data_sha256, data_sha256[run.seed])
            fewer = (stops_early or run.failure) and run.evaluations < evaluations
            _must_be(path, "evaluations", run.evaluations, run.evaluations if fewer else evaluations)
            _must_be(path, "terms", [term for term in run.terms if term not in candidates], [])
        runs += found.runs
    if first is None or len(runs) != len(seeds):
        last = next(reversed(files), "runs of a condition")
        raise NarxbenchError(f"{last}: runs: found {len(runs)}; needed: {len(seeds)}, one for each seed")
    return first, runs


def _must_be(path: str | Path, name: str, found: Any, needed: Any) -> None:
    if found == needed:
        return
    if isinstance(found, pydantic.BaseModel):
        found, needed = found.model_dump(), needed.model_dump()
    if isinstance(found, dict):
        names = [key for key in {**found, **needed} if found.get(key) != needed.get(key)]
        found, needed = ({key: values[key] for key in names if key in values} for values in (found, needed))
    raise NarxbenchError(
        f"{path}: another {name}: found {show(found, kind=False)}; needed: {show(needed, kind=False)}; "
        "delete it and run again"
    )
