"""Runs made again: whether an algorithm that has a process of its own gives the same run in a fresh one.

So draws from clocks, process numbers or the system are noticed, and notes that runs leave each other. The files hold a
time, so they differ from one rebuild to the next, and are in no manifest.
"""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from narxbench.algorithms.search import prepared
from narxbench.io.errors import NarxbenchError, printable, show
from narxbench.io.files import StrPath, canonical_json
from narxbench.io.settings import Settings, read_result
from narxbench.study.condition import ConditionKey
from narxbench.study.runs import RunRecord, one_run, read_run_file


class _RepeatFile(Settings):
    condition: ConditionKey
    seed: int
    difference: str
    """The first difference in words; empty if there is none."""
    cpu_seconds: float | None
    """User and system time of the process of the run; null if the run has failed."""


class Repeat(NamedTuple):
    """What a run that was made again says of its method."""

    same: bool
    reason: str
    """The first difference in words; empty if there is none."""
    cpu_seconds: float | None
    """CPU time of the run in its own process, without evaluations; None if it has failed."""


def repeat(path: str, data: str, *, seed: int, run: Mapping[str, Any]) -> str:
    """Make a run of a run file again in a fresh process and return the text of the file that says what came of it."""
    file = read_run_file(path)
    earlier = next((each for each in file.runs if each.seed == seed), None)
    if earlier is None:
        raise NarxbenchError(f"{path}: runs: found none of seed {seed}; delete it and run again")
    made = {name: value for name, value in run.items() if name not in ("algorithm", "settings")}
    with prepared(run["algorithm"], run["settings"]) as runner:
        again, _, seconds = one_run(runner, data, seed=seed, **made)
    content = _RepeatFile(
        condition=file.condition, seed=seed, difference=_difference(earlier, again), cpu_seconds=seconds
    )
    return canonical_json(content.model_dump(mode="json", exclude_unset=True))


def _difference(earlier: RunRecord, again: RunRecord) -> str:
    """Return the first difference of two runs in words."""
    if earlier.failure == again.failure:
        histories = ([*zip(run.history.evaluations, run.history.fitness, strict=True)] for run in (again, earlier))
        for i, (here, there) in enumerate(zip_longest(*histories), 1):
            if here != there:
                found, had = (f"J = {e[1]!r} after {e[0]} evaluations" if e else "none" for e in (here, there))
                return f"improvement {i}: found {found}; at first {had}"
    for name in ("failure", *RunRecord.model_fields):
        here, there = getattr(again, name), getattr(earlier, name)
        if here != there:
            found, had = (show(value, kind=False) if value else "none" for value in (here, there))
            return f"{name}: found {found}; at first {had}"
    return ""


def read_repeats(paths: Iterable[StrPath]) -> dict[str, Repeat]:
    """Return what runs that were made again say, by method."""
    found = {}
    for path in paths:
        file = read_result(_RepeatFile, path, "repeated run")
        found[file.condition.method] = Repeat(not file.difference, printable(file.difference, 300), file.cpu_seconds)
    return found
