"""Studies of simulated systems: their settings, and the conditions that these mean.

A condition is problem x method x criterion, with one run for every seed. A problem is a data set with candidate terms,
a method an algorithm with settings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any, NamedTuple, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, ValidationInfo

from narxbench._algorithms.registry import algorithm, packaged_names
from narxbench._fitness.criteria import canonical_criterion, criterion_forms
from narxbench._io.settings import Coverage, Mistake, Settings, SettingsError, described_as, show
from narxbench._model.dataset import snr_label
from narxbench._model.excitation import Excitation, HeldInput, input_for_system, recorded_file
from narxbench._model.system import System
from narxbench._study.condition import ConditionKey
from narxbench._study.design_choices import Count, DesignChoices, Fitness, Label, OpenData

MOST_RUNS = 100_000
T = TypeVar("T")
Place = tuple[str | int, ...]
# An input that a study needs: where it is set, how a message on it begins, the input, and the samples it must have.
Input = tuple[Place, str, Excitation, int]


# Folders of `data` that come with the project, with their content.
SHIPPED = {"reference": "published values", "buck": "measured signals"}

# Checks of single values


def raise_if(problems: Iterable[Mistake]) -> None:
    """Raise SettingsError for the mistakes, if there are any."""
    mistakes = list(problems)
    if mistakes:
        raise SettingsError(mistakes)


def distinct(values: list[T]) -> list[T]:
    """Return the values, or raise SettingsError for those that are in the list twice."""
    earlier: set[T] = set()
    mistakes = []
    for place, value in enumerate(values):
        if value in earlier:
            mistakes.append(Mistake((place,), f"found {show(value, kind=False)} twice; allowed: each once"))
        earlier.add(value)
    raise_if(mistakes)
    return values


def _counted(value: object) -> object:
    """Return the list from 1 to a count, and another value as it is, for a later check to refuse or accept."""
    # bool is an int to Python, but no count.
    if type(value) is int and 1 <= value <= MOST_RUNS:
        return list(range(1, value + 1))
    return value


def _free_name(name: str) -> str:
    """Return the name of a study, or raise ValueError for a folder of ``data`` that comes with the project."""
    content = SHIPPED.get(name.casefold())
    if content is not None:
        raise ValueError(f"found {name!r}, the folder of the {content}; allowed: any other name")
    return name


def _known_algorithm(name: str) -> str:
    algorithm(name)
    return name


def _describe_criteria(schema: dict[str, Any]) -> None:
    """Say in a schema which criteria there are. A study that asks for no schema loads those that it names."""
    schema["allowed"] = f"{criterion_forms()}: up to 40 characters"


Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=100),
    described_as("a name of letters, digits, _ and - that starts with a letter or digit"),
]
PositiveInt = Annotated[int, Field(ge=1)]
Decibels = Annotated[float, Field(ge=-300, le=300)]
# Criteria are parts of paths, which must not grow without end.
Criterion = Annotated[
    str, Field(max_length=40, json_schema_extra=_describe_criteria), AfterValidator(canonical_criterion)
]
Seeds = Annotated[
    list[PositiveInt],
    Field(min_length=1, max_length=MOST_RUNS),
    BeforeValidator(_counted, json_schema_input_type=PositiveInt | list[PositiveInt]),
    AfterValidator(distinct),
    described_as(
        f"a whole number from 1 to {MOST_RUNS}, or a list of up to {MOST_RUNS} distinct positive whole numbers"
    ),
]


# The settings, part by part


class Data(OpenData):
    """How the data sets are generated and divided."""

    samples: Count
    """Samples kept of each data set, estimation and validation together."""
    validation_samples: Count
    """The number of samples over which a model is simulated and judged."""
    seeds: Seeds
    """Seeds of input and noise: a number N for 1 to N, or a list. The realisations are the same at every SNR."""

    @pydantic.model_validator(mode="after")
    def _some_estimation(self) -> "Data":
        if self.validation_samples >= self.samples:
            text = f"found {self.validation_samples}; allowed: less than data.samples, which is {self.samples}"
            raise SettingsError([Mistake(("validation_samples",), text)])
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
    """Criteria of the fitness J, each searched for separately."""
    settings: SerializeAsAny[Settings] = Field(default=Settings(), validate_default=True)
    """Settings of the algorithm; those left out take its defaults."""

    @pydantic.field_validator("settings", mode="before")
    @classmethod
    def _of_algorithm(cls, value: object, info: ValidationInfo) -> object:
        if "algorithm" not in info.data:
            return Settings()  # the unknown algorithm is reported, and nothing else
        settings = dict(value) if isinstance(value, Settings) else value
        return algorithm(info.data["algorithm"]).settings(settings)  # type: ignore[arg-type]


def without_null(value: object) -> object:
    """Return a mapping without the keys that are set to null."""
    # Overlays are merged key by key, so null is the only way for one to take a method away.
    if not isinstance(value, Mapping):
        return value
    return {name: setting for name, setting in value.items() if setting is not None}


Methods = Annotated[dict[Name, Method], BeforeValidator(without_null, json_schema_input_type=dict[Name, Method | None])]


class Statistics(Settings):
    """How the runs of a condition are summarised."""

    threshold: float = Field(ge=0, le=1)
    """Terms selected at least this often make the final structure."""
    confidence: Coverage
    """Coverage of the intervals."""


# The settings of the data that determine a simulation.
_SIMULATED = {"excitation", "noise", "samples", "washout", "snr_of", "own_noise"}


@dataclass(frozen=True)
class Problem:
    """A data set with candidate terms. ``name`` is its path below the study's problems."""

    name: str
    system: System
    snr_db: float
    data_seed: int
    data: Data
    fitness: Fitness
    scenario: str = ""
    held_out: bool = False

    def realisation(self, seed: int) -> int | None:
        """Return the number of the data set that a run sees, or None if all runs see the same data set."""
        if self.data.realisation == "shared":
            return None
        if self.data.realisation == "four":
            return (seed - 1) % 4 + 1
        return seed

    @property
    def axes(self) -> dict[str, str]:
        """The axes of the random streams of its searches besides algorithm, criterion and seed."""
        axes = {"system": self.system.name, "snr_db": snr_label(self.snr_db)}
        if self.scenario:
            axes["scenario"] = self.scenario
        # Without it two data sets would share the runs' random numbers, and look more alike than they are.
        if self.scenario or self.data_seed != 1:
            axes["data_seed"] = str(self.data_seed)
        return axes

    @property
    def recorded_files(self) -> list[str]:
        """The file of the recorded input, if the data set has one."""
        file = recorded_file(self.data.excitation)
        return [file] if file else []

    @cached_property
    def simulation(self) -> dict[str, Any]:
        """The definition of the data set: parameters of :func:`narxbench._study.data_sets.simulated_csv`."""
        return {
            "system": self.system.definition(),
            "snr_db": self.snr_db,
            "seed": self.data_seed,
            "data": self.data.model_dump(mode="json", include=_SIMULATED),
        }

    @cached_property
    def structure(self) -> dict[str, Any]:
        """The parameters that make a structure problem of the data set, besides the criterion."""
        return {
            "n_u": self.system.n_u,
            "n_y": self.system.n_y,
            "degree": self.system.degree,
            "n_validation": self.data.validation_samples,
            **self.fitness.model_dump(),
        }


def problem_name(scenario: str, data_seed: int, system: str, snr_db: float) -> str:
    """Return the path of a problem below the study's problems. ``scenario`` may be an interpretation."""
    return f"{scenario}/data-{data_seed}/{system}/{snr_label(snr_db)}dB"


@dataclass(frozen=True)
class Condition:
    """One problem, method and criterion. ``name`` is its path below the study's runs and conditions."""

    name: str
    problem: Problem
    interpretation: str
    method: str
    algorithm: str
    settings: Mapping[str, Any]
    criterion: str
    evaluations: int

    @property
    def key(self) -> ConditionKey:
        """The values that distinguish it from the other conditions."""
        return ConditionKey(
            system=self.problem.system.name,
            snr_db=self.problem.snr_db,
            data_seed=self.problem.data_seed,
            interpretation=self.interpretation,
            method=self.method,
            criterion=self.criterion,
            scenario=self.problem.scenario,
        )


class Part(NamedTuple):
    """Problems of a study that differ in system, SNR and seed alone."""

    place: Place
    """Where their settings stand."""
    systems: Sequence[str]
    snr_db: Sequence[float]
    seeds: Sequence[int]
    data: Data
    scenario: str = ""
    excitation: Excitation | None = None
    """An input that prevails over that of a system, or is made of it."""
    oversampling: int | None = None
    """How many times faster the systems are sampled, if they are."""
    orders: Mapping[str, int] = {}
    """Orders of the candidate terms that are not the system's."""
    held_out: bool = False
    """Whether no method was developed or tuned on them."""

    def with_candidates(self, system: System) -> System:
        """Return a system with the candidate terms and the sampling of this part.

        Too many candidate terms, and a system that cannot be sampled faster, raise NarxbenchError.
        """
        if self.orders:
            system = system.with_candidates(**self.orders)
        if self.oversampling:
            system = system.oversampled(self.oversampling)
        return system

    def input_of(self, system: System) -> Excitation:
        """Return the input of a system: from this part, the system, or the study."""
        excitation = system.excitation or self.data.excitation
        if self.excitation:
            excitation = input_for_system(self.excitation, excitation)
        if self.oversampling:
            excitation = input_for_system(HeldInput(hold=self.oversampling), excitation)
        return excitation


class Study(Settings):
    """The settings that all studies of simulated systems have, complete and valid. Each kind of study is a class.

    A study has every combination of its systems, SNRs, seeds of the data, methods and criteria, unless its kind says
    otherwise.
    """

    study: Annotated[Name, AfterValidator(_free_name)]
    """Name of the study: of its folders under data/ and reports/. That of an overlay is the name of its file."""
    kind: str
    """The kind of the study."""
    interpretation: Label
    """Interpretation of what the paper leaves open: a name in config/design_choices.yaml."""
    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems to identify: NAME means config/systems/NAME.yaml."""
    snr_db: Annotated[list[Decibels], AfterValidator(distinct)] = Field(min_length=1)
    """Signal-to-noise ratios in dB. Figures show the smallest."""
    seeds: Seeds
    """Runs of every condition: their number N for the seeds 1 to N, or the seeds themselves."""
    seeds_per_job: Annotated[int, Field(ge=1, le=MOST_RUNS)]
    """Seeds that one job runs; it decides which runs share a file, and no result."""
    evaluations: Count
    """Fitness evaluations of every run, a design choice."""
    time_limit: float = Field(gt=0, le=1e7)
    """Seconds after which a run is ended, and recorded as failed."""
    data: Data
    """How the data sets are generated."""
    fitness: Fitness
    """How the fitness is computed."""
    methods: Methods = Field(min_length=1)
    """Methods by name; the name is used in paths and tables. A method set to null is left out."""
    statistics: Statistics
    """How the runs of a condition are summarised."""

    def named_systems(self) -> list[tuple[Place, str]]:
        """Return the systems with the places where they are named."""
        return [(("systems", index), name) for index, name in enumerate(self.systems)]

    @property
    def all_systems(self) -> list[str]:
        """All systems of the study."""
        return [name for _, name in self.named_systems()]

    def parts(self) -> list[Part]:
        """Return the parts that the problems of the study belong to."""
        return [Part(("data",), self.systems, self.snr_db, self.data.seeds, self.data)]

    def conditions(
        self, choices: DesignChoices, systems: Mapping[str, System], parts: Sequence[Part] | None = None
    ) -> Iterator[Condition]:
        """Yield the conditions of some ``parts``, or of all, in the order of the settings."""
        if parts is None:
            parts = self.parts()
        for part in parts:
            yield from self._conditions_of_part(choices, part, systems)

    def _conditions_of_part(
        self, choices: DesignChoices, part: Part, systems: Mapping[str, System]
    ) -> Iterator[Condition]:
        """Yield the conditions of one part: each problem with all methods."""
        for name, snr_db, seed in product(part.systems, part.snr_db, part.seeds):
            yield from self._by_all_methods(self._problem(part, systems[name], snr_db, seed))

    def _problem(self, part: Part, system: System, snr_db: float, seed: int) -> Problem:
        data = part.data.model_copy(update={"excitation": part.input_of(system)})
        return Problem(
            name=problem_name(part.scenario or self.interpretation, seed, system.name, snr_db),
            system=part.with_candidates(system),
            snr_db=snr_db,
            data_seed=seed,
            data=data,
            fitness=self.fitness,
            scenario=part.scenario,
            held_out=part.held_out,
        )

    def _by_all_methods(self, problem: Problem) -> Iterator[Condition]:
        for name, method in self.methods.items():
            settings = method.settings.model_dump(mode="json")
            for criterion in method.criteria:
                yield Condition(
                    name=f"{problem.name}/{name}/{criterion}",
                    problem=problem,
                    interpretation=self.interpretation,
                    method=name,
                    algorithm=method.algorithm,
                    settings=settings,
                    criterion=criterion,
                    evaluations=self.evaluations,
                )

    def unknown_names(self, choices: DesignChoices) -> Iterator[Mistake]:
        """Yield a mistake for each name of a method, system, design choice or interpretation that does not exist."""
        yield from ()

    def inputs(self, choices: DesignChoices, systems: Mapping[str, System]) -> Iterator[Input]:
        """Yield every input that the study needs."""
        for part in self.parts():
            size = part.data.washout + part.data.samples
            yield (*part.place, "excitation", "file"), "", part.excitation or part.data.excitation, size
            if part.excitation:
                continue  # it prevails over the inputs of the systems
            for name in part.systems:
                excitation = systems[name].excitation
                if excitation is not None:
                    yield ("systems",), f"the input of {name}: ", excitation, size


# In the place of settings that only another kind of study has.
Absent = Annotated[None, described_as("none with this kind")]


def for_overlays(part: Any) -> Any:
    """Return a part of a JSON schema in which no key is required."""
    if isinstance(part, list):
        return [for_overlays(item) for item in part]
    if not isinstance(part, dict):
        return part
    schema = {}
    for key, value in part.items():
        if key == "oneOf":
            key = "anyOf"  # an excitation without its kind fits several kinds
        if key not in ("required", "discriminator"):
            schema[key] = for_overlays(value)
    return schema
