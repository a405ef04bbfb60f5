"""What the results of a study are and were made with: its manifest, and its record for when Snakemake knows it no more.

A manifest is CSV with the columns ``name`` and ``value``: settings and versions, then files with their SHA-256 digests
in the order of causes (data sets, runs, summaries, ..., page): the first difference explains those below it.

Snakemake knows what results were made with as long as it has its folder ``.snakemake``. Without it, it would take those
of other settings or code for current ones. So two files tell of it. The record ``data/STUDY/made_with.json`` is there
as long as *all* results are of what it says; the manifest's step writes it, as it comes last. The memory
``.snakemake/narxbench/STUDY`` is lost together with Snakemake's; the first steps of a study read it, so that a new date
of it makes everything again.
"""

import csv
import io
import os
import platform
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from narxbench.io.csv import guarded, read_rows, unguarded
from narxbench.io.errors import NarxbenchError, printable, show
from narxbench.io.files import canonical_json, read_bytes, read_json, read_text, sha256, write_atomically
from narxbench.io.settings import Settings, validated
from narxbench.io.version import __version__

if TYPE_CHECKING:
    from narxbench.pipeline.plan import StudyPlan

SETTINGS, ENVIRONMENT, VERSIONS = "settings/", "environment/", "versions/"
_HEADER = ["name", "value"]
_LISTED = 4


def manifest_csv(files: Mapping[str, str], made_with: Mapping[str, str]) -> str:
    """Return the manifest of files that are all there."""
    rows = [(name, guarded(value)) for name, value in made_with.items() if name.startswith(SETTINGS)]
    rows += [(ENVIRONMENT + name, value) for name, value in _environment(made_with).items()]
    rows += [(name, sha256(read_bytes(path))) for name, path in files.items()]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([_HEADER, *rows])
    return stream.getvalue()


def _environment(made_with: Mapping[str, str]) -> dict[str, str]:
    system = f"{platform.system()} {platform.machine()}"
    return {"platform": system, "narxbench": __version__, **_part(made_with, VERSIONS)}


def read_manifest(path: str | Path) -> dict[str, str]:
    """Return the rows of a manifest; a damaged one is a NarxbenchError with the line."""
    header, rows = read_rows(path)
    if header != _HEADER:
        raise NarxbenchError(f"{path}: line 1: found {show(header, kind=False)}; needed: {','.join(_HEADER)}")
    return {name: unguarded(value) for name, value in rows}


def check_settings(path: str | Path, made_with: Mapping[str, str]) -> None:
    """Raise the error that the manifest to compare with is missing, or that of other settings."""
    if not Path(path).exists():
        raise NarxbenchError(f"verify: there is no manifest {path} to compare with: run the study to its end first")
    known, here = (_part(each, SETTINGS) for each in (read_manifest(path), made_with))
    if found := _differing(known, here, "{}: found {}; needed: {}"):
        raise NarxbenchError(f"verify: {path} was made with other settings: {_listed(found)}")


def verdict(reference: str | Path, files: Mapping[str, str], made_with: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether all files are those of a reference manifest, and the verdict in words."""
    manifest = read_manifest(reference)
    kept = {name: value for name, value in manifest.items() if not name.startswith((SETTINGS, ENVIRONMENT))}
    paths = {name: name for name in kept} | dict(files)
    here = {name: sha256(read_bytes(path)) for name, path in paths.items() if os.path.exists(path)}
    unlike = {
        "Different": [name for name in kept if name in here and here[name] != kept[name]],
        "Missing": [name for name in kept if name not in here],
        "Not in the reference": [name for name in here if name not in kept],
    }
    same = sum(here.get(name) == value for name, value in kept.items())
    lines = [f"{same} of {len(kept)} files are the same as in {reference}."]
    for what, names in unlike.items():
        if names:
            lines.append(f"{what}: {len(names)} files, the first in the order of causes is {printable(names[0])}")
    # Reference results of an earlier version name fewer packages.
    known = _part(manifest, ENVIRONMENT)
    now = {name: value for name, value in _environment(made_with).items() if name in known}
    others = ", ".join(_differing(known, now, "{} {} (reference: {})", "unknown"))
    same_there = "Versions and platform are those of the reference."
    lines.append(f"Made in another environment: {others}." if others else same_there)
    return not any(unlike.values()), "\n".join(lines) + "\n"


def _differing(known: Mapping[str, str], here: Mapping[str, str], text: str, absent: str = "nothing") -> list[str]:
    """Return ``text`` with name, value here and known value for each name whose values differ."""
    names = [name for name in dict.fromkeys([*known, *here]) if known.get(name) != here.get(name)]
    values = ((name, here.get(name, absent), known.get(name, absent)) for name in names)
    return [text.format(*map(printable, each)) for each in values]


def _listed(texts: list[str]) -> str:
    more = [f"and {len(texts) - _LISTED} more"] if len(texts) > _LISTED else []
    return "; ".join(texts[:_LISTED] + more)


def _part(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


class Record(Settings):
    """What all results that lie here were made with, and the token of the memory that belongs to it."""

    token: str
    made_with: dict[str, str]


def write_record(path: str, memory: str, made_with: Mapping[str, str]) -> None:
    """Write the record of results that are all made, with the token of the memory."""
    record = {"made_with": made_with, "token": read_text(memory).partition(" ")[0]}
    write_atomically(path, canonical_json(record, indent=1))


def settle(plan: "StudyPlan") -> None:
    """Date the memory so that everything is made again, if results here may be of something that nobody knows."""
    memory, record = Path(plan.memory), _record(plan)
    token, _, unknown = read_text(memory).partition(" ") if memory.is_file() else ("", "", "")
    lost = not token or (record is not None and record.token != token)
    if lost:
        token = record.token if record else secrets.token_hex(8)
        unknown = "unknown" if _is_begun(plan) else ""
    again = bool(unknown) and (record is None or record.made_with != plan.made_with)
    if again:
        changed = _differing(record.made_with, plan.made_with, "{}") if record else [f"no {plan.at(plan.record)}"]
        found = f"found results in {plan.at(plan.data)} that may be of other settings or code ({_listed(changed)})"
        sys.stderr.write(f"narxbench: {found}, and Snakemake has lost its record of them; all are made again\n")
    if lost or again:
        # It stays known that Snakemake does not know the results, unless they are made again.
        write_atomically(memory, token if again else f"{token} {unknown}".strip())
        if not again:
            os.utime(memory, (0, 0))


def begin(plan: "StudyPlan") -> None:
    """Take the record away if what is about to be made is of something else, or make the first one."""
    record = _record(plan)
    if record is None and not _is_begun(plan):
        write_record(plan.at(plan.record), plan.memory, plan.made_with)
    elif record and record.made_with != plan.made_with:
        os.unlink(plan.at(plan.record))


def _record(plan: "StudyPlan") -> Record | None:
    path = plan.at(plan.record)
    return validated(Record, read_json(path), path) if os.path.exists(path) else None


def _is_begun(plan: "StudyPlan") -> bool:
    made = (plan.at(path) for path in (*plan.results(), plan.manifest) if path not in plan.given)
    return any(map(os.path.exists, made))
