"""The settings of a study: strict, merged from its files, checked before anything runs.

A study is ``config/paper.yaml``, or an overlay of it (``--configfile``), or either with values of the command line
(``--config``). Files are merged in order, mapping by mapping; what the study leaves out of the design choices is filled
in from its interpretation.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, ValidationInfo

from narxbench.algorithms.registry import algorithm_names, settings_model
from narxbench.experiment.interpretations import (
    DESIGN_CHOICES_FILE,
    SHARED_PARTS,
    DesignChoices,
    Fitness,
    Label,
    OpenData,
    check_interpretation,
    interpretation_settings,
    load_design_choices,
)
from narxbench.fitness.criteria import parse_criterion
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import canonical_json
from narxbench.io.settings import Allowed, Problem, Settings, SettingsError, problems_of, report, show, validated
from narxbench.io.yaml import read_mapping, read_value
from narxbench.model.dataset import snr_label
from narxbench.model.system import system_names

COMMAND_LINE = "command line (--config)"
_MOST_RUNS = 100_000
_LONGEST_CRITERION = 40
_EXCITATION = ("data", "excitation")
_DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
T = TypeVar("T")


# Checks of single values


def _raise_if(problems: Iterable[Problem]) -> None:
    if found := list(problems):
        raise SettingsError(found)


def distinct(values: list[T]) -> list[T]:
    """Return the values, or raise SettingsError for those that are given twice."""
    first: dict[T, int] = {}
    repeated = ((i, value) for i, value in enumerate(values) if first.setdefault(value, i) != i)
    _raise_if(Problem((i,), f"found {show(value, kind=False)} twice; allowed: each once") for i, value in repeated)
    return values


def _different_as_files(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    # Some file systems do not tell upper from lower case.
    seen: dict[str, str] = {}
    for index, name in enumerate(names):
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            allowed = "names that differ in more than upper and lower case"
            yield index, f"found {name!r} beside {other!r}; allowed: {allowed}"


def _counted(value: object) -> object:
    # Only a real count is expanded: bool is an int to Python.
    return list(range(1, value + 1)) if type(value) is int and 1 <= value <= _MOST_RUNS else value


def _criterion(text: str) -> str:
    parse_criterion(text)
    if len(text) > _LONGEST_CRITERION:
        # Criteria are parts of paths.
        raise ValueError(f"found a criterion of {len(text)} characters; allowed: at most {_LONGEST_CRITERION}")
    return text


def _distinct_criteria(texts: list[str]) -> list[str]:
    _raise_if(Problem((index,), text) for index, text in _different_as_files(distinct(texts)))
    return texts


def _no_device(name: str) -> str:
    if _DEVICE.fullmatch(name):
        raise ValueError(f"found {name!r}, which Windows keeps for a device; allowed: any other name")
    return name


def _no_reference(name: str) -> str:
    if name.casefold() == "reference":
        raise ValueError(f"found {name!r}, the folder of the published values; allowed: any other name")
    return name


def _known_algorithm(name: str) -> str:
    settings_model(name)
    return name


Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=100),
    Allowed("a name of letters, digits, _ and - that starts with a letter or digit"),
    AfterValidator(_no_device),
]
PositiveInt = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Decibels = Annotated[float, Field(ge=-300, le=300)]
Criterion = Annotated[str, AfterValidator(_criterion)]
KnownAlgorithm = Annotated[str, AfterValidator(_known_algorithm)]
Seeds = Annotated[
    list[PositiveInt],
    Field(min_length=1, max_length=_MOST_RUNS),
    BeforeValidator(_counted, json_schema_input_type=PositiveInt | list[PositiveInt]),
    AfterValidator(distinct),
    Allowed("a positive whole number, or a list of distinct positive whole numbers"),
]


# The settings, part by part


class Data(OpenData):
    """How the data sets are generated and divided."""

    samples: Count
    """Samples kept of each data set, estimation and validation together."""
    validation_samples: Count
    """The last samples, over which a model is simulated and judged."""
    washout: int = Field(ge=0, le=1_000_000_000)
    """Samples simulated before the first kept one, so that the start at rest is forgotten."""
    seeds: Seeds
    """Seeds of input and noise: a number N for 1 to N, or a list. The realisations are the same at every SNR."""

    @pydantic.model_validator(mode="after")
    def _some_estimation(self) -> "Data":
        if self.validation_samples >= self.samples:
            text = f"found {self.validation_samples}; allowed: less than data.samples, which is {self.samples}"
            raise SettingsError([Problem(("validation_samples",), text)])
        return self


class Method(Settings):
    """A named method: an algorithm, its settings and the criteria that it minimises."""

    algorithm: KnownAlgorithm
    """Search algorithm."""
    criteria: Annotated[list[Criterion], AfterValidator(_distinct_criteria)] = Field(min_length=1)
    """Criteria of the fitness J, each searched for separately: bic, or aic-RHO."""
    settings: SerializeAsAny[Settings] = Field(default=Settings(), validate_default=True)
    """Settings of the algorithm; those left out take its defaults."""

    @pydantic.field_validator("settings", mode="before")
    @classmethod
    def _of_algorithm(cls, value: object, info: ValidationInfo) -> object:
        if "algorithm" not in info.data:
            return Settings()  # an unknown algorithm is the problem to tell, and the only one
        given = dict(value) if isinstance(value, Settings) else value
        return validated(settings_model(info.data["algorithm"]), given, "")


class Statistics(Settings):
    """How the runs of a condition are summarised."""

    threshold: float = Field(ge=0, le=1)
    """Terms selected at least this often make the final structure."""
    confidence: float = Field(gt=0, lt=1)
    """Coverage of the intervals."""
    bootstrap_samples: Count
    """Resamples of the runs behind the bootstrap intervals."""


class Figures(Settings):
    """What the figures show."""

    snr_db: Decibels
    """SNR of the figures in dB, one of the study's."""


class Finalists(Settings):
    """Interpretations that are also run under further criteria."""

    interpretations: Annotated[list[Label], AfterValidator(distinct)]
    """Names of interpretations."""
    criteria: Annotated[list[Criterion], AfterValidator(distinct)]
    """Criteria beside that of the screening."""


class Variations(Settings):
    """Which interpretations a study runs: every option of every design choice alone, and combinations of them."""

    criterion: Criterion
    """Criterion under which all are run."""
    methods: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Methods whose design choices are varied, by name."""
    reference: Name
    """A method that is run on the same data for comparison."""
    combinations: list[dict[str, str]]
    """Combinations of options, each a mapping of design choices to options."""
    finalists: Finalists
    """Interpretations that are also run under further criteria."""


class Study(Settings):
    """All settings of a study, complete and valid."""

    study: Annotated[Name, AfterValidator(_no_reference)]
    """Name of the study: of its folders under data/ and reports/. That of an overlay is the name of its file."""
    page: Literal["paper", "interpretations"]
    """What the study's page says: the paper's tables and claims, or what the interpretations do to them."""
    interpretation: Label
    """Interpretation of what the paper leaves open: a name in config/design_choices.yaml."""
    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems to identify: NAME stands for config/systems/NAME.yaml."""
    snr_db: Annotated[list[Decibels], AfterValidator(distinct)] = Field(min_length=1)
    """Signal-to-noise ratios in dB."""
    seeds: Seeds
    """Runs of every condition: their number N for the seeds 1 to N, or the seeds themselves."""
    seeds_per_job: Annotated[int, Field(ge=1, le=_MOST_RUNS)]
    """Seeds that one job runs; it decides which runs share a file, and no result."""
    evaluations: Count
    """Fitness evaluations of every run."""
    data: Data
    """How the data sets are generated."""
    fitness: Fitness
    """How the fitness is computed."""
    methods: dict[Name, Method] = Field(min_length=1)
    """Methods by name; the name is used in paths and tables. A method set to null is left out."""
    statistics: Statistics
    """How the runs of a condition are summarised."""
    figures: Figures
    """What the figures show."""
    variations: Variations | None = None
    """Which interpretations are run, in a study of them."""

    @pydantic.field_validator("methods", mode="before")
    @classmethod
    def _without_null(cls, value: object) -> object:
        # Overlays are merged key by key, so null is the only way for one to take a method away.
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value

    @pydantic.field_validator("methods", mode="after")
    @classmethod
    def _methods_differ(cls, methods: dict[str, Method]) -> dict[str, Method]:
        names = list(methods)
        _raise_if(Problem((names[index],), text) for index, text in _different_as_files(names))
        return methods

    @pydantic.field_validator("systems", mode="after")
    @classmethod
    def _systems_exist(cls, names: list[str], info: ValidationInfo) -> list[str]:
        _raise_if(Problem((index,), text) for index, text in _different_as_files(names))
        known: Sequence[str] | None = info.context
        if known is not None:
            allowed = f"a file in config/systems, which has {', '.join(known)}"
            _raise_if(
                Problem((i,), f"found {name!r}; allowed: {allowed}{did_you_mean(name, known)}")
                for i, name in enumerate(names)
                if name not in known
            )
        return names

    @pydantic.model_validator(mode="after")
    def _parts_agree(self) -> "Study":
        problems = []
        if self.figures.snr_db not in self.snr_db:
            allowed = ", ".join(map(snr_label, self.snr_db))
            text = f"found {snr_label(self.figures.snr_db)}, which is not in snr_db; allowed: one of {allowed}"
            problems.append(Problem(("figures", "snr_db"), text))
        if self.page == "paper" and len(self.data.seeds) > 1:
            text = f"found {len(self.data.seeds)} seeds; allowed: one, for the paper's tables show one data set"
            problems.append(Problem(("data", "seeds"), text))
        if self.page == "interpretations" and self.variations is None:
            text = "found interpretations without settings under variations; allowed: with them, or paper"
            problems.append(Problem(("page",), text))
        if self.page == "paper" and self.variations is not None:
            problems.append(Problem(("variations",), "found settings; allowed: none with the page paper"))
        if self.variations:
            named = [(("methods", i), name) for i, name in enumerate(self.variations.methods)]
            for place, name in [*named, (("reference",), self.variations.reference)]:
                if name not in self.methods:
                    allowed = f"a method of the study: {', '.join(self.methods)}{did_you_mean(name, self.methods)}"
                    problems.append(Problem(("variations", *place), f"found {name!r}; allowed: {allowed}"))
        _raise_if(problems)
        return self


# From files to settings


def load_study(
    files: Sequence[str | Path],
    command_line: Sequence[str] = (),
    *,
    choices: DesignChoices | None = None,
    systems_folder: str | Path | None = None,
) -> Study:
    """Return the settings of a study.

    Parameters
    ----------
    files : sequence of paths
        The base (``config/paper.yaml``) and its overlays, in the order in which they are merged.
    command_line : sequence of str
        ``KEY=VALUE``, VALUE being YAML; merged last.
    choices : DesignChoices, optional
        What the interpretations are; default: those of the project.
    systems_folder : path, optional
        Where systems are described; default: the project's ``config/systems``.

    Raises
    ------
    NarxbenchError
        One line for each mistake, with the file or command line that has the last word on its key.
    """
    choices = choices or load_design_choices()
    layers = [(str(path), read_mapping(path)) for path in files]
    for path, layer in layers[1:]:
        layer.setdefault("study", Path(path).stem)
    layers += [(COMMAND_LINE, _assignment(text)) for text in command_line]
    merged: dict[str, Any] = {}
    origins: dict[tuple[str, ...], str] = {}
    for source, layer in layers:
        _merge(merged, layer, source, origins)
    problems = _interpret(merged, choices, origins)
    if not problems:
        try:
            study = Study.model_validate(merged, context=system_names(systems_folder))
        except pydantic.ValidationError as error:
            problems = problems_of(Study, error)
        else:
            problems = _problems_of_variations(study, choices)
    if problems:
        first = layers[0][0] if layers else "settings"
        raise NarxbenchError(report(problems, [_origin(problem.path, origins) or first for problem in problems]))
    return study


def _assignment(text: str) -> dict[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise NarxbenchError(f"{COMMAND_LINE}: found {text!r}; allowed: KEY=VALUE")
    return {key: read_value(value, f"{COMMAND_LINE}: {key}")}


def _merge(
    base: dict[str, Any],
    layer: Mapping[Any, Any],
    source: str,
    origins: dict[tuple[str, ...], str],
    path: tuple[str, ...] = (),
) -> None:
    # Another kind of excitation and another algorithm start anew: nothing of the one that they replace fits them.
    if path == _EXCITATION and layer.get("kind", base.get("kind")) != base.get("kind"):
        base.clear()
    if path[:-1] == ("methods",) and layer.get("algorithm", base.get("algorithm")) != base.get("algorithm"):
        base.pop("settings", None)
    for key, value in layer.items():
        place = (*path, str(key))
        origins[place] = source
        if isinstance(value, Mapping):
            if not isinstance(base.get(key), dict):
                base[key] = {}
            _merge(base[key], value, source, origins, place)
        else:
            base[key] = value


def _interpret(merged: dict[str, Any], choices: DesignChoices, origins: dict[tuple[str, ...], str]) -> list[Problem]:
    """Fill in the settings of the interpretation where the study gives none; return what prevents it."""
    name = merged.get("interpretation")
    if not isinstance(name, str) or name not in choices.named:
        found = f"found {show(name, kind=False)}" if "interpretation" in merged else "missing"
        hint = did_you_mean(name, choices.named) if isinstance(name, str) else ""
        allowed = f"an interpretation of config/design_choices.yaml: {', '.join(choices.named)}{hint}"
        return [Problem(("interpretation",), f"{found}; allowed: {allowed}")]
    chosen = interpretation_settings(choices, choices.named[name])
    defaults: dict[str, Any] = {part: chosen[part] for part in SHARED_PARTS}
    methods = merged.get("methods")
    defaults["methods"] = {
        name: {"settings": chosen[algorithm]}
        for name, method in (methods.items() if isinstance(methods, Mapping) else ())
        if isinstance(method, Mapping) and isinstance(algorithm := method.get("algorithm"), str) and algorithm in chosen
    }
    _fill(merged, defaults, origins)
    return []


def _fill(
    given: dict[str, Any],
    defaults: Mapping[str, Any],
    origins: dict[tuple[str, ...], str],
    path: tuple[str, ...] = (),
) -> None:
    if path == _EXCITATION and given.get("kind", defaults.get("kind")) != defaults.get("kind"):
        return
    for key, value in defaults.items():
        place = (*path, key)
        if key not in given:
            origins[place] = str(DESIGN_CHOICES_FILE.name)
            given[key] = {} if isinstance(value, Mapping) else value
        if isinstance(given[key], dict) and isinstance(value, Mapping):
            _fill(given[key], value, origins, place)


def _origin(path: Sequence[str | int], origins: Mapping[tuple[str, ...], str]) -> str | None:
    # A missing key is missed where its parent is given, an entry of a list where the list is.
    keys = tuple(map(str, path))
    return next((origins[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in origins), None)


def _problems_of_variations(study: Study, choices: DesignChoices) -> list[Problem]:
    if study.variations is None:
        return []
    problems = []
    for index, chosen in enumerate(study.variations.combinations):
        try:
            check_interpretation(choices, chosen)
        except SettingsError as error:
            problems += [Problem(("variations", "combinations", index, *p.path), p.text) for p in error.problems]
    for index, name in enumerate(study.variations.finalists.interpretations):
        if name not in choices.named:
            text = f"found {name!r}; allowed: a named interpretation: {', '.join(choices.named)}"
            problems.append(Problem(("variations", "finalists", "interpretations", index), text))
    return problems


# For editors


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study for editors; no key is required in it, so that it fits overlays."""
    result: dict[str, Any] = _for_overlays(Study.model_json_schema())
    definitions, method = result["$defs"], result["$defs"]["Method"]
    definitions["MethodOrNull"] = {"anyOf": [{"$ref": "#/$defs/Method"}, {"type": "null"}]}
    for pattern in result["properties"]["methods"]["patternProperties"].values():
        pattern["$ref"] = "#/$defs/MethodOrNull"
    method["properties"]["algorithm"]["enum"] = algorithm_names()
    method["allOf"] = []
    for name in algorithm_names():
        settings, key = _for_overlays(settings_model(name).model_json_schema()), f"Settings-{name}"
        definitions |= {**settings.pop("$defs", {}), key: settings}
        condition = {"properties": {"algorithm": {"const": name}}, "required": ["algorithm"]}
        method["allOf"].append({"if": condition, "then": {"properties": {"settings": {"$ref": f"#/$defs/{key}"}}}})
    method["properties"]["settings"] = {"type": "object"}
    definitions.pop("Settings", None)
    return result


def _for_overlays(part: Any) -> Any:
    if isinstance(part, dict):
        # An excitation without its kind fits several kinds.
        renamed = {"anyOf" if key == "oneOf" else key: value for key, value in part.items() if key != "required"}
        return {key: _for_overlays(value) for key, value in renamed.items() if key != "discriminator"}
    return [_for_overlays(item) for item in part] if isinstance(part, list) else part


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
