"""An identification as jobs with files between them, for the pipeline.

The steps are those of :func:`narxbench.identification.identify.identified`, and so is the result. A file holds what one
job has found, as canonical JSON with the names of what it is about; it is checked when it is read.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import Field

from narxbench.identification.configurations import Configuration
from narxbench.identification.identify import Choice, choose, concluded
from narxbench.identification.reading import read_recording
from narxbench.identification.result import Identification
from narxbench.identification.scan import Finalist, Scan
from narxbench.identification.settings import IdentificationSettings
from narxbench.io.errors import NarxbenchError, printable, show
from narxbench.io.files import StrPath, canonical_json, read_bytes, read_json, sha256
from narxbench.io.settings import Settings, SettingsError, validated

T = TypeVar("T", bound=Settings)


class Worth(Settings):
    """What a structure is worth on parts of the data that its weights do not know; no fitness: it diverges."""

    fitness: float | None
    rrse: float | None = Field(ge=0)
    divergent: float = Field(ge=0, le=1)
    singular: bool
    candidates: int = Field(ge=0)


class Structure(Worth):
    """A structure, where and by what it was found, and what it is worth."""

    configuration: str
    terms: list[str]
    found_by: str


class Found(Settings):
    """What a search has found."""

    terms: list[str]
    fitness: float | None
    note: str
    worth: Worth | None = None


class Job(Settings):
    """The file of a search: what it searched, and what it has found; None where it is left out."""

    configuration: str
    part: int = 0
    seed: int = 1
    resample: int = 0
    found: Found | None


class Ranking(Settings):
    """The file of the configurations that are searched thoroughly, the best first."""

    configurations: list[str]


class Chosen(Settings):
    """The file of the choice: :class:`narxbench.identification.identify.Choice`."""

    finalists: list[Structure]
    briefly: list[Structure]
    runs: list[list[str]]
    beside: Structure | None
    notes: list[str]
    density: int = Field(ge=1)


# The data, and what is tried on them


def scan_of(reading: Mapping[str, Any], identification: Mapping[str, Any]) -> Scan:
    """Return the search that some settings ask for; it is made once in a process, unless a file changes.

    Parameters
    ----------
    reading : mapping
        Arguments of :func:`narxbench.identification.reading.read_recording` as plain data; ``data`` is a list of files,
        and so is ``test``, or a share.
    identification : mapping
        Fields of :class:`narxbench.identification.settings.IdentificationSettings` as plain data.

    Raises
    ------
    NarxbenchError
        For data that cannot be read, and settings that do not fit them.
    """
    test = reading.get("test")
    files = [*reading["data"], *(test if isinstance(test, list) else ())]
    # The order of keys is kept: that of the units is seen on the page.
    return _scan(json.dumps([reading, identification]), tuple(sha256(read_bytes(path)) for path in files))


@lru_cache(maxsize=2)
def _scan(settings: str, digests: tuple[str, ...]) -> Scan:
    reading, identification = json.loads(settings)
    return Scan(read_recording(**reading), validated(IdentificationSettings, identification, "identification"))


def _configuration(scan: Scan, name: str, source: object) -> Configuration:
    found = next((c for c in scan.configurations if c.name == name), None)
    if found is None:
        raise NarxbenchError(
            f"{source}: found the configuration {printable(name)}; allowed: one of those of the data now"
        )
    return found


# Jobs: each returns the text of its file


def brief_search(scan: Scan, name: str) -> str:
    """Search a configuration briefly."""
    return _text(Job(configuration=name, found=Found(**scan.brief(_configuration(scan, name, "brief search")))))


def ranking(scan: Scan, briefs: Sequence[StrPath]) -> str:
    """Rank the configurations, by the files of all brief searches."""
    return _text(Ranking(configurations=[c.name for c in scan.ranked(_briefs(scan, briefs))]))


def thorough_search(scan: Scan, ranked: StrPath, *, rank: int, part: int, seed: int) -> str:
    """Search the configuration of a rank thoroughly, on all data (part 0) or without a part, with one seed."""
    configuration = _ranked(scan, ranked)[rank - 1]
    found = Found(**scan.thorough(configuration, part, seed))
    return _text(Job(configuration=configuration.name, part=part, seed=seed, found=found))


def choice(scan: Scan, briefs: Sequence[StrPath], ranked: StrPath, searches: Sequence[StrPath]) -> str:
    """Choose a structure from all that were found.

    Parameters
    ----------
    scan : Scan
        The search.
    briefs, searches : sequence of paths
        The files of the brief and the thorough searches.
    ranked : path
        That of the ranking.
    """
    finalists = _ranked(scan, ranked)
    jobs = [_read(Job, path) for path in searches]
    keys = [(job.configuration, job.part, job.seed) for job in jobs]
    _check_all(searches, keys, [(c.name, *job) for c in finalists for job in scan.jobs()])
    thorough = {key: _found(job, path) for key, job, path in zip(keys, jobs, searches, strict=True)}
    brief = _briefs(scan, briefs)
    named = {configuration.name: configuration for configuration in finalists}
    names = [*brief, *(name for name, *_ in keys)]
    for name, job, path in zip(names, [*brief.values(), *thorough.values()], [*briefs, *searches], strict=True):
        if name in named:
            _check_terms(scan, named[name], job["terms"], path)
    found = choose(scan, brief, finalists, thorough)
    return _text(
        Chosen(
            finalists=[_structure(finalist) for finalist in found.finalists],
            briefly=[_structure(finalist) for finalist in found.briefly],
            runs=found.runs,
            beside=None if found.beside is None else _structure(found.beside),
            notes=found.notes,
            density=found.density,
        )
    )


def resampled_search(scan: Scan, chosen: StrPath, number: int) -> str:
    """Search a resampled data set, unless it is more than the configuration that was chosen leaves time for."""
    configuration = _choice(scan, chosen).best.configuration
    affordable = number <= scan.n_resamples(configuration)
    found = Found(**scan.resampled(configuration, number)) if affordable else None
    return _text(Job(configuration=configuration.name, resample=number, found=found))


def conclusion(scan: Scan, chosen: StrPath, searches: Sequence[StrPath]) -> Identification:
    """Return the identification that the choice and the searches of resampled data sets, all in files, lead to."""
    choice = _choice(scan, chosen)
    jobs = [_read(Job, path) for path in searches]
    _check_all(
        searches,
        [(job.configuration, job.resample) for job in jobs],
        [(choice.best.configuration.name, number) for number in range(1, len(searches) + 1)],
    )
    resamples = []
    for job, path in zip(jobs[: scan.n_resamples(choice.best.configuration)], searches, strict=False):
        resamples.append(_found(job, path))
        _check_terms(scan, choice.best.configuration, resamples[-1]["terms"], path)
    return concluded(scan, choice, resamples)


# Files


def _text(content: Settings) -> str:
    return canonical_json(content.model_dump(mode="json"))


def _read(model: type[T], path: StrPath) -> T:
    """Return the content of a file; one that is missing or damaged raises NarxbenchError."""
    try:
        return validated(model, read_json(path), str(path))
    except SettingsError as error:
        raise NarxbenchError(f"{error}; delete it and run again") from None


def _found(job: Job, path: StrPath) -> dict[str, Any]:
    if job.found is None:
        raise NarxbenchError(f"{path}: found no search; delete it and run again")
    return job.found.model_dump()


def _check_all(files: Sequence[StrPath], found: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Raise NarxbenchError unless the files are those of the jobs that are wanted, in this order."""
    for path, here, right in zip(files, found, wanted, strict=True):
        if here != right:
            other = f"found the search {show(here, kind=False)}; needed: {show(right, kind=False)}"
            raise NarxbenchError(f"{path}: {other}; delete it and run again")


def _check_terms(scan: Scan, configuration: Configuration, terms: Sequence[str], path: StrPath) -> None:
    """Raise NarxbenchError unless these are candidate terms of a configuration, each once."""
    known = set(scan.trial(configuration).terms)
    for i, term in enumerate(terms):
        if term not in known or term in terms[:i]:
            found = f"found the term {show(term, kind=False)}; needed: candidates of {configuration.name}, each once"
            raise NarxbenchError(f"{path}: {found}; delete it and run again")


def _briefs(scan: Scan, files: Sequence[StrPath]) -> dict[str, dict[str, Any]]:
    jobs = [_read(Job, path) for path in files]
    _check_all(files, [job.configuration for job in jobs], [c.name for c in scan.configurations])
    found = {job.configuration: _found(job, path) for job, path in zip(jobs, files, strict=True)}
    for job, path in zip(found.values(), files, strict=True):
        if job["worth"] is None:
            raise NarxbenchError(f"{path}: found no worth of what was found; delete it and run again")
    return found


def _ranked(scan: Scan, path: StrPath) -> list[Configuration]:
    names = _read(Ranking, path).configurations
    if len(names) != scan.n_finalists or len(set(names)) != len(names):
        found = f"found {len(names)} configurations; needed: {scan.n_finalists}, each once"
        raise NarxbenchError(f"{path}: {found}; delete it and run again")
    return [_configuration(scan, name, path) for name in names]


def _structure(found: Finalist) -> Structure:
    return Structure(
        configuration=found.configuration.name, terms=list(found.terms), found_by=found.found_by, **found.told()
    )


def _choice(scan: Scan, path: StrPath) -> Choice:
    content = _read(Chosen, path)
    finalists = [_finalist(scan, structure, path) for structure in content.finalists]
    if not finalists or not finalists[0].terms or content.finalists[0].fitness is None:
        raise NarxbenchError(f"{path}: found no structure; delete it and run again")
    beside = None if content.beside is None else _finalist(scan, content.beside, path)
    for terms in (finalists[0].terms, *content.runs, beside.terms if beside else ()):
        _check_terms(scan, finalists[0].configuration, terms, path)
    return Choice(
        finalists=finalists,
        briefly=[_finalist(scan, structure, path) for structure in content.briefly],
        runs=content.runs,
        beside=beside,
        notes=content.notes,
        density=content.density,
    )


def _finalist(scan: Scan, structure: Structure, path: StrPath) -> Finalist:
    run = {"terms": structure.terms, "worth": structure.model_dump(include=set(Worth.model_fields))}
    return Finalist.of(_configuration(scan, structure.configuration, path), run, structure.found_by)
