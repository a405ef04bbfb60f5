"""The settings of an identification: what is scanned, how a structure is chosen, how sure one wants to be."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BeforeValidator, Field

from narxbench.algorithms.registry import algorithm
from narxbench.fitness.criteria import parse_criterion
from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import Problem, Settings, SettingsError, described_as
from narxbench.model.terms import MAX_DEGREE, MAX_LAG


def _listed(value: object) -> object:
    # One number stands for a list of one; bool is an int to Python.
    return [value] if type(value) is int else value


def _counted(value: object) -> object:
    # A number n of lags is the lags up to n.
    return list(range(1, value + 1)) if type(value) is int and 1 <= value <= MAX_LAG else value


def _by_input(value: object) -> object:
    return {name: _lags(lags) for name, lags in value.items()} if isinstance(value, Mapping) else _lags(value)


def _lags(value: object) -> object:
    """Return a number, a list, or a text such as ``1-4,8`` as a list of lags."""
    if isinstance(value, str) and value != "auto":
        parts = [part.partition("-") for part in value.split(",")]
        try:
            return [lag for low, to, high in parts for lag in range(int(low), int(high if to else low) + 1)]
        except ValueError:
            return value
    return _counted(value)


Auto = Literal["auto"]
Lag = Annotated[int, Field(ge=0, le=MAX_LAG)]
Lags = Annotated[list[Lag], Field(min_length=1, max_length=1000)]
_LAGS = "auto, a number n for the lags 1 to n, or a list of lags"


class IdentificationSettings(Settings):
    """All settings of an identification; what is ``auto`` is scanned, or found from the data."""

    decimation: Annotated[
        Auto | Annotated[list[Annotated[int, Field(ge=1, le=100_000)]], Field(min_length=1, max_length=50)],
        BeforeValidator(_listed),
        described_as("auto, a positive whole number, or a list of them"),
    ] = "auto"
    """Samples of the data in one step of the model."""
    degree: Annotated[
        Auto | Annotated[list[Annotated[int, Field(ge=1, le=MAX_DEGREE)]], Field(min_length=1)],
        BeforeValidator(_listed),
        described_as(f"auto, a whole number from 1 to {MAX_DEGREE}, or a list of them"),
    ] = "auto"
    """Largest degree of a candidate term."""
    y_lags: Annotated[Auto | Lags, BeforeValidator(_lags), described_as(_LAGS)] = "auto"
    """Lags of the output."""
    u_lags: Annotated[
        Auto | Lags | dict[str, Lags],
        BeforeValidator(_by_input),
        described_as(f"{_LAGS} (0 is the current input), or such a list for each input by its name"),
    ] = "auto"
    """Lags of the inputs."""
    delay: Annotated[Auto | Lag, described_as("auto, or a whole number from 0")] = "auto"
    """Smallest lag of the inputs where their lags are scanned, in samples of the data; 0 admits the current input."""
    y_degree: int | None = Field(default=None, ge=0, le=MAX_DEGREE)
    """Largest degree of the outputs in a term."""
    u_degree: int | None = Field(default=None, ge=0, le=MAX_DEGREE)
    """Largest degree of the inputs in a term."""
    include: list[str] = []
    """Further candidate terms, by name."""
    exclude: list[str] = []
    """Patterns of candidate terms that are left out, such as ``*u(k-1)*``."""
    centre: Annotated[Auto | bool, described_as("auto, true or false")] = False
    """Whether the terms are those of centred and scaled signals."""
    method: str = "multistart"
    """Search algorithm."""
    method_settings: dict[str, Any] = {}
    """Settings of the algorithm."""
    criterion: str = "bic"
    """Criterion of the fitness: bic, or aic-RHO."""
    seeds: int = Field(default=4, ge=1, le=1000)
    """Searches of each configuration, each with its own random draws."""
    blocks: int = Field(default=8, ge=2, le=100)
    """Parts of the data that take turns in selection, where no record has this role."""
    selection: Literal["mean", "worst"] = "mean"
    """What counts of the errors over the parts of the selection: their mean, or the worst one."""
    divergent: float = Field(default=0.0, ge=0, lt=1)
    """Share of the selection parts on which a model may diverge."""
    time: float = Field(default=20.0, gt=0, le=1e6)
    """Seconds that the searches are planned for. It decides how much is tried, by a fixed rule, not by a clock."""
    resamples: int = Field(default=40, ge=0, le=10_000)
    """Resampled data sets that are searched to see how sure each term is."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """Share of the resampled data sets from which on a term belongs to the structure by threshold."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of the intervals."""
    refine: Literal["none", "simulation", "extended"] = "none"
    """Refinement of the weights: by the error of the free run, or by extended least squares against correlated noise."""

    @pydantic.model_validator(mode="after")
    def _parts_agree(self) -> "IdentificationSettings":
        found = []
        if self.y_lags != "auto" and 0 in self.y_lags:
            found.append(Problem(("y_lags",), "found 0; allowed: lags from 1 on, for y(k) is what the model predicts"))
        for name, check in (
            ("criterion", lambda: parse_criterion(self.criterion)),
            ("method", lambda: algorithm(self.method)),
        ):
            try:
                check()
            except NarxbenchError as error:
                found.append(Problem((name,), str(error).partition(": ")[2]))
        if not found:
            try:
                algorithm(self.method).settings(self.method_settings)
            except SettingsError as error:
                found += [Problem(("method_settings", *path), text) for path, text in error.problems]
        if found:
            raise SettingsError(found)
        return self
