"""Run files: one JSON file for each run of a search, with all that is needed to know where its numbers come from."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pydantic

from narxbench.algorithms.search import SearchResult
from narxbench.experiment.provenance import versions
from narxbench.fitness.problem import ErrorKind, Estimation, StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import SEAL, canonical_json, check_seal, read_json, sealed_json, write_atomically
from narxbench.io.settings import Settings, SettingsError, show, validated


class RunAxes(Settings):
    """What distinguishes a run from the others of the matrix."""

    system: str
    snr_db: str
    search: str
    criterion: str
    seed: int


class ProblemSize(Settings):
    """The structure problem that was searched."""

    n_u: int
    n_y: int
    degree: int
    n_terms: int
    n_validation: int
    estimation: Estimation
    error: ErrorKind


class History(Settings):
    """The best J so far, at each improvement."""

    evaluations: list[int]
    fitness: list[float]


class Run(Settings):
    """The content of a run file. ``fitness`` and ``sse`` are null when every structure was divergent."""

    axes: RunAxes
    algorithm: str
    settings: dict[str, Any]
    problem: ProblemSize
    data_sha256: str
    versions: dict[str, str]
    evaluations: int
    fitness: float | None
    sse: float | None
    terms: list[str]
    coefficients: list[float]
    history: History

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "Run":
        if len(self.terms) != len(self.coefficients):
            raise ValueError(f"found {len(self.terms)} terms and {len(self.coefficients)} coefficients")
        if (self.fitness is None) != (not self.terms):
            raise ValueError("found terms without a fitness, or a fitness without terms")
        if not _is_json(self.settings):
            raise ValueError("found settings with a number that is not finite")
        if len(self.history.evaluations) != len(self.history.fitness):
            raise ValueError("found a history of unequal columns")
        return self


def _is_json(value: Any) -> bool:
    try:
        canonical_json(value)
    except (ValueError, RecursionError):
        return False
    return True


def run_of(result: SearchResult, problem: StructureProblem, axes: RunAxes, data_sha256: str) -> Run:
    """Return the run file's content for the result of a search."""
    return Run(
        axes=axes,
        algorithm=result.algorithm,
        settings=result.settings,
        problem=size_of(problem),
        data_sha256=data_sha256,
        versions=versions(),
        evaluations=result.evaluations,
        fitness=result.fitness if math.isfinite(result.fitness) else None,
        sse=result.sse if math.isfinite(result.sse) else None,
        terms=result.terms,
        coefficients=result.coefficients,
        history=History(evaluations=[e for e, _ in result.history], fitness=[j for _, j in result.history]),
    )


def size_of(problem: StructureProblem) -> ProblemSize:
    """Return what a run file says of the problem."""
    return ProblemSize(
        n_u=problem.n_u,
        n_y=problem.n_y,
        degree=problem.degree,
        n_terms=len(problem.terms),
        n_validation=problem.n_validation,
        estimation=problem.estimation,
        error=problem.error,
    )


def write_run(path: str | Path, run: Run) -> None:
    """Write a run file: canonical JSON, with its digest under the key ``sha256``."""
    write_atomically(path, sealed_json(run.model_dump(mode="json")))


def read_run(path: str | Path) -> Run:
    """Read a run file; one that is missing, damaged, edited or not a run file is a clear error."""
    content, text = read_json(path)
    if isinstance(content, dict):
        content.pop(SEAL, None)
    try:
        run = validated(Run, content, str(path))
    except SettingsError as error:
        raise NarxbenchError(f"{error}; not a run file of this version, delete it and run again") from None
    check_seal(path, text)
    return run


def read_runs(
    paths: Sequence[str | Path], seeds: Sequence[int], data_sha256: Sequence[str], **wanted: object
) -> list[Run]:
    """Read the run files of one cell, one for each seed, on the data sets with the given digests.

    A file that is not the run of its seed on its data set, has not the ``wanted`` values (fields of a run or of its
    axes) or is of other versions than the first is told by name; so is a number of files other than that of the seeds.
    """
    if len(paths) != len(seeds):
        folder = Path(paths[0]).parent if paths else "a cell"
        raise NarxbenchError(f"{folder}: found {len(paths)} run files; needed: {len(seeds)}, one a seed")
    runs = [read_run(path) for path in paths]
    for path, run, seed, digest in zip(paths, runs, seeds, data_sha256, strict=True):
        check_run(path, run, seed=seed, data_sha256=digest, **wanted)
        # Whichever of two runs is the newer one, making one of them anew would not make them agree.
        if run.versions != runs[0].versions:
            raise NarxbenchError(
                f"{path}: found a run of {run.versions}; needed: the versions of {Path(paths[0]).name}, "
                f"{runs[0].versions}; delete the folder {Path(path).parent} and run again"
            )
    return runs


def check_run(path: str | Path, run: Run, **wanted: object) -> None:
    """Raise an error that names the file unless the run has the ``wanted`` values (fields of a run or of its axes)."""
    fields = {**dict(run), **dict(run.axes)}
    for name, needed in wanted.items():
        found = fields[name]
        if found != needed:
            if isinstance(found, pydantic.BaseModel) and isinstance(needed, pydantic.BaseModel):
                found, needed = found.model_dump(), needed.model_dump()
            if isinstance(found, dict) and isinstance(needed, dict):
                found, needed = _difference(found, needed), _difference(needed, found)
            raise NarxbenchError(
                f"{path}: another {name}: found {show(found, kind=False)}; needed: {show(needed, kind=False)}; "
                "delete it and run again"
            )


def _difference(mapping: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in other or other[key] != value}
