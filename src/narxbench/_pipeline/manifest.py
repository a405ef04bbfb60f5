"""The manifest of a study's results, and a record of what they were made with that outlives Snakemake's.

A manifest is CSV with the columns ``name`` and ``value``: settings and versions, then files with their SHA-256 digests
in the order of causes (data sets, runs, summaries, ..., page): the first difference explains those below it.

Snakemake knows what results were made with as long as it has its folder ``.snakemake``. Without it, it would take
results of other settings or code for current ones. Two files prevent that. The record ``data/STUDY/made_with.json``
exists as long as *all* results are of what it says; the manifest's step, the last one, writes it. The memory
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

from narxbench._io.csv import guarded, read_rows, unguarded
from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.files import canonical_json, read_bytes, read_json, read_text, sha256, write_atomically
from narxbench._io.settings import Settings, validated
from narxbench._io.version import __version__

if TYPE_CHECKING:
    from narxbench._pipeline.plan import StudyPlan

SETTINGS, ENVIRONMENT, VERSIONS = "settings/", "environment/", "versions/"
_HEADER = ["name", "value"]
_LISTED = 4


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
    """Return the rows of a manifest; a damaged one is a NarxbenchError with the line."""
    header, rows = read_rows(path)
    if header != _HEADER:
        raise NarxbenchError(f"{path}: line 1: found {show(header, kind=False)}; needed: {','.join(_HEADER)}")
    return {name: unguarded(value) for name, value in rows}


def check_settings(path: str | Path, made_with: Mapping[str, str]) -> None:
    """Raise the error that the manifest to compare with is missing, or was made with other settings."""
    if not Path(path).exists():
        raise NarxbenchError(f"verify: there is no manifest {path} to compare with: run the study to its end first")
    there, here = _part(read_manifest(path), SETTINGS), _part(made_with, SETTINGS)
    differences = _differing(there, here, "{}: found {}; needed: {}")
    if differences:
        raise NarxbenchError(f"verify: {path} was made with other settings: {_listed(differences)}")


def verdict(reference: str | Path, files: Mapping[str, str], made_with: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether all files are those of a reference manifest, and the verdict in words."""
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


def _listed(texts: list[str]) -> str:
    """Return the first texts, and how many more there are."""
    shown = texts[:_LISTED]
    if len(texts) > _LISTED:
        shown.append(f"and {len(texts) - _LISTED} more")
    return "; ".join(shown)


def _part(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the values whose names begin with a prefix, by their names without it."""
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


class ResultsRecord(Settings):
    """The record of what all results here were made with, and the token of the memory that belongs to it."""

    token: str
    made_with: dict[str, str]


def write_record(path: str, memory: str, made_with: Mapping[str, str]) -> None:
    """Write the record of complete results, with the token of the memory."""
    record = {"made_with": made_with, "token": read_text(memory).partition(" ")[0]}
    write_atomically(path, canonical_json(record, indent=1))


def settle(plan: "StudyPlan") -> None:
    """Date the memory so that everything is made again, if results here may be of unknown settings or code."""
    memory, record = Path(plan.memory), _record(plan)
    token, unknown = _token_of_memory(memory)
    lost = not token or (record is not None and record.token != token)
    if lost:
        token = record.token if record else secrets.token_hex(8)
        unknown = "unknown" * _is_begun(plan)
    again = bool(unknown) and (record is None or record.made_with != plan.made_with)
    if again:
        _report_lost_results(plan, record)
        write_atomically(memory, token)
    elif lost:
        # The memory still says that Snakemake does not know the results.
        write_atomically(memory, f"{token} {unknown}".strip())
        os.utime(memory, (0, 0))


def _token_of_memory(memory: Path) -> tuple[str, str]:
    """Return the token in the memory, and the word that says that Snakemake does not know the results, or ""."""
    if not memory.is_file():
        return "", ""
    token, _, unknown = read_text(memory).partition(" ")
    return token, unknown


def _report_lost_results(plan: "StudyPlan", record: ResultsRecord | None) -> None:
    """Say on the terminal why all results are made again."""
    changed = [f"no {plan.at(plan.record)}"]
    if record is not None:
        changed = _differing(record.made_with, plan.made_with, "{}")
    results = f"results in {plan.at(plan.data)} that may be of other settings or code ({_listed(changed)})"
    sys.stderr.write(f"narxbench: found {results}, and Snakemake has lost its record of them; all are made again\n")


def begin(plan: "StudyPlan") -> None:
    """Remove the record if the results to be made are not those that it describes, or write the first one."""
    record = _record(plan)
    if record is None and not _is_begun(plan):
        write_record(plan.at(plan.record), plan.memory, plan.made_with)
    elif record and record.made_with != plan.made_with:
        os.unlink(plan.at(plan.record))


def _record(plan: "StudyPlan") -> ResultsRecord | None:
    """Return the record of complete results, if there is one."""
    path = plan.at(plan.record)
    return validated(ResultsRecord, read_json(path), path) if os.path.exists(path) else None


def _is_begun(plan: "StudyPlan") -> bool:
    """Return whether any result exists."""
    for path in (*plan.results(), plan.manifest):
        if path not in plan.input_files and os.path.exists(plan.at(path)):
            return True
    return False
