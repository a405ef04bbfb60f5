"""The finding of a check of the data or of a model: how serious it is, a sentence, values, and what to do next."""

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
    """The finding of one check of the data or of a model.

    Attributes
    ----------
    name : str
        The check.
    status : {"fine", "look", "bad"}
        ``look``: a reader should know; ``bad``: a model of these data, or this model, is not to be trusted.
    values : dict
        Plain data: all numbers, names and places that the text has, and what a figure shows.
    text : str
        Sentences for a reader. Settings are arguments of Python in backticks.
    advice : str
        What to do next, or "".
    """

    name: str
    status: Status
    values: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    advice: str = ""

    @property
    def title(self) -> str:
        """The title that pages, terminals, notebooks and files show."""
        if self.name == "errors" and self.values.get("role") == "test":
            return "Errors on unseen data"
        return TITLES[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding with its title as plain data."""
        return {**vars(self), "title": self.title}


def worst(*statuses: Status) -> Status:
    """Return the most serious status, or fine if there is none."""
    return max(statuses, key=get_args(Status).index, default="fine")


def look_if(is_conspicuous: bool) -> Status:
    """Return ``look`` for what a reader should know."""
    return "look" if is_conspicuous else "fine"


def graded(value: float, fine: float, look: float) -> Status:
    """Return ``fine`` up to one limit, ``look`` up to another, and ``bad`` beyond."""
    if value <= fine:
        return "fine"
    return "look" if value <= look else "bad"
