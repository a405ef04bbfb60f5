"""The finding of a check of the data, or of a model: values, and how serious it is. The report puts it into words."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Status = Literal["fine", "look", "bad"]
# The titles of findings by their names, wherever a finding is shown.
TITLES = {
    "sampling": "Sampling",
    "evidence": "What the record can show",
    "resolution": "Resolution",
    "saturation": "Limits of the output",
    "delay": "Dead time",
    "excitation": "Excitation",
    "drift": "Drift and offsets",
    "outliers": "Outliers",
    "test-range": "Range of the test records",
    "collinear": "Candidates that are alike",
    "prospect": "What can be told apart",
    "size": "Size of the search",
    "to_predict": "To predict",
    "to_read": "To read its terms",
    "to_control": "For control",
    "prediction": "Predictions",
    "exact": "Exact",
    "free_run_residuals": "Residuals of the free run",
    "against_linear_arx": "Against linear ARX of the same lags",
    "against_last_value": "Against repeating the last value",
    "gap": "From known to new data",
    "residuals_linear": "Residuals one step ahead, linear tests",
    "residuals_nonlinear": "Residuals one step ahead, nonlinear tests",
    "fixed_points": "Fixed points",
    "static": "Rests of data and model",
    "no_test": "Test data",
    "noise_model": "Noise",
    "competition": "Simple models",
    "level": "Levels and units",
    "joint": "Outputs together",
    "interrupted": "Stopped",
    "attempts": "Other settings",
    "outside": "Held inputs",
    "whole_records": "Whole records",
    "time_scale": "Time scale",
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
        if self.name == "prediction" and self.values.get("role") == "test":
            return "Predictions of unseen data"
        return TITLES[self.name]


def worst(*statuses: Status) -> Status:
    """Return the most serious status; fine where there is none."""
    return max(statuses, key=get_args(Status).index, default="fine")
