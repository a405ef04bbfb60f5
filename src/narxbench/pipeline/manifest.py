"""The manifest: digest and short content of every result, and whether the results that lie here are the same.

Rows stand in the order of causes (data sets, runs, cells, ..., report), so that the first difference is the one that
explains those below it. Rows without a digest name what the results depend on: versions, platform and configuration.
"""

import csv
import io
import json
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sha256
from narxbench.report.tables import csv_text

HEADER = ("path", "sha256", "value")
ENVIRONMENT, CONFIGURATION = "environment/", "configuration/"
# What a path says of its file, in the order of causes.
KINDS = {
    "data set": r"data/generated/.+\.csv",
    "run file": r"data/runs/.+\.json",
    "cell": r"data/cells/.+\.json",
    "statistics file": r"reports/[a-z]+\.json",
    "table": r"reports/tables/.+",
    "figure": r"reports/figures/.+",
    "study file": r"reports/fidelity(\.md|/.+)",
    "report": r"reports/report\.html",
}
# Packages that draw, lay out or write figures and pages; those that compute are named by the run files.
_WRITING = ("matplotlib", "fonttools", "kiwisolver", "plotly", "jinja2", "markdown-it-py")
DAMAGED = "damaged"
_DIGEST_SHOWN = 12
_LISTED = 4
_WIDTH = 150  # characters of a line that are shown


class Entry(NamedTuple):
    """One file: ``value`` is J and number of terms of a run, r, nu_max and exact runs of a cell, else empty."""

    path: str
    sha256: str
    value: str


@dataclass(frozen=True)
class Manifest:
    """``conditions`` maps ``environment/NAME`` and ``configuration/KEY`` to values, ``entries`` paths to files."""

    conditions: dict[str, str]
    entries: dict[str, Entry]


@dataclass(frozen=True)
class Verdict:
    """Paths by what became of them, in the order of causes; ``extra`` are those that the manifest lacks."""

    same: list[str]
    differing: list[str]
    missing: list[str]
    extra: list[str]

    @property
    def verified(self) -> bool:
        """Whether every file is that of the manifest, and there is no other."""
        return not (self.differing or self.missing or self.extra)


def kind_of(path: str) -> str:
    """Return the kind of a result; a path that is none is an error."""
    for kind, pattern in KINDS.items():
        if re.fullmatch(pattern, path):
            return kind
    raise NarxbenchError(f"{path}: not a result; allowed: {', '.join(KINDS.values())}")


def _cause(path: str) -> int:
    return list(KINDS).index(kind_of(path))


def manifest_of(paths: Iterable[str], config: Mapping[str, Any], root: str | Path = ".") -> Manifest:
    """Return the manifest of the files in ``root``; one that is missing or damaged is an error.

    ``config`` is the validated configuration as plain data. The order of the paths matters within a kind only.
    """
    paths = list(paths)
    manifest = found_files(paths, config, root)
    for path in paths:
        if path not in manifest.entries:
            raise NarxbenchError(f"{path}: missing")
        if manifest.entries[path].value == DAMAGED:
            raise NarxbenchError(f"{path}: damaged; delete it and run again")
    return manifest


def found_files(paths: Iterable[str], config: Mapping[str, Any], root: str | Path = ".") -> Manifest:
    """Return the manifest of those of the files that are there; the value of a damaged one says so."""
    versions: dict[str, dict[str, None]] = {}
    entries = {}
    for path in sorted(paths, key=_cause):
        try:
            content = (Path(root) / path).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
        value, computed_by = _said(kind_of(path), content)
        entries[path] = Entry(path, sha256(content), value)
        for package, version in computed_by.items():
            versions.setdefault(package, {})[version] = None
    found = {package: ", ".join(several) for package, several in versions.items()}
    return Manifest(_environment(found) | configuration(config), entries)


def configuration(config: Mapping[str, Any]) -> dict[str, str]:
    """Return every setting as ``configuration/KEY.KEY`` and its value: a text, or JSON."""
    return {CONFIGURATION + ".".join(keys): value for keys, value in _settings(config)}


def manifest_csv(manifest: Manifest) -> str:
    """Return the manifest as CSV: conditions first, without digests."""
    conditions = [(name, "", value) for name, value in manifest.conditions.items()]
    return csv_text(HEADER, [*conditions, *manifest.entries.values()])


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest; one that is missing or damaged is a clear error."""
    try:
        rows = list(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8")), strict=True))
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NarxbenchError(f"{path}: not a CSV text file in UTF-8: {error}") from None
    header, *rows = rows or [[]]
    if tuple(header) != HEADER:
        raise NarxbenchError(f"{path}: line 1: found {header}; allowed: {','.join(HEADER)}")
    conditions: dict[str, str] = {}
    entries: dict[str, Entry] = {}
    for line, row in enumerate(rows, 2):
        if len(row) != len(HEADER) or not re.fullmatch("[0-9a-f]{64}|", row[1]):
            raise NarxbenchError(f"{path}: line {line}: found {row}; allowed: path, SHA-256 digest or nothing, value")
        if row[0] in conditions or row[0] in entries:
            raise NarxbenchError(f"{path}: line {line}: found {row[0]!r} twice; allowed: once")
        if row[1]:
            entries[row[0]] = Entry(*row)
        elif row[0].startswith((ENVIRONMENT, CONFIGURATION)):
            conditions[row[0]] = row[2]
        else:
            raise NarxbenchError(f"{path}: line {line}: found {row[0]!r} without a digest")
    try:
        entries = {name: entries[name] for name in sorted(entries, key=_cause)}
    except NarxbenchError as error:
        raise NarxbenchError(f"{path}: {error}") from None
    return Manifest(conditions, entries)


def check_configuration(path: str | Path, config: Mapping[str, Any], sources: Sequence[str]) -> None:
    """Raise the error that the experiment of the manifest is another one; ``sources`` are the config files."""
    known = read_manifest(path).conditions
    wanted = {name: value for name, value in known.items() if name.startswith(CONFIGURATION)}
    found = configuration(config)
    keys = [name for name in dict.fromkeys([*wanted, *found]) if wanted.get(name) != found.get(name)]
    if keys:
        shown = [
            f"{name.removeprefix(CONFIGURATION)}: found {_short(found.get(name, 'nothing'), 40)}; "
            f"allowed: {_short(wanted.get(name, 'nothing'), 40)}"
            for name in keys[:_LISTED]
        ]
        more = [f"and {len(keys) - _LISTED} more"] if len(keys) > _LISTED else []
        raise NarxbenchError(
            f"verify: {path} was made with another configuration than {', '.join(sources)} and the command line "
            f"give: {'; '.join([*shown, *more])}"
        )


def compare(manifest: Manifest, found: Manifest) -> Verdict:
    """Compare files with a manifest."""
    verdict = Verdict([], [], [], [path for path in found.entries if path not in manifest.entries])
    for path, entry in manifest.entries.items():
        here = found.entries.get(path)
        group = verdict.missing if here is None else verdict.same if here.sha256 == entry.sha256 else verdict.differing
        group.append(path)
    return verdict


def verdict_text(
    verdict: Verdict, manifest: Manifest, found: Manifest, name: str, kept: str | Path, root: str | Path = "."
) -> str:
    """Return the verdict in words: counts, the first difference with both values, and differing environments.

    ``name`` is that of the manifest; ``kept`` is the folder (docs/results) of the tables and figures that belong to it.
    """
    lines = [f"{len(verdict.same)} of {_count(len(manifest.entries), 'file')} are the same as in {name}."]
    if verdict.differing:
        lines += _differing(verdict.differing, manifest, found)
        lines += _first_line(verdict.differing, manifest, Path(root), Path(kept))
    if verdict.missing:
        lines.append(f"Missing: {_by_kind(verdict.missing, manifest)}, made by `snakemake --cores 2`.")
        lines.append(f"The first that is missing: {verdict.missing[0]}")
    if verdict.extra:
        lines.append(f"Not in the manifest: {_listed(verdict.extra)}")
    return "\n".join([*lines, *_environments(manifest, found)]) + "\n"


def first_difference(a: str, b: str) -> tuple[int, str, str] | None:
    """Return number and both versions of the first line that differs, a line that is not there as an empty one."""
    pairs = zip_longest(a.splitlines(), b.splitlines(), fillvalue="")
    return next(((number, *pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1]), None)


def _settings(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from (((key, *keys), text) for keys, text in _settings(value))
        else:
            yield (key,), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _environment(computed_by: Mapping[str, str]) -> dict[str, str]:
    writing = {package: metadata.version(package) for package in _WRITING}
    machine = {"platform": f"{platform.system()} {platform.machine()}"}
    return {ENVIRONMENT + name: value for name, value in {**machine, **computed_by, **writing}.items()}


def _said(kind: str, content: bytes) -> tuple[str, dict[str, str]]:
    """Return the value of a file, and the versions that it names."""
    try:
        if kind == "run file":
            run = json.loads(content)
            return f"J = {_number(run['fitness'])}; terms = {len(run['terms'])}", dict(run["versions"])
        if kind == "cell":
            cell = json.loads(content)
            r, nu_max = (_number(cell[name]["value"]) for name in ("spurious_ratio", "spurious_frequency_max"))
            return f"r = {r}; nu_max = {nu_max}; exact runs = {cell['exact_runs']}", {}
    except (ValueError, KeyError, TypeError):
        # Not an error here: a file that is damaged is a difference, and told as one.
        return DAMAGED, {}
    return "", {}


def _number(value: float | None) -> str:
    return "none" if value is None else repr(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _by_kind(paths: Iterable[str], manifest: Manifest) -> str:
    total = Counter(map(kind_of, manifest.entries))
    here = Counter(map(kind_of, paths))
    return ", ".join(f"{here[kind]} of {_count(total[kind], kind)}" for kind in KINDS if here[kind])


def _listed(paths: Sequence[str]) -> str:
    more = [f"and {len(paths) - _LISTED} more"] if len(paths) > _LISTED else []
    return ", ".join([*paths[:_LISTED], *more])


def _differing(paths: Sequence[str], manifest: Manifest, found: Manifest) -> list[str]:
    first = paths[0]
    lines = [f"Different: {_by_kind(paths, manifest)}."]
    valued = [path for path in paths if manifest.entries[path].value]
    same = sum(manifest.entries[path].value == found.entries[path].value for path in valued)
    if valued:
        what = "run or cell that differs" if len(valued) == 1 else "runs and cells that differ"
        lines.append(f"Of the {len(valued)} {what}, {same} say{'s' if same == 1 else ''} the same numbers.")
    lines.append(f"The first, in the order of causes: {first}")
    for name, entry in (("manifest", manifest.entries[first]), ("here", found.entries[first])):
        said = f"{entry.value}; " if entry.value else ""
        lines.append(f"  {name}: {said}SHA-256 {entry.sha256[:_DIGEST_SHOWN]}...")
    return lines


def _first_line(paths: Iterable[str], manifest: Manifest, root: Path, kept: Path) -> list[str]:
    """Return the first line that differs of the first file of which the manifest's version is kept."""
    for path in paths:
        copy = root / _kept_copy(path, kept)
        if copy.is_file() and sha256(content := copy.read_bytes()) == manifest.entries[path].sha256:
            here = (root / path).read_text(encoding="utf-8", errors="replace")
            if (difference := first_difference(content.decode(), here)) is not None:
                number, theirs, ours = difference
                lines = [f"The first line that differs in {path} is line {number}:"]
                return [*lines, f"  manifest: {_around(theirs, ours)}", f"  here: {_around(ours, theirs)}"]
    return []


def _kept_copy(path: str, kept: Path) -> Path:
    # The study of readings is kept beside the folder of results, under its own names.
    if kind_of(path) == "study file":
        return kept.parent / Path(path).relative_to("reports")
    return kept / Path(path).name


def _around(line: str, other: str) -> str:
    """Return a line, or the part of a long one in which it begins to differ from the other."""
    same = next((at for at, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), min(len(line), len(other)))
    start = max(0, min(same - _WIDTH // 2, len(line) - _WIDTH))
    part = line[start : start + _WIDTH]
    return ("..." if start else "") + part + ("..." if start + _WIDTH < len(line) else "")


def _environments(manifest: Manifest, found: Manifest) -> list[str]:
    names = [name for name in dict.fromkeys([*manifest.conditions, *found.conditions]) if name.startswith(ENVIRONMENT)]
    differing = [
        f"{name.removeprefix(ENVIRONMENT)} {found.conditions.get(name, 'unknown')} (manifest: "
        f"{manifest.conditions.get(name, 'unknown')})"
        for name in names
        if manifest.conditions.get(name) != found.conditions.get(name)
    ]
    if differing:
        return [f"Made in another environment: {', '.join(differing)}."]
    return ["Versions and platform are those of the manifest."]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
