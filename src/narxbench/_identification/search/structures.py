"""Structures that searches lead to, their scores, and the choice among them."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from narxbench._identification.search.noise import PLAIN, NoiseOrders
from narxbench._io.settings import Settings
from narxbench._model.noise_models import NoiseModel, NoiseName

# Models with a smaller selection error are exact: the rest is rounding.
EXACT = 1e-6
# Sparse ones come from searches; the others have all their candidates, or the last value.
Kind = Literal["sparse", "linear", "unpruned", "last value"]


class Proposal(NamedTuple):
    """A structure that a search proposes.

    Attributes
    ----------
    configuration : str
        Name of the configuration whose candidates its terms are of.
    found_by : str
        The search.
    terms : sequence of str
        The structure.
    """

    configuration: str
    found_by: str
    terms: Sequence[str]


class LikelyProposal(NamedTuple):
    """A structure that a search proposes by its likelihood, and the noise model that it was fitted under."""

    proposal: Proposal
    noise_name: NoiseName


class Structure(Settings):
    """A structure with its score on parts of the data that its weights do not know, and the search that led to it."""

    configuration: str
    terms: list[str]  # in canonical order
    found_by: str
    fitness: float | None  # J, lower is better; None where it diverges on a part or is singular
    rrse: float | None = Field(ge=0)  # over all parts
    divergent: float = Field(ge=0, le=1)  # share of the parts on which it diverges
    singular: bool  # in some part, terms depend on one another
    candidates: int = Field(ge=0)  # how many there were
    parts: list[float] = Field(default=[])  # the squared error on each part, relative to the variance of the output
    noise: NoiseOrders = PLAIN  # the noise model that its weights are estimated under
    kind: Kind = "sparse"
    shrinkage: float = Field(default=0.0, ge=0)  # the ridge of an unpruned polynomial
    ahead: float | None = None  # the relative error as far ahead as a series is judged; None: unknown, or it diverges

    @property
    def error(self) -> float:
        """The selection error, at least that of an exact model; infinite where it diverges."""
        return math.inf if self.rrse is None else max(self.rrse, EXACT)

    @property
    def rank(self) -> float:
        """The fitness, or infinity."""
        return math.inf if self.fitness is None else self.fitness

    @property
    def noise_model(self) -> NoiseModel:
        """The noise model that its weights are estimated under."""
        return self.noise.model

    @property
    def proposal(self) -> Proposal:
        """The structure without its score."""
        return Proposal(self.configuration, self.found_by, self.terms)


class Choice(Settings):
    """The choice of a structure after all searches."""

    finalists: list[Structure] = Field(min_length=1)  # all that were compared, the best first
    briefly: list[Structure]  # the best of each configuration that was searched briefly only
    forward: Structure | None  # the structure in the best one by iterative orthogonal forward regression
    density: int = Field(ge=1)  # how many samples count as one, for all that was compared
    holds: bool  # whether the best is not worse there
    bounded: bool = True  # whether the one that leaves stays within bounds where inputs are held
    tied: int = Field(default=1, ge=1)  # how many were as good within the scatter, of which the likelihood chose
    competitors: list[Structure] = Field(default=[])  # simple models, those of lowest selection error first
    winner: Structure | None = None  # the competitor that leaves; None: the sparse structure

    @property
    def best(self) -> Structure:
        """The sparse structure of lowest J."""
        return self.finalists[0]

    @property
    def leaving(self) -> Structure:
        """The structure of the model that leaves: the sparse one, or a competitor that is clearly better."""
        return self.winner or self.best
