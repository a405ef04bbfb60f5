"""A study as files and jobs: what the rules ask for their inputs, outputs and parameters."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.interpretations import load_design_choices
from narxbench.experiment.study import Condition, Problem, conditions
from narxbench.experiment.study_settings import COMMAND_LINE, Study, load_study
from narxbench.io.errors import NarxbenchError
from narxbench.model.excitation import RecordedInput
from narxbench.model.system import SYSTEMS_FOLDER, System, load_system
from narxbench.pipeline.code import digest_of
from narxbench.pipeline.estimate import Estimate, refuse, study_estimate
from narxbench.pipeline.manifest import check_settings

BASE = "config/paper.yaml"
DESIGN_CHOICES = "config/design_choices.yaml"
# The study whose page is the door to all others.
DOOR = "paper"
REFERENCE = "data/reference"
SCRIPTS = Path("scripts")
# CPU time of the methods, measured by hand: benchmarks/methods.py.
COST = f"{REFERENCE}/methods/cost.csv"

# Who wrote what, and where it is to be had.
ABOUT = "CITATION.cff"

# What the analysis of each kind of study makes.
FRAMES = {
    "paper": "conditions metrics selection convergence recovery comparisons run_length budget gaps agreement_values "
    "agreement claims",
    "interpretations": "conditions",
    "methods": "scores reach ranking tests pairs ecdf systems exceptions",
}
TABLES = "agreement claims method_comparison recovery gaps test_systems method_settings"
RANKING_TABLES = "leaderboard systems pairs exceptions"
_FORMS = ("csv", "md", "tex")
FIGURES = {"paper": ("convergence", "term_frequency"), "methods": ("critical_difference", "ecdf", "recovery")}
# What the pages tell of the interpretations, as frames.
OVERVIEWS = "nearness claim_overview role_verdicts found effects_overview"
INTERPRETATION_FILES = (
    *(f"{name}.svg" for name in ("recovery", "published_reproduced", "claims", "effects", "ranking", "gaps")),
    *(f"{name}.csv" for name in OVERVIEWS.split()),
    *(f"{name}.csv" for name in ("deviances", "effects", "claims", "contests", "gaps", "values")),
)
# The pages of a study of the paper's kind beside the main one.
PAGES = "interpretations statistics explorer method provenance"
# Steps that write no result of a study.
_WITHOUT_RESULTS = ("run_info", "screenshot", "update_reference")
# The first screen of the paper's page as a picture.
SCREENSHOT = "docs/images/report.png"


class StudyPlan(ABC):
    """What the rules ask of any study: its folders, its settings, and what is compared with the reference results.

    Parameters
    ----------
    study : Study or MeasuredStudy
        The settings of the study, with its name.
    """

    def __init__(self, study: Any) -> None:
        self.study = study
        name = study.study
        self.data, self.reports, self.logs = f"data/{name}", f"reports/{name}", f"logs/{name}"
        self.run_info = f"{self.reports}/run_info.md"
        self.manifest = f"{self.reports}/manifest.csv"
        self.kept = f"{REFERENCE}/{name}"
        # What it will cost.
        self.estimate: Estimate
        # Whether only results of complete conditions are planned.
        self.finished_only = False
        # Of the code of each step that makes results, as the rules have asked for them.
        self._digests: dict[str, str] = {}

    @abstractmethod
    def results(self) -> list[str]:
        """Return every file that depends on code, settings and versions alone, hence has the same bytes everywhere."""

    @abstractmethod
    def given(self) -> list[str]:
        """Return the files that steps read and no step makes."""

    @abstractmethod
    def algorithms(self) -> list[str]:
        """Return the algorithms that the steps call."""

    @abstractmethod
    def lost(self) -> list[str]:
        """Return the files that are missing beside what stands for them, so that nothing else asks for them."""

    @abstractmethod
    def from_summaries(self) -> list[str]:
        """Return what stands for all results."""

    @property
    def reference(self) -> str:
        """The manifest that results are compared with: that of the repository, or else that of the finished study."""
        kept = f"{self.kept}/manifest.csv"
        return kept if os.path.exists(kept) else self.manifest

    def to_verify(self) -> list[str]:
        """Return what is made before it is compared: all that the repository has reference results of, else nothing.

        Results of other settings end the process before any job.
        """
        try:
            check_settings(self.reference, self.settings())
        except NarxbenchError as mistake:
            sys.exit(f"narxbench: {mistake}")
        return [] if self.reference == self.manifest else [*self.lost(), *self.from_summaries()]

    def settings(self) -> dict[str, Any]:
        """Return all settings of the study as plain data."""
        settings: dict[str, Any] = self.study.model_dump(mode="json")
        return settings

    def definitions(self) -> dict[str, Any]:
        """Return what the settings only name."""
        return {}

    def code_digests(self) -> dict[str, str]:
        """Return a digest of the code of every step that makes results, after the rules have asked for them."""
        return dict(self._digests)

    def code_files(self) -> list[Path]:
        """Return the files of the algorithms, which need not be of this package."""
        return [path for name in self.algorithms() for path in algorithm(name).files]

    def _digest(self, script: str, name: str | None) -> str:
        digest = script_digest(script, name)
        if script not in _WITHOUT_RESULTS:
            self._digests[script if name is None else f"{script} ({name})"] = digest
        return digest


class Plan(StudyPlan):
    """The files and jobs of a study.

    Parameters
    ----------
    overlays : sequence of paths
        Files of ``--configfile``.
    command_line : sequence of str
        ``KEY=VALUE`` of ``--config``. ``finished_only=true`` is no setting of the study: it plans tables and pages of
        the conditions that are complete.

    Raises
    ------
    NarxbenchError
        One line for each mistake in the settings.
    """

    def __init__(self, overlays: Sequence[str | Path] = (), command_line: Sequence[str] = ()) -> None:
        self.files = [BASE, *map(os.path.relpath, overlays)]
        own = "finished_only="
        self.choices = load_design_choices(DESIGN_CHOICES)
        settings = [text for text in command_line if not text.startswith(own)]
        self.left_out: dict[str, str] = {}
        self.study: Study
        super().__init__(load_study(self.files, settings, choices=self.choices, left_out=self.left_out))
        self.finished_only = _flag([text for text in command_line if text.startswith(own)])
        self.systems: dict[str, System] = {name: load_system(name) for name in self.study.systems}
        self.estimate = study_estimate(self.study, self.choices, self.systems)
        refuse(self.estimate)
        self.all_conditions: list[Condition] = conditions(self.study, self.choices, self.systems)
        self.page = "reports/report.html" if self.study.study == DOOR else f"{self.reports}/report.html"
        others = PAGES.split() if self.study.page == "paper" else []
        self.pages = [self.page, *(f"{self.reports}/{page}.html" for page in others)]
        self.answer = f"{self.reports}/answer.md"
        self.conditions = [c for c in self.all_conditions if not self.finished_only or self._finished(c.name)]
        if not self.conditions:
            problem = "finished_only: found no complete condition; repeat the command without it"
            raise NarxbenchError(f"{COMMAND_LINE}: {problem}")

    # Names of files

    def seeds(self, condition: str) -> list[int]:
        """Return the seeds of a condition; a method that draws nothing is run, and counts, once."""
        return self.study.seeds[:1] if self._deterministic(condition) else self.study.seeds

    def _deterministic(self, condition: str) -> bool:
        return algorithm(self.by_name[condition].algorithm).about.deterministic

    def blocks(self, condition: str) -> dict[str, list[int]]:
        """Return the seeds that share a job and a run file, by the file's name."""
        return self._single_block if self._deterministic(condition) else self._blocks

    @cached_property
    def _single_block(self) -> dict[str, list[int]]:
        return _in_blocks(self.study.seeds[:1], 1)

    @cached_property
    def _blocks(self) -> dict[str, list[int]]:
        return _in_blocks(self.study.seeds, self.study.seeds_per_job)

    @cached_property
    def by_name(self) -> dict[str, Condition]:
        """The conditions by name."""
        return {condition.name: condition for condition in self.all_conditions}

    @cached_property
    def data_sets(self) -> dict[str, tuple[Problem, int | None]]:
        """Problem and realisation of each data set by its name."""
        found: dict[str, tuple[Problem, int | None]] = {}
        for problem in {c.problem.name: c.problem for c in self.all_conditions}.values():
            for seed in self.study.seeds if problem.realisations else (None,):
                found[_data_set(problem, seed)] = (problem, seed)
        return found

    def data_files(self, condition: str, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the data set of a condition, or those of the seeds where each has its own."""
        problem = self.by_name[condition].problem
        wanted = (seeds or self.seeds(condition)) if problem.realisations else (None,)
        return [f"{self.data}/problems/{_data_set(problem, seed)}.csv" for seed in wanted]

    def run_files(self, condition: str) -> list[str]:
        """Return the run files of a condition in the order of the seeds."""
        return [f"{self.data}/runs/{condition}/{block}.json" for block in self.blocks(condition)]

    def summaries(self) -> list[str]:
        """Return the summary of every condition; where methods are compared, the scores of every problem."""
        return list(dict.fromkeys(self.summary_file(condition.name) for condition in self.conditions))

    def summary_file(self, condition: str) -> str:
        """Return the file that sums a condition up: its own, or the scores of its problem."""
        if self.study.page != "methods":
            return f"{self.data}/conditions/{condition}.json"
        found = self.by_name[condition]
        return f"{self.data}/scores/{found.problem.name}/{found.criterion}.json"

    @cached_property
    def _compared(self) -> dict[str, list[str]]:
        # The conditions of each problem: what its scores are made of.
        found: dict[str, list[str]] = {}
        for condition in self.all_conditions:
            found.setdefault(f"{condition.problem.name}/{condition.criterion}", []).append(condition.name)
        return found

    def compared_runs(self, problem: str) -> list[str]:
        """Return the run files of all methods on a problem."""
        return [path for name in self._compared[problem] for path in self.run_files(name)]

    def compared_data(self, problem: str) -> list[str]:
        """Return the data set of a problem on which methods are compared."""
        return self.data_files(self._compared[problem][0])

    def frames(self, *names: str) -> dict[str, str]:
        """Return some frames of the analysis by name, or all."""
        return {name: f"{self.data}/frames/{name}.csv" for name in names or FRAMES[self.study.page].split()}

    def table_files(self, *forms: str) -> list[str]:
        """Return the tables of the study in some formats, or in all."""
        names = [f"{kind}_{system}" for kind in ("fitness", "comparison") for system in self.study.systems]
        listed = RANKING_TABLES.split() if self.study.page == "methods" else [*TABLES.split(), *names]
        return [f"{self.reports}/tables/{name}.{form}" for form in forms or _FORMS for name in listed]

    def figure_files(self, *forms: str) -> list[str]:
        """Return the figures of the study in some formats, or in all."""
        names = FIGURES.get(self.study.page, ())
        return [f"{self.reports}/figures/{name}.{form}" for form in forms or ("pdf", "svg") for name in names]

    def interpretation_files(self) -> list[str]:
        """Return what the study of interpretations says: document, figures, tables."""
        others = [f"{self.reports}/interpretations/{name}" for name in INTERPRETATION_FILES]
        return [f"{self.reports}/interpretations.md", *others]

    def page_files(self) -> dict[str, Any]:
        """Return what the pages are made of, by name."""
        document, *others = self.interpretation_files()
        if self.study.page == "methods":
            return {**self.frames(), "system_files": self.system_files(), "cost": COST}
        files: dict[str, Any] = {"document": document, "document_figures": [p for p in others if p.endswith(".svg")]}
        files["about"] = ABOUT
        if self.study.page == "paper":
            files |= {**self.frames(), "summaries": self.summaries(), "system_files": self.system_files()}
            files |= {name: f"{self.reports}/interpretations/{name}.csv" for name in OVERVIEWS.split()}
            files["choices"] = DESIGN_CHOICES
            files |= {"svg": self.figure_files("svg"), "claim_texts": f"{REFERENCE}/claims.yaml"}
            files |= {"errata": "docs/errata.md", "method": "docs/method.md", "citation": f"{REFERENCE}/citation.bib"}
            # Which method to use, as the reference results of the comparison say.
            files |= {"answer": f"{REFERENCE}/methods/answer.md", "reached": f"{REFERENCE}/methods/ecdf.svg"}
        return files

    @property
    def interpretations_frame(self) -> str:
        """The conditions of the study of interpretations: its own, or for other studies those that are kept."""
        if self.study.page == "interpretations":
            return self.frames()["conditions"]
        return f"{REFERENCE}/interpretations/conditions.csv"

    def results(self) -> list[str]:
        """Return the data sets, the runs and every file that is made of them."""
        names = [condition.name for condition in self.conditions]
        data = dict.fromkeys(path for name in names for path in self.data_files(name))
        runs = [path for name in names for path in self.run_files(name)]
        return [*data, *runs, *self.from_summaries()]

    def given(self) -> list[str]:
        """Return the files of the repository, and the recorded inputs, that steps read."""
        known = [*self.contributions(), *(path for name in self.data_sets for path in self.recorded_input(name))]
        if self.study.page != "methods":
            known += [f"{REFERENCE}/{name}" for name in ("published_tables.csv", "system_terms.csv", "claims.yaml")]
            known += [DESIGN_CHOICES, self.interpretations_frame]
        for files in self.page_files().values():
            known += [files] if isinstance(files, str) else files
        own = (f"{self.data}/", f"{self.reports}/")
        return [path for path in dict.fromkeys(known) if not path.startswith(own)]

    def algorithms(self) -> list[str]:
        """Return the algorithms of the methods."""
        return list(dict.fromkeys(method.algorithm for method in self.study.methods.values()))

    def code_digests(self) -> dict[str, str]:
        """Return a digest of the code of every step that makes results; that of the runs is asked for by no rule."""
        for name in self.algorithms():
            for script in ("search", *(["summarise"] if self.study.page != "methods" else [])):
                self._digest(script, name)
        return super().code_digests()

    def definitions(self) -> dict[str, Any]:
        """Return the systems and the design choices."""
        choices = self.choices.model_dump(mode="json")
        return {
            **{f"systems/{name}": system.definition() for name, system in self.systems.items()},
            "design choices": choices,
        }

    def from_summaries(self) -> list[str]:
        """Return the summaries, which stand for the data sets and runs that they are made of, and all that comes after.

        A job with all runs as its inputs costs Snakemake a time that grows with the square of their number.
        """
        frames = self.frames().values()
        shown = [] if self.study.page == "interpretations" else [*self.table_files(), *self.figure_files()]
        others = [self.answer] if self.study.page == "methods" else self.interpretation_files()
        return [*self.summaries(), *frames, *shown, *others, *self.pages]

    def lost(self) -> list[str]:
        """Return the data sets and runs that are missing beside their summary, so that nothing else asks for them."""
        names = [condition.name for condition in self.conditions if os.path.exists(self.summary_file(condition.name))]
        files = dict.fromkeys(path for name in names for path in (*self.data_files(name), *self.run_files(name)))
        return [path for path in files if not os.path.exists(path)]

    def kept_files(self) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with what it is a copy of."""
        if self.study.page == "interpretations":
            made = [self.frames()["conditions"]]
        elif self.study.page == "methods":
            shown = [*self.table_files(), *self.figure_files()]
            made = [self.answer, *(path for path in shown if path.endswith((".md", ".svg")))]
            made += [self.frames()[name] for name in ("ranking", "systems")]
        else:
            shown = [*self.table_files(), *self.figure_files(), *self.interpretation_files()]
            made = [path for path in shown if path.endswith((".md", ".svg"))]
            made += [f"{self.reports}/interpretations/{name}.csv" for name in OVERVIEWS.split()]
            made += [self.frames()[name] for name in ("metrics", "agreement_values")]
        made.append(self.manifest)
        # Without the folders of tables and figures, but with that of the interpretations, which their document names.
        own = f"{self.reports}/interpretations/"
        return {f"{self.kept}/{'interpretations/' * path.startswith(own)}{Path(path).name}": path for path in made}

    def timing_logs(self) -> dict[str, list[str]]:
        """Return the logs of the steps that compute, by step."""
        names = [condition.name for condition in self.conditions]
        return {
            "simulate": [f"{self.logs}/simulate/{name}.log" for name in self.data_sets],
            "search": [f"{self.logs}/search/{name}/{block}.log" for name in names for block in self.blocks(name)],
            **(
                {"score": [f"{self.logs}/score/{problem}.log" for problem in self._compared]}
                if self.study.page == "methods"
                else {"summarise": [f"{self.logs}/summarise/{name}.log" for name in names]}
            ),
        }

    def _finished(self, condition: str) -> bool:
        # Where runs have failed, a summary may be one of earlier runs.
        return all(map(os.path.exists, [self.summary_file(condition), *self.run_files(condition)]))

    # Parameters of jobs

    def scoring(self, problem: str) -> dict[str, Any]:
        """Return the parameters of the scores of a problem beside its data set, and the code of its algorithms."""
        found = [self.by_name[name] for name in self._compared[problem]]
        first = found[0].problem
        methods = {
            c.method: {
                "algorithm": c.algorithm,
                "settings": dict(c.settings),
                "evaluations": c.evaluations,
                "seeds": self.seeds(c.name),
                "deterministic": self._deterministic(c.name),
                "stops_early": algorithm(c.algorithm).about.stops_early,
            }
            for c in found
        }
        return {
            "runs": {c.method: self.run_files(c.name) for c in found},
            "problem": found[0].key.model_dump(exclude={"method"}),
            "methods": methods,
            "system": first.simulation["system"],
            "structure": first.structure,
            "fresh": {name: first.simulation["data"][name] for name in ("washout", "excitation")},
        }

    def contributions(self) -> list[str]:
        """Return the result files of others, which the study of the repository shows beside its own."""
        folder = Path(f"{REFERENCE}/methods/contributed")
        return sorted(map(str, folder.glob("*.json"))) if self.study.study == "methods" else []

    def about_methods(self) -> dict[str, dict[str, Any]]:
        """Return what the leaderboard says of each method of the study."""
        told = {}
        for name, method in self.study.methods.items():
            found = algorithm(method.algorithm)
            told[name] = {
                "algorithm": method.algorithm,
                "description": found.document.partition("\n\n")[0],
                "reference": found.about.reference,
                "deterministic": found.about.deterministic,
                "needs_objective": found.about.needs_objective,
                "settings": method.settings.model_dump(mode="json"),
                "contributed": "",
            }
        return told

    def recorded_input(self, data_set: str) -> list[str]:
        """Return the file of a recorded excitation, as a list that is empty for the generated ones."""
        excitation = self.data_sets[data_set][0].data.excitation
        return [excitation.file] if isinstance(excitation, RecordedInput) else []

    def simulation(self, data_set: str) -> dict[str, Any]:
        """Return the parameters of a simulation."""
        problem, realisation = self.data_sets[data_set]
        return {**problem.simulation, "realisation": realisation}

    @cached_property
    def _runs(self) -> dict[str, dict[str, Any]]:
        # The jobs of a condition, one for each seed, share their parameters.
        limit = {"time_limit": self.study.time_limit}
        return {name: {**self._method(found), "axes": found.axes, **limit} for name, found in self.by_name.items()}

    def search(self, condition: str, block: str) -> dict[str, Any]:
        """Return all parameters of a job of runs: its seeds, what it runs, and the digest of the code."""
        seeds = self.blocks(condition)[block]
        return {"seeds": seeds, "run": self._runs[condition], "code": self.code("search", condition)}

    def summary(self, condition: str) -> dict[str, Any]:
        """Return the parameters of the summary of a condition beside files and seeds."""
        found = self.by_name[condition]
        system = found.problem.simulation["system"]
        return {**self._method(found), "system": system, "threshold": self.study.statistics.threshold}

    def _method(self, condition: Condition) -> dict[str, Any]:
        return {
            "condition": condition.key.model_dump(exclude_defaults=True),
            "structure": condition.problem.structure,
            "algorithm": condition.algorithm,
            "settings": dict(condition.settings),
            "evaluations": condition.evaluations,
        }

    def system_files(self) -> list[str]:
        """Return the files that describe the systems."""
        return [os.path.relpath(SYSTEMS_FOLDER / f"{name}.yaml") for name in self.study.systems]

    def code(self, script: str, condition: str | None = None) -> str:
        """Return a digest of all code that a script depends on, the algorithm of a condition included."""
        return self._digest(script, None if condition is None else self.by_name[condition].algorithm)


@cache
def script_digest(script: str, name: str | None) -> str:
    """Return a digest of all code that a script depends on, that of an algorithm included."""
    modules = [] if name is None else algorithm(name).files
    return digest_of(SCRIPTS / f"{script}.py", *modules)


def _in_blocks(seeds: list[int], size: int) -> dict[str, list[int]]:
    blocks = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    return {f"seed-{b[0]}" if len(b) == 1 else f"seeds-{b[0]}-to-{b[-1]}": b for b in blocks}


def _data_set(problem: Problem, realisation: int | None) -> str:
    return problem.name if realisation is None else f"{problem.name}/realisation-{realisation}"


def _flag(texts: Sequence[str]) -> bool:
    value = texts[-1].partition("=")[2].lower() if texts else "false"
    if value not in ("true", "false"):
        raise NarxbenchError(f"{COMMAND_LINE}: finished_only: found {value!r}; allowed: true or false")
    return value == "true"
