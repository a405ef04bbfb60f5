"""The manifest of a study: the digest of every result, and whether the results that lie here are the same.

A manifest is CSV with the columns ``name`` and ``value``: settings (``settings/KEY``) and versions
(``environment/NAME``), then files with their SHA-256 digests in the order of causes (data sets, runs, summaries, ...,
page), so that the first difference is the one that explains those below it.
"""

import csv
import io
import os
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from narxbench.experiment.provenance import versions
from narxbench.io.csv import guarded, read_rows, unguarded, wrong
from narxbench.io.errors import NarxbenchError, printable, show
from narxbench.io.files import read_bytes, sha256
from narxbench.io.settings import flattened

SETTINGS, ENVIRONMENT = "settings/", "environment/"
_HEADER = ["name", "value"]
# Packages that analyse, draw, lay out or write; those that compute are named by the runs.
_WRITING = [
    "scipy",
    "pandas",
    "statsmodels",
    "matplotlib",
    "fonttools",
    "kiwisolver",
    "plotly",
    "jinja2",
    "markdown-it-py",
]
_LISTED = 4


def manifest_csv(files: Iterable[str], settings: Mapping[str, Any]) -> str:
    """Return the manifest of files that are all there.

    Parameters
    ----------
    files : iterable of str
        The results in the order of causes.
    settings : mapping
        The settings of the study as plain data.
    """
    rows = [(SETTINGS + name, guarded(value)) for name, value in flattened(settings)]
    rows += [(ENVIRONMENT + name, value) for name, value in environment().items()]
    rows += [(path, sha256(read_bytes(path))) for path in files]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([_HEADER, *rows])
    return stream.getvalue()


def environment() -> dict[str, str]:
    """Return platform, Python and the versions of all packages that a result can depend on."""
    machine = {"platform": f"{platform.system()} {platform.machine()}"}
    return {**machine, **versions(), **{package: metadata.version(package) for package in _WRITING}}


def read_manifest(path: str | Path) -> dict[str, str]:
    """Return the rows of a manifest.

    Raises
    ------
    NarxbenchError
        For a file that is missing or no manifest, with its line.
    """
    header, rows = read_rows(path)
    if header != _HEADER:
        raise NarxbenchError(f"{path}: line 1: found {show(header, kind=False)}; needed: {','.join(_HEADER)}")
    values: dict[str, str] = {}
    for row, (name, value) in enumerate(rows):
        if name in values:
            raise wrong(path, row, "name", name, "each name once")
        values[name] = unguarded(value)
    return values


def check_settings(path: str | Path, settings: Mapping[str, Any]) -> None:
    """Raise the error that the manifest to compare with is missing, or that of other settings."""
    if not Path(path).exists():
        raise NarxbenchError(f"verify: there is no manifest {path} to compare with: run the study to its end first")
    known = _part(read_manifest(path), SETTINGS)
    here = dict(flattened(settings))
    differing = _differing(known, here, "{}: found {}; needed: {}", "nothing")
    if differing:
        more = [f"and {len(differing) - _LISTED} more"] if len(differing) > _LISTED else []
        shown = "; ".join(differing[:_LISTED] + more)
        raise NarxbenchError(f"verify: {path} was made with other settings: {shown}")


def verdict(reference: str | Path, files: Iterable[str]) -> tuple[bool, str]:
    """Compare the files that lie here with reference results.

    Parameters
    ----------
    reference : path
        The reference manifest.
    files : iterable of str
        The results of the study.

    Returns
    -------
    bool
        Whether all are the same, and none is missing or new.
    str
        The verdict in words: counts, and the first that differs in the order of causes.
    """
    manifest = read_manifest(reference)
    kept = {name: value for name, value in manifest.items() if not name.startswith((SETTINGS, ENVIRONMENT))}
    missing = [name for name in kept if not os.path.exists(name)]
    here = {name: sha256(read_bytes(name)) for name in dict.fromkeys([*kept, *files]) if os.path.exists(name)}
    differing = [name for name in kept if name in here and here[name] != kept[name]]
    extra = [name for name in here if name not in kept]
    same = len(kept) - len(missing) - len(differing)
    lines = [f"{same} of {len(kept)} files are the same as in {reference}."]
    for what, names in (("Different", differing), ("Missing", missing), ("Not in the reference", extra)):
        if names:
            lines.append(f"{what}: {len(names)} files, the first in the order of causes is {printable(names[0])}")
    others = ", ".join(_differing(_part(manifest, ENVIRONMENT), environment(), "{} {} (reference: {})", "unknown"))
    same_there = "Versions and platform are those of the reference."
    lines.append(f"Made in another environment: {others}." if others else same_there)
    return not (differing or missing or extra), "\n".join(lines) + "\n"


def _differing(known: Mapping[str, str], here: Mapping[str, str], text: str, absent: str) -> list[str]:
    """Return ``text`` with name, value here and known value for each name whose values differ."""
    names = [name for name in dict.fromkeys([*known, *here]) if known.get(name) != here.get(name)]
    values = ((name, here.get(name, absent), known.get(name, absent)) for name in names)
    return [text.format(*map(printable, each)) for each in values]


def _part(manifest: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in manifest.items() if name.startswith(prefix)}
