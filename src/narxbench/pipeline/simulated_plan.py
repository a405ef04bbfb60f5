"""A study of simulated systems as files and jobs: data sets, runs, and what sums the runs of a condition up."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, ClassVar

from narxbench.algorithms.registry import algorithm
from narxbench.io.errors import NarxbenchError, show
from narxbench.io.resources import refuse
from narxbench.model.system import SYSTEMS_FOLDER, load_system
from narxbench.pipeline.estimate import study_estimate
from narxbench.pipeline.plan import BASE, DESIGN_CHOICES, HERE, MAIN_STUDY, ROOT, StudyPlan
from narxbench.studies.loading import load_study
from narxbench.study.design_choices import load_design_choices
from narxbench.study.layers import COMMAND_LINE, Layers, read_layers
from narxbench.study.settings import Condition, Problem, Study

# Of the command line, and no setting: to plan tables and pages of the conditions that are complete.
_FINISHED = "finished_only"


class SimulatedPlan(StudyPlan):
    """The files and jobs of a study of simulated systems; its kinds say what is made of the summaries."""

    study: Study
    # The step that sums up what runs have found, and the folder of its results.
    summing: ClassVar[tuple[str, str]] = ("summarise", "conditions")
    # What the analysis makes, and the pages besides the main one.
    frame_names: ClassVar[str]
    other_pages: ClassVar[str] = ""
    # Tables and figures by format; what else is made to be read; what pages and document are made of, by name.
    tables: Mapping[str, list[str]] = {}
    figures: Mapping[str, list[str]] = {}
    documents: list[str]
    page_files: dict[str, Any]
    read: Mapping[str, str] = {}

    def __init__(self, layers: Layers = ()) -> None:
        self.choices = load_design_choices(DESIGN_CHOICES)
        left_out: dict[str, str] = {}
        own = [each for each in layers if each[0] == COMMAND_LINE and _FINISHED in each[1]]
        others = [each for each in layers if each not in own]
        study = load_study([*read_layers([BASE]), *others], choices=self.choices, left_out=left_out)
        super().__init__(study, left_out, own[-1][1][_FINISHED] if own else False)
        if not isinstance(self.finished_only, bool):
            found = show(self.finished_only, kind=False)
            raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found {found}; allowed: true or false")
        self.systems = {name: load_system(name) for name in study.all_systems}
        self.estimate = study_estimate(self)
        refuse(self.estimate)
        self.all_conditions = list(study.conditions(self.choices, self.systems))
        self.by_name = {condition.name: condition for condition in self.all_conditions}
        # The seeds that share a job and a run file, by the file's name; a method that draws nothing is run once.
        algorithms = {method.algorithm for method in study.methods.values()}
        drawn, once = _in_blocks(study.seeds, study.seeds_per_job), _in_blocks(study.seeds[:1], 1)
        of_algorithm = {name: once if algorithm(name).about.deterministic else drawn for name in algorithms}
        self.blocks = {c.name: of_algorithm[c.algorithm] for c in self.all_conditions}
        self.seeds = {name: list(chain(*blocks.values())) for name, blocks in self.blocks.items()}
        runs = f"{self.data}/runs"
        self.run_files = {name: [f"{runs}/{name}/{each}.json" for each in of] for name, of in self.blocks.items()}
        # Parameters of jobs: of each data set, and of the runs of each condition.
        problems = {c.problem.name: c.problem for c in self.all_conditions}.values()
        drawn_for = [(p, seed) for p in problems for seed in (study.seeds if p.realisations else (None,))]
        self.simulations = {_data_set(p, seed): {**p.simulation, "realisation": seed} for p, seed in drawn_for}
        inputs = ((name, simulation["data"]["excitation"]) for name, simulation in self.simulations.items())
        self.recorded = {name: [each["file"]] if "file" in each else [] for name, each in inputs}
        self.runs = {c.name: {**_method(c), "time_limit": study.time_limit} for c in self.all_conditions}
        self._name_files()
        # What the results are made of is asked for by no rule where summaries stand for the runs.
        searched = dict.fromkeys((c.algorithm, c.criterion) for c in self.all_conditions)
        for script, (name, criterion) in product(("search", self.summing[0]), searched):
            self.code(script, name, criterion)

    def _name_files(self) -> None:
        self.conditions = [c for c in self.all_conditions if not self.finished_only or self._is_finished(c)]
        if not self.conditions:
            raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found no complete condition; repeat it without")
        self.summaries = list(dict.fromkeys(map(self.summary_file, self.conditions)))
        self.sources = [(self.summary_file(c), self.data_files(c.name)) for c in self.conditions]
        self.sources += [(self.summary_file(c), self.run_files[c.name]) for c in self.conditions]
        self.page = "reports/report.html" if self.study.study == MAIN_STUDY else f"{self.reports}/report.html"
        self.pages = [self.page, *(f"{self.reports}/{page}.html" for page in self.other_pages.split())]
        self.system_files = [HERE + os.path.relpath(SYSTEMS_FOLDER / f"{name}.yaml", ROOT) for name in self.systems]
        self.frames = {name: f"{self.data}/frames/{name}.csv" for name in self.frame_names.split()}
        self._declare()
        shown = chain(*self.tables.values(), *self.figures.values(), self.documents, self.pages)
        self.from_summaries = [*self.summaries, *self.frames.values(), *shown]
        read = [[each] if isinstance(each, str) else each for each in (*self.page_files.values(), *self.read.values())]
        known = dict.fromkeys(chain(*self.recorded.values(), self.system_files, [DESIGN_CHOICES], *read))
        self.given = [path for path in known if not path.startswith((f"{self.data}/", f"{self.reports}/"))]

    def _declare(self) -> None:
        raise NotImplementedError  # sets what is made of the summaries, and what of it the repository keeps

    def _summed(self, condition: Condition) -> str:
        # What is summed up together: the condition, or its problem.
        return condition.name

    def _is_finished(self, condition: Condition) -> bool:
        # Where runs have failed, a summary may be one of earlier runs.
        return all(map(os.path.exists, [self.summary_file(condition), *self.run_files[condition.name]]))

    def _in_forms(self, folder: str, names: Iterable[str], *forms: str) -> dict[str, list[str]]:
        return {form: [f"{self.reports}/{folder}/{name}.{form}" for name in names] for form in forms}

    def data_files(self, condition: str, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the data set of a condition, or those of the seeds where each has its own."""
        problem = self.by_name[condition].problem
        wanted = (seeds or self.seeds[condition]) if problem.realisations else (None,)
        return [f"{self.data}/problems/{_data_set(problem, seed)}.csv" for seed in wanted]

    def summary_file(self, condition: Condition) -> str:
        """Return the file that sums a condition up, its own or that of its problem."""
        return f"{self.data}/{self.summing[1]}/{self._summed(condition)}.json"

    def search(self, condition: str, block: str) -> dict[str, Any]:
        """Return all parameters of a job of runs: its seeds, what it runs, and the digest of the code."""
        run = self.runs[condition]  # which the jobs of a condition share
        return {"seeds": self.blocks[condition][block], "run": run, "code": self.code_of("search", condition)}

    def code_of(self, script: str, name: str) -> str:
        """Return a digest of the code that a script depends on which is run for a condition."""
        condition = self.by_name[name]
        return self.code(script, condition.algorithm, condition.criterion)

    def summary(self, condition: str) -> dict[str, Any]:
        """Return the parameters of the summary of a condition besides files and seeds."""
        wanted = {name: value for name, value in self.runs[condition].items() if name not in ("axes", "time_limit")}
        system = self.by_name[condition].problem.simulation["system"]
        return {**wanted, "system": system, "threshold": self.study.statistics.threshold}


def _method(condition: Condition) -> dict[str, Any]:
    return {
        "condition": condition.key.model_dump(exclude_defaults=True),
        "structure": condition.problem.structure,
        "algorithm": condition.algorithm,
        "settings": dict(condition.settings),
        "evaluations": condition.evaluations,
        "axes": condition.problem.axes,
    }


def _in_blocks(seeds: list[int], size: int) -> dict[str, list[int]]:
    blocks = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    return {f"seed-{b[0]}" if len(b) == 1 else f"seeds-{b[0]}-to-{b[-1]}": b for b in blocks}


def _data_set(problem: Problem, realisation: int | None) -> str:
    return problem.name if realisation is None else f"{problem.name}/realisation-{realisation}"
