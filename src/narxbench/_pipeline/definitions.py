"""Definitions: all that a step depends on besides its input files, as files of their own.

A definition holds settings, the digests of the code that the step runs, the versions of packages and the digests of
files that no step makes. Its name ends with the digest of its content, and it is an input of the step. So another
setting, module, version or file asks for another definition, which does not exist yet: it is written, and everything
that was made with the former one is older, and is made again, whatever Snakemake remembers and whatever the dates of
edited files are. The definitions that lie next to the results are thus the record of what these were made with.
"""

import glob
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_json, sha256, write_atomically
from narxbench._io.settings import flattened

_DIGITS = 16
_SUFFIX = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}\.json")


def definition_file(path: str, content: Mapping[str, Any]) -> str:
    """Return the name of the file of a definition: ``path``, the digest of its content, and ``.json``."""
    return f"{path}-{sha256(_text(content))[:_DIGITS]}.json"


def _text(content: Mapping[str, Any]) -> str:
    """Return a definition as JSON; the order of methods and systems, which is that of the settings, is kept."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_definition(file: str, content: Mapping[str, Any]) -> None:
    """Write a definition and remove those that it replaces, which would else pass for current ones later."""
    write_atomically(file, _text(content))
    for former in former_files(file):
        former.unlink(missing_ok=True)


def former_files(file: str) -> list[Path]:
    """Return the definitions of the same thing under other digests that lie next to a file."""
    path = Path(file)
    stem = _SUFFIX.sub("", path.name)
    siblings = path.parent.glob(f"{glob.escape(stem)}-*.json")
    return [sibling for sibling in siblings if sibling != path and _SUFFIX.fullmatch(sibling.name[len(stem) :])]


@lru_cache(maxsize=256)
def read_definition(file: str) -> dict[str, Any]:
    """Return a definition, not to be changed; one that is damaged or was edited raises NarxbenchError.

    It is read once in a process: thousands of jobs share it, and another content would have another name.
    """
    content = read_json(file)
    if not isinstance(content, dict) or not file.endswith(definition_file("", content)):
        raise NarxbenchError(f"{file}: damaged or edited; delete it and run again")
    return content


def run_definition(problem: str, method: str) -> dict[str, Any]:
    """Return the parameters of runs that do not depend on the seed, by the definitions of a problem and a method."""
    posed, searched = read_definition(problem)["settings"], read_definition(method)["settings"]
    simulation = posed["simulation"]
    condition = {
        "system": simulation["system"]["name"],
        "snr_db": simulation["snr_db"],
        "data_seed": simulation["seed"],
        "interpretation": searched["interpretation"],
        "method": searched["method"],
        "criterion": searched["criterion"],
    }
    if posed["scenario"]:
        condition["scenario"] = posed["scenario"]
    return {
        "condition": condition,
        "structure": {**posed["candidates"], **searched["fitness"]},
        "axes": posed["axes"],
        **{name: searched[name] for name in ("algorithm", "settings", "evaluations", "time_limit")},
    }


def changes(file: str, content: Mapping[str, Any]) -> list[str]:
    """Return which settings, modules, versions and files of a definition differ from the former one, if any."""
    for former in former_files(file):
        before, now = _flat(_former_content(former)), _flat(content)
        return [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return []


def _former_content(path: Path) -> dict[str, Any]:
    """Return the content of a definition that another one replaces, or nothing if it is damaged."""
    with suppress(NarxbenchError):
        content = read_json(path)
        if isinstance(content, dict) and all(isinstance(values, dict) for values in content.values()):
            return content
    return {}


def _flat(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of a definition under names that say what they are, such as ``code _algorithms/ga.py``."""
    entries: dict[str, str] = {}
    for kind, values in content.items():
        if kind == "settings":
            entries.update((f"setting {name}", text) for name, text in flattened(values))
        else:
            entries.update((f"{kind} {name}", value) for name, value in values.items())
    return entries
