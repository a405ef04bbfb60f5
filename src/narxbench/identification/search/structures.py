"""What searches find, in memory as in the files of the pipeline: structures with their scores, and the choice."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from narxbench.identification.search.noise import PLAIN, NoiseOrders
from narxbench.io.settings import Settings
from narxbench.model.noise_models import NoiseModel, NoiseName


class Run(NamedTuple):
    """What a search has found: in which configuration, what found it, its terms, and whether it hangs on draws."""

    configuration: str
    found_by: str
    terms: Sequence[str]
    drawn: bool = True


class LikelyRun(NamedTuple):
    """A structure that a search has found by likelihood, and the noise model that it was found under."""

    run: Run
    noise_name: NoiseName


class Score(Settings):
    """How good a structure is on parts of the data that its weights do not know."""

    fitness: float | None  # J, lower is better; None where it diverges on too many parts or is singular
    rrse: float | None = Field(ge=0)  # over all parts
    divergent: float = Field(ge=0, le=1)  # share of the parts on which it diverges
    singular: bool  # in some part, terms depend on one another
    candidates: int = Field(ge=0)  # how many there were
    drawn: bool = False  # only searches have found it that hang on random draws
    parts: list[float] = Field(default=[])  # the squared error on each part, relative to the variance of the output

    @property
    def rank(self) -> float:
        """The fitness, or infinity."""
        return math.inf if self.fitness is None else self.fitness


class Structure(Score):
    """A structure with its score, where it was found, and what found it first."""

    configuration: str
    terms: list[str]  # in canonical order
    found_by: str
    noise: NoiseOrders = PLAIN  # what its weights are estimated under

    @property
    def noise_model(self) -> NoiseModel:
        """The noise model that its weights are estimated under."""
        return self.noise.model

    @property
    def run(self) -> Run:
        """What has found it."""
        return Run(self.configuration, self.found_by, self.terms, self.drawn)


class Found(Settings):
    """What a search has found; the score is that of a brief search."""

    terms: list[str]
    fitness: float | None
    note: str = ""
    score: Score | None = None


class Search(Settings):
    """A search: of which configuration, without which part, of which resample, with which seed, and what it found.

    Part 0 and resample 0 stand for all data; nothing is found where the search is left out.
    """

    configuration: str
    part: int = 0
    seed: int = 1
    resample: int = 0
    found: Found | None


class Failures(Settings):
    """How many of some searches found no structure with a finite J, and what came in its place."""

    note: str
    count: int
    searches: int


class Choice(Settings):
    """What all searches have led to."""

    finalists: list[Structure] = Field(min_length=1)  # all that were compared, the best first
    briefly: list[Structure]  # the best of each configuration that was searched briefly only
    runs: list[list[str]]  # what was found in the best configuration with each seed
    forward: Structure | None  # what iterative orthogonal forward regression found there
    notes: list[Failures]  # what went otherwise than planned
    density: int = Field(ge=1)  # how many samples count as one, for all that was compared
    passed_over: list[Structure]  # of a lower J than the best, but worse over whole records than over the parts
    holds: bool  # whether the best is not worse there
    tied: int = Field(default=1, ge=1)  # how many were as good within the scatter, of which the likelihood chose

    @property
    def best(self) -> Structure:
        """The structure of lowest J."""
        return self.finalists[0]
