"""A comparison of methods: the results of all methods on a problem are scored together."""

from collections.abc import Mapping
from typing import Any

from narxbench._algorithms.registry import algorithm
from narxbench._pipeline.plan import PathsOf
from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._report.formats import criterion_name
from narxbench._studies.methods.settings import MethodsStudy
from narxbench._study.layers import Layers
from narxbench._study.settings import Method


class MethodsPlan(SimulatedPlan):
    """Answers to the rules about a comparison of methods."""

    study: MethodsStudy

    def __init__(self, layers: Layers = ()) -> None:
        super().__init__(layers)
        for criterion in {condition.criterion for condition in self.conditions}:
            self.define(f"steps/score/{criterion}", "score", criterion=criterion)
        # The methods that are scored together.
        self._scored: dict[str, list[str]] = {}
        for condition in self.conditions:
            score = f"{condition.problem.name}/{condition.criterion}"
            self._scored.setdefault(score, []).append(condition.method)
        # For each method with a process of its own, the row and the seed of a run that is made again: on the last
        # problem of the study, the last run of the first job, which has the most runs: those before it could have left
        # it notes.
        self._repeated: dict[str, tuple[dict[str, str], int]] = {}
        for condition in self.conditions:
            if not algorithm(condition.algorithm).in_process:
                block = self.blocks_of[condition.method][0]
                self._repeated[condition.method] = {**self.wildcards(condition), "seeds": block}, self.blocks[block][-1]
        for method, (row, _) in self._repeated.items():
            algorithm_name = self.study.methods[method].algorithm
            self.define(f"steps/repeat/{method}", "repeat", algorithm_name=algorithm_name, criterion=row["criterion"])
        self.repeated_methods = list(self._repeated)

    def failures_in(self, summary: Mapping[str, Any]) -> list[str]:
        """Return the reasons of the failed runs in the content of a score file, without those of its references."""
        methods = [method for method in summary["methods"] if not method["reference"]]
        return [run["failure"] for method in methods for run in method["runs"] if run["failure"]]

    def scored_methods(self, wildcards: Any) -> list[str]:
        """Return the methods that are scored together on a problem."""
        score = "{scenario}/{data_seed}/{system}/{snr}/{criterion}".format_map(self.values(wildcards))
        return self.entry(self._scored, score)

    def scored_runs(self, pattern: str) -> PathsOf:
        """Return the input function for the run files of all methods on a problem."""
        return self._of_scored_methods(self.runs(pattern))

    def scored_definitions(self, pattern: str) -> PathsOf:
        """Return the input function for the definitions of all methods on a problem."""
        return self._of_scored_methods(self.defined(pattern))

    def _of_scored_methods(self, paths_of: PathsOf) -> PathsOf:
        """Return the input function for the files that another one has for each method on a problem."""

        def paths(wildcards: Any) -> list[str]:
            files = []
            for method in self.scored_methods(wildcards):
                files += paths_of({**self.values(wildcards), "method": method})
            return files

        return paths

    def seeds_by_method(self, wildcards: Any) -> dict[str, list[int]]:
        """Return the seeds of each method that is scored on a problem."""
        return {method: self.seeds_of({"method": method}) for method in self.scored_methods(wildcards)}

    def repeated(self, pattern: str) -> PathsOf:
        """Return the input function for a file of the run that is made again."""
        return lambda wildcards: [pattern.format_map(self.entry(self._repeated, wildcards["method"])[0])]

    def repeated_definition(self, pattern: str) -> PathsOf:
        """Return the input function for a definition of the run that is made again."""
        definitions = self.defined(pattern)
        return lambda wildcards: definitions(self.entry(self._repeated, wildcards["method"])[0])

    def repeated_seed(self, method: str) -> int:
        """Return the seed of the run that is made again."""
        return self._repeated[method][1]

    def ranking(self) -> dict[str, Any]:
        """Return the parameters of the ranking: those of its intervals, and the systems that are shown together."""
        situations = {name: situation.systems for name, situation in self.study.situations.items()}
        return {**self.study.statistics.model_dump(exclude={"threshold"}), "situations": situations}

    def about_methods(self) -> dict[str, dict[str, Any]]:
        """Return the description of each method of the study for the leaderboard."""
        descriptions = {}
        for name, method in self.study.methods.items():
            descriptions[name] = {
                **_about(method, "reference", "deterministic", "needs_objective", "minimises"),
                "algorithm": method.algorithm,
                "criteria": [criterion_name(criterion) for criterion in method.criteria],
                "description": algorithm(method.algorithm).document.partition("\n\n")[0],
                "settings": method.settings.model_dump(mode="json"),
                "settings_by": method.settings_by,
                "settings_source": method.settings_source,
            }
        return descriptions


def _about(method: Method, *fields: str) -> dict[str, Any]:
    """Return some of the facts that the algorithm of a method declares."""
    about = algorithm(method.algorithm).about
    return {field: getattr(about, field) for field in fields}
