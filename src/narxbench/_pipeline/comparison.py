"""A comparison of methods, for the rules: which runs are scored together, and which are made again."""

from types import SimpleNamespace
from typing import Any, cast

from narxbench._algorithms.registry import algorithm
from narxbench._io.yaml import read_mapping
from narxbench._pipeline.plan import HERE, Plan
from narxbench._studies.methods.settings import MethodsStudy
from narxbench._study.settings import Problem

# The project's own comparison.
COMPARISON = f"{HERE}config/methods.yaml"


class ComparisonPlan:
    """Answers to the rules about a comparison of methods."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._study = plan, cast(MethodsStudy, plan.study)
        self.left_out = plan.left_out
        # The methods that are scored together.
        self._scored: dict[str, list[str]] = {}
        # For each method with a separate process, the wildcards of a run that is made again: on the last problem of
        # the study, the first job, which has the most runs: those before its last could have left it notes.
        self._repeated: dict[str, dict[str, str]] = {}
        for condition in plan.conditions.values():
            score = f"{condition.problem.name}/{condition.criterion}"
            self._scored.setdefault(score, []).append(condition.method)
            if not algorithm(condition.algorithm).in_process:
                block = plan.blocks(condition.method)[0]
                self._repeated[condition.method] = {**plan.wildcards(condition), "seeds": block}

    def scored_runs(self, pattern: str, wildcards: Any) -> list[str]:
        """Return the run files of all methods that are scored together on a problem."""
        values = dict(wildcards.items())
        files = []
        for method in self._scored_methods(wildcards):
            files += [pattern.format(**values, method=method, seeds=block) for block in self._plan.blocks(method)]
        return files

    def problem(self, wildcards: Any) -> dict[str, Any]:
        """Return the parameters of :func:`narxbench._studies.methods.scores.score` that methods share."""
        posed = self._plan.problem(wildcards)
        run = self._plan.run(wildcards, self._scored_methods(wildcards)[0])
        data = posed.simulation["data"]
        return {
            "problem": {name: value for name, value in run["condition"].items() if name != "method"},
            "system": posed.simulation["system"],
            "structure": run["structure"],
            "too_slow": self._too_slow(posed),
            "held_out": posed.held_out,
            "fresh": {name: data[name] for name in ("washout", "excitation")},
        }

    def _too_slow(self, problem: Problem) -> dict[str, dict[str, Any]]:
        """Return the facts on each method that is not run on a problem."""
        too_slow = {}
        for name in self._study.too_slow(problem):
            method = self._study.methods[name]
            too_slow[name] = {
                "minimises": algorithm(method.algorithm).about.minimises,
                "algorithm": method.algorithm,
                "settings": method.settings.model_dump(mode="json"),
                "evaluations": self._study.evaluations,
            }
        return too_slow

    def methods(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        """Return the facts on each method that is scored on a problem."""
        methods = {}
        for method in self._scored_methods(wildcards):
            run = self._plan.run(wildcards, method)
            about = algorithm(run["algorithm"]).about
            methods[method] = {
                **{name: run[name] for name in ("algorithm", "settings", "evaluations")},
                "seeds": self._plan.seeds(wildcards, method),
                "stops_early": about.stops_early,
                "minimises": about.minimises,
            }
        return methods

    def _scored_methods(self, wildcards: Any) -> list[str]:
        """Return the methods that are scored together on a problem."""
        score = f"{self._plan.problem(wildcards).name}/{wildcards.criterion}"
        return self._plan.entry(self._scored, score)

    @property
    def repeated_methods(self) -> list[str]:
        """The methods of which a run is made again."""
        return [*self._repeated]

    def repeated(self, wildcards: Any) -> Any:
        """Return the wildcards of the run of a method that is made again."""
        return SimpleNamespace(**self._plan.entry(self._repeated, wildcards.method))

    def ranking(self) -> dict[str, Any]:
        """Return the parameters of the ranking: the confidence, and the systems that are shown together."""
        situations = {name: situation.systems for name, situation in self._study.situations.items()}
        return {"confidence": self._study.statistics.confidence, "situations": situations}

    @property
    def added_methods(self) -> list[str]:
        """The methods of the study that the project's comparison does not have."""
        shipped = read_mapping(COMPARISON)["methods"]
        return [name for name in self._study.methods if name not in shipped]
