"""The manifest of a study: the digest of every result, and whether the results that lie here are the same.

A manifest is CSV with the columns ``name`` and ``value``: settings (``settings/KEY``) and versions
(``environment/NAME``), then files with their SHA-256 digests in the order of causes (data sets, runs, summaries, ...,
page), so that the first difference is the one that explains those below it.
"""

import csv
import io
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench.io.csv import guarded, read_rows, unguarded, wrong
from narxbench.io.errors import NarxbenchError, printable, show
from narxbench.io.files import canonical_json, read_bytes, read_text, sha256, write_atomically
from narxbench.io.settings import flattened
from narxbench.io.version import __version__

SETTINGS, ENVIRONMENT = "settings/", "environment/"
# Of what results were made with: see narxbench.pipeline.origin.
VERSIONS = "versions/"
_HEADER = ["name", "value"]
_LISTED = 4


def manifest_csv(files: Mapping[str, str], settings: Mapping[str, Any], made_with: Mapping[str, str]) -> str:
    """Return the manifest of files that are all there."""
    rows = [(SETTINGS + name, guarded(value)) for name, value in flattened(settings)]
    rows += [(ENVIRONMENT + name, value) for name, value in environment(_part(made_with, VERSIONS)).items()]
    rows += [(name, sha256(read_bytes(path))) for name, path in files.items()]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([_HEADER, *rows])
    return stream.getvalue()


def environment(versions: Mapping[str, str]) -> dict[str, str]:
    """Return platform, this package's version, and the versions that results depend on."""
    return {"platform": f"{platform.system()} {platform.machine()}", "narxbench": __version__, **versions}


def write_record(path: str, memory: str, made_with: Mapping[str, str]) -> None:
    """Write the record of results that are all made: see :mod:`narxbench.pipeline.origin`."""
    token = read_text(memory).partition(" ")[0]
    write_atomically(path, canonical_json({"made_with": made_with, "token": token}, indent=1))


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
    if differing := _differing(known, dict(flattened(settings)), "{}: found {}; needed: {}", "nothing"):
        more = [f"and {len(differing) - _LISTED} more"] if len(differing) > _LISTED else []
        shown = "; ".join(differing[:_LISTED] + more)
        raise NarxbenchError(f"verify: {path} was made with other settings: {shown}")


def verdict(reference: str | Path, files: Mapping[str, str], versions: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether all files are those of a reference manifest, and the verdict in words."""
    manifest = read_manifest(reference)
    kept = {name: value for name, value in manifest.items() if not name.startswith((SETTINGS, ENVIRONMENT))}
    paths = {name: name for name in kept} | dict(files)
    missing = [name for name in kept if not os.path.exists(paths[name])]
    here = {name: sha256(read_bytes(path)) for name, path in paths.items() if os.path.exists(path)}
    differing = [name for name in kept if name in here and here[name] != kept[name]]
    extra = [name for name in here if name not in kept]
    same = len(kept) - len(missing) - len(differing)
    lines = [f"{same} of {len(kept)} files are the same as in {reference}."]
    for what, names in (("Different", differing), ("Missing", missing), ("Not in the reference", extra)):
        if names:
            lines.append(f"{what}: {len(names)} files, the first in the order of causes is {printable(names[0])}")
    known, now = _part(manifest, ENVIRONMENT), environment(versions)
    # Reference results of an earlier version name fewer packages.
    now = {name: value for name, value in now.items() if name in known}
    others = ", ".join(_differing(known, now, "{} {} (reference: {})", "unknown"))
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
