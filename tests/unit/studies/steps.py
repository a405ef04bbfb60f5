"""The steps of a study as its rules run them: a script, its files by name, and its parameters."""

import json
import runpy
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[3]


class JobFiles(list[str]):
    """The files of a job as Snakemake gives them: in their order, and by the names that some have."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__()
        self._names: dict[str, Any] = {}
        for name, files in names.items():
            if isinstance(files, list):
                self.extend(files)
                self._names[name] = files
            else:
                self.append(str(files))
                self._names[name] = str(files)
        self._names.pop("", None)
        vars(self).update(self._names)
        self.keys, self.items = self._names.keys, self._names.items

    def __getitem__(self, key: Any) -> Any:
        return self._names[key] if isinstance(key, str) else super().__getitem__(key)


class Parameters(SimpleNamespace):
    """The parameters of a job, as attributes and by name."""

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


@cache
def _main(script: str) -> Any:
    return runpy.run_path(str(ROOT / f"scripts/{script}.py"))["main"]


def step(script: str, params: Mapping[str, Any] | None = None, **job: Any) -> list[str]:
    """Run a script in the working folder; files are mappings by name, "" for those without. Return its outputs."""
    for name in ("input", "output"):
        job[name] = JobFiles(job.get(name, {}))
    _main(script)(SimpleNamespace(params=Parameters(**(params or {})), **job))
    return list(job["output"])


def read(path: str | Path) -> str:
    """Return the text of a file."""
    return Path(path).read_text(encoding="utf-8")


def texts_by_name(paths: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return the texts of files by name."""
    return {f"{prefix}{Path(path).name}": read(path) for path in paths}


def digest(content: Any) -> str:
    """Return the digest of a value as the project writes it: JSON with sorted keys, in one line."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(f"{text}\n".encode()).hexdigest()


def edit(path: Path, *place: str | int, value: Any) -> None:
    """Put another value at a place of a JSON file; a run file gets the seal that fits."""
    content = json.loads(read(path))
    part = content
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    if "seal" in content:
        del content["seal"]
        content["seal"] = digest(content)
    path.write_text(json.dumps(content), encoding="utf-8")
