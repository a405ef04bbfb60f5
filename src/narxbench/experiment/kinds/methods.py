"""The comparison of methods: each on every data set of every scenario."""

from collections.abc import Iterator
from typing import Annotated, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from narxbench.experiment.interpretations import Count, DesignChoices
from narxbench.experiment.study import Absent, Decibels, Name, Part, Seeds, Study, distinct, raise_if, without_null
from narxbench.io.settings import Problem, Settings, unknown
from narxbench.model.excitation import Excitation
from narxbench.model.noise import NoiseKind
from narxbench.model.terms import MAX_DEGREE, MAX_LAG


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
    noise: NoiseKind | None = None
    """Where the noise enters."""
    n_u: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the input in the candidate terms."""
    n_y: Annotated[int, Field(ge=1, le=MAX_LAG)] | None = None
    """Largest lag of the output in the candidate terms."""
    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE)] | None = None
    """Largest degree of the candidate terms."""


class MethodsStudy(Study):
    """A study whose page says which method is the best one."""

    page: Literal["methods"]
    """Which method is the best one."""
    variations: Absent = None
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
            Problem(place, f"found {judged} validation_samples of {kept} samples; allowed: less than all")
            for place, (judged, kept) in sizes.items()
            if judged >= kept
        )
        return self

    def parts(self) -> list[Part]:
        """Return what the problems of each scenario are made of."""
        return [
            Part(
                place=("scenarios", name),
                systems=scenario.systems or self.systems,
                snr_db=scenario.snr_db or self.snr_db,
                seeds=scenario.seeds or self.data.seeds,
                data=self.data.model_copy(
                    update=scenario.model_dump(include={"samples", "validation_samples", "noise"}, exclude_none=True)
                ),
                scenario=name,
                excitation=scenario.excitation,
                orders=scenario.model_dump(include={"n_u", "n_y", "degree"}, exclude_none=True),
            )
            for name, scenario in self.scenarios.items()
        ]

    def unknown_names(self, choices: DesignChoices) -> Iterator[Problem]:
        """Yield the systems of scenarios that are none of the study."""
        for name, scenario in self.scenarios.items():
            for index, system in enumerate(scenario.systems or ()):
                if system not in self.systems:
                    yield unknown(("scenarios", name, "systems", index), system, self.systems, "a system of the study:")
