"""A comparison of methods as files: the scores of each problem, ranks, the leaderboard and the answer."""

from collections import defaultdict
from functools import cached_property
from typing import Any

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.kinds.methods import MethodsStudy
from narxbench.experiment.study import Condition, Method
from narxbench.pipeline.estimate import Use
from narxbench.pipeline.plan import REFERENCE
from narxbench.pipeline.simulated import SimulatedPlan

# CPU time of the methods, measured by hand: benchmarks/methods.py.
COST = f"{REFERENCE}/methods/cost.csv"


class MethodsPlan(SimulatedPlan):
    """What all methods found on a problem is summed up together."""

    study: MethodsStudy

    rules = ("data", "search", "methods")
    per_algorithm = ("search",)
    summing = ("score", "scores")
    frame_names = "scores ranking tests pairs ecdf systems"
    figure_names = "recovery_cost ecdf situations"

    @property
    def table_names(self) -> list[str]:
        """The tables of the comparison."""
        return ["leaderboard", "search", "differences", "situations", "systems"]

    def figure_files(self, *forms: str) -> list[str]:
        """Return the figures of the comparison, which are SVG alone."""
        return super().figure_files(*({"svg"} & {*forms}))

    def summed(self, condition: Condition) -> str:
        """Return the problem of a condition, with its criterion."""
        return f"{condition.problem.name}/{condition.criterion}"

    def documents(self) -> list[str]:
        """Return which method to use, in a few lines."""
        return [f"{self.reports}/answer.md"]

    def kept_results(self) -> list[str]:
        """Return the answer, the tables and figures that pages show, and some frames."""
        frames = self.frames("ranking", "systems").values()
        return [*self.documents(), *self.table_files("md"), *self.figure_files("svg"), *frames]

    def page_files(self) -> dict[str, Any]:
        """Return what tables and page are made of, by name."""
        own = {"system_files": self.system_files(), "cost": COST}
        repeats = [f"{self.data}/repeats/{method}.json" for method in self._repeated]
        return {**self.frames(), **own, "repeats": repeats}

    def further_uses(self) -> list[Use]:
        """Return the memory of the intervals by resampled systems."""
        n_samples, n_systems = self.study.statistics.bootstrap_samples, len(self.study.all_systems)
        size = 10 * n_samples * n_systems * (len(self.study.methods) + 2)
        return [Use("the ranking of the methods", "statistics.bootstrap_samples", n_samples, size)]

    def ranking(self) -> dict[str, Any]:
        """Return the parameters of the ranking: of its intervals, and what systems are shown together."""
        situations = {name: of.systems for name, of in self.study.situations.items()}
        return {**self.study.statistics.model_dump(exclude={"threshold"}), "situations": situations}

    @cached_property
    def _compared(self) -> dict[str, list[Condition]]:
        # The conditions of each problem: what its scores are made of.
        found = defaultdict(list)
        for condition in self.all_conditions:
            found[self.summed(condition)].append(condition)
        return dict(found)

    def compared_runs(self, problem: str) -> list[str]:
        """Return the run files of all methods on a problem."""
        return [path for condition in self._compared[problem] for path in self.run_files(condition.name)]

    def compared_data(self, problem: str) -> list[str]:
        """Return the data set of a problem on which methods are compared."""
        return self.data_files(self._compared[problem][0].name)

    @cached_property
    def _repeated(self) -> dict[str, tuple[str, list[int]]]:
        # Condition and job of each method, on the last problem of the study; the last run of the job is made again, as
        # those before it could have left it notes. The first job has the most runs.
        alone = {c.method: c.name for c in self.conditions if not algorithm(c.algorithm).in_process}
        return {method: (name, next(iter(self.blocks[name].values()))) for method, name in alone.items()}

    def repeated_run(self, method: str) -> str:
        """Return the run file of the run that is made again."""
        return self.run_files(self._repeated[method][0])[0]

    def repeated_data(self, method: str) -> list[str]:
        """Return the data set of that run."""
        name, seeds = self._repeated[method]
        return self.data_files(name, seeds[-1:])

    def repeat(self, method: str) -> dict[str, Any]:
        """Return what makes that run again: its seed, what it runs, and the digest of the code."""
        name, seeds = self._repeated[method]
        return {"seed": seeds[-1], "run": self._runs[name], "code": self.code("repeat", name)}

    def scoring(self, problem: str) -> dict[str, Any]:
        """Return the parameters of the scores of a problem besides its data set, and the code of its algorithms."""
        found = self._compared[problem]
        first = found[0].problem
        return {
            "runs": {c.method: [*map(self.at, self.run_files(c.name))] for c in found},
            "problem": found[0].key.model_dump(exclude={"method"}),
            "methods": {c.method: self._scored(c) for c in found},
            "system": first.simulation["system"],
            "structure": first.structure,
            "held_out": first.held_out,
            "fresh": {name: first.simulation["data"][name] for name in ("washout", "excitation")},
        }

    def _scored(self, condition: Condition) -> dict[str, Any]:
        about = algorithm(condition.algorithm).about
        return {
            "algorithm": condition.algorithm,
            "settings": dict(condition.settings),
            "evaluations": condition.evaluations,
            "seeds": self.seeds(condition.name),
            "deterministic": about.deterministic,
            "stops_early": about.stops_early,
            "minimises": about.minimises,
        }

    def about_methods(self) -> dict[str, dict[str, Any]]:
        """Return what the leaderboard says of each method of the study."""
        return {name: _about(method) for name, method in self.study.methods.items()}


def _about(method: Method) -> dict[str, Any]:
    found = algorithm(method.algorithm)
    about = {
        name: getattr(found.about, name) for name in ("reference", "deterministic", "needs_objective", "minimises")
    }
    return {
        **about,
        "algorithm": method.algorithm,
        "description": found.document.partition("\n\n")[0],
        "settings": method.settings.model_dump(mode="json"),
    }
