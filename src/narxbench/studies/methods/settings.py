"""The comparison of methods: each on every data set of every scenario."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from narxbench.io.settings import Problem as Mistake
from narxbench.io.settings import Settings, unknown
from narxbench.model.excitation import Excitation
from narxbench.model.noise import NoiseKind
from narxbench.model.system import system_names
from narxbench.model.terms import MAX_DEGREE, MAX_LAG
from narxbench.studies.methods.score_file import REFERENCES
from narxbench.study.design_choices import Count, DesignChoices
from narxbench.study.settings import (
    Absent,
    Condition,
    Decibels,
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


class Scenario(Settings):
    """How the problems of a scenario depart from the study's; what is left out is the study's."""

    description: str = Field(min_length=1, max_length=200)
    """What is special about it, for readers."""
    systems: Annotated[list[Name], AfterValidator(distinct)] | None = Field(default=None, min_length=1)
    """Systems of the study that it is for."""
    without: Annotated[list[Name], AfterValidator(distinct)] = Field(default=[])
    """Systems of the study that it is not for."""
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
    noise: NoiseKind | None = None
    """Where the noise enters."""
    n_u: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the input in the candidate terms."""
    n_y: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the output in the candidate terms."""
    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE)] | None = None
    """Largest degree of the candidate terms."""


class HeldOut(Settings):
    """Data sets on which no method was developed or tuned: the answer of the study is theirs."""

    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems to identify, none of the study's others."""
    seeds: Seeds
    """Seeds of input and noise: a number N for 1 to N, or a list."""


class Situation(Settings):
    """A kind of system, whose data sets are shown together."""

    description: str = Field(min_length=1, max_length=200)
    """What the data of these systems are like, for readers."""
    systems: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Systems of the study."""


class MethodsStudy(Study):
    """A study whose page says which method is the best one."""

    kind: Literal["methods"]
    """Which method is the best one."""
    variations: Absent = None
    held_out: HeldOut | None = None
    """Data sets on which no method was developed or tuned."""
    tuned: Annotated[list[Name], AfterValidator(distinct)] = Field(default=[])
    """Methods that were developed or tuned on data sets that are not held out; names of others do nothing."""
    only_in: Annotated[
        dict[Name, list[Name]],
        BeforeValidator(without_null, json_schema_input_type=dict[Name, list[Name] | None]),
    ] = Field(default={})
    """Scenarios that a method takes part in, if not in all. Without any of them it is left out."""
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
    def _some_estimation(self) -> "MethodsStudy":
        sizes = {part.place: (part.data.validation_samples, part.data.samples) for part in self.parts()}
        raise_if(
            Mistake(place, f"found {judged} validation_samples of {kept} samples; allowed: less than all")
            for place, (judged, kept) in sizes.items()
            if judged >= kept
        )
        return self

    @pydantic.model_validator(mode="after")
    def _a_criterion_of_its_own(self) -> "MethodsStudy":
        raise_if(
            Mistake(("methods", name), "found the name of a reference; allowed: any other name")
            for name in self.methods
            if name in REFERENCES
        )
        raise_if(
            Mistake(("methods", name, "criteria"), f"found {len(method.criteria)}; allowed: one, the method’s own")
            for name, method in self.methods.items()
            if len(method.criteria) > 1
        )
        return self

    def named_systems(self) -> list[tuple[Place, str]]:
        """Return the systems, those that are held out too, with the places where they are named."""
        held_out = self.held_out.systems if self.held_out else []
        others = [(("held_out", "systems", index), name) for index, name in enumerate(held_out)]
        return [*super().named_systems(), *others]

    def parts(self) -> list[Part]:
        """Return what the problems of each scenario are made of: those of the study, and those that are held out."""
        sets = [(False, self.systems, self.data.seeds)]
        if self.held_out:
            sets.append((True, self.held_out.systems, self.held_out.seeds))
        parts = []
        for (name, scenario), (held_out, systems, seeds) in product(self.scenarios.items(), sets):
            of_part = [
                system
                for system in systems
                if system in (scenario.systems or systems) and system not in scenario.without
            ]
            data = self.data.model_copy(
                update=scenario.model_dump(include={"samples", "validation_samples", "noise"}, exclude_none=True)
            )
            if of_part:
                parts.append(
                    Part(
                        place=("scenarios", name),
                        systems=of_part,
                        snr_db=scenario.snr_db or self.snr_db,
                        seeds=scenario.seeds or seeds,
                        data=data,
                        scenario=name,
                        excitation=scenario.excitation,
                        orders=scenario.model_dump(include={"n_u", "n_y", "degree"}, exclude_none=True),
                        held_out=held_out,
                    )
                )
        return parts

    def _by_all_methods(self, problem: Problem) -> Iterator[Condition]:
        for condition in super()._by_all_methods(problem):
            if problem.scenario in self.only_in.get(condition.method, self.scenarios):
                yield condition

    def unknown_names(self, choices: DesignChoices) -> Iterator[Mistake]:
        """Yield systems that are both held out and not, and those of scenarios and situations that there are not."""
        for place, name in self.named_systems()[len(self.systems) :]:
            if name in self.systems:
                yield Mistake(place, f"found {name!r}, which is one of systems; allowed: one that is not")
        own, described = (self.all_systems, "a system of the study:"), (system_names(), "a file in config/systems:")
        named = [(("scenarios", name, "systems"), of.systems or (), own) for name, of in self.scenarios.items()]
        named += [(("scenarios", name, "without"), of.without, described) for name, of in self.scenarios.items()]
        named += [(("situations", name, "systems"), of.systems, described) for name, of in self.situations.items()]
        for path, systems, (known, what) in named:
            for index, system in enumerate(systems):
                if system not in known:
                    yield unknown((*path, index), system, known, what)
        for name in self.situations:
            if name in (*self.scenarios, "all"):
                yield Mistake(("situations", name), f"found {name!r}, a scenario or all; allowed: another name")
        if not self.parts() and not any(scenario.systems for scenario in self.scenarios.values()):
            yield Mistake(("scenarios",), "found no system in any of them; allowed: at least one")
