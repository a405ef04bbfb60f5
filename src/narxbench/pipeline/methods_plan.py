"""A comparison of methods as files: the scores of each problem, ranks, the leaderboard and the answer."""

from collections import defaultdict
from itertools import chain
from typing import Any

from narxbench.algorithms.registry import algorithm
from narxbench.pipeline.plan import REFERENCE
from narxbench.pipeline.simulated_plan import SimulatedPlan
from narxbench.studies.methods.settings import MethodsStudy
from narxbench.study.settings import Condition, Method


class MethodsPlan(SimulatedPlan):
    """What all methods found on a problem is summed up together."""

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
        # The conditions of each problem: what its scores are made of.
        self._compared = defaultdict[str, list[Condition]](list)
        for condition in self.all_conditions:
            self._compared[self._summed(condition)].append(condition)
        self.scoring_code = {
            problem: self.code("score", criterion=conditions[0].criterion)
            for problem, conditions in self._compared.items()
        }
        # Of each method with a process of its own a run that is made again: on the last problem of the study, of the
        # first job, which has the most runs, the last, as those before it could have left it notes.
        alone = {c.method: c.name for c in self.conditions if not algorithm(c.algorithm).in_process}
        self._repeated = {m: (name, next(iter(self.blocks[name].values()))[-1]) for m, name in alone.items()}
        self.page_files = {
            **self.frames,
            "system_files": self.system_files,
            "cost": f"{REFERENCE}/methods/cost.csv",  # CPU time of the methods, measured by hand: benchmarks/methods.py
            "repeats": [f"{self.data}/repeats/{method}.json" for method in self._repeated],
        }

    def _summed(self, condition: Condition) -> str:
        return f"{condition.problem.name}/{condition.criterion}"

    def ranking(self) -> dict[str, Any]:
        """Return the parameters of the ranking: of its intervals, and what systems are shown together."""
        situations = {name: of.systems for name, of in self.study.situations.items()}
        return {**self.study.statistics.model_dump(exclude={"threshold"}), "situations": situations}

    def compared(self, problem: str) -> dict[str, list[str]]:
        """Return the run files of all methods on a problem, and its data set."""
        names = [condition.name for condition in self._compared[problem]]
        return {"runs": list(chain(*(self.run_files[name] for name in names))), "data": self.data_files(names[0])}

    def repeated(self, method: str) -> dict[str, Any]:
        """Return the run file of the run that is made again, its data set, and what makes it."""
        name, seed = self._repeated[method]
        made = {"seed": seed, "run": self.runs[name], "code": self.code_of("repeat", name)}
        return {"run": self.run_files[name][0], "data": self.data_files(name, [seed]), "repeat": made}

    def scoring(self, problem: str) -> dict[str, Any]:
        """Return the parameters of the scores of a problem besides its data set, and the code of its algorithms."""
        found = self._compared[problem]
        first = found[0].problem
        return {
            "runs": {c.method: [*map(self.at, self.run_files[c.name])] for c in found},
            "problem": found[0].key.model_dump(exclude={"method"}),
            "methods": {
                c.method: {
                    "algorithm": c.algorithm,
                    "settings": dict(c.settings),
                    "evaluations": c.evaluations,
                    "seeds": self.seeds[c.name],
                    **_about(c, "deterministic", "stops_early", "minimises"),
                }
                for c in found
            },
            "system": first.simulation["system"],
            "structure": first.structure,
            "held_out": first.held_out,
            "fresh": {name: first.simulation["data"][name] for name in ("washout", "excitation")},
        }

    def about_methods(self) -> dict[str, dict[str, Any]]:
        """Return what the leaderboard says of each method of the study."""
        return {
            name: {
                **_about(method, "reference", "deterministic", "needs_objective", "minimises"),
                "algorithm": method.algorithm,
                "description": algorithm(method.algorithm).document.partition("\n\n")[0],
                "settings": method.settings.model_dump(mode="json"),
            }
            for name, method in self.study.methods.items()
        }


def _about(method: Condition | Method, *what: str) -> dict[str, Any]:
    return {each: getattr(algorithm(method.algorithm).about, each) for each in what}
