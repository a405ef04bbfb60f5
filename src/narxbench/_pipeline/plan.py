"""A study as the rules need it: which jobs there are, and what each of them is made with besides its input files.

The rules in ``workflow/rules`` say what is made of what, with literal paths. A plan answers what they cannot know: the
combinations of wildcards that the settings mean, and the settings of one combination, which are parameters of its step.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from narxbench._algorithms.registry import algorithm
from narxbench._io.errors import NarxbenchError, did_you_mean, show
from narxbench._io.files import StrPath
from narxbench._io.settings import flattened
from narxbench._model.system import load_system
from narxbench._pipeline.code import PACKAGE, versions_of_study
from narxbench._pipeline.estimate import search_needs, study_estimate
from narxbench._pipeline.manifest import SETTINGS, VERSIONS
from narxbench._pipeline.steps import ended_in_one_line
from narxbench._studies.loading import load_study
from narxbench._study.design_choices import load_design_choices
from narxbench._study.layers import COMMAND_LINE, Layers, read_layers
from narxbench._study.settings import Condition, Problem

ROOT = PACKAGE.resolve().parents[1]
# Where one works in the project's folder, names of its files are relative. A workflow elsewhere finds them here.
HERE = "" if Path.cwd() == ROOT else f"{ROOT}/"
BASE = f"{HERE}config/paper.yaml"
DESIGN_CHOICES = f"{HERE}config/design_choices.yaml"
REFERENCE = f"{HERE}data/reference"
# The study whose page is the main one of the project.
MAIN_STUDY = "paper"
# The source of settings that Snakemake's ``config`` has, from wherever it has them.
CONFIG = "config"
# A word of the command line, and no setting: it plans tables and pages of the conditions that are complete.
_FINISHED = "finished_only"
# Memory of a process that searches, in MB, with room for what no estimate sees, and minutes that every job is given.
_PROCESS_MB, _LEAST_MINUTES = 1000, 60
# The estimate of a run's time is good to a factor of three, and nodes differ.
_TIME_MARGIN = 10

Entry = TypeVar("Entry")
# The input function of a rule.
PathsOf = Callable[[Any], list[str]]


class Plan:
    """Answers to the rules about one study."""

    def __init__(self, layers: Layers = ()) -> None:
        self.left_out: dict[str, str] = {}  # methods that cannot be used here, each with the reason
        self._finished_only, study_layers = _without_finished_only(layers)
        choices = load_design_choices(DESIGN_CHOICES)
        self.study = load_study([*read_layers([BASE]), *study_layers], choices=choices, left_out=self.left_out)
        self.name = self.study.study
        self.settings: dict[str, Any] = self.study.model_dump(mode="json")
        systems = {name: load_system(name) for name in self.study.all_systems}
        self.systems = [*systems]
        # By their names, which the wildcards make.
        self.conditions = {condition.name: condition for condition in self.study.conditions(choices, systems)}
        self.problems = {condition.problem.name: condition.problem for condition in self.conditions.values()}
        self.estimate = study_estimate(self.study, [*self.conditions.values()])
        self.estimate.refuse()
        self._runs: dict[str, dict[str, Any]] = {}
        self._plan_blocks()
        self.jobs: list[dict[str, str]] = []  # the wildcards of each job of runs
        for condition in self.conditions.values():
            wildcards = self.wildcards(condition)
            self.jobs += [{**wildcards, "seeds": block} for block in self._blocks[condition.method]]

    # The combinations.

    def _plan_blocks(self) -> None:
        """Set the seeds of each block of runs by its name, and the blocks and the needs of each method."""
        blocks = _in_blocks(self.study.seeds, self.study.seeds_per_job)
        first = _in_blocks(self.study.seeds[:1], 1)
        self._seeds = blocks | first
        self._blocks: dict[str, list[str]] = {}
        self._needs: dict[str, tuple[float, float]] = {}  # seconds of a run and bytes of a method
        for condition in self.conditions.values():
            # A method that draws nothing is run once.
            is_deterministic = algorithm(condition.algorithm).about.deterministic
            self._blocks[condition.method] = list(first if is_deterministic else blocks)
            seconds, size = search_needs(condition, self.study.time_limit)
            most_seconds, most_size = self._needs.get(condition.method, (0.0, 0.0))
            self._needs[condition.method] = max(seconds, most_seconds), max(size, most_size)

    def wildcards(self, condition: Condition) -> dict[str, str]:
        """Return the wildcards of a condition, without its seeds."""
        scenario, data_seed, system, snr = condition.problem.name.split("/")
        return {
            "study": self.name,
            "scenario": scenario,
            "data_seed": data_seed,
            "system": system,
            "snr": snr,
            "method": condition.method,
            "criterion": condition.criterion,
        }

    def keep_finished(self, *patterns: str) -> None:
        """Keep the conditions for whose jobs the files of all patterns exist, where only these are asked for."""
        if not self._finished_only:
            return
        unfinished = set()
        for row in self.jobs:
            if not all(os.path.exists(pattern.format_map(row)) for pattern in patterns):
                unfinished.add(_condition_of(row))
        self.jobs = [row for row in self.jobs if _condition_of(row) not in unfinished]
        if not self.jobs:
            with ended_in_one_line():
                raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found no complete condition; repeat it without")

    def blocks(self, method: str) -> list[str]:
        """Return the names of the blocks of seeds that a method is run with."""
        return self.entry(self._blocks, method)

    def block(self, name: str) -> list[int]:
        """Return the seeds of a block."""
        return self.entry(self._seeds, name)

    def seeds(self, wildcards: Any, method: str = "") -> list[int]:
        """Return the seeds of a job of runs, or all of a method, by default the method of the wildcards."""
        block = getattr(wildcards, "seeds", None)
        if block is not None:
            return self.block(block)
        return list(chain.from_iterable(map(self.block, self.blocks(method or wildcards.method))))

    def data_sets(self, pattern: str) -> str | PathsOf:
        """Return the input for the data sets of runs: one for all, or one for each seed.

        It is a path with wildcards where that says it: Snakemake takes a fifth of a millisecond to call a function.
        """
        if all(problem.data.realisation == "shared" for problem in self.problems.values()):
            return f"{pattern}.csv"

        def paths(wildcards: Any) -> list[str]:
            path = pattern.format_map(dict(wildcards.items()))
            return data_files(path, self.problem(wildcards), self.seeds(wildcards))

        return paths

    # What a step is made with.

    def problem(self, wildcards: Any) -> Problem:
        """Return the problem that wildcards name."""
        return self.entry(self.problems, _problem_of(wildcards))

    def run(self, wildcards: Any, method: str = "") -> dict[str, Any]:
        """Return the parameters of :func:`narxbench._study.runs.run_seeds` that do not depend on the seed.

        ``method`` replaces the method of the wildcards.
        """
        name = f"{_problem_of(wildcards)}/{method or wildcards.method}/{wildcards.criterion}"
        if name not in self._runs:
            condition: Condition = self.entry(self.conditions, name)
            self._runs[name] = {
                "condition": condition.key.model_dump(exclude_defaults=True),
                "structure": condition.problem.structure,
                "axes": condition.problem.axes,
                "algorithm": condition.algorithm,
                "settings": dict(condition.settings),
                "evaluations": condition.evaluations,
                "time_limit": self.study.time_limit,
            }
        return self._runs[name]

    @property
    def made_with(self) -> dict[str, str]:
        """Settings as text, and the versions of all packages that make a result."""
        algorithms = {condition.algorithm for condition in self.conditions.values()}
        parts = {SETTINGS: dict(flattened(self.settings)), VERSIONS: versions_of_study(*sorted(algorithms))}
        made_with = {}
        for prefix, values in parts.items():
            for name, value in values.items():
                made_with[prefix + name] = value
        return made_with

    # Resources of a cluster job.

    def memory_mb(self, method: str) -> int:
        """Return the megabytes that a search of a method may take."""
        return _PROCESS_MB + ceil(self._needs[method][1] / 1e6)

    @property
    def minutes(self) -> int:
        """The minutes that a job of runs may take."""
        slowest = max(seconds for seconds, _ in self._needs.values())
        return max(_LEAST_MINUTES, ceil(self.study.seeds_per_job * slowest * _TIME_MARGIN / 60))

    def entry(self, entries: Mapping[str, Entry], name: str) -> Entry:
        """Return what a target asks for by a name, or end the process with one line without such a name."""
        if name not in entries:
            with ended_in_one_line():
                raise NarxbenchError(f"{name}: not in the study {self.name}{did_you_mean(name, entries)}")
        return entries[name]


def plan_of(
    overlays: Sequence[StrPath] = (),
    command_line: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of the study that Snakemake's ``config`` sets.

    Those of its settings that come from ``--configfile`` and ``--config`` are read from there: Snakemake's reader takes
    a key twice and ``1:30`` for 90, and does not say where a mistake is.
    """
    return Plan([(CONFIG, config or {}), *read_layers([*map(os.path.relpath, overlays)], command_line)])


def data_files(path: str, problem: Problem, seeds: Sequence[int]) -> list[str]:
    """Return the data sets that runs with some seeds see. ``path`` has no suffix."""
    if problem.data.realisation == "shared":
        return [f"{path}.csv"]
    return [f"{path}/realisation-{problem.realisation(seed)}.csv" for seed in seeds]


def _problem_of(wildcards: Any) -> str:
    """Return the name of the problem that wildcards name."""
    return f"{wildcards.scenario}/{wildcards.data_seed}/{wildcards.system}/{wildcards.snr}"


def _condition_of(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return what tells the condition of a job from others: all wildcards but the seeds."""
    return tuple(value for name, value in row.items() if name != "seeds")


def _without_finished_only(layers: Layers) -> tuple[bool, list[tuple[str, Mapping[str, Any]]]]:
    """Return whether the command line asks for finished conditions only, and the layers without this word."""
    requests: list[tuple[str, Any]] = [("", False)]
    study_layers = []
    for source, layer in layers:
        if source in (COMMAND_LINE, CONFIG) and _FINISHED in layer:
            requests.append((source, layer[_FINISHED]))
            layer = {name: value for name, value in layer.items() if name != _FINISHED}
        study_layers.append((source, layer))
    # The last word counts, as in all settings.
    source, finished_only = requests[-1]
    if not isinstance(finished_only, bool):
        text = f"found {show(finished_only, kind=False)}; allowed: true or false"
        raise NarxbenchError(f"{source}: {_FINISHED}: {text}")
    return finished_only, study_layers


def _in_blocks(seeds: Sequence[int], size: int) -> dict[str, list[int]]:
    """Return the seeds in blocks of one size, each by the name of its run file."""
    blocks = {}
    for start in range(0, len(seeds), size):
        block = list(seeds[start : start + size])
        name = f"seed-{block[0]}"
        if len(block) > 1:
            name = f"seeds-{block[0]}-to-{block[-1]}"
        blocks[name] = block
    return blocks
