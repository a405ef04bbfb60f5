"""Structures whose errors on unseen parts are equal within their scatter, and the most likely one of them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.likelihood_search import independent_samples
from narxbench._fitness.criteria.ebicl import LinearExtendedBIC
from narxbench._fitness.prediction_error import COMPARED, PredictionErrors
from narxbench._fitness.structure_fit import fit_noise_model
from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.data.scaling import scaled, scaling
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.noise import Stretches
from narxbench._identification.search.structures import Structure
from narxbench._identification.search.trial import MOST_STEPS, shortened
from narxbench._model.noise_models import NoiseModel
from narxbench._model.records import Recording
from narxbench._model.terms import Monomial, max_lag_of, parse_term
from narxbench._numerics.logarithm import natural_log

# Two structures tie where their J differ by no more than so many standard errors of the difference over parts, and the
# relative error of the second is above that of the first by no more than a share: over few parts errors scatter much.
STANDARD_ERRORS, EQUAL = 2.0, 0.05
# Structures with their noise models that are compared by likelihood, at most.
MOST_TIED = 100
# Signals in their own units are easier to read, and NARX has the plainest noise: what centred signals and other noise
# models gain must be very strong evidence, a difference of 10 (R. E. Kass and A. E. Raftery, Bayes factors, Journal of
# the American Statistical Association 90, 1995, pages 773-795).
CLEARLY_BETTER = 10.0
# What each term costs beyond BIC, in 2 ln(N_t): that of the prediction error method.
GAMMA = 1.25


class Candidate(NamedTuple):
    """A structure with what its terms are made of."""

    structure: Structure
    configuration: Configuration

    @property
    def fitted(self) -> tuple[tuple[str, ...], NoiseModel, bool]:
        """Terms, noise model and centring: the likelihood of candidates that agree in these is the same."""
        return tuple(self.structure.terms), self.structure.noise_model, self.configuration.centred


def error_scatter(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the standard error of ln(e1 / e2), e1 and e2 being the mean errors over the same parts.

    It is 0 where they have no parts in common.

    Examples
    --------
    >>> error_scatter([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    0.0
    """
    n_parts = len(first)
    if n_parts != len(second) or n_parts < 2:
        return 0.0
    means = math.fsum(first) / n_parts, math.fsum(second) / n_parts
    if min(means) <= 0.0:
        return 0.0
    differences = [a / means[0] - b / means[1] for a, b in zip(first, second, strict=True)]
    return math.sqrt(math.fsum(d * d for d in differences) / (n_parts * (n_parts - 1)))


def tied(candidates: Sequence[Candidate], samples: float) -> list[Candidate]:
    """Return the first candidate and those after it whose J is as low, within the scatter of the errors over parts.

    Parameters
    ----------
    candidates : sequence of Candidate
        By their J, the best first.
    samples : float
        The independent samples that J counts.
    """
    best = candidates[0]
    largest = (1.0 + EQUAL) * (best.structure.rrse or 0.0)
    ties = [best]
    for candidate in candidates[1:]:
        # Innovations of other steps are others.
        if candidate.configuration.decimation != best.configuration.decimation:
            continue
        scatter = STANDARD_ERRORS * samples * error_scatter(candidate.structure.parts, best.structure.parts)
        is_as_good = (candidate.structure.rrse or 0.0) <= largest
        if is_as_good and candidate.structure.rank - best.structure.rank <= scatter:
            ties.append(candidate)
    different = list(dict.fromkeys(candidate.fitted for candidate in ties))[:MOST_TIED]
    return [candidate for candidate in ties if candidate.fitted in different]


class Likelihoods:
    """The extended BIC of structures of one decimation, all on the same samples of one phase.

    ``repeated`` samples count as one.
    """

    def __init__(self, recording: Recording, candidates: Sequence[Candidate], repeated: float) -> None:
        self._recording, self._repeated = recording, repeated
        self._decimation = candidates[0].configuration.decimation
        self._monomials = [self._monomials_of(candidate) for candidate in candidates]
        self._max_lag = max(map(max_lag_of, self._monomials))
        # The same for all, as if each had been chosen from all that is at hand.
        self._n_candidates = max(candidate.structure.candidates for candidate in candidates)
        self._candidates = candidates

    def criteria(self) -> list[float]:
        """Return the criterion of each candidate; +inf where its fit diverges."""
        by_fitted: dict[object, float] = {}
        for candidate, monomials in zip(self._candidates, self._monomials, strict=True):
            if candidate.fitted not in by_fitted:
                by_fitted[candidate.fitted] = self._criterion(candidate, monomials)
        return [by_fitted[candidate.fitted] for candidate in self._candidates]

    def _monomials_of(self, candidate: Candidate) -> list[Monomial]:
        n_inputs = len(self._recording.inputs)
        return [parse_term(term, n_inputs, current=True) for term in candidate.structure.terms]

    def _criterion(self, candidate: Candidate, monomials: Sequence[Monomial]) -> float:
        by = scaling(self._recording, candidate.configuration.centred)
        records = [scaled(record, by) for record in self._recording.known]
        one_phase = sum(map(len, records)) // self._decimation
        arrangement = Arrangement(records, self._decimation, self._max_lag, 1, one_phase)
        segments = shortened(arrangement.segments(arrangement.has_lags), MOST_STEPS, self._max_lag)
        errors = PredictionErrors(Stretches(arrangement.u, arrangement.y, _ends(segments), monomials), COMPARED)
        fit = fit_noise_model(errors, range(len(monomials)), candidate.structure.noise_model)
        if not fit.is_finite:
            return math.inf
        independent = independent_samples(errors, self._repeated)
        price = LinearExtendedBIC(GAMMA).penalties(independent, self._n_candidates)[len(monomials)]
        units = 0.0 if by is None else 2.0 * errors.samples * float(natural_log(by.scales[0]))
        noise_cost = float(natural_log(independent)) * fit.noise_model.n_parameters
        centring = CLEARLY_BETTER * candidate.configuration.centred
        return (errors.deviance(fit) + units) / self._repeated + noise_cost + float(price) + centring


def _ends(segments: Sequence[range]) -> NDArray[np.int64]:
    return np.array([[segment.start, segment.stop] for segment in segments], np.int64)


def likeliest_first(
    recording: Recording, candidates: Sequence[Candidate], samples: float, density: int
) -> tuple[list[Structure], int]:
    """Return structures with those that tie with the first ordered by their likelihood, and how many these are.

    Parameters
    ----------
    recording : Recording
        The data.
    candidates : sequence of Candidate
        By their J, the best first.
    samples : float
        The independent samples that J counts.
    density : int
        How many samples of the data count as one.
    """
    ties = tied(candidates, samples)
    if len(ties) > 1:
        repeated = max(1.0, density / ties[0].configuration.decimation)
        criteria = Likelihoods(recording, ties, repeated).criteria()
        order = sorted(range(len(ties)), key=lambda i: (criteria[i], i))
        leaders = [ties[i].structure for i in order]
    else:
        leaders = [ties[0].structure]
    places = {id(structure) for structure in leaders}
    following = [candidate.structure for candidate in candidates if id(candidate.structure) not in places]
    return [*leaders, *following], len(ties)
