"""What the results of a study were made of, kept beside them: settings, code and the files of others that steps read.

Snakemake knows what each result was made with as long as it has its own record, the folder ``.snakemake``. Where that
is lost, or the results were copied without it, it would take those of other settings or code for current ones. So each
study keeps a record of its own, ``data/STUDY/made_with.json``, which is compared at every start.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from pydantic import Field

from narxbench.io.errors import NarxbenchError, show
from narxbench.io.files import canonical_json, read_bytes, read_json, sha256, write_atomically
from narxbench.io.settings import Settings, SettingsError, flattened, validated
from narxbench.io.words import some
from narxbench.pipeline.code import PACKAGE, TEMPLATES
from narxbench.pipeline.plan import SCRIPTS, StudyPlan

RECORD = "made_with.json"
# What a step is told as its parameters: Snakemake sees a change of these in its record. Files it sees by their time.
_SETTINGS, _CODE, _FILES = "settings/", "code/", "files/"

Origin = dict[str, str]
# A change of any of these makes another stamp, also one that is taken back later.
Stamps = dict[str, tuple[int, int, int]]


class Record(Settings):
    """What the results that lie here may be made of."""

    made_with: Annotated[list[Origin], Field(min_length=1)]
    """Settings, code and files: those of the last start, then those of which results may be left."""
    code_changed: list[str]
    """Files of code that were written while results were made, so that nobody knows which code made them."""


def origin(plan: StudyPlan) -> Origin:
    """Return what the results of a study depend on: every setting as text, and digests of code and files.

    Parameters
    ----------
    plan : StudyPlan
        The plan, after its rules have asked for the digests of their code.
    """
    found = {_SETTINGS + name: value for name, value in flattened(plan.settings())}
    found |= {_SETTINGS + name: sha256(canonical_json(value))[:16] for name, value in plan.definitions().items()}
    found |= {_CODE + name: digest for name, digest in plan.code_digests().items()}
    return found | {_FILES + path: sha256(read_bytes(path)) for path in plan.given() if os.path.isfile(path)}


def read_record(plan: StudyPlan) -> Record | None:
    """Return the record of a study, None if there is none."""
    path = _path(plan)
    if not os.path.exists(path):
        return None
    try:
        return validated(Record, read_json(path), path)
    except SettingsError as error:
        problem = str(error).splitlines()[0]
        raise NarxbenchError(f"{problem}; damaged: delete it and {plan.data}, and run again") from None


def write_record(plan: StudyPlan, made_with: Iterable[Origin], code_changed: Iterable[str]) -> None:
    """Write the record of a study; equal origins stand once."""
    distinct = list({canonical_json(each): each for each in made_with}.values())
    record = {"made_with": distinct, "code_changed": sorted(set(code_changed))}
    write_atomically(_path(plan), canonical_json(record, indent=1))


def check_origin(plan: StudyPlan, now: Mapping[str, str], knows: Callable[[str], bool]) -> None:
    """Refuse results of other settings, code or files that Snakemake would take for those of now.

    Parameters
    ----------
    plan : StudyPlan
        The plan of the study.
    now : mapping
        What results are made of now.
    knows : callable
        Whether Snakemake has a record of what a result was made with, and compares it.

    Raises
    ------
    NarxbenchError
        One line: what differs, and how to go on.
    """
    record = read_record(plan)
    if record is not None and record.made_with == [now] and not record.code_changed:
        return
    given = set(plan.given())
    made = dict.fromkeys([*plan.results(), plan.manifest])
    here = [path for path in made if path not in given and os.path.exists(path)]
    if not here:
        return
    remedy = f"repeat the command with --forceall, which makes all anew, or delete {plan.data} and {plan.reports}"
    if record is None:
        if not all(map(knows, here)):
            found = f"found results, but no record of the settings and code that they were made with, {_path(plan)}"
            raise NarxbenchError(f"{found}; {remedy}")
        return
    if record.code_changed:
        found = f"found results of a run during which code was changed ({some(record.code_changed, 'files')})"
        raise NarxbenchError(f"{_path(plan)}: {found}; {remedy}")
    latest = record.made_with[0]
    unlike = next((former for former in record.made_with if _differing(former, now, _SETTINGS, _CODE)), None)
    if unlike is not None and not all(map(knows, here)):
        found = (
            f"found results of other settings or code ({_told(unlike, now)}), of which Snakemake has lost its record"
        )
        raise NarxbenchError(f"{_path(plan)}: {found}; {remedy}, or go back to those settings and that code")
    written = os.stat(_path(plan)).st_mtime_ns
    for name in _differing(latest, now, _FILES):
        path = name.removeprefix(_FILES)
        if os.path.exists(path) and os.stat(path).st_mtime_ns < written:
            found = "another content than the results here were made with, and an older time, which hides it"
            raise NarxbenchError(f"{path}: found {found}; touch the file, and repeat the command")


def stamps(plan: StudyPlan) -> Stamps:
    """Return time, size and place of every file of code that a step of the study may execute."""
    own = (PACKAGE.rglob("*.py"), TEMPLATES.rglob("*"), SCRIPTS.glob("*.py"))
    found = {}
    for path in dict.fromkeys([*(path for paths in own for path in paths), *plan.code_files()]):
        if path.is_file():
            # The time of the change, which no program can set back.
            told = path.stat()
            found[os.path.relpath(path)] = (told.st_ctime_ns, told.st_size, told.st_ino)
    return found


def changed(before: Stamps, after: Stamps) -> list[str]:
    """Return the files that were written, made or deleted between two times."""
    return [path for path in sorted({**before, **after}) if before.get(path) != after.get(path)]


def _path(plan: StudyPlan) -> str:
    return f"{plan.data}/{RECORD}"


def _differing(former: Mapping[str, str], now: Mapping[str, str], *kinds: str) -> list[str]:
    """Return the names of some kinds whose values differ, or that only one of the two has."""
    names = dict.fromkeys([*former, *now])
    return [name for name in names if name.startswith(kinds) and former.get(name) != now.get(name)]


def _told(former: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return how two origins differ: settings with both values, and the steps whose code differs."""
    settings = [
        f"{name.removeprefix(_SETTINGS)}: made with {show(former.get(name, 'nothing'), kind=False)}, "
        f"now {show(now.get(name, 'nothing'), kind=False)}"
        for name in _differing(former, now, _SETTINGS)
    ]
    steps = [name.removeprefix(_CODE) for name in _differing(former, now, _CODE)]
    parts = [some(settings, "settings")] if settings else []
    return "; ".join([*parts, f"the code of {some(steps, 'steps')}"] if steps else parts)
