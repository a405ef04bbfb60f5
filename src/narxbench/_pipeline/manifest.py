"""The manifest of a study's results, and their comparison with one.

A manifest is CSV with the columns ``name`` and ``value``: settings and versions, then files with their SHA-256 digests
in the order of causes (data sets, runs, summaries, ..., page): the first difference explains those below it.
"""

import csv
import io
import os
import platform
from collections.abc import Mapping
from pathlib import Path

from narxbench._io.csv import guarded, read_rows, unguarded
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.files import read_bytes, sha256
from narxbench._io.version import __version__

SETTINGS, ENVIRONMENT, VERSIONS = "settings/", "environment/", "versions/"
_HEADER = ["name", "value"]


def manifest_csv(files: Mapping[str, str], made_with: Mapping[str, str]) -> str:
    """Return the manifest of files, all of which exist."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_HEADER)
    for name, value in _part(made_with, SETTINGS).items():
        writer.writerow([SETTINGS + name, guarded(value)])
    for name, value in _environment(made_with).items():
        writer.writerow([ENVIRONMENT + name, value])
    for name, path in files.items():
        writer.writerow([name, sha256(read_bytes(path))])
    return stream.getvalue()


def _environment(made_with: Mapping[str, str]) -> dict[str, str]:
    """Return the platform and the versions behind the results."""
    system = f"{platform.system()} {platform.machine()}"
    return {"platform": system, "narxbench": __version__, **_part(made_with, VERSIONS)}


def read_manifest(path: str | Path) -> dict[str, str]:
    """Return the rows of a manifest. A damaged one raises NarxbenchError with the line."""
    header, rows = read_rows(path)
    if header != _HEADER:
        raise NarxbenchError(f"{path}: line 1: found {show(header, kind=False)}; needed: {','.join(_HEADER)}")
    return {name: unguarded(value) for name, value in rows}


def check_settings(path: str | Path, made_with: Mapping[str, str]) -> None:
    """Raise the error that the manifest to compare with is missing, or was made with other settings."""
    if not Path(path).exists():
        raise NarxbenchError(f"verify: there is no manifest {path} to compare with: run the study to its end first")
    differences = other_settings(path, made_with)
    if differences:
        more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
        raise NarxbenchError(f"verify: {path} was made with other settings: {differences[0]}{more}")


def other_settings(path: str | Path, made_with: Mapping[str, str]) -> list[str]:
    """Return in words the settings that differ from those of a manifest."""
    there, here = _part(read_manifest(path), SETTINGS), _part(made_with, SETTINGS)
    return _differing(there, here, "{}: found {}; needed: {}")


def verdict(reference: str | Path, files: Mapping[str, str], made_with: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether all files are the same as in a reference manifest, and the verdict in words."""
    manifest = read_manifest(reference)
    kept = {name: value for name, value in manifest.items() if not name.startswith((SETTINGS, ENVIRONMENT))}
    paths = {name: name for name in kept} | dict(files)
    here = {name: sha256(read_bytes(path)) for name, path in paths.items() if os.path.exists(path)}
    differing = _differing_files(kept, here)
    same = len(kept.items() & here.items())
    lines = [f"{same} of {len(kept)} files are the same as in {reference}."]
    for heading, names in differing.items():
        lines.append(f"{heading}: {len(names)} files, the first in the order of causes is {printable(names[0])}")
    lines.append(_comparison_of_environments(_part(manifest, ENVIRONMENT), _environment(made_with)))
    return not differing, "\n".join(lines) + "\n"


def _differing_files(kept: Mapping[str, str], here: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the files whose digests differ from those in the reference, by a heading."""
    different, missing = [], []
    for name, digest in kept.items():
        if name not in here:
            missing.append(name)
        elif here[name] != digest:
            different.append(name)
    unknown = [name for name in here if name not in kept]
    files = {"Different": different, "Missing": missing, "Not in the reference": unknown}
    return {heading: names for heading, names in files.items() if names}


def _comparison_of_environments(reference: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return a line on the versions and the platform here and of the reference."""
    # Reference results of an earlier version name fewer packages.
    now = {name: value for name, value in here.items() if name in reference}
    differences = _differing(reference, now, "{} {} (reference: {})", "unknown")
    if differences:
        return f"Made in another environment: {', '.join(differences)}."
    return "Versions and platform are those of the reference."


def _differing(there: Mapping[str, str], here: Mapping[str, str], text: str, absent: str = "nothing") -> list[str]:
    """Return ``text`` with the name, the value here and the value there for each name whose values differ."""
    texts = []
    for name in dict.fromkeys([*there, *here]):
        if there.get(name) != here.get(name):
            values = (name, here.get(name, absent), there.get(name, absent))
            texts.append(text.format(*map(printable, values)))
    return texts


def _part(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the values whose names begin with a prefix, by their names without it."""
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
