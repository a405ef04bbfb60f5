"""What the results of a study were made with, for the time when Snakemake does not know it any more.

Snakemake knows it as long as it has its folder ``.snakemake``, and makes again what other settings, code or versions
concern. Where that folder is lost, or the results were copied without it, it would take those of other settings for
current ones. So two files of our own tell of it:

- the record ``data/STUDY/made_with.json`` is there as long as *all* results are of the settings, code, files and
  versions in it. The manifest's step writes it, as it comes last;
- the memory ``.snakemake/narxbench/STUDY`` is lost together with Snakemake's. The first steps of a study read it, so
  that a new date of it makes everything again.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench.io.errors import NarxbenchError, show
from narxbench.io.files import canonical_json, read_json, read_text, sha256, write_atomically
from narxbench.io.settings import Settings, SettingsError, flattened, validated
from narxbench.io.words import some
from narxbench.pipeline.manifest import SETTINGS, VERSIONS, write_record
from narxbench.pipeline.plan import StudyPlan

CODE, FILES = "code/", "files/"
Origin = dict[str, str]


class Record(Settings):
    """What all results that lie here were made with."""

    token: str
    """That of the memory, by which the two are known to belong together."""
    made_with: Origin


def origin(plan: StudyPlan) -> Origin:
    """Return what the results of a study depend on: settings as text, digests of code and files, and versions.

    The rules have asked the plan for what their steps are made of by then.
    """
    settings = {name: digest(value) for name, value in plan.definitions().items()} | dict(flattened(plan.settings()))
    files = plan.digests(filter(os.path.isfile, plan.given()))
    parts = {SETTINGS: settings, CODE: plan.code_digests, VERSIONS: plan.versions, FILES: files}
    return {kind + name: value for kind, part in sorted(parts.items()) for name, value in sorted(part.items())}


def digest(made_with: Any) -> str:
    """Return a digest of what results are made with."""
    return sha256(canonical_json(made_with))[:16]


def settle(plan: StudyPlan) -> None:
    """Date the memory so that everything is made again, if results here may be of something that nobody knows."""
    memory, record = Path(plan.memory), _record(plan)
    token, _, unknown = read_text(memory).partition(" ") if memory.is_file() else ("", "", "")
    lost = not token or (record is not None and record.token != token)
    if not (lost or unknown):
        return
    now = origin(plan)
    if lost:
        token = record.token if record else secrets.token_hex(8)
        unknown = digest(record.made_with if record else {}) if any(map(os.path.exists, _made(plan))) else ""
    again = unknown not in ("", digest(now))
    if again:
        differing = _differing(record.made_with, now) if record else f"there is no {plan.at(plan.record)}"
        found = f"found results in {plan.at(plan.data)} that may be of other settings or code ({differing})"
        sys.stderr.write(f"narxbench: {found}, and Snakemake has lost its record of them; all are made again\n")
    if lost or again:
        # A memory of results that Snakemake does not know keeps what they were made with.
        write_atomically(memory, f"{token} {'' if again else unknown}".strip())
        if not again:
            os.utime(memory, (0, 0))


def begin(plan: StudyPlan) -> None:
    """Take the record away if what is about to be made is of something else, or make the first one."""
    record, now = _record(plan), origin(plan)
    if record is None and not any(map(os.path.exists, _made(plan))):
        write_record(plan.at(plan.record), plan.memory, now)
    elif record and record.made_with != now:
        os.unlink(plan.at(plan.record))


def _record(plan: StudyPlan) -> Record | None:
    path = plan.at(plan.record)
    if not os.path.exists(path):
        return None
    try:
        return validated(Record, read_json(path), path)
    except SettingsError as error:
        raise NarxbenchError(f"{str(error).splitlines()[0]}; damaged: delete it, and all is made again") from None


def _made(plan: StudyPlan) -> list[str]:
    given = set(plan.given())
    return [plan.at(path) for path in (*plan.results(), plan.manifest) if path not in given]


def _differing(former: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return how two origins differ: settings and versions with both values, steps and files by name."""
    values, others = [], []
    for key in dict.fromkeys([*former, *now]):
        name, before, after = key.partition("/")[2], former.get(key, "nothing"), now.get(key, "nothing")
        if before != after and key.startswith((SETTINGS, VERSIONS)):
            values.append(f"{name}: made with {show(before, kind=False)}, now {show(after, kind=False)}")
        elif before != after:
            others.append(name)
    return "; ".join(some(found, what) for found, what in ((values, "values"), (others, "steps or files")) if found)
