"""The experiment's configuration: strict settings, read from config files and checked before anything runs."""

import copy
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, ValidationInfo

from narxbench.experiment.interpretations import (
    READINGS_FILE,
    SHARED_PARTS,
    Fitness,
    Label,
    OpenData,
    Readings,
    load_readings,
    reading_settings,
)
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import canonical_json
from narxbench.io.settings import Allowed, Problem, Settings, SettingsError, problems_of, report, show, validated
from narxbench.io.yaml import read_mapping
from narxbench.model.system import Signals, System

COMMAND_LINE = "command line (--config)"
_MOST_RUNS = 100_000
_LONGEST_CRITERION = 40
_DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
T = TypeVar("T")


def label(snr_db: float) -> str:
    """Return the text of an SNR in file names and tables, ``50`` or ``37.5``; different numbers differ in it."""
    number = float(snr_db)
    return str(int(number)) if number.is_integer() else repr(number)


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
    """Yield position and problem of each name that some file systems do not tell from an earlier one."""
    seen: dict[str, str] = {}
    for index, name in enumerate(names):
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            allowed = "names that differ in more than upper and lower case"
            yield index, f"found {name!r} beside {other!r}; allowed: {allowed}"


def _runs(value: object) -> object:
    # Only a real count is expanded: bool is an int to Python.
    return list(range(1, value + 1)) if type(value) is int and 1 <= value <= _MOST_RUNS else value


def _criterion(text: str) -> str:
    from narxbench.fitness.problem import parse_criterion

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


def _known_algorithm(name: str) -> str:
    from narxbench.algorithms.search import settings_model

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
    BeforeValidator(_runs, json_schema_input_type=PositiveInt | list[PositiveInt]),
    AfterValidator(distinct),
    Allowed("a positive whole number of runs, or a list of distinct positive whole numbers"),
]


class DataSet(OpenData):
    """How the data set of a system is generated."""

    samples: Count
    """Samples kept of each data set, estimation and validation together."""
    washout: int = Field(ge=0, le=1_000_000_000)
    """Samples simulated before the first kept one, so that the start at rest is forgotten."""
    seed: int = Field(ge=0)
    """Seed of input and noise; the same realisations serve every SNR of a system."""

    def realisation_of(self, run_seed: int) -> int | None:
        """Return which realisation of input and noise a run sees: one of its own, or None, that of all runs."""
        return run_seed if self.realisation == "per_run" else None

    def simulate(self, system: System, snr_db: float, realisation: int | None = None) -> Signals:
        """Return the data set of a system at an SNR."""
        return system.simulate(
            self.samples,
            snr_db=snr_db,
            seed=self.seed,
            excitation=self.excitation,
            noise=self.noise,
            washout=self.washout,
            realisation=realisation,
        )


class Data(DataSet):
    """How the data set of a system is generated and divided."""

    validation_samples: Count
    """The last samples, over which a model is simulated and judged."""

    @pydantic.model_validator(mode="after")
    def _some_estimation(self) -> "Data":
        if self.validation_samples >= self.samples:
            text = f"found {self.validation_samples}; allowed: less than data.samples, which is {self.samples}"
            raise SettingsError([Problem(("validation_samples",), text)])
        return self


class Search(Settings):
    """One named search: an algorithm, its settings and the criteria that it minimises."""

    algorithm: KnownAlgorithm
    """Search algorithm."""
    criteria: Annotated[list[Criterion], AfterValidator(_distinct_criteria)] = Field(min_length=1)
    """Criteria of the fitness J, each searched for separately: bic, or aic-RHO."""
    settings: SerializeAsAny[Settings] = Field(default=Settings(), validate_default=True)
    """Settings of the algorithm; those left out take its defaults."""

    @pydantic.field_validator("settings", mode="before")
    @classmethod
    def _of_algorithm(cls, value: object, info: ValidationInfo) -> object:
        from narxbench.algorithms.search import settings_model

        if "algorithm" not in info.data:
            return Settings()  # an unknown algorithm is the problem to tell, and the only one
        given = dict(value) if isinstance(value, Settings) else value
        return validated(settings_model(info.data["algorithm"]), given, "")


class Statistics(Settings):
    """How the runs of a cell are summarised."""

    threshold: float = Field(ge=0, le=1)
    """Terms selected at least this often make the final structure."""
    confidence: float = Field(gt=0, lt=1)
    """Coverage of the intervals."""
    bootstrap_samples: Count
    """Resamples of the runs behind the bootstrap intervals."""


class Figures(Settings):
    """What the figures show."""

    snr_db: Decibels
    """SNR of the figures in dB, one of the experiment's."""


class Cell(NamedTuple):
    """One combination of the matrix, searched once per seed."""

    system: str
    snr_db: float
    search: str
    criterion: str


class Experiment(Settings):
    """The whole configuration, complete and valid."""

    reading: Label
    """Reading of what the paper leaves open: a name in config/readings.yaml."""
    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems to identify: NAME stands for config/systems/NAME.yaml."""
    snr_db: Annotated[list[Decibels], AfterValidator(distinct)] = Field(min_length=1)
    """Signal-to-noise ratios in dB."""
    seeds: Seeds
    """Runs of every cell: their number N for the seeds 1 to N, or the seeds themselves."""
    evaluations: Count
    """Fitness evaluations of every run."""
    data: Data
    """How the data sets are generated."""
    fitness: Fitness
    """How the fitness is computed."""
    searches: dict[Name, Search] = Field(min_length=1)
    """Searches by name; the name is used in paths and tables. A search set to null is left out."""
    statistics: Statistics
    """How the runs of a cell are summarised."""
    figures: Figures
    """What the figures show."""

    @pydantic.field_validator("searches", mode="before")
    @classmethod
    def _without_null(cls, value: object) -> object:
        # Overlays are merged key by key, so null is the only way for one to take a search away.
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value

    @pydantic.field_validator("searches", mode="after")
    @classmethod
    def _searches_differ(cls, searches: dict[str, Search]) -> dict[str, Search]:
        names = list(searches)
        _raise_if(Problem((names[index],), text) for index, text in _different_as_files(names))
        return searches

    @pydantic.field_validator("systems", mode="after")
    @classmethod
    def _systems_differ(cls, names: list[str]) -> list[str]:
        _raise_if(Problem((index,), text) for index, text in _different_as_files(names))
        return names

    @pydantic.field_validator("systems", mode="after")
    @classmethod
    def _exist(cls, names: list[str], info: ValidationInfo) -> list[str]:
        known = info.context
        if known is not None:
            unknown = ((i, name) for i, name in enumerate(names) if name not in known)
            allowed = f"a file in config/systems, which has {', '.join(known)}"
            _raise_if(
                Problem((i,), f"found {name!r}; allowed: {allowed}{did_you_mean(name, known)}") for i, name in unknown
            )
        return names

    @pydantic.model_validator(mode="after")
    def _figures_in_matrix(self) -> "Experiment":
        if self.figures.snr_db not in self.snr_db:
            allowed = ", ".join(map(label, self.snr_db))
            text = f"found {label(self.figures.snr_db)}, which is not in snr_db; allowed: one of {allowed}"
            raise SettingsError([Problem(("figures", "snr_db"), text)])
        return self

    def cells(self) -> Iterator[Cell]:
        """Yield every cell of the matrix in the order of the configuration."""
        for system in self.systems:
            for snr_db in self.snr_db:
                for name, search in self.searches.items():
                    for criterion in search.criteria:
                        yield Cell(system, snr_db, name, criterion)


def load_experiment(
    mapping: Mapping[str, Any],
    sources: Sequence[str | Path],
    systems_folder: str | Path | None = None,
    readings_file: str | Path | None = None,
) -> Experiment:
    """Return the merged configuration as an Experiment, with the settings of its reading where it gives none itself.

    ``sources`` are the config files in the order in which they were merged; each line of the error names the one that
    has the last word on its key, or the command line. The folder of system files and the readings are the project's,
    unless given.
    """
    from narxbench.model.system import system_names

    readings_file = readings_file or os.path.relpath(READINGS_FILE)
    layers = [{}, *(read_mapping(path) for path in sources)]
    config = copy.deepcopy(dict(mapping))
    problems = _read_as(config, layers, load_readings(readings_file))
    if not problems:
        try:
            return Experiment.model_validate(config, context=system_names(systems_folder))
        except pydantic.ValidationError as error:
            problems = problems_of(Experiment, error)
    names = [str(readings_file), *map(str, sources), COMMAND_LINE if sources else "configuration"]
    raise NarxbenchError(report(problems, [names[_origin(problem.path, config, layers)] for problem in problems]))


def _read_as(config: dict[str, Any], layers: list[dict[str, Any]], readings: Readings) -> list[Problem]:
    """Put the settings of the chosen reading under ``config`` and into the first layer; return what prevents it."""
    name = config.get("reading")
    if not isinstance(name, str) or name not in readings.named:
        found = f"found {show(name, kind=False)}" if "reading" in config else "missing"
        hint = did_you_mean(name, readings.named) if isinstance(name, str) else ""
        allowed = f"a reading of config/readings.yaml: {', '.join(readings.named)}{hint}"
        return [Problem(("reading",), f"{found}; allowed: {allowed}")]
    chosen = reading_settings(readings, readings.named[name])
    # Before the reading is laid under: what equals one of its settings was given all the same.
    _drop_stale(config, layers)
    layers[0].update({part: chosen[part] for part in SHARED_PARTS})
    _fill(config, layers[0])
    searches = config.get("searches")
    algorithms = {
        name: search.get("algorithm")
        for name, search in (searches.items() if isinstance(searches, Mapping) else ())
        if isinstance(search, Mapping)
    }
    settings = {
        name: {"settings": chosen[algorithm]}
        for name, algorithm in algorithms.items()
        if isinstance(algorithm, str) and algorithm in chosen
    }
    layers[0]["searches"] = settings
    _fill(config, {"searches": settings} if settings else {})
    return []


def _fill(config: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    """Add what ``config`` lacks, mapping by mapping; the settings of another kind are nothing that it lacks."""
    if config.get("kind", defaults.get("kind")) != defaults.get("kind"):
        return
    for key, value in defaults.items():
        given = config.setdefault(key, copy.deepcopy(value))
        if isinstance(given, dict) and isinstance(value, Mapping):
            _fill(given, value)


def check_config_files(paths: Sequence[str | Path]) -> None:
    """Raise NarxbenchError, one line, for the first file that is missing, not YAML, no mapping or repeats a key."""
    for path in paths:
        if not Path(path).suffix and not Path(path).exists():
            raise NarxbenchError(f"--configfile: found {str(path)!r}, no file; if it is a target, put it first")
        read_mapping(path)


def _look_up(mapping: Any, path: Sequence[str | int]) -> Any:
    """Return the value at ``path``, of mappings only; KeyError if there is none."""
    for key in path:
        if not isinstance(mapping, Mapping):
            raise KeyError(key)
        # A key that is no text, as 1 in ``1: x``, is text in a problem's path.
        mapping = mapping[key] if key in mapping else {str(k): v for k, v in mapping.items()}[str(key)]
    return mapping


def _origin(path: Sequence[str | int], config: Mapping[str, Any], layers: list[dict[str, Any]]) -> int:
    """Return the index of the layer that has the last word on a key; ``len(layers)`` is the command line."""
    keys = list(path[: next((i for i, key in enumerate(path) if isinstance(key, int)), len(path))])
    while keys:
        try:
            value = _look_up(config, keys)
        except KeyError:  # a missing key is missed where its parent is given
            keys.pop()
            continue
        for index in reversed(range(len(layers))):
            try:
                given = _look_up(layers[index], keys)
            except KeyError:
                continue
            return index if isinstance(value, Mapping) or repr(given) == repr(value) else len(layers)
        return len(layers)
    return 1  # what is missing altogether is missed in the first file after the readings


def _drop_stale(config: dict[str, Any], layers: list[dict[str, Any]]) -> None:
    """Drop what an earlier file set for another kind of excitation, or for another algorithm.

    Files are merged key by key: without this, ``kind: gaussian`` would keep the ``low`` and ``high`` of ``uniform``.
    """
    searches = config.get("searches")
    groups: list[tuple[list[str | int], list[str | int]]] = [(["data", "excitation", "kind"], ["data", "excitation"])]
    for name in searches if isinstance(searches, Mapping) else ():
        groups.append((["searches", name, "algorithm"], ["searches", name, "settings"]))
    for choice, group in groups:
        try:
            chosen, settings = _look_up(config, choice), _look_up(config, group)
        except KeyError:
            continue
        latest = _origin(choice, config, layers)
        changed = any(_get(layer, choice, chosen) != chosen for layer in layers[:latest])
        for key in list(settings) if changed and isinstance(settings, dict) else ():
            if [*group, key] != choice and _origin([*group, key], config, layers) < latest:
                del settings[key]


def _get(mapping: Any, path: Sequence[str | int], default: Any) -> Any:
    try:
        return _look_up(mapping, path)
    except KeyError:
        return default


def schema() -> dict[str, Any]:
    """Return the JSON schema of the configuration for editors; no key is required in it, so that it fits overlays."""
    from narxbench.algorithms.search import algorithm_names, settings_model

    result: dict[str, Any] = _for_overlays(Experiment.model_json_schema())
    definitions, search = result["$defs"], result["$defs"]["Search"]
    definitions["SearchOrNull"] = {"anyOf": [{"$ref": "#/$defs/Search"}, {"type": "null"}]}
    for pattern in result["properties"]["searches"]["patternProperties"].values():
        pattern["$ref"] = "#/$defs/SearchOrNull"
    search["properties"]["algorithm"]["enum"] = algorithm_names()
    search["allOf"] = []
    for name in algorithm_names():
        settings, key = _for_overlays(settings_model(name).model_json_schema()), f"Settings-{name}"
        definitions |= {**settings.pop("$defs", {}), key: settings}
        condition = {"properties": {"algorithm": {"const": name}}, "required": ["algorithm"]}
        search["allOf"].append({"if": condition, "then": {"properties": {"settings": {"$ref": f"#/$defs/{key}"}}}})
    search["properties"]["settings"] = {"type": "object"}
    del definitions["Settings"]
    return result


def _for_overlays(part: Any) -> Any:
    if isinstance(part, dict):
        # An excitation without its kind fits several kinds.
        renamed = {"anyOf" if key == "oneOf" else key: value for key, value in part.items() if key != "required"}
        return {key: _for_overlays(value) for key, value in renamed.items() if key != "discriminator"}
    return [_for_overlays(item) for item in part] if isinstance(part, list) else part


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema()))
