"""An identification as jobs with files between them, for the pipeline.

The steps are those of :func:`narxbench.identification.identify.identified`, and so is the result. A file holds what one
job has found, as canonical JSON with the names of what it is about; it is checked when it is read.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from narxbench.identification.configurations import Configuration
from narxbench.identification.identify import Choice, choose, concluded
from narxbench.identification.reading import read_recording
from narxbench.identification.result import Identification
from narxbench.identification.scan import Finalist, Scan
from narxbench.identification.settings import IdentificationSettings
from narxbench.io.errors import NarxbenchError, printable
from narxbench.io.files import StrPath, canonical_json, read_bytes, read_json, sha256
from narxbench.io.settings import Settings, validated

T = TypeVar("T", bound=Settings)


class Worth(Settings):
    """What a structure is worth on parts of the data that its weights do not know; no fitness: it diverges."""

    fitness: float | None
    rrse: float | None
    divergent: float
    singular: bool


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


# The data, and what is tried on them


def scan_of(reading: Mapping[str, Any], identification: Mapping[str, Any]) -> Scan:
    """Return the search that some settings ask for; it is made once in a process, unless a file changes.

    Parameters
    ----------
    reading : mapping
        Arguments of :func:`narxbench.identification.reading.read_recording`, as plain data.
    identification : mapping
        The fields of :class:`narxbench.identification.settings.IdentificationSettings`, as plain data.
    """
    test = reading.get("test")
    files = [*reading["data"], *(test if isinstance(test, list) else [])]
    digests = tuple(sha256(read_bytes(path)) for path in files)
    return _scan(_Settings(reading), _Settings(identification), digests)


class _Settings(dict[str, Any]):
    """Plain data that can be told from others by their text."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(canonical_json(self))


@lru_cache(maxsize=2)
def _scan(reading: _Settings, identification: _Settings, digests: tuple[str, ...]) -> Scan:
    return Scan(read_recording(**reading), validated(IdentificationSettings, identification, "identification"))
