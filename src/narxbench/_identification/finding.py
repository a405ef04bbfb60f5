"""The finding of a check of the data, or of a model: values, and how serious it is. The report puts it into words."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Status = Literal["fine", "look", "bad"]
# The titles of findings by their names, wherever a finding is shown.
TITLES = {
    "sampling": "Sampling",
    "evidence": "What the record can show",
    "saturation": "Limits of the output",
    "excitation": "Excitation",
    "drift": "Drift and offsets",
    "outliers": "Outliers and resolution",
    "test-range": "Range of the test records",
    "no_test": "Test data",
    "to_predict": "To predict",
    "to_read": "To read its terms",
    "to_control": "For control",
    "errors": "Errors",
    "competitors": "Competitors",
    "residuals": "Residuals",
    "steady_states": "Steady states",
    "noise_model": "Noise",
    "joint": "Outputs together",
    "interrupted": "Stopped",
}


@dataclass(frozen=True)
class Finding:
    """The finding of one look at the data or at a model."""

    name: str
    """What was looked at; :func:`narxbench._report.findings.in_words` has the words for each name."""
    status: Status
    """``look``: a reader should know; ``bad``: a model of these data, or this model, is not to be trusted."""
    values: dict[str, Any] = field(default_factory=dict)
    """Plain data: all numbers, names and places that words need, and what a figure shows."""

    @property
    def title(self) -> str:
        """The title that pages, terminals, notebooks and files show."""
        if self.name == "errors" and self.values.get("role") == "test":
            return "Errors on unseen data"
        return TITLES[self.name]


def worst(*statuses: Status) -> Status:
    """Return the most serious status; fine where there is none."""
    return max(statuses, key=get_args(Status).index, default="fine")
