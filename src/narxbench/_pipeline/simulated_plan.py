"""A study of simulated systems as files and jobs: data sets, runs, and the summary of the runs of a condition."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, ClassVar

from narxbench._algorithms.registry import algorithm
from narxbench._io.errors import NarxbenchError, show
from narxbench._io.resources import refuse
from narxbench._model.system import SYSTEMS_FOLDER, load_system
from narxbench._pipeline.estimate import study_estimate
from narxbench._pipeline.plan import BASE, DESIGN_CHOICES, HERE, MAIN_STUDY, ROOT, StudyPlan, files_in
from narxbench._studies.loading import load_study
from narxbench._study.design_choices import load_design_choices
from narxbench._study.layers import COMMAND_LINE, Layers, read_layers
from narxbench._study.settings import Condition, Problem, Study

# A word of the command line, and no setting: it plans tables and pages of the conditions that are complete.
_FINISHED = "finished_only"


class SimulatedPlan(StudyPlan):
    """The files and jobs of a study of simulated systems; its kinds say what is made of the summaries."""

    study: Study
    # The step that sums up the results of runs, and the folder of its results.
    summing: ClassVar[tuple[str, str]] = ("summarise", "conditions")
    # The frames of the analysis, and the pages besides the main one.
    frame_names: ClassVar[str]
    other_pages: ClassVar[str] = ""
    # Tables and figures by format, and other documents for readers.
    tables: Mapping[str, list[str]] = {}
    figures: Mapping[str, list[str]] = {}
    documents: list[str]
    # The files behind the pages and behind the document on interpretations, by name.
    page_files: dict[str, Any]
    document_files: Mapping[str, str] = {}

    def __init__(self, layers: Layers = ()) -> None:
        self.choices = load_design_choices(DESIGN_CHOICES)
        left_out: dict[str, str] = {}
        finished_only, study_layers = _without_finished_only(layers)
        study = load_study([*read_layers([BASE]), *study_layers], choices=self.choices, left_out=left_out)
        super().__init__(study, left_out, finished_only)
        self.systems = {name: load_system(name) for name in study.all_systems}
        self.estimate = study_estimate(self)
        refuse(self.estimate)
        self.all_conditions = list(study.conditions(self.choices, self.systems))
        self._plan_runs()
        self._plan_data_sets()
        self._name_files()
        # No rule asks for the code behind the results where summaries stand for the runs.
        searched = dict.fromkeys((condition.algorithm, condition.criterion) for condition in self.all_conditions)
        for script, (name, criterion) in product(("search", self.summing[0]), searched):
            self.code(script, name, criterion)

    def _plan_runs(self) -> None:
        """Set for each condition its seeds, those that share a job and a run file, and the parameters of its runs."""
        blocks = _in_blocks(self.study.seeds, self.study.seeds_per_job)
        single_block = _in_blocks(self.study.seeds[:1], 1)
        self.by_name: dict[str, Condition] = {}
        self.blocks: dict[str, dict[str, list[int]]] = {}  # by condition and the name of the run file
        self.seeds: dict[str, list[int]] = {}
        self.run_files: dict[str, list[str]] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        for condition in self.all_conditions:
            name, is_deterministic = condition.name, algorithm(condition.algorithm).about.deterministic
            self.by_name[name] = condition
            # A method that draws nothing is run once.
            self.blocks[name] = single_block if is_deterministic else blocks
            self.seeds[name] = list(chain(*self.blocks[name].values()))
            self.run_files[name] = files_in(f"{self.data}/runs/{name}", self.blocks[name], "json")
            self.runs[name] = {**_method(condition), "time_limit": self.study.time_limit}

    def _plan_data_sets(self) -> None:
        """Set for each data set the parameters of its simulation and the recorded input that it reads."""
        self.simulations: dict[str, dict[str, Any]] = {}
        self.recorded: dict[str, list[str]] = {}
        problems: dict[str, Problem] = {}
        for condition in self.all_conditions:
            problems[condition.problem.name] = condition.problem
        for problem in problems.values():
            recorded_file = problem.data.excitation.recorded_file
            for realisation in _realisations(problem, self.study.seeds):
                name = _data_set(problem, realisation)
                self.simulations[name] = {**problem.simulation, "realisation": realisation}
                self.recorded[name] = [recorded_file] if recorded_file else []

    def _name_files(self) -> None:
        """Set the files of the study, from the summaries of its conditions on."""
        self.conditions = self.all_conditions
        if self.finished_only:
            self.conditions = list(filter(self._is_finished, self.all_conditions))
        if not self.conditions:
            raise NarxbenchError(f"{COMMAND_LINE}: {_FINISHED}: found no complete condition; repeat it without")
        self.summaries = list(dict.fromkeys(map(self.summary_file, self.conditions)))
        self.sources = self._sources()
        self.page = f"{self.reports}/report.html"
        if self.study.study == MAIN_STUDY:
            self.page = "reports/report.html"
        self.pages = [self.page, *files_in(self.reports, self.other_pages.split(), "html")]
        self.system_files = files_in(HERE + os.path.relpath(SYSTEMS_FOLDER, ROOT), self.systems, "yaml")
        frame_names = self.frame_names.split()
        self.frames = dict(zip(frame_names, files_in(f"{self.data}/frames", frame_names, "csv"), strict=True))
        self._declare()
        for_readers = chain(*self.tables.values(), *self.figures.values(), self.documents, self.pages)
        self.from_summaries = [*self.summaries, *self.frames.values(), *for_readers]
        self.input_files = self._files_that_no_step_makes()

    def _sources(self) -> list[tuple[str, list[str]]]:
        """Return the summary of each condition with the data sets, then with the runs, that it stands for."""
        data_sources, run_sources = [], []
        for condition in self.conditions:
            summary = self.summary_file(condition)
            data_sources.append((summary, self.data_files(condition.name)))
            run_sources.append((summary, self.run_files[condition.name]))
        return data_sources + run_sources

    def _files_that_no_step_makes(self) -> list[str]:
        """Return the recorded inputs, the files of systems and others that steps read and no step makes."""
        files = [*chain(*self.recorded.values()), *self.system_files, DESIGN_CHOICES]
        for value in (*self.page_files.values(), *self.document_files.values()):
            files += [value] if isinstance(value, str) else value
        results = (f"{self.data}/", f"{self.reports}/")
        return [path for path in dict.fromkeys(files) if not path.startswith(results)]

    def _declare(self) -> None:
        """Set what is made of the summaries, and which of it the repository keeps."""
        raise NotImplementedError

    def _summed(self, condition: Condition) -> str:
        """Return the name of what is summed up together: the condition, or its problem."""
        return condition.name

    def _is_finished(self, condition: Condition) -> bool:
        """Return whether summary and runs exist; where runs have failed, a summary may be one of earlier runs."""
        return all(map(os.path.exists, [self.summary_file(condition), *self.run_files[condition.name]]))

    def _in_forms(self, folder: str, names: Iterable[str], *forms: str) -> dict[str, list[str]]:
        """Return the files of tables or figures by their form."""
        names = list(names)
        return {form: files_in(f"{self.reports}/{folder}", names, form) for form in forms}

    def data_files(self, condition: str, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the data set of a condition, or those of the seeds where each has its own."""
        problem = self.by_name[condition].problem
        realisations = _realisations(problem, seeds or self.seeds[condition])
        names = [_data_set(problem, realisation) for realisation in realisations]
        return files_in(f"{self.data}/problems", names, "csv")

    def summary_file(self, condition: Condition) -> str:
        """Return the summary of a condition, or that of its problem."""
        return f"{self.data}/{self.summing[1]}/{self._summed(condition)}.json"

    def search(self, condition: str, block: str) -> dict[str, Any]:
        """Return all parameters of a job of runs: its seeds, those that all jobs share, and the digest of the code."""
        return {
            "seeds": self.blocks[condition][block],
            "run": self.runs[condition],
            "code": self.code_of("search", condition),
        }

    def code_of(self, script: str, condition: str) -> str:
        """Return a digest of all code that a script depends on when it is run for a condition."""
        algorithm_name, criterion = self.by_name[condition].algorithm, self.by_name[condition].criterion
        return self.code(script, algorithm_name, criterion)

    def summary(self, condition: str) -> dict[str, Any]:
        """Return the parameters of the summary of a condition besides files and seeds."""
        parameters = dict(self.runs[condition])
        del parameters["axes"], parameters["time_limit"]
        system = self.by_name[condition].problem.simulation["system"]
        return {**parameters, "system": system, "threshold": self.study.statistics.threshold}


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


def _method(condition: Condition) -> dict[str, Any]:
    """Return the parameters of the runs of a condition that do not depend on the seed."""
    return {
        "condition": condition.key.model_dump(exclude_defaults=True),
        "structure": condition.problem.structure,
        "algorithm": condition.algorithm,
        "settings": dict(condition.settings),
        "evaluations": condition.evaluations,
        "axes": condition.problem.axes,
    }


def _in_blocks(seeds: list[int], size: int) -> dict[str, list[int]]:
    """Return the seeds in blocks of one size, each by the name of its run file."""
    blocks = {}
    for start in range(0, len(seeds), size):
        block = seeds[start : start + size]
        name = f"seed-{block[0]}"
        if len(block) > 1:
            name = f"seeds-{block[0]}-to-{block[-1]}"
        blocks[name] = block
    return blocks


def _realisations(problem: Problem, seeds: Sequence[int]) -> Sequence[int | None]:
    """Return the realisations of a problem's data for some seeds; None for the one that all share."""
    return seeds if problem.realisations else (None,)


def _data_set(problem: Problem, realisation: int | None) -> str:
    """Return the name of the data set of a problem, or of one of its realisations."""
    return problem.name if realisation is None else f"{problem.name}/realisation-{realisation}"
