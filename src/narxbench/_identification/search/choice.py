"""The choice of one structure among the candidates: by J, the likelihood of equals, and whether the free run holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from narxbench._algorithms.likelihood_search import SearchSettings, independent_samples
from narxbench._fitness.criteria.ebicl import CRITERION as LINEAR_EBIC
from narxbench._fitness.prediction_error import COMPARED, PredictionErrors
from narxbench._fitness.structure_fit import fit_noise_model
from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.data.scaling import Scaling, scaled, scaling
from narxbench._identification.search.candidate import Candidate, in_order
from narxbench._identification.search.competitors import (
    competing_names,
    competing_structures,
    selected_structure,
    with_errors_ahead,
)
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.noise import prediction_errors
from narxbench._identification.search.plan import FINALISTS, SearchPlan
from narxbench._identification.search.problem import MOST_STEPS, shortened
from narxbench._identification.search.proposals import Proposals
from narxbench._identification.search.scores import (
    CLEARLY_BETTER,
    EQUAL,
    diverges_when_held,
    holds,
    scored_under,
)
from narxbench._identification.search.steps import WEIGHTS, Steps
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NoiseModel, NoiseName
from narxbench._model.records import Recording
from narxbench._model.terms import Monomial, max_lag_of, parse_term
from narxbench._numerics.logarithm import natural_log

# Candidates that are examined in turn for one whose free run holds over whole records, or which stays within bounds:
# each costs a fit.
MOST_EXAMINED = 2 * FINALISTS
# Times the selection error of the best structure up to which one that stays within bounds is taken instead
# (``docs/search.md``).
BOUNDED_WITHIN = 1.5
# Two structures tie where their errors are equal, and their J differ by no more than this many standard errors of the
# difference over parts: what 95 % of differences by chance are within.
STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Choice:
    """The choice of a structure after all searches.

    Attributes
    ----------
    finalists : list of Candidate
        All that were compared, the best first.
    briefly : list of Candidate
        The best of each configuration that was searched briefly only.
    density : int
        How many samples count as one, for all that was compared.
    holds : bool
        Whether the best is about as good over whole records as over the parts.
    bounded : bool
        Whether the selected one stays within bounds where inputs are held.
    tied : int
        How many were as good within the scatter, of which the likelihood chose.
    competitors : list of Candidate
        Simple models, the one of lowest selection error first.
    winner : Candidate or None
        The selected competitor; None: the sparse structure.
    """

    finalists: list[Candidate]
    briefly: list[Candidate]
    density: int
    holds: bool
    bounded: bool
    tied: int
    competitors: list[Candidate]
    winner: Candidate | None

    @property
    def best(self) -> Candidate:
        """The sparse structure of lowest J."""
        return self.finalists[0]

    @property
    def selected(self) -> Candidate:
        """The structure of the selected model: the sparse one, or a competitor that is clearly better."""
        return self.winner or self.best


def choose(plan: SearchPlan, proposals: Proposals, steps: Steps) -> Choice:
    """Choose one of the proposed structures, and let simple models compete with it.

    Parameters
    ----------
    plan : SearchPlan
        The configurations to try on the data.
    proposals : Proposals
        The structures.
    steps : Steps
        Runs the jobs of the choice, and knows of interruptions.

    Raises
    ------
    NarxbenchError
        Where every structure diverges or is singular.
    """
    density = proposals.density
    finalists = _under_noise(plan, proposals, steps)
    _check_finite(finalists)
    n_tied = 1
    if not steps.interrupted:
        finalists, n_tied = _likeliest_first(plan, finalists, density)
    place = _first_that_holds(plan, finalists)
    finalists = _bounded_first(plan, finalists[place or 0 :])
    competitors = competing_structures(plan, finalists[0], proposals.linear, density, steps)
    sparse, competitors = with_errors_ahead(plan, finalists[0], competitors)
    selected = selected_structure(plan, sparse, competitors)
    return Choice(
        finalists=[sparse, *finalists[1:]],
        briefly=proposals.briefly,
        density=density,
        holds=place is not None,
        bounded=selected.kind == "last value" or not diverges_when_held(plan, selected),
        tied=n_tied,
        competitors=competitors,
        winner=None if selected is sparse else selected,
    )


def _under_noise(plan: SearchPlan, proposals: Proposals, steps: Steps) -> list[Candidate]:
    """Return candidates together with the best and the likely ones under noise models, the best first.

    The best are weighed under all noise models, the likely ones under those like the one that they were fitted under.
    """
    allowed = plan.settings.noise_models
    jobs = _weight_jobs(proposals, allowed)
    n_weighed = plan.effort.n_weighed(2 * FINALISTS * len(competing_names(allowed)))
    # The best come first, then the likely ones of the best configurations.
    first_jobs = [(plan, candidate, key[-1], proposals.density) for key, candidate in list(jobs.items())[:n_weighed]]
    weighed = steps.run(WEIGHTS, scored_under, first_jobs)
    # White noise in the equation is scored already.
    all_scored = [*proposals.candidates, *weighed] if "narx" in allowed else weighed
    by_noise: dict[object, Candidate] = {}
    for candidate in all_scored:
        by_noise.setdefault((candidate.structure, candidate.noise_model), candidate)
    return in_order(by_noise.values())


def _weight_jobs(
    proposals: Proposals, allowed: Sequence[NoiseName]
) -> dict[tuple[Configuration, tuple[str, ...], tuple[NoiseName, ...]], Candidate]:
    """Return the candidates to weigh, by configuration, terms, and the noise models that compete for them."""
    groups = competing_names(allowed)
    jobs: dict[tuple[Configuration, tuple[str, ...], tuple[NoiseName, ...]], Candidate] = {}
    by_structure = {candidate.structure: candidate for candidate in proposals.candidates}
    for candidate in proposals.candidates[:FINALISTS]:
        for group in groups:
            jobs[*candidate.structure, group] = candidate
    for likely in proposals.likely:
        group = next(group for group in groups if likely.noise_model.name in group)
        if likely.structure in by_structure:
            jobs.setdefault((*likely.structure, group), by_structure[likely.structure])
    return jobs


def _check_finite(candidates: Sequence[Candidate]) -> None:
    if not candidates or candidates[0].fitness is None:
        n_diverging = sum(candidate.divergent > 0 for candidate in candidates)
        n_singular = sum(candidate.singular for candidate in candidates)
        raise NarxbenchError(
            f"search: found no model whose free run stays finite on all parts of the selection: of {len(candidates)} "
            f"structures {n_diverging} diverge and {n_singular} are singular; allowed: other lags, degree or "
            "decimation"
        )


def _first_that_holds(plan: SearchPlan, candidates: Sequence[Candidate]) -> int | None:
    """Return the place of the first candidate whose free run holds over whole records, or None if none does."""
    for place, candidate in enumerate(candidates[:MOST_EXAMINED]):
        if candidate.fitness is not None and holds(plan, candidate):
            return place
    return None


def _bounded_first(plan: SearchPlan, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates less the first ones that diverge when inputs are held.

    All are kept if no structure that stays within bounds and holds over whole records has nearly as small an error,
    because then the process may exceed the bounds itself.
    """
    allowed = BOUNDED_WITHIN * (candidates[0].rrse or 0.0)
    for place, candidate in enumerate(candidates[:MOST_EXAMINED]):
        if candidate.fitness is None or (candidate.rrse or 0.0) > allowed:
            continue
        if not diverges_when_held(plan, candidate) and (place == 0 or holds(plan, candidate)):
            return list(candidates[place:])
    return list(candidates)


def error_scatter(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the standard error of ln(e1 / e2), e1 and e2 being the mean errors over the same parts.

    It is 0 if they share no parts.

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
    largest = (1.0 + EQUAL) * (best.rrse or 0.0)
    ties = [best]
    for candidate in candidates[1:]:
        # Innovations of another decimation are not comparable.
        if candidate.configuration.decimation != best.configuration.decimation:
            continue
        scatter = STANDARD_ERRORS * samples * error_scatter(candidate.parts, best.parts)
        is_as_good = (candidate.rrse or 0.0) <= largest
        if is_as_good and candidate.rank - best.rank <= scatter:
            ties.append(candidate)
    return ties


def _fitted(candidate: Candidate) -> tuple[tuple[str, ...], NoiseModel, bool]:
    """Return terms, noise model and centring: the likelihood of candidates that agree in these is the same."""
    return candidate.terms, candidate.noise_model, candidate.configuration.centred


def _likeliest_first(plan: SearchPlan, candidates: Sequence[Candidate], density: int) -> tuple[list[Candidate], int]:
    """Return candidates with those that tie with the first ordered by their likelihood, and how many these are."""
    finite = [candidate for candidate in candidates if candidate.fitness is not None]
    ties = tied(finite, plan.n_selected / density)
    if len(ties) == 1:
        return list(candidates), 1
    criteria = _likelihood_criteria(plan.searched, ties, max(1.0, density / ties[0].configuration.decimation))
    order = sorted(range(len(ties)), key=lambda i: (criteria[i], i))
    places = set(map(id, ties))
    following = [candidate for candidate in candidates if id(candidate) not in places]
    return [*(ties[i] for i in order), *following], len(ties)


def _likelihood_criteria(recording: Recording, ties: Sequence[Candidate], repeated: float) -> list[float]:
    """Return the extended BIC of candidates of one decimation, all on the same samples of one phase.

    It is +inf where a fit diverges. ``repeated`` samples count as one.
    """
    n_inputs = len(recording.inputs)
    monomials = {}
    for candidate in ties:
        monomials[candidate.terms] = [parse_term(term, n_inputs, current=True) for term in candidate.terms]
    max_lag = max(map(max_lag_of, monomials.values()))
    # The same for all, as if each had been chosen from all that is at hand.
    n_candidates = max(candidate.candidates for candidate in ties)
    criteria: dict[object, float] = {}
    for candidate in ties:
        fitted = _fitted(candidate)
        if fitted not in criteria:
            by = scaling(recording, candidate.configuration.centred)
            errors = _one_phase(recording, by, candidate, monomials[candidate.terms], max_lag)
            units = 0.0 if by is None else 2.0 * errors.samples * float(natural_log(by.scales[0]))
            criteria[fitted] = _likelihood_criterion(candidate, errors, units, n_candidates, repeated)
    return [criteria[_fitted(candidate)] for candidate in ties]


def _one_phase(
    recording: Recording, by: Scaling | None, candidate: Candidate, monomials: Sequence[Monomial], max_lag: int
) -> PredictionErrors:
    """Return the prediction errors of the terms of a candidate on one phase of the data."""
    records, decimation = [scaled(record, by) for record in recording.known], candidate.configuration.decimation
    arrangement = Arrangement(records, decimation, max_lag, 1, sum(map(len, records)) // decimation)
    segments = shortened(arrangement.segments(arrangement.has_lags), MOST_STEPS, max_lag)
    return prediction_errors(arrangement, monomials, segments, COMPARED)


def _likelihood_criterion(
    candidate: Candidate, errors: PredictionErrors, units: float, n_candidates: int, repeated: float
) -> float:
    """Return the extended BIC of a candidate; ``units`` makes the deviances of scaled outputs comparable."""
    n_terms = len(candidate.terms)
    fit = fit_noise_model(errors, range(n_terms), candidate.noise_model)
    if not fit.is_finite:
        return math.inf
    independent = independent_samples(errors, repeated)
    # Terms cost as much as in the prediction error method.
    price = LINEAR_EBIC.with_number(SearchSettings().gamma).penalties(independent, n_candidates)[n_terms]
    noise_cost = float(natural_log(independent)) * fit.noise_model.n_parameters
    centring = CLEARLY_BETTER * candidate.configuration.centred
    return (errors.deviance(fit) + units) / repeated + noise_cost + float(price) + centring
