"""Multi-start search on the likelihood: the noise models and the criterion of ``pem``, but descents again and again.

It shows whether ``pem`` misses terms because it gives up too early. The first descents start as in ``pem``.
Each further descent starts from the best structure with a few terms changed, as in
:mod:`narxbench._algorithms.multistart`, under the noise model of the best one and under the simplest ones.

Sources: H. R. Lourenco, O. C. Martin and T. Stuetzle, Iterated local search, in Handbook of Metaheuristics, 2003; the
noise models, the criterion and the descent are those of :mod:`narxbench._algorithms.likelihood_search`.
"""

import math

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.likelihood_search import LikelihoodSearch, SearchSettings, Structure
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="Own; Lourenco, Martin and Stuetzle, Iterated Local Search, Handbook of Metaheuristics, 2003",
    stops_early=True,
    needs_objective=False,
    minimises=False,
)


class Settings(BaseSettings):
    """Settings of the search."""

    restarts: int = Field(default=20, ge=0, le=10_000, description="descents from a changed best structure")
    largest_kick: int = Field(default=4, ge=2, le=100, description="terms that are changed: 2 to this many")


def kicked(structure: Structure, rng: np.random.Generator, largest_kick: int) -> Structure:
    """Return a structure with a few terms changed: half of them its own terms, the others any candidates."""
    present, changed = np.flatnonzero(structure), structure.copy()
    for _ in range(int(rng.integers(2, largest_kick, endpoint=True))):
        candidates = np.arange(len(structure))
        if len(present) and rng.random() < 0.5:
            candidates = present
        changed[candidates[int(rng.integers(len(candidates)))]] ^= 1
    return changed


def _first_bounded(search: LikelihoodSearch) -> Fit | None:
    """Return the best fit whose free run is bounded."""
    for fit in search.ranked():
        if not search.value(fit) < math.inf:
            return None
        if search.errors.bounded(fit):
            return fit
    return None


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search as ``pem`` does, then from changed structures."""
    search = LikelihoodSearch(PredictionErrors(problem), SearchSettings())
    search.run()
    for _ in range(settings.restarts):
        best = search.best()
        start = kicked(search.structure(best), rng, settings.largest_kick)
        if search.fit(best.noise_model, start) < math.inf:
            search.descend_with_noise(search.fits[best.noise_model, start.tobytes()])
        for fit in search.fits_of(start):
            if search.value(fit) < math.inf:
                search.descend_with_noise(fit)
    best_bounded = _first_bounded(search)
    if best_bounded is None:
        return Found(np.zeros(objective.n_terms, np.uint8))
    best_bounded = search.refined(best_bounded)
    details = {"noise_model": best_bounded.noise_model.description, "criterion": search.value(best_bounded)}
    return Found(search.structure(best_bounded), search.coefficients(best_bounded), details)
