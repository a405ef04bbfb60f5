"""The settings of an identification: their names, types, limits, descriptions and defaults.

The fields of :class:`IdentificationSettings` are their only home. The descriptions of parameters and the options of the
command line come from here. The parameters of :func:`narxbench.identify` and ``NarxRegressor`` are repeated there, so
that editors know them, and a test compares them.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator

from narxbench._io.errors import is_whole_number
from narxbench._io.settings import Settings, described_as, option, show, validated
from narxbench._model.noise_models import NOISE_NAMES, NoiseName
from narxbench._model.terms import MAX_DEGREE, MAX_LAG

Auto = Literal["auto"]
NoiseSetting = Literal["auto", NoiseName]
# Types that users may write if they are wider than the type of the checked setting. "auto" is a str.
Numbers = int | str | Sequence[int]
LagsByInput = int | str | Sequence[int] | Mapping[str, Numbers]
AUTO: Auto = "auto"
_LAGS = f"auto, a number n for the lags 1 to n, or a list of lags up to {MAX_LAG} such as 1-4,8"
# Headings of the options in the help.
_CANDIDATES, _SEARCH = "candidate terms", "search"
_STRIDES = "auto, a positive whole number, or a list of them"
_DEGREES = f"auto, a whole number from 1 to {MAX_DEGREE}, or a list of them"


def _check_numbers(least: int, most: float, allowed: str) -> Callable[[object], Auto | list[int]]:
    """Return a check for ``auto``, a whole number, or a list of whole numbers, which may be text such as ``1-4,8``."""

    def check(value: object) -> Auto | list[int]:
        if value == AUTO:
            return AUTO
        numbers = _as_list(value, least)
        is_list = isinstance(numbers, (list, tuple)) and 1 <= len(numbers) <= MAX_LAG
        if not is_list or not all(is_whole_number(number, least, most) for number in numbers):
            raise ValueError(f"found {show(value)}; allowed: {allowed}")
        return sorted({int(number) for number in numbers})

    return check


def _as_list(value: object, least: int) -> Any:
    """Return the list that a number or a text represents, and anything else unchanged."""
    if isinstance(value, str):
        return _numbers_in(value)
    if is_whole_number(value, least):
        return [value]
    return value


def _numbers_in(text: str) -> list[int] | None:
    """Return the numbers of a text such as ``1-4,8``, or None for any other text."""
    numbers: list[int] = []
    for part in text.split(","):
        bounds = re.fullmatch(r"\s*([0-9]{1,6})(?:\s*-\s*([0-9]{1,6}))?\s*", part, re.ASCII)
        if not bounds or len(numbers) > MAX_LAG:
            return None
        low, high = int(bounds[1]), int(bounds[2] or bounds[1])
        numbers += range(low, min(high, low + MAX_LAG) + 1)
    return numbers


def _check_lags(value: object) -> Auto | list[int]:
    # A number n of lags represents the lags 1 to n.
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        value = int(value)
    if is_whole_number(value, 1, MAX_LAG):
        value = list(range(1, int(str(value)) + 1))
    return _check_numbers(0, MAX_LAG, _LAGS)(value)


def _check_output_lags(value: object) -> Auto | list[int]:
    lags = _check_lags(value)
    if lags != AUTO and 0 in lags:
        raise ValueError("found 0; allowed: lags from 1 on, for y(k) is what the model predicts")
    return lags


def _check_input_lags(value: object) -> Auto | list[int] | dict[str, list[int]]:
    if not isinstance(value, Mapping):
        return _check_lags(value)
    lags_by_input: dict[str, list[int]] = {}
    for name, input_lags in value.items():
        lags = _check_lags(input_lags)
        if lags != AUTO:
            lags_by_input[str(name)] = lags
    return lags_by_input


def _auto_or(is_allowed: Callable[[object], bool], allowed: str) -> Callable[[object], object]:
    """Return a check for ``auto`` and what else is allowed."""

    def check(value: object) -> object:
        if value != AUTO and not is_allowed(value):
            raise ValueError(f"found {show(value)}; allowed: auto{allowed}")
        return value

    return check


def _checked(check: Callable[[object], object], accepted_type: Any) -> PlainValidator:
    """Return a check of a setting that users may write in several types.

    A union of these types would report a mistake for each of them.
    """
    return PlainValidator(check, json_schema_input_type=accepted_type)


_HORIZON = _auto_or(lambda value: is_whole_number(value, 1), ", or a whole number from 1")
_DELAY = _auto_or(lambda value: is_whole_number(value, 0, MAX_LAG), f", or a whole number from 0 to {MAX_LAG}")


class IdentificationSettings(Settings):
    """All settings of an identification. Those that are ``auto`` are scanned or follow from the data."""

    decimation: Annotated[
        Auto | list[int],
        _checked(_check_numbers(1, math.inf, _STRIDES), Numbers),
        described_as(_STRIDES),
        option(_CANDIDATES, "N"),
    ] = AUTO
    """Samples of the data in one step of the model. All numbers of a list are tried."""
    degree: Annotated[
        Auto | list[int],
        _checked(_check_numbers(1, MAX_DEGREE, _DEGREES), Numbers),
        described_as(_DEGREES),
        option(_CANDIDATES, "N"),
    ] = AUTO
    """Largest degree of a candidate term. All numbers of a list are tried."""
    y_lags: Annotated[
        Auto | list[int], _checked(_check_output_lags, Numbers), described_as(_LAGS), option(_CANDIDATES, "LAGS")
    ] = AUTO
    """Lags of the output, in steps of the model."""
    u_lags: Annotated[
        Auto | list[int] | dict[str, list[int]],
        _checked(_check_input_lags, LagsByInput),
        described_as(f"{_LAGS} (0 is the current input), or such a list for each input by its name"),
        option(_CANDIDATES, "LAGS", example="'valve=1-4;heat=0,2'"),
    ] = AUTO
    """Lags of the inputs, in steps of the model."""
    delay: Annotated[
        Auto | int,
        _checked(_DELAY, int | Auto),
        described_as("auto, or a whole number from 0"),
        option(_CANDIDATES, "N"),
    ] = AUTO
    """Smallest lag of inputs whose lags are auto, in samples of the data; 0 allows the current input."""
    include: Annotated[list[str], option(_CANDIDATES, "TERMS")] = Field(default=[])
    """Further candidate terms, such as ``u(k)^2`` or ``y(k-1)*u(k-9)``."""
    exclude: Annotated[list[str], option(_CANDIDATES, "TERMS")] = Field(default=[])
    """Candidate terms to leave out, or patterns of them, such as ``*u(k-1)*``."""
    horizon: Annotated[
        Auto | int,
        _checked(_HORIZON, int | Auto),
        described_as("auto, or a whole number from 1"),
        option(_SEARCH, "N"),
    ] = AUTO
    """How many samples ahead you want to predict: models are judged there, and with 1 the search uses the error one
    step ahead. Auto: the free run with an input, else a season or the correlation time."""
    effort: Annotated[float, option(_SEARCH, "SECONDS")] = Field(default=20.0, gt=0, le=1e6)
    """Planned seconds of the search. They decide how much is tried, by a fixed rule and not by a clock."""
    noise: Annotated[NoiseSetting, option(_SEARCH, "NAME")] = "auto"
    """Noise model: where the noise enters, and its filter. Auto: the one with the best free run over data that the
    weights do not know; of several that are as good, the most likely one."""

    @property
    def noise_models(self) -> tuple[NoiseName, ...]:
        """The names of the noise models that are tried."""
        if self.noise == "auto":
            return NOISE_NAMES
        return (self.noise,)


def settings_from_python(values: Mapping[str, Any]) -> IdentificationSettings:
    """Return checked settings from values of Python.

    Tuples, ranges, and numbers and arrays of NumPy count as Python's own numbers and lists. None means an empty
    list or mapping where such is the default.
    """
    plain_values = {name: _plain(value) for name, value in values.items()}
    for name, field in IdentificationSettings.model_fields.items():
        if field.default in ([], {}) and plain_values.get(name) is None:
            plain_values[name] = field.default
    return validated(IdentificationSettings, plain_values, "identify")


def _plain(value: Any) -> Any:
    """Return tuples, ranges, and numbers and arrays of NumPy as Python's own numbers and lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(entry) for entry in value]
    return value
