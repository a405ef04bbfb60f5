"""The settings of an identification: what is scanned, how a structure is chosen, how sure one wants to be."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, Field, PlainValidator

from narxbench.algorithms.registry import algorithm
from narxbench.fitness.criteria import canonical_criterion
from narxbench.io.errors import NarxbenchError, is_whole_number
from narxbench.io.settings import Coverage, Problem, Settings, SettingsError, described_as, show
from narxbench.model.noise_models import NOISE_NAMES, NoiseName
from narxbench.model.terms import MAX_DEGREE, MAX_LAG

Auto = Literal["auto"]
NoiseSetting = Literal["auto", NoiseName]
AUTO: Auto = "auto"
_MOST_LAGS = 1000
_LAGS = f"auto, a number n for the lags 1 to n, or a list such as 1-4,8: up to {_MOST_LAGS} lags, none over {MAX_LAG}"


def _whole(least: int, most: int, allowed: str) -> Callable[[object], Auto | list[int]]:
    """Return a check for ``auto``, a whole number, or a list of whole numbers; texts such as ``1-4,8`` are lists."""

    def check(value: object) -> Auto | list[int]:
        if value == AUTO:
            return AUTO
        found: Any = _numbers(value) if isinstance(value, str) else value
        if is_whole_number(value, least):
            found = [value]
        right = isinstance(found, (list, tuple)) and 1 <= len(found) <= _MOST_LAGS
        if not right or not all(is_whole_number(number, least, most) for number in found):
            raise ValueError(f"found {show(value)}; allowed: {allowed}")
        return sorted({int(number) for number in found})

    return check


def _numbers(text: str) -> list[int] | None:
    """Return the numbers of a text such as ``1-4,8``; None for any other."""
    numbers: list[int] = []
    for part in text.split(","):
        matched = re.fullmatch(r"\s*([0-9]{1,6})(?:\s*-\s*([0-9]{1,6}))?\s*", part, re.ASCII)
        if not matched or len(numbers) > _MOST_LAGS:
            return None
        low, high = int(matched[1]), int(matched[2] or matched[1])
        numbers += range(low, min(high, low + _MOST_LAGS) + 1)
    return numbers


def _lags(value: object) -> Auto | list[int]:
    # A number n of lags is the lags up to n.
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        value = int(value)
    if is_whole_number(value, 1, MAX_LAG):
        value = list(range(1, int(str(value)) + 1))
    return _whole(0, MAX_LAG, _LAGS)(value)


def _output_lags(value: object) -> Auto | list[int]:
    lags = _lags(value)
    if lags != AUTO and 0 in lags:
        raise ValueError("found 0; allowed: lags from 1 on, for y(k) is what the model predicts")
    return lags


def _lags_by_input(value: object) -> Auto | list[int] | dict[str, list[int]]:
    if not isinstance(value, Mapping):
        return _lags(value)
    found = {str(name): _lags(lags) for name, lags in value.items()}
    return {name: lags for name, lags in found.items() if lags != AUTO}


def _auto_or(right: Callable[[object], bool], allowed: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value != AUTO and not right(value):
            raise ValueError(f"found {show(value)}; allowed: auto{allowed}")
        return value

    return check


def _named(check: Callable[[str], str]) -> AfterValidator:
    """Return a check whose message has no name of the setting, which stands before it already."""

    def checked(text: str) -> str:
        try:
            return check(text)
        except NarxbenchError as error:
            raise ValueError(str(error).partition(": ")[2]) from None

    return AfterValidator(checked)


def _checked(check: Callable[[object], object]) -> Any:
    # A union would say of each of its members what is wrong with the value.
    return PlainValidator(check, json_schema_input_type=Any)


_STRIDES = "auto, a positive whole number, or a list of them"
_DELAY = _auto_or(lambda value: is_whole_number(value, 0, MAX_LAG), f", or a whole number from 0 to {MAX_LAG}")
_TRUTH = _auto_or(lambda value: isinstance(value, bool), ", true or false")
_DEGREES = f"auto, a whole number from 1 to {MAX_DEGREE}, or a list of them"


class IdentificationSettings(Settings):
    """All settings of an identification; what is ``auto`` is scanned, or found from the data."""

    decimation: Annotated[Auto | list[int], _checked(_whole(1, 100_000, _STRIDES)), described_as(_STRIDES)] = AUTO
    """Samples of the data in one step of the model."""
    degree: Annotated[Auto | list[int], _checked(_whole(1, MAX_DEGREE, _DEGREES)), described_as(_DEGREES)] = AUTO
    """Largest degree of a candidate term."""
    y_lags: Annotated[Auto | list[int], _checked(_output_lags), described_as(_LAGS)] = AUTO
    """Lags of the output."""
    u_lags: Annotated[
        Auto | list[int] | dict[str, list[int]],
        _checked(_lags_by_input),
        described_as(f"{_LAGS} (0 is the current input), or such a list for each input by its name"),
    ] = AUTO
    """Lags of the inputs."""
    delay: Annotated[Auto | int, _checked(_DELAY), described_as("auto, or a whole number from 0")] = AUTO
    """Smallest lag of the inputs where their lags are scanned, in samples of the data; 0 admits the current input."""
    y_degree: int | None = Field(default=None, ge=0, le=MAX_DEGREE)
    """Largest degree of the outputs in a term."""
    u_degree: int | None = Field(default=None, ge=0, le=MAX_DEGREE)
    """Largest degree of the inputs in a term."""
    include: list[str] = Field(default=[])
    """Further candidate terms, by name."""
    exclude: list[str] = Field(default=[])
    """Patterns of candidate terms that are left out, such as ``*u(k-1)*``."""
    centre: Annotated[Auto | bool, _checked(_TRUTH), described_as("auto, true or false")] = False
    """Whether the terms are those of centred and scaled signals; auto: where that is clearly better."""
    method: Annotated[str, _named(lambda name: algorithm(name).name)] = "multistart"
    """Search algorithm."""
    method_settings: dict[str, Any] = Field(default={})
    """Settings of the algorithm."""
    error: Literal["auto", "free_run", "one_step"] = "auto"
    """Error that the fitness has: of the free run, or one step ahead. Auto: of the free run where there is an input."""
    criterion: Annotated[str, _named(canonical_criterion)] = "bic"
    """Criterion of the fitness."""
    seed: int = Field(default=1, ge=0, le=2**31 - 1)
    """Where all random draws begin: other draws, another search."""
    seeds: int = Field(default=4, ge=1, le=1000)
    """Searches of each configuration, each with its own random draws."""
    blocks: int = Field(default=8, ge=2, le=100)
    """Parts of the data that take turns in selection, where no record has this role."""
    selection: Literal["mean", "worst"] = "mean"
    """What counts of the errors over the parts of the selection: their mean, or the worst one."""
    divergent: float = Field(default=0.0, ge=0, lt=1)
    """Share of the selection parts on which a model may diverge."""
    effort: float = Field(default=20.0, gt=0, le=1e6)
    """Seconds that the searches are planned for. It decides how much is tried, by a fixed rule, not by a clock."""
    resamples: int = Field(default=0, ge=0, le=10_000)
    """Resampled data sets that are searched, to see how sure each term is without supposing anything of the noise."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """Share of the resampled data sets from which on a term belongs to the structure by threshold."""
    confidence: Coverage = 0.95
    """Coverage of the intervals."""
    noise: NoiseSetting = "auto"
    """Where the noise enters, the equation (narx, narmax, ararx, ararmax) or the output (noe, box-jenkins), and which
    filter it passes. Auto: what gives the best free run over data that the weights do not know; where several are as
    good, the most likely."""

    @property
    def noise_models(self) -> tuple[NoiseName, ...]:
        """The names of the noise models that are tried."""
        return NOISE_NAMES if self.noise == "auto" else (self.noise,)

    @pydantic.model_validator(mode="after")
    def _method_has_them(self) -> "IdentificationSettings":
        try:
            algorithm(self.method).settings(self.method_settings)
        except SettingsError as error:
            raise SettingsError(Problem(("method_settings", *path), text) for path, text in error.problems) from None
        return self
