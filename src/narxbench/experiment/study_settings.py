"""The settings of a study: strict, merged from its files, checked before anything runs.

A study is ``config/paper.yaml``, or an overlay of it (``--configfile``), or either with values of the command line
(``--config``). Files are merged in order, mapping by mapping; what the study leaves out of the design choices is filled
in from its interpretation.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, ValidationInfo

from narxbench.algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names
from narxbench.experiment.interpretations import (
    DESIGN_CHOICES_FILE,
    MOST,
    Count,
    DesignChoices,
    Fitness,
    Label,
    OpenData,
    interpretation_settings,
    load_design_choices,
    unknown_options,
)
from narxbench.fitness.criteria import canonical_criterion
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import canonical_json
from narxbench.io.settings import (
    Coverage,
    Problem,
    Settings,
    SettingsError,
    described_as,
    report,
    show,
    unknown,
    validated,
)
from narxbench.io.yaml import read_mapping, read_value
from narxbench.model.dataset import snr_label
from narxbench.model.excitation import Excitation, RecordedInput, excitation_of
from narxbench.model.system import System, load_system, system_names
from narxbench.model.terms import MAX_DEGREE, MAX_LAG
from narxbench.numerics.random_streams import generator

COMMAND_LINE = "command line (--config)"
_MOST_RUNS = 100_000
T = TypeVar("T")
Place = tuple[str | int, ...]


# Checks of single values


def _raise_if(problems: Iterable[Problem]) -> None:
    if found := list(problems):
        raise SettingsError(found)


def distinct(values: list[T]) -> list[T]:
    """Return the values, or raise SettingsError for those that are given twice."""
    first: dict[T, int] = {}
    _raise_if(
        Problem((i,), f"found {show(value, kind=False)} twice; allowed: each once")
        for i, value in enumerate(values)
        if first.setdefault(value, i) != i
    )
    return values


def _counted(value: object) -> object:
    # Only a real count is expanded: bool is an int to Python.
    return list(range(1, value + 1)) if type(value) is int and 1 <= value <= _MOST_RUNS else value


def no_reference(name: str) -> str:
    """Return the name of a study; that of the published values raises ValueError."""
    if name.casefold() == "reference":
        raise ValueError(f"found {name!r}, the folder of the published values; allowed: any other name")
    return name


def _known_algorithm(name: str) -> str:
    algorithm(name)
    return name


Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=100),
    described_as("a name of letters, digits, _ and - that starts with a letter or digit"),
]
PositiveInt = Annotated[int, Field(ge=1)]
Decibels = Annotated[float, Field(ge=-300, le=300)]
# Criteria are parts of paths, which must not grow without end.
Criterion = Annotated[
    str, Field(max_length=40), AfterValidator(canonical_criterion), described_as("bic, or aic-RHO: up to 40 characters")
]
Seeds = Annotated[
    list[PositiveInt],
    Field(min_length=1, max_length=_MOST_RUNS),
    BeforeValidator(_counted, json_schema_input_type=PositiveInt | list[PositiveInt]),
    AfterValidator(distinct),
    described_as(
        f"a whole number from 1 to {_MOST_RUNS}, or a list of up to {_MOST_RUNS} distinct positive whole numbers"
    ),
]


# The settings, part by part


class Data(OpenData):
    """How the data sets are generated and divided."""

    samples: Count
    """Samples kept of each data set, estimation and validation together."""
    validation_samples: Count
    """The last samples, over which a model is simulated and judged."""
    washout: int = Field(ge=0, le=MOST)
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

    algorithm: Annotated[
        str,
        AfterValidator(_known_algorithm),
        described_as(f"one of {', '.join(packaged_names())}, or an algorithm of an installed package"),
    ]
    """Search algorithm."""
    criteria: Annotated[list[Criterion], AfterValidator(distinct)] = Field(min_length=1)
    """Criteria of the fitness J, each searched for separately: bic, or aic-RHO."""
    settings: SerializeAsAny[Settings] = Field(default=Settings(), validate_default=True)
    """Settings of the algorithm; those left out take its defaults."""

    @pydantic.field_validator("settings", mode="before")
    @classmethod
    def _of_algorithm(cls, value: object, info: ValidationInfo) -> object:
        if "algorithm" not in info.data:
            return Settings()  # an unknown algorithm is the problem to tell, and the only one
        given = dict(value) if isinstance(value, Settings) else value
        return algorithm(info.data["algorithm"]).settings(given)  # type: ignore[arg-type]


def _without_null(value: object) -> object:
    # Overlays are merged key by key, so null is the only way for one to take a method away.
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value


Methods = Annotated[
    dict[Name, Method],
    BeforeValidator(_without_null, json_schema_input_type=dict[Name, Method | None]),
]


class Statistics(Settings):
    """How the runs of a condition are summarised."""

    threshold: float = Field(ge=0, le=1)
    """Terms selected at least this often make the final structure."""
    confidence: Coverage
    """Coverage of the intervals."""
    bootstrap_samples: Count
    """Resamples of the systems behind the intervals of a comparison of methods."""


class Scenario(Settings):
    """How the problems of a scenario depart from the study's; what is left out is the study's."""

    description: str = Field(min_length=1, max_length=200)
    """What is special about it, for readers."""
    systems: Annotated[list[Name], AfterValidator(distinct)] | None = Field(default=None, min_length=1)
    """Systems of the study that it is for."""
    snr_db: Annotated[list[Decibels], AfterValidator(distinct)] | None = Field(default=None, min_length=1)
    """Signal-to-noise ratios in dB."""
    seeds: Seeds | None = None
    """Seeds of input and noise."""
    samples: Count | None = None
    """Samples kept of each data set."""
    validation_samples: Count | None = None
    """The last samples, over which a model is simulated and judged."""
    excitation: Excitation | None = None
    """The input signal; it prevails over that of a system."""
    noise: Literal["output", "equation"] | None = None
    """Where the noise enters."""
    n_u: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the input in the candidate terms."""
    n_y: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the output in the candidate terms."""
    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE)] | None = None
    """Largest degree of the candidate terms."""


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


Scenarios = Annotated[
    dict[Name, Scenario],
    BeforeValidator(_without_null, json_schema_input_type=dict[Name, Scenario | None]),
]


class Variations(Settings):
    """Which interpretations a study runs: every option of every design choice alone, and combinations of them."""

    criterion: Criterion
    """Criterion under which all are run."""
    methods: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Methods whose design choices are varied, by name."""
    references: Annotated[list[Name], AfterValidator(distinct)]
    """Methods that are run on the same data for comparison."""
    combinations: list[dict[str, str]]
    """Combinations of options, each a mapping of design choices to options."""
    finalists: Finalists
    """Interpretations that are also run under further criteria."""


class Study(Settings):
    """All settings of a study, complete and valid."""

    study: Annotated[Name, AfterValidator(no_reference)]
    """Name of the study: of its folders under data/ and reports/. That of an overlay is the name of its file."""
    page: Literal["paper", "interpretations", "methods"]
    """What the study's page says: the paper's tables and claims, what the interpretations do to them, or which method
    is the best one."""
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
    """Fitness evaluations of every run, a design choice."""
    time_limit: float = Field(gt=0, le=1e7)
    """Seconds after which a run of an algorithm that has a process of its own is ended."""
    data: Data
    """How the data sets are generated."""
    fitness: Fitness
    """How the fitness is computed."""
    methods: Methods = Field(min_length=1)
    """Methods by name; the name is used in paths and tables. A method set to null is left out."""
    statistics: Statistics
    """How the runs of a condition are summarised."""
    figures: Figures
    """What the figures show."""
    variations: Variations | None = None
    """Which interpretations are run, in a study of them."""
    scenarios: Scenarios | None = None
    """The problems of a comparison of methods, by name. A scenario set to null is left out."""

    @pydantic.model_validator(mode="after")
    def _parts_agree(self) -> "Study":
        paper, varied, snr_db = self.page == "paper", self.variations is not None, self.figures.snr_db
        this = f"the page {self.page}"
        here = ", ".join(map(snr_label, self.snr_db))
        shown = f"found {snr_label(snr_db)}, which is not in snr_db; allowed: one of {here}"
        seeds = f"found {len(self.data.seeds)} seeds; allowed: one, for the paper's tables show one data set"
        page = "found interpretations without settings under variations; allowed: with them, or paper"
        compared = "found methods without settings under scenarios; allowed: with them, or paper"
        methods = self.page == "methods"
        found = [
            (snr_db not in self.snr_db, ("figures", "snr_db"), shown),
            (paper and len(self.data.seeds) > 1, ("data", "seeds"), seeds),
            (self.page == "interpretations" and not varied, ("page",), page),
            (methods and not self.scenarios, ("page",), compared),
            (self.page != "interpretations" and varied, ("variations",), f"found settings; allowed: none with {this}"),
            (not methods and bool(self.scenarios), ("scenarios",), f"found settings; allowed: none with {this}"),
        ]
        for name, scenario in (self.scenarios or {}).items():
            kept, judged = scenario.samples or self.data.samples, scenario.validation_samples
            judged = judged or self.data.validation_samples
            text = f"found {judged} validation_samples of {kept} samples; allowed: less than all"
            found.append((judged >= kept, ("scenarios", name), text))
        _raise_if(Problem(path, text) for wrong, path, text in found if wrong)
        return self


def _unknown_names(study: Study, choices: DesignChoices, systems: Sequence[str]) -> Iterator[Problem]:
    """Yield each name of a system, method, design choice, option or interpretation that there is not."""
    for index, name in enumerate(study.systems):
        if name not in systems:
            yield unknown(("systems", index), name, systems, "a file in config/systems, which has")
    for name, scenario in (study.scenarios or {}).items():
        for index, system in enumerate(scenario.systems or ()):
            if system not in study.systems:
                yield unknown(("scenarios", name, "systems", index), system, study.systems, "a system of the study:")
    if (variations := study.variations) is None:
        return
    for key, names in (("methods", variations.methods), ("references", variations.references)):
        for index, name in enumerate(names):
            if name not in study.methods:
                yield unknown(("variations", key, index), name, study.methods, "a method of the study:")
    for index, chosen in enumerate(variations.combinations):
        for path, text in unknown_options(choices.design_choices, chosen):
            yield Problem(("variations", "combinations", index, *path), text)
    for index, name in enumerate(variations.finalists.interpretations):
        if name not in choices.named:
            place = ("variations", "finalists", "interpretations", index)
            yield unknown(place, name, choices.named, "a named interpretation:")


def _parts(study: Study) -> Iterator[tuple[Place, Scenario]]:
    """Yield what the problems of a study are made of, each with its place: its scenarios, or its data."""
    if study.page != "methods":
        yield ("data",), Scenario(description="the study's own")
    for name, scenario in (study.scenarios or {}).items():
        yield ("scenarios", name), scenario


def _impossible(study: Study, systems: Mapping[str, System]) -> Iterator[Problem]:
    """Yield candidate terms that there cannot be, and samples that are too few for the lags."""
    for path, part in _parts(study):
        samples = part.samples or study.data.samples
        judged = part.validation_samples or study.data.validation_samples
        orders = part.model_dump(include={"n_u", "n_y", "degree"}, exclude_none=True)
        lags = {}
        for name in part.systems or study.systems:
            try:
                system = systems[name].with_candidates(**orders) if orders else systems[name]
            except NarxbenchError as error:
                yield Problem(path, f"system {name}: {error}")
                break
            lags[name] = max(system.n_u, system.n_y)
        largest = max(lags, key=lambda name: lags[name], default="")
        if lags and samples <= (least := lags[largest] + judged):
            needs = f"{lags[largest]} for the largest lag of {largest}, {judged} to validate, the rest to estimate"
            yield Problem((*path, "samples"), f"found {samples}; allowed: more than {least} ({needs})")


def _wrong_inputs(study: Study, systems: Mapping[str, System], choices: DesignChoices) -> Iterator[Problem]:
    """Yield recorded inputs that cannot be read, or are too short."""
    given: list[tuple[Place, str, Excitation | None, int]] = []
    for path, part in _parts(study):
        size = study.data.washout + (part.samples or study.data.samples)
        given.append(((*path, "excitation", "file"), "", part.excitation or study.data.excitation, size))
        own = [] if part.excitation else part.systems or study.systems
        given += [(("systems",), f"the input of {name}: ", systems[name].excitation, size) for name in own]
        for name, choice in (choices.design_choices if study.variations else {}).items():
            if (choice.part, choice.setting) == ("data", "excitation"):
                found = [excitation_of(option.value) for option in choice.options.values()]
                given += [(("data", "excitation", "file"), f"{name}: ", excitation, size) for excitation in found]
    files = {
        (excitation.file, size): (path, what)
        for path, what, excitation, size in reversed(given)
        if isinstance(excitation, RecordedInput)
    }
    for (file, size), (path, what) in files.items():
        if wrong := _wrong_file(file, size, study.study):
            yield Problem(path, what + wrong)


def no_file(name: str) -> str:
    """Return what is told of the name of a file that is not there, with the closest one that is."""
    hint = did_you_mean(name, map(str, Path(name).parent.glob("*")))
    return f"found {show(name, kind=False)}; allowed: a file that is there{hint}"


def _wrong_file(file: str, size: int, study: str) -> str:
    """Return what is wrong with a recorded input of which so many samples are needed; nothing where all is right."""
    found = f"found {show(file, kind=False)}; allowed: "
    if {*"{}"} & {*file}:
        return f"{found}a name without braces, which stand for parts of names in Snakemake"
    own = tuple(f"{os.path.realpath(f'{folder}/{study}')}{os.sep}" for folder in ("data", "reports"))
    if os.path.realpath(file).startswith(own):
        return f"{found}a file that is no result of this study"
    if not os.path.isfile(file):
        return no_file(file)
    try:
        RecordedInput(file=file).samples(generator(purpose="input"), size)
    except NarxbenchError as error:
        return str(error)
    return ""


# From files to settings


def load_study(
    files: Sequence[str | Path],
    command_line: Sequence[str] = (),
    *,
    choices: DesignChoices | None = None,
    systems_folder: str | Path | None = None,
    left_out: dict[str, str] | None = None,
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
    left_out : dict, optional
        Receives the methods whose algorithm cannot be used here, each with the reason; the study goes without them.
        None: such a method is a mistake.

    Raises
    ------
    NarxbenchError
        One line for each mistake, with the file or command line that has the last word on its key.
    """
    choices = choices or load_design_choices()
    layers = [(str(path), read_mapping(path)) for path in files]
    for path, layer in layers[1:]:
        layer.setdefault("study", Path(path).stem)
    layers += [(COMMAND_LINE, assignment(text)) for text in command_line]
    given: dict[str, Any] = reduce(merged, (layer for _, layer in layers), {})
    for name, reason in _unusable(given).items():
        if left_out is None:
            raise NarxbenchError(f"methods.{name}: {reason}")
        left_out[name] = reason
        del given["methods"][name]
    otherwise = str(next(iter(files), "settings"))
    try:
        defaults = _of_interpretation(given, choices)
        layers.insert(0, (DESIGN_CHOICES_FILE.name, defaults))
        study = validated(Study, merged(defaults, given), "")
        _raise_if(_unknown_names(study, choices, system_names(systems_folder)))
    except SettingsError as error:
        raise located(error, layers, otherwise) from None
    # A mistake in the file of a system names that file.
    systems = {name: load_system(name, systems_folder) for name in study.systems}
    if problems := [*_impossible(study, systems), *_wrong_inputs(study, systems, choices)]:
        raise located(SettingsError(problems), layers, otherwise)
    return study


def _unusable(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the methods whose algorithm is there but cannot be used, each with the reason."""
    reasons = {}
    methods = given.get("methods")
    for name, method in (methods if isinstance(methods, Mapping) else {}).items():
        try:
            found = algorithm(method["algorithm"]) if isinstance(method, Mapping) else None
            _ = found and (found.about, found.versions)
        except AlgorithmUnavailableError as error:
            reasons[name] = str(error)
        except (NarxbenchError, KeyError, TypeError):
            continue  # an algorithm that there is not is a mistake in the settings
    return reasons


def assignment(text: str) -> dict[str, Any]:
    """Return what ``KEY=VALUE`` of the command line sets."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise NarxbenchError(f"{COMMAND_LINE}: found {text!r}; allowed: KEY=VALUE")
    return {key: read_value(value, f"{COMMAND_LINE}: {key}")}


def merged(base: Mapping[Any, Any], layer: Mapping[Any, Any], path: tuple[Any, ...] = ()) -> dict[Any, Any]:
    """Return a mapping with another one over it, key by key; ``path`` leads to it."""
    result = dict(base)
    # Another kind of excitation and another algorithm start anew: nothing of the one that they replace fits them.
    if path[-1:] == ("excitation",) and layer.get("kind", base.get("kind")) != base.get("kind"):
        result.clear()
    if path[:-1] == ("methods",) and layer.get("algorithm", base.get("algorithm")) != base.get("algorithm"):
        result.pop("settings", None)
    for key, value in layer.items():
        below = result.get(key)
        over = below if isinstance(below, Mapping) else {}
        result[key] = merged(over, value, (*path, key)) if isinstance(value, Mapping) else value
    return result


def _of_interpretation(given: Mapping[str, Any], choices: DesignChoices) -> dict[str, Any]:
    """Return the settings of the study's interpretation, which those that the study gives are merged over."""
    name, methods = given.get("interpretation"), given.get("methods")
    if not isinstance(name, str) or name not in choices.named:
        what = "an interpretation of config/design_choices.yaml:"
        raise SettingsError([unknown(("interpretation",), name, choices.named, what)])
    chosen = interpretation_settings(choices, choices.named[name])
    of_methods = {
        name: {"algorithm": algorithm, "settings": chosen.get(algorithm, {})}
        for name, method in (methods.items() if isinstance(methods, Mapping) else ())
        if isinstance(method, Mapping) and isinstance(algorithm := method.get("algorithm"), str)
    }
    # The budget is a setting of the study itself.
    return {"data": chosen["data"], "fitness": chosen["fitness"], **chosen["search"], "methods": of_methods}


def located(error: SettingsError, layers: Iterable[tuple[str, Mapping[Any, Any]]], otherwise: str) -> NarxbenchError:
    """Return mistakes in merged settings, each with the source that has the last word on its key.

    Parameters
    ----------
    error : SettingsError
        The mistakes.
    layers : iterable of (str, mapping)
        Sources and what they give, in the order in which they are merged.
    otherwise : str
        The source of what none of them gives.
    """
    origins = {place: source for source, layer in layers for place in _places(layer)}
    sources = [_origin(path, origins) or otherwise for path, _ in error.problems]
    return NarxbenchError(report(error.problems, sources))


def _places(layer: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of a layer, those of mappings in it included."""
    for key, value in layer.items():
        yield (*path, str(key))
        if isinstance(value, Mapping):
            yield from _places(value, (*path, str(key)))


def _origin(path: Sequence[str | int], origins: Mapping[tuple[str, ...], str]) -> str | None:
    # A missing key is missed where its parent is given, an entry of a list where the list is.
    keys = tuple(map(str, path))
    return next((origins[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in origins), None)


# For editors


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study for editors; no key is required in it, so that it fits overlays."""
    result: dict[str, Any] = for_overlays(Study.model_json_schema())
    definitions, method = result["$defs"], result["$defs"]["Method"]
    method["allOf"] = []
    # Editors know the algorithms of this package; those of others are allowed too.
    method["properties"]["algorithm"] = {"anyOf": [{"enum": packaged_names()}, method["properties"]["algorithm"]]}
    for name in packaged_names():
        settings, key = for_overlays(algorithm(name).schema()), f"Settings-{name}"
        definitions |= {**settings.pop("$defs", {}), key: settings}
        condition = {"properties": {"algorithm": {"const": name}}, "required": ["algorithm"]}
        method["allOf"].append({"if": condition, "then": {"properties": {"settings": {"$ref": f"#/$defs/{key}"}}}})
    method["properties"]["settings"] = {"type": "object"}
    definitions.pop("Settings", None)
    return result


def for_overlays(part: Any) -> Any:
    """Return a part of a JSON schema in which no key is required."""
    if isinstance(part, dict):
        # An excitation without its kind fits several kinds.
        renamed = {"anyOf" if key == "oneOf" else key: value for key, value in part.items() if key != "required"}
        return {key: for_overlays(value) for key, value in renamed.items() if key != "discriminator"}
    return [for_overlays(item) for item in part] if isinstance(part, list) else part


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
