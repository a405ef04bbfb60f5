"""A study of simulated systems as files and jobs: data sets, runs, and what sums the runs of a condition up."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, product
from typing import Any, ClassVar

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.interpretations import load_design_choices
from narxbench.experiment.layers import COMMAND_LINE, Layers, read_layers
from narxbench.experiment.study import Condition, Problem, Study
from narxbench.experiment.study_settings import load_study
from narxbench.io.errors import NarxbenchError, show
from narxbench.model.excitation import RecordedInput
from narxbench.model.system import SYSTEMS_FOLDER, load_system
from narxbench.pipeline.estimate import Use, refuse, study_estimate
from narxbench.pipeline.plan import BASE, DESIGN_CHOICES, HERE, MAIN_STUDY, ROOT, StudyPlan

_FINISHED = "finished_only"


class SimulatedPlan(StudyPlan):
    """The files and jobs of a study of simulated systems; its kinds say what is made of the summaries.

    Parameters
    ----------
    layers : sequence of (str, mapping)
        What is merged over the paper's study. ``finished_only=true`` of the command line is no setting of the study: it
        plans tables and pages of the conditions that are complete.
    """

    per_algorithm: ClassVar[Sequence[str]] = ("search", "summarise")
    """Steps that depend on the code of an algorithm."""
    summing: ClassVar[tuple[str, str]] = ("summarise", "conditions")
    """The step that sums up what runs have found, and the folder of its results."""
    frame_names: ClassVar[str]
    """What the analysis makes."""
    figure_names: ClassVar[str] = ""
    other_pages: ClassVar[str] = ""
    """The pages besides the main one."""

    def __init__(self, layers: Layers = ()) -> None:
        self.choices = load_design_choices(DESIGN_CHOICES)
        left_out: dict[str, str] = {}
        own = [each for each in layers if each[0] == COMMAND_LINE and _FINISHED in each[1]]
        others = [each for each in layers if each not in own]
        self.study: Study
        super().__init__(load_study([*read_layers([BASE]), *others], choices=self.choices, left_out=left_out))
        self.left_out = left_out
        self.finished_only = own[-1][1][_FINISHED] if own else False
        if not isinstance(self.finished_only, bool):
            found = show(self.finished_only, kind=False)
            raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found {found}; allowed: true or false")
        self.algorithms = {method.algorithm for method in self.study.methods.values()}
        self.systems = {name: load_system(name) for name in self.study.all_systems}
        self.estimate = study_estimate(self)
        refuse(self.estimate)
        self.all_conditions = list(self.study.conditions(self.choices, self.systems))
        self.by_name = {condition.name: condition for condition in self.all_conditions}
        # The seeds that share a job and a run file, by the file's name; a method that draws nothing is run, and counts,
        # once.
        seeds = self.study.seeds
        drawn, once = _in_blocks(seeds, self.study.seeds_per_job), _in_blocks(seeds[:1], 1)
        of_algorithm = {name: once if algorithm(name).about.deterministic else drawn for name in self.algorithms}
        self.blocks = {c.name: of_algorithm[c.algorithm] for c in self.all_conditions}
        self.page = "reports/report.html" if self.study.study == MAIN_STUDY else f"{self.reports}/report.html"
        self.pages = [self.page, *(f"{self.reports}/{page}.html" for page in self.other_pages.split())]
        self.conditions = [c for c in self.all_conditions if not self.finished_only or self._finished(c)]
        if not self.conditions:
            problem = f"{_FINISHED}: found no complete condition; repeat the command without it"
            raise NarxbenchError(f"{COMMAND_LINE}: {problem}")
        self.summaries = list(dict.fromkeys(map(self.summary_file, self.conditions)))
        # What the results are made of is asked for by no rule where summaries stand for the runs.
        for script, name in product(self.per_algorithm, self.algorithms):
            self._code(script, name)

    # What a kind of study says of itself

    @abstractmethod
    def documents(self) -> list[str]:
        """Return what is made to be read, besides tables, figures and pages."""

    @abstractmethod
    def page_files(self) -> dict[str, Any]:
        """Return what the pages are made of, by name."""

    @property
    def table_names(self) -> list[str]:
        """The tables of the study."""
        return []

    def further_uses(self) -> list[Use]:
        """Return the memory of a step that is no search, where it may be much."""
        return []

    def summed(self, condition: Condition) -> str:
        """Return the name of what is summed up together: the condition, or its problem."""
        return condition.name

    # Names of files

    def seeds(self, condition: str) -> list[int]:
        """Return the seeds of a condition."""
        return list(chain(*self.blocks[condition].values()))

    @cached_property
    def data_sets(self) -> dict[str, tuple[Problem, int | None]]:
        """Problem and realisation of each data set by its name."""
        problems = {c.problem.name: c.problem for c in self.all_conditions}.values()
        return {
            _data_set(problem, seed): (problem, seed)
            for problem in problems
            for seed in (self.study.seeds if problem.realisations else (None,))
        }

    def data_files(self, condition: str, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the data set of a condition, or those of the seeds where each has its own."""
        problem = self.by_name[condition].problem
        wanted = (seeds or self.seeds(condition)) if problem.realisations else (None,)
        return [f"{self.data}/problems/{_data_set(problem, seed)}.csv" for seed in wanted]

    def run_files(self, condition: str) -> list[str]:
        """Return the run files of a condition in the order of the seeds."""
        return [f"{self.data}/runs/{condition}/{block}.json" for block in self.blocks[condition]]

    def summary_file(self, condition: Condition) -> str:
        """Return the file that sums a condition up, its own or that of its problem."""
        return f"{self.data}/{self.summing[1]}/{self.summed(condition)}.json"

    def frames(self, *names: str) -> dict[str, str]:
        """Return some frames of the analysis by name, or all."""
        return {name: f"{self.data}/frames/{name}.csv" for name in names or self.frame_names.split()}

    def table_files(self, *forms: str) -> list[str]:
        """Return the tables of the study in some formats."""
        return [f"{self.reports}/tables/{name}.{form}" for form in forms for name in self.table_names]

    def figure_files(self, *forms: str) -> list[str]:
        """Return the figures of the study in some formats."""
        return [f"{self.reports}/figures/{name}.{form}" for form in forms for name in self.figure_names.split()]

    def system_files(self) -> list[str]:
        """Return the files that describe the systems."""
        return [HERE + os.path.relpath(SYSTEMS_FOLDER / f"{name}.yaml", ROOT) for name in self.study.all_systems]

    def recorded_input(self, data_set: str) -> list[str]:
        """Return the file of a recorded excitation, as a list that is empty for the generated ones."""
        excitation = self.data_sets[data_set][0].data.excitation
        return [excitation.file] if isinstance(excitation, RecordedInput) else []

    def sources(self, summed_only: bool = False) -> list[str]:
        """Return the data sets and the runs, or those of the conditions that have a summary."""
        found = [c for c in self.conditions if not summed_only or os.path.exists(self.at(self.summary_file(c)))]
        data = dict.fromkeys(path for condition in found for path in self.data_files(condition.name))
        return [*data, *(path for condition in found for path in self.run_files(condition.name))]

    def from_summaries(self) -> list[str]:
        """Return the summaries, which stand for the data sets and runs that they are made of, and all that comes after.

        A job with all runs as its inputs costs Snakemake a time that grows with the square of their number.
        """
        tables, figures = self.table_files("csv", "md", "tex"), self.figure_files("pdf", "svg")
        return [*self.summaries, *self.frames().values(), *tables, *figures, *self.documents(), *self.pages]

    def given(self) -> list[str]:
        """Return the files of the repository, and the recorded inputs, that steps read."""
        known = [path for name in self.data_sets for path in self.recorded_input(name)]
        for files in self.page_files().values():
            known += [files] if isinstance(files, str) else files
        own = (f"{self.data}/", f"{self.reports}/")
        return [path for path in dict.fromkeys(known) if not path.startswith(own)]

    def _finished(self, condition: Condition) -> bool:
        # Where runs have failed, a summary may be one of earlier runs.
        return all(map(os.path.exists, [self.summary_file(condition), *self.run_files(condition.name)]))

    def timing_logs(self) -> dict[str, list[str]]:
        """Return the logs of the steps that compute, by step."""
        runs = [f"{c.name}/{block}" for c in self.conditions for block in self.blocks[c.name]]
        names = {"simulate": self.data_sets, "search": runs, self.summing[0]: map(self.summed, self.conditions)}
        return {
            step: [f"{self.logs}/{step}/{name}.log" for name in dict.fromkeys(each)] for step, each in names.items()
        }

    # Code and parameters of jobs

    def code(self, script: str, condition: str | None = None) -> str:
        """Return a digest of all code that a script depends on, the algorithm of a condition included."""
        return self._code(script, None if condition is None else self.by_name[condition].algorithm)

    def definitions(self) -> dict[str, Any]:
        """Return the systems and the design choices."""
        systems = {f"systems/{name}": system.definition() for name, system in self.systems.items()}
        return {**systems, "design choices": self.choices.model_dump(mode="json")}

    def simulation(self, data_set: str) -> dict[str, Any]:
        """Return the parameters of a simulation."""
        problem, realisation = self.data_sets[data_set]
        return {**problem.simulation, "realisation": realisation}

    @cached_property
    def _runs(self) -> dict[str, dict[str, Any]]:
        # The jobs of a condition, one for each seed, share their parameters.
        limit = self.study.time_limit
        return {c.name: {**_method(c), "axes": c.problem.axes, "time_limit": limit} for c in self.all_conditions}

    def search(self, condition: str, block: str) -> dict[str, Any]:
        """Return all parameters of a job of runs: its seeds, what it runs, and the digest of the code."""
        seeds = self.blocks[condition][block]
        return {"seeds": seeds, "run": self._runs[condition], "code": self.code("search", condition)}

    def summary(self, condition: str) -> dict[str, Any]:
        """Return the parameters of the summary of a condition besides files and seeds."""
        found = self.by_name[condition]
        system = found.problem.simulation["system"]
        return {**_method(found), "system": system, "threshold": self.study.statistics.threshold}


def _method(condition: Condition) -> dict[str, Any]:
    return {
        "condition": condition.key.model_dump(exclude_defaults=True),
        "structure": condition.problem.structure,
        "algorithm": condition.algorithm,
        "settings": dict(condition.settings),
        "evaluations": condition.evaluations,
    }


def _in_blocks(seeds: list[int], size: int) -> dict[str, list[int]]:
    blocks = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    return {f"seed-{b[0]}" if len(b) == 1 else f"seeds-{b[0]}-to-{b[-1]}": b for b in blocks}


def _data_set(problem: Problem, realisation: int | None) -> str:
    return problem.name if realisation is None else f"{problem.name}/realisation-{realisation}"
