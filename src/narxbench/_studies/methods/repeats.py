"""Runs that are repeated: whether an algorithm that has a separate process gives the same run in a fresh one.

This reveals draws from clocks, process numbers or the system, and notes from one run to the next. The files hold a
time, so they differ from one rebuild to the next and are in no manifest.
"""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from narxbench._algorithms.search import prepared
from narxbench._io.errors import NarxbenchError, show
from narxbench._io.files import StrPath, canonical_json, read_bytes, sha256
from narxbench._io.settings import Settings, read_result
from narxbench._study.condition import ConditionKey
from narxbench._study.runs import Run, one_run, read_run_file


class Repeat(Settings):
    """The outcome of a repeated run."""

    condition: ConditionKey
    difference: str
    """The first difference in words, or "" if there is none."""
    cpu_seconds: float | None
    """User and system time of the process of the run, without evaluations; null if the run has failed."""


def repeat(path: str, data: str, *, seed: int, run: Mapping[str, Any]) -> str:
    """Repeat a run of a run file in a fresh process, and return the text of the file with the outcome."""
    file = read_run_file(path)
    earlier = next((recorded for recorded in file.runs if recorded.seed == seed), None)
    if earlier is None:
        raise NarxbenchError(f"{path}: runs: found none of seed {seed}; delete it and run again")
    if file.condition != ConditionKey(**run["condition"]):
        raise NarxbenchError(f"{path}: its runs are of another condition; delete it and run again")
    if earlier.data_sha256 != sha256(read_bytes(data)):
        raise NarxbenchError(f"{path}: its runs are of another data set; delete it and run again")
    arguments = {name: value for name, value in run.items() if name not in ("algorithm", "settings")}
    with prepared(run["algorithm"], run["settings"]) as runner:
        again, _, seconds = one_run(runner, data, seed=seed, **arguments)
    content = Repeat(condition=file.condition, difference=_difference(earlier, again), cpu_seconds=seconds)
    return canonical_json(content.model_dump(mode="json", exclude_unset=True))


def _difference(earlier: Run, again: Run) -> str:
    """Return the first difference between two runs in words, or "" if there is none."""
    if earlier.failure == again.failure:
        improvements = zip_longest(_improvements(again), _improvements(earlier), fillvalue="none")
        for number, (here, there) in enumerate(improvements, start=1):
            if here != there:
                return f"improvement {number}: found {here}; at first {there}"
    for name in ("failure", *Run.model_fields):
        here, there = getattr(again, name), getattr(earlier, name)
        if here != there:
            return f"{name}: found {_shown(here)}; at first {_shown(there)}"
    return ""


def _improvements(run: Run) -> list[str]:
    """Return the improvements of a run in words, which tell any two values of J apart."""
    history = zip(run.history_evaluations, run.history_fitness, strict=True)
    return [f"J = {fitness!r} after {evaluations} evaluations" for evaluations, fitness in history]


def _shown(value: Any) -> str:
    return show(value, kind=False) if value else "none"


def read_repeats(paths: Iterable[StrPath]) -> dict[str, Repeat]:
    """Return the outcomes of repeated runs by method."""
    repeats = {}
    for path in paths:
        outcome = read_result(Repeat, path, "repeated run")
        repeats[outcome.condition.method] = outcome
    return repeats
