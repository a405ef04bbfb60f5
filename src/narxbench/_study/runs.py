"""Runs and their files: JSON with everything that is needed to know where the numbers come from.

A file holds the runs of one condition that share a job: one seed, or several one after the other.
"""

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pydantic

from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._algorithms.search import AlgorithmFailedError, Runner, SearchResult, prepared
from narxbench._fitness.problem import StructureProblem
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, read_bytes, read_json, sha256
from narxbench._io.settings import Settings, as_result, show
from narxbench._model.dataset import read_signals
from narxbench._study.condition import ConditionKey
from narxbench._study.provenance import algorithm_digest, versions

logger = logging.getLogger("narxbench")


# What a run file says of its structure problem, and what it leaves out.
_OF_PROBLEM = ("n_u", "n_y", "degree", "n_validation", "estimation", "error")
_USUAL = {"validation_part": "last", "free_run_start": "measured", "required_terms": "nothing"}


class Run(Settings):
    """One run. ``fitness`` is null when every structure was divergent, or the run has failed."""

    seed: int
    data_sha256: str
    evaluations: int
    fitness: float | None
    terms: list[str]
    coefficients: list[float]
    history_evaluations: list[int]
    """The evaluations that improved J."""
    history_fitness: list[float]
    """The best J so far, at each improvement."""
    failure: str = ""
    details: dict[str, Any] = pydantic.Field(default_factory=dict)
    """Further results of the algorithm."""

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "Run":
        terms, weights = self.terms, self.coefficients
        improvements, fitness = self.history_evaluations, self.history_fitness
        is_ordered = improvements == sorted(set(improvements))
        if improvements:
            is_ordered = is_ordered and 1 <= improvements[0] <= improvements[-1] <= self.evaluations
        for is_wrong, problem in (
            (len(terms) != len(weights), f"{len(terms)} terms and {len(weights)} coefficients"),
            ((self.fitness is None) != (not terms), "terms without a fitness, or a fitness without terms"),
            (bool(self.failure and terms), "terms of a run that has failed"),
            (len(set(terms)) != len(terms), "a term twice"),
            (len(improvements) != len(fitness), "a history of unequal columns"),
            (not is_ordered, "a history that is not in the order of the evaluations"),
        ):
            if is_wrong:
                raise ValueError(f"found {problem}")
        return self


class RunFile(Settings):
    """The content of a run file."""

    condition: ConditionKey
    algorithm: str
    algorithm_sha256: str
    settings: dict[str, Any]
    problem: dict[str, Any]
    """The structure problem that was searched: see `size_of`."""
    versions: dict[str, str]
    runs: list[Run]
    seal: str
    """The digest of all other content, by which a changed file is noticed."""


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

    ``data`` is the data set (CSV) of each seed. ``axes`` are the axes of the random streams other than algorithm,
    criterion and seed, ``structure`` the arguments of :class:`~narxbench._fitness.problem.StructureProblem` other than
    data and criterion. A run that fails through its algorithm is recorded as failed, and reported. The others go on.
    One whose process is ended from outside raises NarxbenchError, so that it is made again.
    """
    runs = []
    with prepared(algorithm, settings, keep=True) as runner:
        for seed, path in data.items():
            run, problem, _ = one_run(
                runner,
                path,
                condition=condition,
                structure=structure,
                seed=seed,
                evaluations=evaluations,
                axes=axes,
                time_limit=time_limit,
            )
            runs.append(run)
    content = RunFile(
        condition=ConditionKey(**condition),
        algorithm=algorithm,
        algorithm_sha256=algorithm_digest(algorithm),
        settings=dict(settings),
        problem=size_of(problem),
        versions={**versions(), **algorithm_of(algorithm).versions},
        runs=runs,
        seal="",
    )
    record = content.model_dump(mode="json", exclude_defaults=True)
    return canonical_json({**record, "seal": seal_of(record)})


def one_run(
    runner: Runner,
    path: str,
    *,
    condition: Mapping[str, Any],
    structure: Mapping[str, Any],
    seed: int,
    evaluations: int,
    axes: Mapping[str, str],
    time_limit: float | None = None,
) -> tuple[Run, StructureProblem, float | None]:
    """Make one run on a data set, and return it with its problem and the CPU seconds of its process.

    The parameters are as for :func:`run_seeds`.
    """
    digest = sha256(read_bytes(path))
    problem = load_problem(path, digest, criterion=condition["criterion"], **structure)
    try:
        observed = runner.run(problem, seed=seed, evaluations=evaluations, axes=axes, time_limit=time_limit)
    except AlgorithmFailedError as error:
        load_problem.cache_clear()
        if error.is_killed:
            raise NarxbenchError(f"method {condition['method']}: {error}") from None
        logger.error("narxbench: method %s: %s", condition["method"], error)
        result, failure, seconds = SearchResult([], math.inf, math.inf, [], 0, [], "", seed), str(error), None
    else:
        result, failure, seconds = observed.result, "", observed.cpu_seconds
    run = Run(
        seed=seed,
        data_sha256=digest,
        evaluations=result.evaluations,
        fitness=finite(result.fitness),
        terms=result.terms,
        coefficients=result.coefficients,
        history_evaluations=[evaluation for evaluation, _ in result.history],
        history_fitness=[fitness for _, fitness in result.history],
        failure=failure,
        details=result.details,
    )
    return run, problem, seconds


def by_seed(seeds: Sequence[int], files: str | Sequence[str]) -> Mapping[int, str]:
    """Return the data set of each seed: a file for each seed, or the file that all share."""
    if isinstance(files, str):
        files = [files]
    if len(files) == 1:
        files = list(files) * len(seeds)
    return dict(zip(seeds, files, strict=True))


@lru_cache(maxsize=16)
def load_problem(path: str, digest: str, **structure: Any) -> StructureProblem:
    """Return the structure problem of a data file. ``digest`` makes a changed file a different problem."""
    u, y = read_signals(path)
    try:
        # The true terms are of the signals as they are.
        return StructureProblem(u, y, **structure, rescaled=False)
    except NarxbenchError as error:
        raise NarxbenchError(f"{path}: {error}") from None


def finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinities: they become None."""
    return value if math.isfinite(value) else None


def size_of(problem: StructureProblem) -> dict[str, Any]:
    """Return the description of a problem in a run file, without settings that have their usual values."""
    size = {"n_terms": len(problem.terms), **{name: getattr(problem, name) for name in _OF_PROBLEM}}
    for name, usual in _USUAL.items():
        if getattr(problem, name) != usual:
            size[name] = getattr(problem, name)
    return size


def read_run_file(path: str | Path) -> RunFile:
    """Read a run file. One that is missing, damaged, edited or of another version raises NarxbenchError."""
    record = read_json(path)
    file = as_result(RunFile, record, path, "run file")
    _check_seal(record, path)
    return file


def seal_of(record: Mapping[str, Any]) -> str:
    """Return the seal of the content of a run file: the SHA-256 digest of all of it but the seal."""
    return sha256(canonical_json({name: value for name, value in record.items() if name != "seal"}))


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Return the content of a run file, or raise NarxbenchError if its content has another seal."""
    record: dict[str, Any] = read_json(path)
    _check_seal(record, path)
    return record


def _check_seal(record: object, path: str | Path) -> None:
    """Raise NarxbenchError if the content of a run file has another seal than it carries."""
    if not isinstance(record, dict) or record.get("seal") != seal_of(record):
        raise NarxbenchError(f"{path}: changed since it was made: its seal is another one; delete it and run again")


def seals(files: Iterable[RunFile]) -> dict[str, str]:
    """Return the seals of all runs in run files, by their names, whichever runs share a file."""
    by_name = {}
    for file in files:
        by_name.update(seals_of_runs(file.model_dump(mode="json", exclude_defaults=True)))
    return by_name


def seals_of_runs(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the seal of each run in the content of a run file, by method, criterion and seed."""
    condition = record["condition"]
    by_name = {}
    for run in record["runs"]:
        name = f"{condition['method']}/{condition['criterion']}/{run['seed']}"
        by_name[name] = sha256(canonical_json(run))
    return by_name


def read_runs(
    paths: Iterable[str | Path],
    data_sha256: Mapping[int, str],
    evaluations: int,
    candidates: Collection[str],
    stops_early: bool = False,
    **needed_fields: Any,
) -> tuple[dict[str | Path, RunFile], list[Run]]:
    """Return the run files of a condition, and all runs, after a check that they belong together.

    Files, the digests of each seed's data set and the runs are in the order of the seeds. Each run must have spent the
    ``evaluations``, or fewer if it ``stops_early``, on terms among the ``candidates``. ``needed_fields`` are the values
    that fields of each file must have. The error names the file that is damaged or of another condition, data set or
    version.
    """
    files: dict[str | Path, RunFile] = {path: read_run_file(path) for path in paths}
    first = next(iter(files.values()), None)
    runs: list[Run] = []
    seeds = list(data_sha256)
    for path, file in files.items():
        for name, needed in needed_fields.items():
            _must_be(path, name, getattr(file, name), needed)
        for name in ("versions", "algorithm_sha256"):
            _must_be(path, name, getattr(file, name), getattr(first, name))
        _must_be(path, "seeds", [run.seed for run in file.runs], seeds[len(runs) : len(runs) + len(file.runs)])
        for run in file.runs:
            _must_be(path, "data_sha256", run.data_sha256, data_sha256[run.seed])
            may_be_fewer = stops_early or bool(run.failure)
            if not (may_be_fewer and run.evaluations < evaluations):
                _must_be(path, "evaluations", run.evaluations, evaluations)
            _must_be(path, "terms", [term for term in run.terms if term not in candidates], [])
        runs += file.runs
    if first is None or len(runs) != len(seeds):
        last = next(reversed(files), "runs of a condition")
        raise NarxbenchError(f"{last}: runs: found {len(runs)}; needed: {len(seeds)}, one for each seed")
    return files, runs


def _must_be(path: str | Path, name: str, value: Any, needed: Any) -> None:
    """Raise the error that a field of a file has another value. For a mapping it shows the keys that differ."""
    if value == needed:
        return
    if isinstance(value, pydantic.BaseModel):
        value, needed = value.model_dump(), needed.model_dump()
    if isinstance(value, dict):
        value, needed = dict(value), dict(needed)
        for key in [*value]:
            if key in needed and value[key] == needed[key]:
                del value[key], needed[key]
    raise NarxbenchError(
        f"{path}: another {name}: found {show(value, kind=False)}; needed: {show(needed, kind=False)}; "
        "delete it and run again"
    )
