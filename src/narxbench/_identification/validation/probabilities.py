"""How probable a structure and its terms are, and what could be in its place.

A model is chosen by its free run. How sure its terms are is a question to the likelihood, as in
:mod:`narxbench._algorithms.pem`: structures are searched under all noise models that the identification allows, also
the model's, and :mod:`narxbench._algorithms.certainty` rates them. Not the model's noise model alone: under a
wrong one further terms make up for the noise, and the true terms look improbable.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from narxbench._algorithms.certainty import (
    Certainty,
    ExchangeableTerms,
    RatedStructure,
    Window,
    certainty,
    with_names,
)
from narxbench._algorithms.contract import SearchWarning
from narxbench._algorithms.doubts import doubts
from narxbench._algorithms.likelihood_search import SearchSettings, Structure
from narxbench._algorithms.orthogonal_search import OrthogonalErrors, OrthogonalSearch
from narxbench._algorithms.pem import factored_fits
from narxbench._fitness.prediction_error import Fit
from narxbench._fitness.problem import StructureProblem
from narxbench._identification.search.scores import CLEARLY_BETTER
from narxbench._model.noise_models import NoiseModel, NoiseName

# Digits behind the point that do not depend on the machine.
DIGITS = 4
# Structures that the model was compared with and that are searched from, at most, as each costs a descent.
MOST_COMPARED = 24
# Why the probabilities are unknown.
EXACT = "its terms explain the data to the last digit"
DIVERGES = "its prediction errors diverge on the data that estimate"
FULL = "it has all terms of its kind, and none of them was chosen"
STOPPED = "the search was stopped before that was computed"
TOO_FEW = "there are too few estimation samples for this many terms"


@dataclass(frozen=True)
class StructureCertainty:
    """How probable a structure is.

    Attributes
    ----------
    missing : str
        Why the probabilities are unknown, "" where they are known.
    samples : int
        The samples that count as independent evidence.
    probability : float, optional
        Probability of the model's structure, or None where it is unknown.
    probabilities : dict of str to float
        Of the candidates by name: of all terms of the model, and of others from 0.005 on.
    rivals : list of RatedStructure
        The ten most probable other structures, the most probable one first, with their criteria relative to the
        model's structure.
    groups : list of ExchangeableTerms
        Groups of exchangeable terms.
    doubts : list of SearchWarning
        Reasons to doubt the structure, as in :mod:`narxbench._algorithms.doubts`, and ``likelier_noise``.
    """

    missing: str = ""
    samples: int = 0
    probability: float | None = None
    probabilities: dict[str, float] = field(default_factory=dict)
    rivals: list[RatedStructure[str]] = field(default_factory=list)
    groups: list[ExchangeableTerms] = field(default_factory=list)
    doubts: list[SearchWarning] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "missing": self.missing,
            "samples": self.samples,
            "probability": self.probability,
            "probabilities": dict(self.probabilities),
            "rivals": [rival._asdict() for rival in self.rivals],
            "groups": [group._asdict() for group in self.groups],
            "doubts": [{**doubt._asdict(), "values": dict(doubt.values)} for doubt in self.doubts],
        }


def structure_certainty(
    problem: StructureProblem,
    terms: Sequence[str],
    noise_model: NoiseModel,
    families: Sequence[NoiseName],
    *,
    repeated: float = 1.0,
    compared: Sequence[tuple[Sequence[str], NoiseModel]] = (),
) -> StructureCertainty:
    """Return how probable a structure is.

    Parameters
    ----------
    problem : StructureProblem
        The data, of one phase, and all candidate terms.
    terms : sequence of str
        The structure.
    noise_model : NoiseModel
        What it was chosen under.
    families : sequence of str
        Names of the noise models that are allowed.
    repeated : float
        How many samples count as one.
    compared : sequence of (terms, noise model)
        Structures that it was compared with. Where candidates nearly depend on one another there are many local optima,
        and these are further places to search from.
    """
    # Drift is left out: a model of an identification cannot have it.
    settings = SearchSettings(noise_models=list(families), drift=False)
    errors = OrthogonalErrors(problem)
    search = OrthogonalSearch(errors, settings, repeated)
    numbers = {name: term for term, name in enumerate(problem.terms)}
    structure = _structure(numbers, terms)
    if not search.penalties[len(terms)] < math.inf:
        return StructureCertainty(TOO_FEW)
    search.run()
    best = _best_fit(search, structure, noise_model)
    if not search.value(best) < math.inf or not errors.linearised(search.best()).finite:
        return StructureCertainty(DIVERGES)
    if errors.is_exact(best):
        return StructureCertainty(EXACT)
    search.descend_with_noise(best)
    for other_terms, other_noise in compared[:MOST_COMPARED]:
        start = _best_fit(search, _structure(numbers, other_terms), other_noise)
        if search.value(start) < math.inf:
            search.descend_with_noise(start)
    search.polish_further()
    window = _window(search)
    if search.polish_further():
        window = _window(search)
    best = _best_fit(search, structure, noise_model)
    return _described(search, problem.terms, window, best, noise_model)


def _structure(numbers: Mapping[str, int], terms: Sequence[str]) -> Structure:
    structure = np.zeros(len(numbers), np.uint8)
    structure[[numbers[term] for term in terms]] = 1
    return structure


def _window(search: OrthogonalSearch) -> Window:
    """Return the structures near the best one, without those that are shorter ones times a filter."""
    return Window(search, [search.structure(fit) for fit, _ in factored_fits(search)])


def _best_fit(search: OrthogonalSearch, structure: Structure, noise_model: NoiseModel) -> Fit:
    """Fit a structure under its own noise model, those that lead the search, and those that its noise calls for."""
    key = structure.tobytes()
    noise_models = [noise_model, *(fit.noise_model for fit in search.leaders())]
    for candidate in noise_models:
        search.fit(candidate, structure)
    fits = [search.fits[candidate, key] for candidate in noise_models]
    return min([*fits, *search.fits_of(structure)], key=search.value)


def _described(
    search: OrthogonalSearch, names: Sequence[str], window: Window, best: Fit, noise_model: NoiseModel
) -> StructureCertainty:
    """Return how probable the structure of a fit is, in names of terms."""
    rating, of_model = _rated(window, best)
    rivals = []
    for rated in rating.structures:
        if rated is not of_model:
            difference = round(rated.difference - of_model.difference, DIGITS)
            rivals.append(with_names(rated, names)._replace(difference=difference))
    warnings = doubts(search, best, rating, names)
    return StructureCertainty(
        samples=int(search.independent),
        probability=of_model.probability,
        probabilities=rating.probabilities(names, of_model.terms),
        rivals=rivals,
        groups=rating.exchangeable_terms(names),
        doubts=[*warnings, *_common_factor(search, best), *_likelier_noise(search, best, noise_model)],
    )


def _rated(window: Window, fit: Fit) -> tuple[Certainty, RatedStructure[int]]:
    """Return probabilities near the best structure, with the structure of a fit among those that are named."""
    rating = _rounded(certainty(window))
    terms = fit.terms.tolist()
    for rated in rating.structures:
        if rated.terms == terms:
            return rating, rated
    first = rating.structures[0]
    key = window.search.structure(fit).tobytes()
    # One that is a shorter structure times a filter is none of those that are rated.
    criterion = window.criteria.get(key, window.value(fit))
    difference = round(criterion - min(window.criteria.values()), DIGITS)
    probability = 0.0
    if key in window.criteria:
        probability = round(first.probability * math.exp(-difference / 2), DIGITS)
    rated = RatedStructure(terms, probability, difference, fit.noise_model.description)
    return replace(rating, structures=[*rating.structures, rated]), rated


def _rounded(rating: Certainty) -> Certainty:
    structures = []
    for rated in rating.structures:
        probability, difference = round(rated.probability, DIGITS), round(rated.difference, DIGITS)
        structures.append(rated._replace(probability=probability, difference=difference))
    return replace(rating, terms=np.round(rating.terms, DIGITS), structures=structures)


def _common_factor(search: OrthogonalSearch, fit: Fit) -> list[SearchWarning]:
    """Return whether a structure is a shorter one times a filter: what the factor explains is noise."""
    if not search.common_factor(fit):
        return []
    message = "the terms share a factor, as lagged copies of terms do: what it explains is probably noise with a filter"
    return [SearchWarning("common_factor", message, {})]


def _likelier_noise(search: OrthogonalSearch, best: Fit, noise_model: NoiseModel) -> list[SearchWarning]:
    """Return whether another noise model is clearly more likely for a structure than its own one."""
    difference = search.fit(noise_model, search.structure(best)) - search.value(best)
    if not difference > CLEARLY_BETTER:
        return []
    likelier = best.noise_model
    less = f"criterion {difference:.1f} less" if difference < math.inf else "its prediction errors diverge"
    message = f"noise of these terms is more likely {likelier.description} than {noise_model.description} ({less})"
    values = {"noise_model": likelier.name, "difference": round(difference, DIGITS) if difference < math.inf else None}
    return [SearchWarning("likelier_noise", message, values)]
