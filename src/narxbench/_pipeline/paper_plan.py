"""A study of the paper's kind, and one of interpretations."""

from typing import Any

from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._study.layers import Layers
from narxbench._study.settings import Condition


class PaperPlan(SimulatedPlan):
    """Answers to the rules about a study of the paper: system, SNR, method, criterion and seed."""

    def __init__(self, layers: Layers = (), seed_jobs: int | None = None) -> None:
        super().__init__(layers, seed_jobs)
        settings = {"threshold": self.study.statistics.threshold}
        for criterion in {condition.criterion for condition in self.conditions}:
            self.define(f"steps/summarise/{criterion}", "summarise", settings=settings, criterion=criterion)


class InterpretationsPlan(PaperPlan):
    """Answers to the rules about a study of what the paper leaves open, each interpretation with its conditions."""

    def wildcards(self, condition: Condition) -> dict[str, str]:
        """Return the wildcards of a condition: its interpretation, and the part of it that concerns the data."""
        return {
            **super().wildcards(condition),
            "interpretation": condition.interpretation,
            "data_interpretation": self._data_interpretations[condition.interpretation],
            "data_seed": f"data-{condition.problem.data_seed}",
        }

    def method_path(self, condition: Condition) -> str:
        """Return the path of the definition of a method, which the interpretation may change."""
        return f"methods/{condition.interpretation}/{condition.method}/{condition.criterion}"

    def values(self, wildcards: Any) -> dict[str, str]:
        """Return the wildcards of a job and, for a run, the part of its interpretation that concerns the data."""
        values = super().values(wildcards)
        if "interpretation" in values:
            values["data_interpretation"] = self.entry(self._data_interpretations, values["interpretation"])
        return values

    def _define_problems(self) -> None:
        self._data_interpretations = {}
        for condition in self.conditions:
            data_interpretation = condition.problem.name.partition("/")[0]
            self._data_interpretations[condition.interpretation] = data_interpretation
        super()._define_problems()
