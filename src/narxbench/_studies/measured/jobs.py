"""An identification as jobs with files between them, for the pipeline.

The steps are those of :func:`narxbench._identification.identify.identify_recording`, and so is the result. A file holds
what one step returns, as canonical JSON; it is checked when it is read.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, TypeVar

from narxbench._identification.conclusion import concluded
from narxbench._identification.data.reading import read_recording
from narxbench._identification.result import Identification
from narxbench._identification.search.choice import choose
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.scan import Scan
from narxbench._identification.search.structures import Choice, ConfigurationSearch
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.files import StrPath, canonical_json, read_bytes, read_json, sha256
from narxbench._io.settings import Settings, SettingsError, validated

T = TypeVar("T", bound=Settings)


class Ranking(Settings):
    """The configurations that are searched thoroughly, the best first."""

    configurations: list[str]


def scan_of(reading: Mapping[str, Any], identification: Mapping[str, Any]) -> Scan:
    """Return the search that some settings describe; it is made once in a process, unless a file changes.

    Both are plain data: arguments of ``read_recording``, with lists of files, and fields of ``IdentificationSettings``.
    """
    files = list(reading["data"])
    if isinstance(reading.get("test"), list):
        files += reading["test"]
    # The order of keys is kept: the page shows that of the units.
    return _scan(json.dumps([reading, identification]), tuple(sha256(read_bytes(path)) for path in files))


@lru_cache(maxsize=2)
def _scan(settings: str, digests: tuple[str, ...]) -> Scan:
    reading, identification = json.loads(settings)
    # Gaps cut the records of a study, whose searches are those of one step of an identification.
    recording = read_recording(**reading, bridge=0)
    return Scan(recording, validated(IdentificationSettings, identification, "identification"))


# Jobs: each returns the text of its file


def brief_search(scan: Scan, name: str) -> str:
    """Search a configuration briefly."""
    return _text(scan.brief(_configuration(scan, name, "brief search")))


def ranking(scan: Scan, briefs: Sequence[StrPath]) -> str:
    """Rank the configurations by the files of all brief searches."""
    names = [configuration.name for configuration in scan.ranked(_briefs(scan, briefs))]
    return _text(Ranking(configurations=names))


def thorough_search(scan: Scan, ranked: StrPath, *, rank: int, part: int, seed: int) -> str:
    """Search the configuration of a rank thoroughly with one seed, on all data (part 0) or without one part."""
    return _text(scan.thorough(_ranked(scan, ranked)[rank - 1], part, seed))


def choice(scan: Scan, briefs: Sequence[StrPath], ranked: StrPath, searches: Sequence[StrPath]) -> str:
    """Choose a structure, by the files of the brief searches, of the ranking and of the thorough searches."""
    configurations = _ranked(scan, ranked)
    needed = []
    for configuration, (part, seed) in product(configurations, scan.jobs()):
        needed.append({"configuration": configuration.name, "part": part, "seed": seed})
    return _text(choose(scan, _briefs(scan, briefs), configurations, _searches(searches, needed)))


def resampled_search(scan: Scan, chosen: StrPath, number: int) -> str:
    """Search a resampled data set, unless its number exceeds those that the chosen configuration leaves time for."""
    return _text(scan.resampled(scan.named[_choice(scan, chosen).leaving.configuration], number))


def conclusion(scan: Scan, chosen: StrPath, searches: Sequence[StrPath]) -> Identification:
    """Return the identification that follows from the choice and the searches of resampled data sets, all in files."""
    choice = _choice(scan, chosen)
    best = scan.named[choice.leaving.configuration]
    # The files beyond these are left out.
    files = searches[: scan.n_resamples(best)]
    needed = [{"configuration": best.name, "resample": number} for number, _ in enumerate(files, 1)]
    return concluded(scan, choice, _searches(files, needed))


def _text(content: Settings) -> str:
    return canonical_json(content.model_dump(mode="json"))


def _refused(path: StrPath, text: str) -> NarxbenchError:
    return NarxbenchError(f"{path}: {text}; delete it and run again")


def _read(model: type[T], path: StrPath) -> T:
    """Return the content of a file; one that is missing or damaged raises NarxbenchError."""
    try:
        return validated(model, read_json(path), str(path))
    except SettingsError as error:
        raise NarxbenchError(f"{error}; delete it and run again") from None


def _configuration(scan: Scan, name: str, source: object) -> Configuration:
    if name not in scan.named:
        raise NarxbenchError(
            f"{source}: found the configuration {printable(name)}; allowed: one of those of the data now"
        )
    return scan.named[name]


def _searches(
    files: Sequence[StrPath], needed: Sequence[Mapping[str, Any]], scored: bool = False
) -> list[ConfigurationSearch]:
    """Return the searches in some files, which must be the needed ones, in this order."""
    searches = [_read(ConfigurationSearch, path) for path in files]
    for path, search, needed_search in zip(files, searches, needed, strict=True):
        here = search.model_dump(exclude={"structure"})
        there = ConfigurationSearch(**needed_search, structure=None).model_dump(exclude={"structure"})
        if here != there:
            raise _refused(path, f"found the search {show(here, kind=False)}; needed: {show(there, kind=False)}")
        if search.structure is None:
            raise _refused(path, "found no search")
        if scored and search.structure.score is None:
            raise _refused(path, "found no score of what was found")
    return searches


def _briefs(scan: Scan, files: Sequence[StrPath]) -> list[ConfigurationSearch]:
    """Return the brief searches of all configurations."""
    needed = [{"configuration": configuration.name} for configuration in scan.configurations]
    return _searches(files, needed, scored=True)


def _ranked(scan: Scan, path: StrPath) -> list[Configuration]:
    """Return the configurations that are searched thoroughly, the best first."""
    names = _read(Ranking, path).configurations
    if len(names) != scan.n_finalists or len(set(names)) != len(names):
        raise _refused(path, f"found {len(names)} configurations; needed: {scan.n_finalists}, each once")
    return [_configuration(scan, name, path) for name in names]


def _choice(scan: Scan, path: StrPath) -> Choice:
    choice = _read(Choice, path)
    for structure in (*choice.finalists, *choice.briefly, choice.leaving):
        _configuration(scan, structure.configuration, path)
    if not choice.best.terms or choice.best.fitness is None:
        raise _refused(path, "found no structure")
    return choice
