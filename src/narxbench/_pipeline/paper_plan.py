"""A study whose runs are summarised condition by condition: one of the paper, or one of interpretations."""

from narxbench._pipeline.simulated_plan import SimulatedPlan
from narxbench._study.layers import Layers


class PaperPlan(SimulatedPlan):
    """Answers to the rules about a study of the paper, or of interpretations."""

    def __init__(self, layers: Layers = ()) -> None:
        super().__init__(layers)
        settings = {"threshold": self.study.statistics.threshold}
        for criterion in {condition.criterion for condition in self.conditions}:
            self.define(f"steps/summarise/{criterion}", "summarise", settings=settings, criterion=criterion)
