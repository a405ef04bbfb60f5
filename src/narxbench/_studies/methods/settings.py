"""The settings of a comparison of methods, each of which runs on every data set of every scenario within its limits."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from narxbench._io.settings import Mistake, Settings, unknown
from narxbench._model.excitation import Excitation
from narxbench._model.noise import NoiseKind
from narxbench._model.system import system_names
from narxbench._model.terms import MAX_DEGREE, MAX_LAG, model_size
from narxbench._studies.methods.score_file import REFERENCES
from narxbench._study.design_choices import MOST, Count, DesignChoices
from narxbench._study.settings import (
    Absent,
    Condition,
    Decibels,
    Method,
    Name,
    Part,
    Place,
    Problem,
    Seeds,
    Study,
    distinct,
    raise_if,
    without_null,
)


def _places(setting: Place, names: Sequence[str]) -> list[tuple[Place, str]]:
    """Return the names that a list in the settings has, each with its place."""
    return [((*setting, index), name) for index, name in enumerate(names)]


class Scenario(Settings):
    """How the problems of a scenario differ from those of the study; settings that are left out are the study's."""

    description: str = Field(min_length=1, max_length=200)
    """What is special about the scenario, for readers."""
    systems: (
        Annotated[
            list[Name],
            Field(min_length=1),
            BeforeValidator(
                lambda value: value, json_schema_input_type=Annotated[list[Name], Field(min_length=1)] | Name
            ),
            AfterValidator(distinct),
        ]
        | None
    ) = None
    """Systems of the study that it is for, or the name of a group of them."""
    snr_db: Annotated[list[Decibels], AfterValidator(distinct)] | None = Field(default=None, min_length=1)
    """Signal-to-noise ratios in dB."""
    samples: Count | None = None
    """Samples kept of each data set."""
    validation_samples: Count | None = None
    """The last samples, over which a model is simulated and judged."""
    washout: Annotated[int, Field(ge=0, le=MOST)] | None = None
    """Samples simulated before the first kept one."""
    excitation: Excitation | None = None
    """The input signal; it prevails over that of a system, or is made of it."""
    oversampling: Annotated[int, Field(ge=2, le=100)] | None = None
    """How many times faster the systems are sampled; each value of the input is held as long."""
    noise: NoiseKind | None = None
    """The kind of noise, and where it enters."""
    n_u: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the input in the candidate terms."""
    n_y: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the output in the candidate terms."""
    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE)] | None = None
    """Largest degree of the candidate terms."""


class ComparedMethod(Method):
    """A method, whose choice its settings are, and the largest data sets that it is run on."""

    settings_by: Literal["package default", "authors", "us", "us, own method"] | None = None
    """Whose choice the settings are."""
    settings_source: str = Field(default="", max_length=300)
    """Where the settings stand, or how they were chosen."""
    limits: dict[Literal["candidates", "samples"], Count] = Field(default={})
    """The most candidate terms and samples that the method is run with: on larger data sets it would need more than a
    minute of CPU time, and counts as not exact."""


class HeldOut(Settings):
    """Data sets on which no method was developed or tuned: the answer of the study is theirs."""

    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems to identify, none of the study's others."""
    seeds: Seeds
    """Seeds of input and noise: a number N for 1 to N, or a list."""


class Situation(Settings):
    """A kind of system; the data sets of these systems are shown together."""

    description: str = Field(min_length=1, max_length=200)
    """What the data of these systems are like, for readers."""
    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems of the study."""


class MethodsStudy(Study):
    """A study whose page says which method is the best one."""

    kind: Literal["methods"]
    """Which method is the best one."""
    variations: Absent = None
    methods: Annotated[
        dict[Name, ComparedMethod],
        BeforeValidator(without_null, json_schema_input_type=dict[Name, ComparedMethod | None]),
    ] = Field(min_length=1)  # type: ignore[assignment]
    """Methods by name; the name is used in paths and tables. A method set to null is left out."""
    held_out: HeldOut | None = None
    """Data sets on which no method was developed or tuned."""
    tuned: Annotated[list[Name], AfterValidator(distinct)] = Field(default=[])
    """Methods that were developed or tuned on data sets that are not held out; unknown names have no effect."""
    groups: dict[Name, list[Name]] = Field(default={})
    """Lists of systems by a name, which represents them in a scenario."""
    situations: Annotated[
        dict[Name, Situation],
        BeforeValidator(without_null, json_schema_input_type=dict[Name, Situation | None]),
    ] = Field(default={})
    """Kinds of systems, by name. One set to null is left out."""
    scenarios: Annotated[
        dict[Name, Scenario],
        Field(min_length=1),
        BeforeValidator(without_null, json_schema_input_type=dict[Name, Scenario | None]),
    ]
    """The problems, by name. A scenario set to null is left out."""

    @pydantic.model_validator(mode="after")
    def _estimation_has_samples(self) -> "MethodsStudy":
        mistakes = {}
        for part in self.parts():
            judged, kept = part.data.validation_samples, part.data.samples
            if judged >= kept:
                text = f"found {judged} validation_samples of {kept} samples; allowed: less than all"
                mistakes[part.place] = Mistake(part.place, text)
        raise_if(mistakes.values())
        return self

    @pydantic.model_validator(mode="after")
    def _methods_are_no_references(self) -> "MethodsStudy":
        raise_if(
            Mistake(("methods", name), "found the name of a reference; allowed: any other name")
            for name in self.methods
            if name in REFERENCES
        )
        return self

    @pydantic.model_validator(mode="after")
    def _methods_have_one_criterion(self) -> "MethodsStudy":
        raise_if(
            Mistake(("methods", name, "criteria"), f"found {len(method.criteria)}; allowed: one, the method’s own")
            for name, method in self.methods.items()
            if len(method.criteria) > 1
        )
        return self

    def named_systems(self) -> list[tuple[Place, str]]:
        """Return all systems, including those that are held out, with the places where they are named."""
        places = super().named_systems()
        if self.held_out:
            places += _places(("held_out", "systems"), self.held_out.systems)
        return places

    def parts(self) -> list[Part]:
        """Return the parts of each scenario: one with the systems of the study, one with those that are held out."""
        parts = []
        for name, scenario in self.scenarios.items():
            parts.append(self._part(name, scenario, self.systems, self.data.seeds, held_out=False))
            if self.held_out:
                parts.append(self._part(name, scenario, self.held_out.systems, self.held_out.seeds, held_out=True))
        return [part for part in parts if part.systems]

    def _part(
        self, name: str, scenario: Scenario, systems: Sequence[str], seeds: Sequence[int], *, held_out: bool
    ) -> Part:
        """Return the part of a scenario with the systems that it is for."""
        chosen = scenario.systems or systems
        changes = scenario.model_dump(include={"samples", "validation_samples", "washout", "noise"}, exclude_none=True)
        return Part(
            place=("scenarios", name),
            systems=[system for system in systems if system in chosen],
            snr_db=scenario.snr_db or self.snr_db,
            seeds=seeds,
            data=self.data.model_copy(update=changes),
            scenario=name,
            excitation=scenario.excitation,
            oversampling=scenario.oversampling,
            orders=scenario.model_dump(include={"n_u", "n_y", "degree"}, exclude_none=True),
            held_out=held_out,
        )

    def _by_all_methods(self, problem: Problem) -> Iterator[Condition]:
        too_slow = self.too_slow(problem)
        for condition in super()._by_all_methods(problem):
            if condition.method not in too_slow:
                yield condition

    def too_slow(self, problem: Problem) -> list[str]:
        """Return the methods that are not run on a problem because it is larger than their limits."""
        system = problem.system
        n_candidates = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
        sizes = {"candidates": n_candidates, "samples": problem.data.samples}
        too_slow = []
        for name, method in self.methods.items():
            if any(sizes[size] > limit for size, limit in method.limits.items()):
                too_slow.append(name)
        return too_slow

    def unknown_names(self, choices: DesignChoices) -> Iterator[Mistake]:
        """Yield systems that are both held out and not, unknown systems, and situations places like a scenario."""
        for place, name in self.named_systems()[len(self.systems) :]:
            if name in self.systems:
                yield Mistake(place, f"found {name!r}, which is one of systems; allowed: one that is not")
        yield from self._unknown_systems()
        for name in self.situations:
            if name in (*self.scenarios, "all"):
                yield Mistake(("situations", name), f"found {name!r}, a scenario or all; allowed: another name")
        if not self.parts() and not any(scenario.systems for scenario in self.scenarios.values()):
            yield Mistake(("scenarios",), "found no system in any of them; allowed: at least one")

    def _unknown_systems(self) -> Iterator[Mistake]:
        """Yield the systems of scenarios that are not in the study, then those that no file describes."""
        for name, scenario in self.scenarios.items():
            for place, system in _places(("scenarios", name, "systems"), scenario.systems or ()):
                if system not in self.all_systems:
                    yield unknown(place, system, self.all_systems, "a system of the study:")
        described_systems = system_names()
        for name, situation in self.situations.items():
            for place, system in _places(("situations", name, "systems"), situation.systems):
                if system not in described_systems:
                    yield unknown(place, system, described_systems, "a file in config/systems:")
