"""A study of simulated systems: the matrix of its runs, and the definitions of its problems and methods."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

from narxbench._algorithms.registry import algorithm
from narxbench._io.errors import NarxbenchError, show
from narxbench._io.files import read_bytes, read_json, sha256
from narxbench._model.system import SYSTEMS_FOLDER, load_system
from narxbench._pipeline.data_sets import changed_data, changed_data_sets, check_data_sets
from narxbench._pipeline.estimate import search_needs, study_estimate
from narxbench._pipeline.manifest import check_settings
from narxbench._pipeline.matrix import Matrix, Row
from narxbench._pipeline.plan import BASE, DESIGN_CHOICES, HERE, ROOT, PathsOf, Sources, StudyPlan
from narxbench._pipeline.seals import changed_runs, changed_since_summed_up, check_run_files
from narxbench._pipeline.steps import ended_in_one_line
from narxbench._studies.loading import load_study
from narxbench._study.design_choices import load_design_choices
from narxbench._study.layers import COMMAND_LINE, Layers, read_layers
from narxbench._study.settings import Condition, Problem, Study

# A word of the command line, and no setting: it plans tables and pages of the conditions that are complete.
_FINISHED = "finished_only"
# Memory of a process that searches, in MB, and the least that is asked for; minutes that every job is given.
_PROCESS_MB, _LEAST_MB, _LEAST_MINUTES = 300, 1000, 60
# The estimate of a run's time is good to a factor of three; nodes differ, too.
_TIME_MARGIN = 10
# The reason of a failed run in the text of a summary.
_FAILURE = re.compile(rb'"failure":"[^"]')


class SimulatedPlan(StudyPlan):
    """Answers to the rules about a study of simulated systems; its kinds say what is made of the summaries."""

    study: Study

    def __init__(self, layers: Layers = ()) -> None:
        self.choices = load_design_choices(DESIGN_CHOICES)
        left_out: dict[str, str] = {}
        finished_only, study_layers = _without_finished_only(layers)
        study = load_study([*read_layers([BASE]), *study_layers], choices=self.choices, left_out=left_out)
        super().__init__(study, left_out, finished_only)
        self.systems = {name: load_system(name) for name in study.all_systems}
        self.conditions = list(study.conditions(self.choices, self.systems))
        self.estimate = study_estimate(study, self.conditions)
        self.estimate.refuse()
        folder = HERE + os.path.relpath(SYSTEMS_FOLDER, ROOT)
        self.system_files = [f"{folder}/{name}.yaml" for name in self.systems]
        self._plan_blocks()
        self._define_problems()
        self._define_methods()
        self.matrix = Matrix(self._rows())

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

    def method_path(self, condition: Condition) -> str:
        """Return the path of the definition of a condition's method below the study's folder."""
        return "methods/{scenario}/{method}/{criterion}".format_map(self.wildcards(condition))

    # The combinations.

    def _plan_blocks(self) -> None:
        """Set the seeds of each block of runs by its name, and the blocks of each method."""
        blocks = _in_blocks(self.study.seeds, self.study.seeds_per_job)
        first = _in_blocks(self.study.seeds[:1], 1)
        self.blocks = blocks | first
        self.blocks_of: dict[str, list[str]] = {}
        self.needs: dict[str, tuple[float, float]] = {}  # seconds of a run and bytes of a method
        for condition in self.conditions:
            # A method that draws nothing is run once.
            is_deterministic = algorithm(condition.algorithm).about.deterministic
            self.blocks_of[condition.method] = list(first if is_deterministic else blocks)
            seconds, size = search_needs(condition, self.study.time_limit)
            most_seconds, most_size = self.needs.get(condition.method, (0.0, 0.0))
            self.needs[condition.method] = max(seconds, most_seconds), max(size, most_size)

    def _rows(self) -> Iterator[Row]:
        """Yield the wildcards of each job of runs."""
        for condition in self.conditions:
            wildcards = self.wildcards(condition)
            for block in self.blocks_of[condition.method]:
                yield {**wildcards, "seeds": block}

    def seeds_of(self, wildcards: Any) -> list[int]:
        """Return the seeds of a job of runs, or all of a method."""
        if "seeds" in wildcards.keys():  # noqa: SIM118 - the wildcards of a job are no mapping
            return self.entry(self.blocks, wildcards["seeds"])
        blocks = self.entry(self.blocks_of, wildcards["method"])
        return list(chain.from_iterable(map(self.blocks.__getitem__, blocks)))

    def keep_finished(self, *patterns: str) -> None:
        """Keep the conditions whose files exist, where only these are asked for."""
        if self.finished_only:
            self.matrix = self.matrix.finished(*patterns)
            if not self.matrix.rows:
                with ended_in_one_line():
                    raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found no complete condition; repeat it without")

    # The definitions.

    def _define_problems(self) -> None:
        """Define each problem: its simulation, and the terms and samples that a search of it has."""
        self._problems_with_realisations: dict[str, Problem] = {}
        self._recorded: dict[str, str] = {}
        problems: dict[str, Problem] = {}
        for condition in self.conditions:
            problems[condition.problem.name] = condition.problem
        for name, problem in problems.items():
            path = f"data/{self.name}/problems/{name}"
            simulation, structure = problem.simulation, problem.structure
            settings = {
                "scenario": problem.scenario,
                "axes": problem.axes,
                "held_out": problem.held_out,
                "simulation": simulation,
                "candidates": {key: structure[key] for key in ("n_u", "n_y", "degree", "n_validation")},
            }
            recorded = []
            if problem.data.excitation.recorded_file:
                recorded = [problem.data.excitation.recorded_file]
                self._recorded[path] = recorded[0]
            if problem.data.realisation != "shared":
                self._problems_with_realisations[path] = problem
            self.define(f"problems/{name}", "simulate", settings=settings, files=recorded)

    def _define_methods(self) -> None:
        """Define each method under a criterion: algorithm, settings, budget, and how the fitness is computed."""
        conditions: dict[str, Condition] = {}
        for condition in self.conditions:
            conditions.setdefault(self.method_path(condition), condition)
        for path, condition in conditions.items():
            settings = {
                "interpretation": condition.interpretation,
                "method": condition.method,
                "criterion": condition.criterion,
                "algorithm": condition.algorithm,
                "settings": dict(condition.settings),
                "evaluations": condition.evaluations,
                "time_limit": self.study.time_limit,
                "fitness": condition.problem.fitness.model_dump(mode="json"),
            }
            names = {"algorithm_name": condition.algorithm, "criterion": condition.criterion}
            self.define(path, "search", settings=settings, **names)

    # Input functions of the rules.

    def recorded(self, pattern: str, wildcards: Any) -> list[str]:
        """Return the recorded input that the simulation of a problem reads, if it reads one."""
        path = self._recorded.get(pattern.format_map(self.values(wildcards)))
        return [] if path is None else [path]

    def data_sets(self, pattern: str) -> str | PathsOf:
        """Return the input for the data sets of runs: one for all, or one for each seed.

        It is a path with wildcards where that says it: Snakemake takes a fifth of a millisecond to call a function.
        """
        if not self._problems_with_realisations:
            return f"{pattern}.csv"
        return self._data_sets_of_seeds(pattern)

    def _data_sets_of_seeds(self, pattern: str) -> PathsOf:
        """Return the input function for the data sets of runs."""

        def paths(wildcards: Any) -> list[str]:
            path = pattern.format_map(self.values(wildcards))
            problem = self._problems_with_realisations.get(path)
            if problem is None:
                return [f"{path}.csv"]
            return [f"{path}/realisation-{problem.realisation(seed)}.csv" for seed in self.seeds_of(wildcards)]

        return paths

    def runs(self, pattern: str) -> PathsOf:
        """Return the input function for all run files of a condition."""

        def paths(wildcards: Any) -> list[str]:
            values = self.values(wildcards)
            blocks = self.entry(self.blocks_of, values["method"])
            return [pattern.format_map({**values, "seeds": block}) for block in blocks]

        return paths

    def sources(self, summary: str, problem: str, runs: str) -> list[tuple[str, list[str]]]:
        """Return each summary with the data sets, then each with the runs, that it stands for.

        A job with all runs as its inputs costs Snakemake a time that grows with the square of their number.
        """
        data_files: dict[str, dict[str, None]] = {}
        run_files: dict[str, dict[str, None]] = {}
        data_sets = self._data_sets_of_seeds(problem)
        for row in self.matrix.rows:
            path = summary.format_map(row)
            data_files.setdefault(path, {}).update(dict.fromkeys(data_sets(row)))
            run_files.setdefault(path, {})[runs.format_map(row)] = None
        return [(path, [*files]) for path, files in (*data_files.items(), *run_files.items())]

    # Resources of a cluster job.

    def memory_mb(self, method: str) -> int:
        """Return the megabytes that a search of a method may take."""
        return max(_LEAST_MB, _PROCESS_MB + ceil(self.needs[method][1] / 1e6))

    def minutes(self) -> int:
        """Return the minutes that a job of runs may take."""
        slowest = max(seconds for seconds, _ in self.needs.values())
        return max(_LEAST_MINUTES, ceil(self.study.seeds_per_job * slowest * _TIME_MARGIN / 60))

    def check_sources(self, sources: Sources) -> None:
        """Raise NarxbenchError if a data set or a run file was changed after it was summed up."""
        data_sets: dict[str, None] = {}
        runs: list[str] = []
        for summary, files in sources:
            data_sets |= dict.fromkeys(changed_data_sets(self.at(summary), self._defined_data(files)))
            runs += changed_runs(self.at(summary), self._seeds_by_file(files))
        # Runs are compared with their data sets: these come first.
        if data_sets:
            raise changed_data([*data_sets])
        if runs:
            raise changed_since_summed_up(runs)

    def to_verify(self, sources: Sources, results: Sequence[str]) -> list[str]:
        """Return the files that are made before the comparison: all if the repository has reference results of them."""
        with ended_in_one_line():
            reference = self.reference()
            is_own = reference == self.at(f"reports/{self.name}/manifest.csv")
            if not is_own:
                return [*self.definitions(), *self.lost(sources), *results]
            if os.path.exists(reference) or not self.has_results(sources):
                check_settings(reference, self.made_with)
        return []

    def has_results(self, sources: Sources) -> bool:
        """Return whether there is a run file, or a data set."""
        return any(os.path.exists(self.at(path)) for _, files in sources for path in files)

    def check_results(self, sources: Sources) -> str:
        """Return how many data sets and run files are what the digests say that others name, whatever their dates.

        Data sets are compared with their definitions, run files with their seals, their data sets and their summaries.
        NarxbenchError names the first that differs.
        """
        digests: dict[str, str] = {}  # of each data set
        n_runs = 0
        data_files: dict[str, list[str]] = {}  # of each summary
        for summary, files in sources:
            definitions = self._defined_data(files)
            data_files.setdefault(summary, []).extend(definitions)
            for path, definition in definitions.items():
                # Without its definition it is of other settings, and will be made again.
                if path not in digests and os.path.exists(path) and os.path.exists(definition):
                    check_data_sets([path], definition)
                    digests[path] = sha256(read_bytes(path))
            if digests.keys() >= {*data_files[summary]}:
                of_summary = {digests[path] for path in data_files[summary]}
                n_runs += check_run_files(self.at(summary), self._seeds_by_file(files), of_summary)
        return f"{len(digests)} data sets and {n_runs} run files are what their definitions, seals and summaries say."

    def former_results(self) -> str:
        """Return a folder with runs of an earlier version, whose paths had no data seed; "" if there is none."""
        for folder in sorted(Path(self.at(f"data/{self.name}/runs")).glob("*/*/")):
            if not folder.name.startswith("data-"):
                return str(folder.parent)
        return ""

    def failures(self, sources: Sources) -> list[str]:
        """Return the reason of each run that has failed, by the summaries that there are."""
        reasons = []
        for summary in dict.fromkeys(summary for summary, _ in sources):
            path = self.at(summary)
            # Most have none, which their text says sooner than their content.
            if os.path.exists(path) and _FAILURE.search(read_bytes(path)):
                reasons += self.failures_in(read_json(path))
        return reasons

    def failures_in(self, summary: Mapping[str, Any]) -> list[str]:
        """Return the reasons of the failed runs in the content of a summary."""
        return [failure["failure"] for failure in summary.get("failures", ())]

    def _defined_data(self, files: Sequence[str]) -> dict[str, str]:
        """Return the definition of each data set among the files of a summary; both where they lie."""
        definitions = {}
        for path in files:
            if path.endswith(".csv"):
                problem = path.removesuffix(".csv")
                if problem not in self._files:  # it is that of one realisation
                    problem = os.path.dirname(path)
                definitions[self.at(path)] = self.at(self._files[problem])
        return definitions

    def _seeds_by_file(self, files: Sequence[str]) -> dict[str, list[int]]:
        """Return the seeds of each run file among the files of a summary, where it lies."""
        return {self.at(path): self.blocks[Path(path).stem] for path in files if path.endswith(".json")}


def _without_finished_only(layers: Layers) -> tuple[bool, list[tuple[str, Mapping[str, Any]]]]:
    """Return whether the command line asks for finished conditions only, and the layers without this word."""
    finished_only: Any = False
    study_layers = []
    for source, layer in layers:
        if source == COMMAND_LINE and _FINISHED in layer:
            finished_only = layer[_FINISHED]
        else:
            study_layers.append((source, layer))
    if not isinstance(finished_only, bool):
        text = f"found {show(finished_only, kind=False)}; allowed: true or false"
        raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: {text}")
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
