"""Interpretations: named, validated combinations of the choices that the paper leaves open.

The design choices and their options are in ``config/design_choices.yaml``. An interpretation is written as its
differences from the first option of each, as a mapping ``{choice: option}`` or as text, ``choice=option+choice=option``
in the order of the file, ``baseline`` without differences.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import Field

from narxbench._algorithms.registry import REVIEWED, algorithm
from narxbench._fitness.problem import ErrorKind, Estimation, FreeRunStart, RequiredTerms, ValidationPart
from narxbench._io.errors import did_you_mean
from narxbench._io.files import CONFIG_FOLDER
from narxbench._io.settings import Mistake, Settings, SettingsError, described_as, unknown, validated
from narxbench._io.words import listed
from narxbench._io.yaml import read_mapping
from narxbench._model.excitation import Excitation
from narxbench._model.noise import NoiseKind
from narxbench._model.system import SignalSize

DESIGN_CHOICES_FILE = CONFIG_FOLDER / "design_choices.yaml"
BASELINE = "baseline"
# Parts whose choices matter to every algorithm.
SHARED_PARTS = ("data", "fitness", "search")

Label = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60),
    described_as("a name of letters, digits, '.', _ and - that starts with a letter or digit"),
]
# More evaluations or samples than anyone means. The estimate tells what is too much for a machine.
MOST = 10_000_000
Count = Annotated[int, Field(ge=1, le=MOST)]
# Options by design choice. A choice that is not named takes its first option.
Interpretation = Mapping[str, str]


class OpenData(Settings):
    """The settings of the data sets that the paper leaves open."""

    excitation: Excitation
    """The input signal."""
    noise: NoiseKind
    """Where the white Gaussian noise enters: measured output only, or the equation itself."""
    snr_of: SignalSize
    """What the SNR refers the noise to: variance or power (mean square) of the noise-free output, or one (0 dBW)."""
    washout: int = Field(ge=0, le=MOST)
    """Samples simulated before the first kept one, so that the start at rest is forgotten."""
    own_noise: bool
    """Whether each SNR has noise of its own, or all have the same in other sizes."""
    realisation: Literal["shared", "four", "per_run"]
    """Whether all runs of a condition see the same data set, share four data sets, or have input and noise each."""


class Fitness(Settings):
    """The settings of the fitness that the paper leaves open."""

    estimation: Estimation
    """Samples that estimate the weights: those before the validation part, or all."""
    validation_part: ValidationPart
    """The samples over which a model is simulated and judged: the last, the first or those in the middle."""
    error: ErrorKind
    """The error e over the validation part: of the free run, or one step ahead."""
    free_run_start: FreeRunStart
    """The outputs before the free run: those that were measured, or zero."""
    required_terms: RequiredTerms
    """The terms without which J is infinite."""


class SearchBudget(Settings):
    """The settings of a run of any algorithm that the paper leaves open."""

    evaluations: Count
    """Fitness evaluations of every run."""


_OPEN: dict[str, type[Settings]] = {"data": OpenData, "fitness": Fitness, "search": SearchBudget}


def _settings_of(part: str) -> type[Settings]:
    """Return the settings of a part: of data, fitness or search, or of an algorithm."""
    model: type[Settings] = _OPEN.get(part) or algorithm(part).imported.Settings
    return model


class Option(Settings):
    """A choice: the setting's value, and the explicit statement that it contradicts, if any."""

    words: str = ""
    """The choice in a sentence, after "with"; without them it is named as in an interpretation."""
    value: Any
    contradicts: str = ""


class DesignChoice(Settings):
    """One design choice. The first option is the baseline."""

    part: Annotated[str, described_as(f"one of {', '.join((*SHARED_PARTS, *REVIEWED))}")]
    """The part that it belongs to: data, fitness, search (the budget), or an algorithm's name."""
    setting: str
    """The setting that carries it out."""
    question: str = Field(min_length=1)
    """The question that the paper does not answer."""
    source: str = ""
    """What the sources say, and where."""
    needs: str = ""
    """The design choice without which this one changes nothing, as long as that one keeps its first option."""
    options: dict[Label, Option] = Field(min_length=1)
    """The answers by name."""

    @pydantic.model_validator(mode="after")
    def _settings_exist(self) -> "DesignChoice":
        if self.part not in (*_OPEN, *REVIEWED):
            raise SettingsError([unknown(("part",), self.part, (*_OPEN, *REVIEWED))])
        fields = _settings_of(self.part).model_fields
        if self.setting not in fields:
            raise SettingsError([unknown(("setting",), self.setting, fields, f"a setting of {self.part}:")])
        value: Any = (Annotated[fields[self.setting].annotation, fields[self.setting]], ...)
        # Looking for the docstrings of its fields would take longer than everything else.
        without = {"use_attribute_docstrings": False}
        one_setting = pydantic.create_model("OneSetting", __base__=Settings, __cls_kwargs__=without, value=value)
        for name, option in self.options.items():
            try:
                validated(one_setting, {"value": option.value}, "")
            except SettingsError as error:
                mistakes = [Mistake(("options", name, *path), text) for path, text in error.mistakes]
                raise SettingsError(mistakes) from None
        return self

    @property
    def baseline(self) -> str:
        """The name of the first option."""
        return next(iter(self.options))

    @property
    def meaning(self) -> str:
        """The description of the setting."""
        return _settings_of(self.part).model_fields[self.setting].description or ""


class DesignChoices(Settings):
    """The design choices and the named interpretations of them."""

    design_choices: dict[Label, DesignChoice] = Field(min_length=1)
    """The choices that the paper leaves open."""
    interpretations: dict[Label, dict[str, str]] = Field(min_length=1)
    """Named combinations, by their differences from the first options."""

    @pydantic.model_validator(mode="after")
    def _complete(self) -> "DesignChoices":
        mistakes = [*self._unknown_options(), *self._missing_choices(), *self._wrong_choices()]
        if mistakes:
            raise SettingsError(mistakes)
        return self

    def _unknown_options(self) -> Iterator[Mistake]:
        """Yield design choices and options of the named interpretations that do not exist."""
        for name, chosen in self.interpretations.items():
            for path, text in unknown_options(self.design_choices, chosen):
                yield Mistake(("interpretations", name, *path), text)

    def _missing_choices(self) -> Iterator[Mistake]:
        """Yield open settings for which there is no design choice."""
        chosen = {(choice.part, choice.setting) for choice in self.design_choices.values()}
        for part, model in _OPEN.items():
            for name in model.model_fields:
                if (part, name) not in chosen:
                    text = f"found none for {part}.{name}; allowed: one for each"
                    yield Mistake(("design_choices",), text)

    def _wrong_choices(self) -> Iterator[Mistake]:
        """Yield settings that two design choices set, and needed design choices that do not exist."""
        earlier = set()
        for name, choice in self.design_choices.items():
            setting = f"{choice.part}.{choice.setting}"
            if setting in earlier:
                text = f"found {setting}, which another design choice sets; allowed: each setting once"
                yield Mistake(("design_choices", name, "setting"), text)
            earlier.add(setting)
            if choice.needs and choice.needs not in self.design_choices:
                place = ("design_choices", name, "needs")
                yield unknown(place, choice.needs, self.design_choices, "a design choice:")

    @property
    def named(self) -> dict[str, dict[str, str]]:
        """The named interpretations, each as its differences from the baseline in the order of the choices."""
        return {name: _differences(self, chosen) for name, chosen in self.interpretations.items()}


def load_design_choices(path: str | Path | None = None) -> DesignChoices:
    """Read design choices and interpretations (default: the project's ``config/design_choices.yaml``)."""
    path = Path(path or DESIGN_CHOICES_FILE)
    return validated(DesignChoices, read_mapping(path), str(path))


def interpretation_text(choices: DesignChoices, chosen: Interpretation, algorithm: str | None = None) -> str:
    """Return the canonical text of an interpretation.

    With an ``algorithm``, the text names only the choices that can matter to it: its own, and those that all algorithms
    share. With an empty name, it names the shared choices only.
    """
    return parts_text(choices, chosen, None if algorithm is None else (*SHARED_PARTS, algorithm))


def parts_text(choices: DesignChoices, chosen: Interpretation, parts: Collection[str] | None) -> str:
    """Return the canonical text of an interpretation's options for some parts, or for all."""
    texts = []
    for name, option in _differences(choices, chosen).items():
        if parts is None or choices.design_choices[name].part in parts:
            texts.append(f"{name}={option}")
    return "+".join(texts) or BASELINE


def interpretation_words(choices: DesignChoices, chosen: Interpretation) -> str:
    """Return the words for an interpretation after "with" in a sentence, or "" for the baseline."""
    words = []
    for name, option in _differences(choices, chosen).items():
        words.append(choices.design_choices[name].options[option].words or f"{name}={option}")
    return listed(words) if words else ""


def parse_interpretation(choices: DesignChoices, text: str) -> dict[str, str]:
    """Return the differences from the baseline that a text names, in the order of the choices."""
    if text == BASELINE:
        return {}
    chosen: dict[str, str] = {}
    for part in text.split("+"):
        name, _, option = part.partition("=")
        if name in chosen:
            raise SettingsError([Mistake((), f"found {text!r}, which names {name} twice; allowed: each choice once")])
        chosen[name] = option
    mistakes = list(unknown_options(choices.design_choices, chosen))
    if mistakes:
        raise SettingsError(mistakes)
    return _differences(choices, chosen)


def contradictions(choices: DesignChoices, chosen: Interpretation) -> list[str]:
    """Return the explicit statements that an interpretation contradicts, in the order of the choices."""
    statements = []
    for name, option in _differences(choices, chosen).items():
        statement = choices.design_choices[name].options[option].contradicts
        if statement:
            statements.append(statement)
    return statements


def interpretation_settings(choices: DesignChoices, chosen: Interpretation) -> dict[str, dict[str, Any]]:
    """Return the settings of an interpretation by part: data, fitness, search, and each algorithm with open choices."""
    settings: dict[str, dict[str, Any]] = {}
    for name, choice in choices.design_choices.items():
        option = choice.options[chosen.get(name, choice.baseline)]
        settings.setdefault(choice.part, {})[choice.setting] = option.value
    return settings


def _differences(choices: DesignChoices, chosen: Interpretation) -> dict[str, str]:
    """Return the options of an interpretation that are not the baseline's, in the order of the choices."""
    differences = {}
    for name, choice in choices.design_choices.items():
        if chosen.get(name, choice.baseline) != choice.baseline:
            differences[name] = chosen[name]
    return differences


def unknown_options(design_choices: Mapping[str, DesignChoice], chosen: Interpretation) -> Iterator[Mistake]:
    """Yield a mistake for each design choice and option of an interpretation that does not exist."""
    for name, option in chosen.items():
        if name not in design_choices:
            allowed = f"{', '.join(design_choices)}{did_you_mean(name, design_choices)}"
            yield Mistake((name,), f"unknown design choice; allowed: {allowed}")
        elif option not in design_choices[name].options:
            yield unknown((name,), option, design_choices[name].options, f"an option of {name}:")
