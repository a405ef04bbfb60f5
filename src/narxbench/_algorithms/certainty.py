"""How sure terms and structures are: probabilities from the criterion over the models near the best one.

A structure has the weight exp(-criterion / 2), summed over the noise models that it was fitted under: its posterior
probability but for a factor, if all structures of a size are equally likely before the data (A. E. Raftery,
Sociological Methodology 25, 1995, pages 111-163). The criterion here has another gamma, which was calibrated on
simulated systems: ``python -m benchmarks.recovery`` shows how often terms are there that are said to be. Structures
that no model was fitted for count with the criterion that the linearised problem of a neighbour predicts, as far as
they are in Occam's window of the best one (D. Madigan and A. E. Raftery, Journal of the American Statistical
Association 89, 1994, pages 1535-1546). Inner products of candidates that nearly depend on one another predict wrong
criteria (:mod:`narxbench._algorithms.orthogonal_search`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.likelihood_search import LikelihoodSearch, Structure
from narxbench._fitness.prediction_error import Fit, Linearised
from narxbench._numerics.rounding import DIGITS

Floats = NDArray[np.float64]
Term = TypeVar("Term", int, str)

# What each term costs beyond BIC, in 2 ln(N_t), for probabilities.
GAMMA = 0.75
# Structures whose criterion is above the lowest by more are left out: their weight is exp(-6), a quarter of a percent.
# Those within half of it have their neighbours tried, at most this many of them, and this many models are linearised.
WINDOW, MOST_EXPANDED, MOST_LINEARISED = 12.0, 30, 3
EXPANDED = WINDOW / 2
# This many structures that were only predicted are fitted around each of those models.
MOST_FITTED = 8
# Structures that are named.
MOST_NAMED = 10
# Terms that are exchanged between structures of at least this probability are a group.
LEAST_EXCHANGED = 0.05


class RatedStructure(NamedTuple, Generic[Term]):
    """A structure with its probability.

    Attributes
    ----------
    terms : list of int or list of str
        Its terms, in canonical order: the numbers of candidates, or their names.
    probability : float
        Of being the true structure, if one of those that were tried is.
    difference : float
        Its criterion minus the criterion of another structure: below 0 it is the more probable one.
    noise_model : str
        The description of its best noise model.
    """

    terms: list[Term]
    probability: float
    difference: float
    noise_model: str


def with_names(structure: RatedStructure[int], names: Sequence[str]) -> RatedStructure[str]:
    """Return a structure with the names of its terms."""
    terms = [names[term] for term in structure.terms]
    return RatedStructure(terms, structure.probability, structure.difference, structure.noise_model)


@dataclass(frozen=True)
class Certainty:
    """Probabilities of terms and structures.

    Attributes
    ----------
    terms : array, shape (N_t,)
        The probability of each candidate.
    structures : list of RatedStructure
        The most probable ones, the first first.
    groups : list of tuple of int
        Candidates of which probably one is a term, and which one is hard to tell.
    """

    terms: Floats
    structures: list[RatedStructure[int]]
    groups: list[tuple[int, ...]]

    def probabilities(self, names: Sequence[str], members: Sequence[int] = ()) -> dict[str, float]:
        """Return the probabilities of the candidates by name, from 0.005 on, and of all members of a structure."""
        probabilities = {}
        for term, (name, probability) in enumerate(zip(names, self.terms.tolist(), strict=True)):
            # Less is shown as below 0.01.
            if term in members or round(probability, 2) > 0.0:
                probabilities[name] = probability
        return probabilities

    def exchangeable_terms(self, names: Sequence[str]) -> list["ExchangeableTerms"]:
        """Return the groups of exchangeable candidates by name."""
        groups = []
        for group in self.groups:
            probabilities = [float(self.terms[term]) for term in group]
            groups.append(ExchangeableTerms([names[term] for term in group], probabilities))
        return groups


class ExchangeableTerms(NamedTuple):
    """Candidates of which probably one is a term, and which one is hard to tell."""

    terms: list[str]
    probabilities: list[float]


class Window:
    """The structures near the best one of a search, with their criteria.

    Parameters
    ----------
    search : LikelihoodSearch
        A search that has ended.
    factored : sequence of arrays of 0 and 1, shape (N_t,)
        Structures that are shorter ones times a filter: they are left out, and so are those that have all their terms.
    gamma : float
        What each term costs beyond BIC, in 2 ln(N_t).
    models : iterable of Fit, optional
        Fits of the search to begin with, by default all of them.
    """

    def __init__(
        self,
        search: LikelihoodSearch,
        factored: Sequence[Structure] = (),
        gamma: float = GAMMA,
        models: Iterable[Fit] | None = None,
    ) -> None:
        # Copies, for the search may go on.
        self.search, self.factored = search, list(factored)
        self.models = list(search.fits.values() if models is None else models)
        # Sizes that are not allowed cost +inf in both.
        penalties, is_allowed = search.term_penalties(gamma), np.isfinite(search.penalties)
        self.change = np.zeros(len(penalties))
        self.change[is_allowed] = penalties[is_allowed] - search.penalties[is_allowed]
        self.criteria: dict[bytes, float] = {}
        self.noise_models: dict[bytes, str] = {}
        fits_by_structure: dict[bytes, list[Fit]] = {}
        for fit in self.models:
            if search.value(fit) < math.inf and not has_factor(search.structure(fit), factored):
                fits_by_structure.setdefault(search.structure(fit).tobytes(), []).append(fit)
        self.fits: dict[bytes, Fit] = {}
        for key, fits in fits_by_structure.items():
            best = min(fits, key=search.value)
            lowest = self.value(best)
            weight = math.fsum(math.exp(-0.5 * (self.value(fit) - lowest)) for fit in fits)
            self.criteria[key] = lowest - 2.0 * math.log(weight)
            self.noise_models[key] = best.noise_model.description
            self.fits[key] = best
        self._expand()

    def value(self, fit: Fit) -> float:
        """Return the criterion of a fit with the gamma of probabilities."""
        return self.search.value(fit) + float(self.change[len(fit.terms)])

    def ordered(self) -> list[bytes]:
        """Return the structures by their criterion."""
        return sorted(self.criteria, key=lambda key: self.criteria[key])

    def _expand(self) -> None:
        """Add the neighbours of the best structures, and theirs, as linearised problems predict them."""
        linearised: set[bytes] = set()
        for _ in range(MOST_LINEARISED):
            lowest = min(self.criteria.values())
            near = [key for key in self.ordered() if self.criteria[key] < lowest + EXPANDED]
            leaders = [key for key in near if key in self.fits and key not in linearised]
            if not leaders:
                return
            linearised.add(leaders[0])
            self._expand_around(leaders[0])

    def _expand_around(self, leader: bytes) -> None:
        fit = self.fits[leader]
        linear = self.search.errors.linearised(fit)
        if not linear.finite:
            return
        origin = self.value(fit)
        predicted = {leader: origin}
        pending = [leader]
        for _ in range(MOST_EXPANDED):
            if not pending:
                break
            pending.sort(key=lambda key: predicted[key], reverse=True)
            key = pending.pop()
            if predicted[key] > origin + EXPANDED:
                break
            for neighbour, value in self._neighbours(linear, key, predicted[key]):
                if neighbour not in predicted:
                    predicted[neighbour] = value
                    pending.append(neighbour)
        self._take(linear, fit, predicted)

    def _take(self, linear: Linearised, fit: Fit, predicted: dict[bytes, float]) -> None:
        """Add structures whose criterion a linearised problem predicts, and fit the best of them."""
        new = []
        for key in predicted:
            if key not in self.criteria and not has_factor(np.frombuffer(key, np.uint8), self.factored):
                new.append(key)
        for key in sorted(new, key=lambda key: predicted[key])[:MOST_FITTED]:
            if predicted[key] < predicted[self.search.structure(fit).tobytes()] + EXPANDED:
                structure: Structure = np.frombuffer(key, np.uint8).copy()
                linear.enter(np.flatnonzero(structure).tolist())
                self.search.fit(fit.noise_model, structure, (linear, fit))
                following = self.search.fits[fit.noise_model, key]
                self.fits[key] = following
                predicted[key] = self.value(following)
        for key in new:
            if predicted[key] < math.inf:
                self.criteria[key] = predicted[key]
                self.noise_models[key] = fit.noise_model.description

    def _neighbours(self, linear: Linearised, key: bytes, value: float) -> list[tuple[bytes, float]]:
        structure: Structure = np.frombuffer(key, np.uint8).copy()
        linear.enter(np.flatnonzero(structure).tolist())
        members, flips, swaps = self.search.costs(linear, structure)
        size, n_terms = int(structure.sum()), self.search.n_terms
        changes: list[tuple[list[int], float]] = []
        limit = WINDOW - min(0.0, float(np.diff(self.change).min(initial=0.0)))
        for term in np.flatnonzero(flips < limit).tolist():
            following = size - 1 if structure[term] else size + 1
            cost = float(flips[term]) + float(self.change[following] - self.change[size])
            changes.append(([term], cost))
        for swap in np.flatnonzero(swaps < WINDOW).tolist():
            changes.append(([int(members[swap // n_terms]), swap % n_terms], float(swaps[swap])))
        neighbours = []
        for change, cost in changes:
            if cost < WINDOW:
                structure[change] ^= 1
                if structure.any():
                    neighbours.append((structure.tobytes(), value + cost))
                structure[change] ^= 1
        return neighbours


def certainty(window: Window) -> Certainty:
    """Return probabilities of terms and structures from those near the best one."""
    keys = window.ordered()
    lowest = window.criteria[keys[0]]
    keys = [key for key in keys if window.criteria[key] <= lowest + 2 * WINDOW]
    weights = np.array([math.exp(-0.5 * (window.criteria[key] - lowest)) for key in keys])
    probabilities = weights / math.fsum(weights.tolist())
    positions = np.array([np.frombuffer(key, np.uint8) for key in keys])
    n_terms = positions.shape[1]
    of_terms = np.array([math.fsum(probabilities[positions[:, term] == 1]) for term in range(n_terms)])
    structures = []
    for key, position, probability in zip(keys[:MOST_NAMED], positions, probabilities.tolist(), strict=False):
        terms = np.flatnonzero(position).tolist()
        difference = window.criteria[key] - lowest
        noise_model = window.noise_models[key]
        structures.append(RatedStructure(terms, round(probability, DIGITS), round(difference, DIGITS), noise_model))
    return Certainty(np.minimum(np.round(of_terms, DIGITS), 1.0), structures, exchangeable(structures))


def has_factor(structure: Structure, factored: Sequence[Structure]) -> bool:
    """Return whether a structure has all terms of one of those that are shorter ones times a filter."""
    return any(bool((structure >= terms).all()) for terms in factored)


def exchangeable(structures: list[RatedStructure[int]]) -> list[tuple[int, ...]]:
    """Return groups of candidates that are exchanged for one another between probable structures of the same size."""
    groups: list[set[int]] = []
    probable = [structure for structure in structures if structure.probability >= LEAST_EXCHANGED]
    for i, first in enumerate(probable):
        for second in probable[i + 1 :]:
            exchanged = set(first.terms) ^ set(second.terms)
            if len(first.terms) != len(second.terms) or len(exchanged) != 2:
                continue
            joined = [group for group in groups if group & exchanged]
            groups = [group for group in groups if not group & exchanged]
            groups.append(exchanged.union(*joined))
    return [tuple(sorted(group)) for group in groups]
