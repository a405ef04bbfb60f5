"""A comparison of methods as files: the scores of each problem, ranks, the leaderboard and the answer."""

from collections import defaultdict
from itertools import chain
from typing import Any

from narxbench._algorithms.registry import algorithm
from narxbench._pipeline.plan import REFERENCE, files_in
from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._studies.methods.settings import MethodsStudy
from narxbench._study.settings import Condition, Method


class MethodsPlan(SimulatedPlan):
    """The files and jobs of a comparison: the results of all methods on a problem are summed up together."""

    study: MethodsStudy
    rules = ("data", "search", "methods")
    summing = ("score", "scores")
    frame_names = "scores ranking tests pairs ecdf systems"

    def _declare(self) -> None:
        tables = ["leaderboard", "search", "differences", "situations", "systems"]
        self.tables = self._in_forms("tables", tables, "csv", "md", "tex")
        self.figures = self._in_forms("figures", ["recovery_cost", "ecdf", "situations"], "svg")
        self.documents = [f"{self.reports}/answer.md"]
        frames = [self.frames["ranking"], self.frames["systems"]]
        self.kept_results = [*self.documents, *self.tables["md"], *self.figures["svg"], *frames]
        # The conditions of each problem, from which its scores follow.
        self._compared = defaultdict[str, list[Condition]](list)
        for condition in self.all_conditions:
            self._compared[self._summed(condition)].append(condition)
        self.scoring_code = {
            problem: self.code("score", criterion=conditions[0].criterion)
            for problem, conditions in self._compared.items()
        }
        # For each method with a process of its own, condition and seed of a run that is made again: on the last problem
        # of the study, the last run of the first job, which has the most runs: those before it could have left it
        # notes.
        self._repeated: dict[str, tuple[str, int]] = {}
        for condition in self.conditions:
            if not algorithm(condition.algorithm).in_process:
                first_block = next(iter(self.blocks[condition.name].values()))
                self._repeated[condition.method] = condition.name, first_block[-1]
        self.page_files = {
            **self.frames,
            "system_files": self.system_files,
            "cost": f"{REFERENCE}/methods/cost.csv",  # CPU time of the methods, measured by hand: benchmarks/methods.py
            "repeats": files_in(f"{self.data}/repeats", self._repeated, "json"),
        }

    def _summed(self, condition: Condition) -> str:
        return f"{condition.problem.name}/{condition.criterion}"

    def ranking(self) -> dict[str, Any]:
        """Return the parameters of the ranking: those of its intervals, and the systems that are shown together."""
        situations = {name: situation.systems for name, situation in self.study.situations.items()}
        return {**self.study.statistics.model_dump(exclude={"threshold"}), "situations": situations}

    def compared(self, problem: str) -> dict[str, list[str]]:
        """Return the run files of all methods on a problem, and its data set."""
        names = [condition.name for condition in self._compared[problem]]
        run_files = chain.from_iterable(map(self.run_files.__getitem__, names))
        return {"runs": list(run_files), "data": self.data_files(names[0])}

    def repeated(self, method: str) -> dict[str, Any]:
        """Return the run file of the run that is made again, its data set, and its parameters."""
        name, seed = self._repeated[method]
        repeat = {"seed": seed, "run": self.runs[name], "code": self.code_of("repeat", name)}
        return {"run": self.run_files[name][0], "data": self.data_files(name, [seed]), "repeat": repeat}

    def scoring(self, problem: str) -> dict[str, Any]:
        """Return the parameters of the scores of a problem besides its data set."""
        conditions = self._compared[problem]
        run_files, methods = {}, {}
        for condition in conditions:
            run_files[condition.method] = [*map(self.at, self.run_files[condition.name])]
            methods[condition.method] = {
                "algorithm": condition.algorithm,
                "settings": dict(condition.settings),
                "evaluations": condition.evaluations,
                "seeds": self.seeds[condition.name],
                **_about(condition, "deterministic", "stops_early", "minimises"),
            }
        first = conditions[0]
        simulation = first.problem.simulation
        return {
            "runs": run_files,
            "problem": first.key.model_dump(exclude={"method"}),
            "methods": methods,
            "system": simulation["system"],
            "structure": first.problem.structure,
            "held_out": first.problem.held_out,
            "fresh": {"washout": simulation["data"]["washout"], "excitation": simulation["data"]["excitation"]},
        }

    def about_methods(self) -> dict[str, dict[str, Any]]:
        """Return the description of each method of the study for the leaderboard."""
        descriptions = {}
        for name, method in self.study.methods.items():
            descriptions[name] = {
                **_about(method, "reference", "deterministic", "needs_objective", "minimises"),
                "algorithm": method.algorithm,
                "description": algorithm(method.algorithm).document.partition("\n\n")[0],
                "settings": method.settings.model_dump(mode="json"),
                "settings_by": method.settings_by,
                "settings_source": method.settings_source,
            }
        return descriptions


def _about(method: Condition | Method, *fields: str) -> dict[str, Any]:
    """Return some of the facts that the algorithm of a method declares."""
    about = algorithm(method.algorithm).about
    return {field: getattr(about, field) for field in fields}
