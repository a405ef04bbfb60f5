"""Readings: named, validated combinations of the choices that the paper leaves open (``config/readings.yaml``).

A reading is told by its differences from the first option of each open point, as a mapping ``{point: option}`` or as
text, ``point=option+point=option`` in the order of the open points, ``base`` without differences.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import Field

from narxbench.algorithms.search import algorithm_names, settings_model
from narxbench.fitness.problem import ErrorKind, Estimation
from narxbench.io.errors import did_you_mean
from narxbench.io.settings import Allowed, Problem, Settings, SettingsError, validated
from narxbench.io.yaml import read_mapping
from narxbench.model.excitation import Excitation
from narxbench.model.system import SYSTEMS_FOLDER

READINGS_FILE = SYSTEMS_FOLDER.parent / "readings.yaml"
BASE = "base"
# Parts whose points matter to every algorithm.
SHARED_PARTS = ("data", "fitness")

Label = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60),
    Allowed("a name of letters, digits, '.', _ and - that starts with a letter or digit"),
]
Choices = Mapping[str, str]


class OpenData(Settings):
    """What the paper leaves open about the data sets."""

    excitation: Excitation
    """The input signal."""
    noise: Literal["output", "equation"]
    """Where the white Gaussian noise enters: measured output only, or the equation itself."""
    realisation: Literal["shared", "per_run"]
    """Whether all runs of a cell see the same data set, or each run has input and noise of its own."""


class Fitness(Settings):
    """What the paper leaves open about the fitness."""

    estimation: Estimation
    """Samples that estimate the weights: those before the validation part, or all."""
    error: ErrorKind
    """The error e over the validation part: of the free run, or one step ahead."""


class Option(Settings):
    """A choice: the setting's value, and the explicit statement that it contradicts, if any."""

    value: Any
    contradicts: str = ""


class OpenPoint(Settings):
    """One open point; the first option is the base."""

    part: Annotated[str, Allowed(f"one of {', '.join((*SHARED_PARTS, *algorithm_names()))}")]
    """What it belongs to: data, fitness, or an algorithm's name."""
    setting: str
    """The setting that carries it out."""
    question: str = Field(min_length=1)
    """The question that the paper does not answer."""
    source: str = ""
    """What the sources say, and where."""
    options: dict[Label, Option] = Field(min_length=1)
    """The answers by name."""

    @pydantic.model_validator(mode="after")
    def _settings_exist(self) -> "OpenPoint":
        models: dict[str, type[Settings]] = {"data": OpenData, "fitness": Fitness}
        models |= {name: settings_model(name) for name in algorithm_names()}
        if self.part not in models:
            allowed = f"one of {', '.join(models)}{did_you_mean(self.part, models)}"
            raise SettingsError([Problem(("part",), f"found {self.part!r}; allowed: {allowed}")])
        fields = models[self.part].model_fields
        if self.setting not in fields:
            allowed = f"a setting of {self.part}: {', '.join(fields)}{did_you_mean(self.setting, fields)}"
            raise SettingsError([Problem(("setting",), f"found {self.setting!r}; allowed: {allowed}")])
        field = fields[self.setting]
        value: Any = (Annotated[field.annotation, field], ...)
        one = pydantic.create_model("One", __base__=Settings, value=value)
        for name, option in self.options.items():
            try:
                validated(one, {"value": option.value}, "")
            except SettingsError as error:
                raise SettingsError(Problem(("options", name, *p.path), p.text) for p in error.problems) from None
        return self

    @property
    def base(self) -> str:
        """The name of the first option."""
        return next(iter(self.options))


class Readings(Settings):
    """The open points and the named readings of them."""

    open_points: dict[Label, OpenPoint] = Field(min_length=1)
    """The choices that the paper does not make."""
    readings: dict[Label, dict[str, str]] = Field(min_length=1)
    """Named combinations, by their differences from the first options."""

    @pydantic.model_validator(mode="after")
    def _known(self) -> "Readings":
        problems = [
            Problem(("readings", name, *problem.path), problem.text)
            for name, choices in self.readings.items()
            for problem in _problems(self.open_points, choices)
        ]
        carried = [(point.part, point.setting) for point in self.open_points.values()]
        wanted = [("data", name) for name in OpenData.model_fields] + [
            ("fitness", name) for name in Fitness.model_fields
        ]
        for part, setting in wanted:
            if (part, setting) not in carried:
                problems.append(Problem(("open_points",), f"found none for {part}.{setting}; allowed: one for each"))
        for index, (name, place) in enumerate(zip(self.open_points, carried, strict=True)):
            if place in carried[:index]:
                text = f"found {'.'.join(place)}, which another open point sets; allowed: each setting once"
                problems.append(Problem(("open_points", name, "setting"), text))
        if problems:
            raise SettingsError(problems)
        return self

    @property
    def named(self) -> dict[str, dict[str, str]]:
        """The named readings, each as its differences from the base in the order of the open points."""
        return {name: _differences(self, choices) for name, choices in self.readings.items()}


def load_readings(path: str | Path | None = None) -> Readings:
    """Read open points and readings (default: the project's ``config/readings.yaml``)."""
    path = Path(path or READINGS_FILE)
    return validated(Readings, read_mapping(path), str(path))


def choices_text(readings: Readings, choices: Choices, algorithm: str | None = None) -> str:
    """Return the canonical text of a reading; with ``algorithm``, of what can matter to that algorithm."""
    shown = _differences(readings, choices)
    if algorithm is not None:
        relevant = (*SHARED_PARTS, algorithm)
        shown = {point: option for point, option in shown.items() if readings.open_points[point].part in relevant}
    return "+".join(f"{point}={option}" for point, option in shown.items()) or BASE


def parse_choices(readings: Readings, text: str) -> dict[str, str]:
    """Return the differences from the base that a canonical text names; raise NarxbenchError for what is unknown."""
    if text == BASE:
        return {}
    choices: dict[str, str] = {}
    for part in text.split("+"):
        point, _, option = part.partition("=")
        if point in choices:
            raise SettingsError([Problem((), f"found {text!r}, which names {point} twice; allowed: each point once")])
        choices[point] = option
    checked_choices(readings, choices)
    return _differences(readings, choices)


def checked_choices(readings: Readings, choices: Choices) -> None:
    """Raise SettingsError for an unknown open point or option."""
    if problems := _problems(readings.open_points, choices):
        raise SettingsError(problems)


def contradictions(readings: Readings, choices: Choices) -> list[str]:
    """Return the explicit statements that a reading contradicts, in the order of the open points."""
    differences = _differences(readings, choices).items()
    options = (readings.open_points[point].options[option] for point, option in differences)
    return [option.contradicts for option in options if option.contradicts]


def reading_settings(readings: Readings, choices: Choices) -> dict[str, dict[str, Any]]:
    """Return the settings of a reading by part: data, fitness, and each algorithm that has open points."""
    settings: dict[str, dict[str, Any]] = {}
    for name, point in readings.open_points.items():
        option = point.options[choices.get(name, point.base)]
        settings.setdefault(point.part, {})[point.setting] = option.value
    return settings


def _differences(readings: Readings, choices: Choices) -> dict[str, str]:
    points = readings.open_points.items()
    return {name: choices[name] for name, point in points if choices.get(name, point.base) != point.base}


def _problems(points: Mapping[str, OpenPoint], choices: Choices) -> list[Problem]:
    problems = []
    for point, option in choices.items():
        if point not in points:
            text = f"unknown open point; allowed: {', '.join(points)}{did_you_mean(point, points)}"
            problems.append(Problem((point,), text))
        elif option not in points[point].options:
            names = points[point].options
            text = f"found {option!r}; allowed: {', '.join(names)}{did_you_mean(option, names)}"
            problems.append(Problem((point,), text))
    return problems
