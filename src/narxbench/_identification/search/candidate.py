"""A candidate for the model: its terms from a configuration, its noise model, and its score."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from narxbench._identification.search.configurations import Configuration
from narxbench._model.noise_models import Narx, NoiseModel

# Sparse ones come from searches. The others have all their terms, or the last value.
Kind = Literal["sparse", "linear", "unpruned", "last value"]
PLAIN = Narx()
# Models with a smaller selection error are exact: the rest is rounding.
EXACT = 1e-6


@dataclass(frozen=True)
class Candidate:
    """A structure from its proposal to the model, with its score on parts of the data that its weights do not know.

    Attributes
    ----------
    configuration : Configuration
        What its terms are chosen from.
    terms : tuple of str
        The structure, in canonical order where it has a score.
    found_by : str
        The search that proposed it.
    noise_model : NoiseModel
        The noise model that its weights are estimated under.
    kind : str
        What its weights come from: a search, all linear terms, ridge regression, or the last value.
    shrinkage : float
        The ridge of an unpruned polynomial.
    fitness : float or None
        J, lower is better. None without a score, and if it diverges on a part or is singular.
    rrse : float or None
        The root relative squared error over all parts.
    divergent : float
        The share of the parts on which it diverges.
    singular : bool
        Whether in some part terms depend on one another.
    candidates : int
        The number of terms that it was chosen from.
    parts : tuple of float
        The squared error on each part, relative to the variance of the output.
    ahead : float or None
        The relative error as far ahead as a series is judged, or None if it is unknown or diverges.
    """

    configuration: Configuration
    terms: tuple[str, ...]
    found_by: str
    noise_model: NoiseModel = field(default=PLAIN)
    kind: Kind = "sparse"
    shrinkage: float = 0.0
    fitness: float | None = None
    rrse: float | None = None
    divergent: float = 0.0
    singular: bool = False
    candidates: int = 0
    parts: tuple[float, ...] = ()
    ahead: float | None = None

    @property
    def rank(self) -> float:
        """The fitness, or infinity."""
        return math.inf if self.fitness is None else self.fitness

    @property
    def error(self) -> float:
        """The error over all parts, not smaller than the error of an exact model, and infinite if it diverges."""
        return math.inf if self.rrse is None else max(self.rrse, EXACT)

    @property
    def structure(self) -> tuple[Configuration, tuple[str, ...]]:
        """The configuration and the terms."""
        return self.configuration, self.terms

    def unscored(self, terms: Iterable[str]) -> "Candidate":
        """Return a proposal of the same search with other terms."""
        return Candidate(self.configuration, tuple(terms), self.found_by)


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates by their J, the best first. Equal ones are ordered by their own values."""
    return sorted(candidates, key=lambda c: (c.rank, len(c.terms), c.configuration.name, c.terms, repr(c.noise_model)))


def best_of(candidates: Iterable[Candidate]) -> Candidate:
    """Return the candidate of the lowest J, the first of several."""
    return min(candidates, key=lambda candidate: candidate.rank)
