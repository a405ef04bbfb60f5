"""Searches that propose structures: of each configuration briefly, and of the best ones thoroughly.

Each depends on data and settings alone. No search draws random numbers or looks at a clock.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from narxbench._algorithms.forward_regression import forward
from narxbench._algorithms.iterative_ofr import Settings as IterativeSettings
from narxbench._algorithms.likelihood_search import LikelihoodSearch, SearchSettings
from narxbench._algorithms.search import search
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._fitness.problem import StructureProblem
from narxbench._identification.search.candidate import Candidate, best_of
from narxbench._identification.search.configurations import (
    LARGEST,
    Configuration,
    inputs_with_open_lags,
    with_first_lag,
)
from narxbench._identification.search.plan import FINALISTS, LEADERS, SearchPlan
from narxbench._identification.search.problem import MOST_ROWS
from narxbench._identification.search.scores import best_scored, rescored, scored
from narxbench._identification.search.steps import (
    BRIEF,
    DESCENTS,
    NOISE,
    VARIANTS,
    Steps,
    threads_of_short_calls,
)
from narxbench._identification.search.steps import FORWARD as FORWARD_STEP
from narxbench._model.terms import OUTPUT

# Lags from 0 that no check of the dead time suggests count if the error on unseen parts falls to this share. Effects
# within one sample are rare, and under feedback the input follows the output at once, so such terms mislead: with any
# gain accepted, a record of a winding machine (``benchmarks/bars.py``) has 1.3 times the error on its test.
EARLY_GAIN = 0.5
# Terms of a brief forward regression, at most: as many as an iterative one has.
LONGEST_PATH = IterativeSettings().max_terms
# Structures of each configuration that descents start from.
POLISHED = 4
CONSTANT = "1"
# The search that a structure of a brief search comes from.
BRIEFLY = "forward regression"
# A method that searches with all configurations that are searched thoroughly.
FORWARD = "iterative_ofr"
# The method that searches by likelihood under each noise model, without random numbers.
PREDICTION_ERRORS = "pem"
# Its settings: it is one search among others here, and the noise model of a structure is chosen with the weights.
LIKELIHOOD: dict[str, Any] = {"drift": False, "tails": False, "largest_order": 4, "path_length": 20, "starts": [4]}


@dataclass(frozen=True)
class Proposals:
    """The structures that the searches propose.

    Attributes
    ----------
    candidates : list of Candidate
        All structures with their scores by least squares, the best first.
    likely : list of Candidate
        Structures that are likely under their noise model, without scores.
    briefly : list of Candidate
        The best of each configuration that was searched briefly only.
    linear : list of Configuration
        The linear ones at each combination of decimation and lags: all of their terms compete unsearched.
    density : int
        How many samples count as one.
    """

    candidates: list[Candidate]
    likely: list[Candidate]
    briefly: list[Candidate]
    linear: list[Configuration]
    density: int


def brief_searches(plan: SearchPlan, steps: Steps) -> list[Candidate]:
    """Return the best structure of each configuration, and of variants of the best ones.

    KeyboardInterrupt is raised if an interruption comes before the first one.
    """
    threads = threads_of_short_calls(plan.n_samples)
    jobs = [(plan, configuration) for configuration in plan.configurations]
    briefs = [brief for brief in steps.run(BRIEF, brief_search, jobs, threads) if brief is not None]
    if steps.interrupted and not briefs:
        raise KeyboardInterrupt
    leaders = sorted(briefs, key=lambda brief: brief.rank)[:LEADERS]
    tried = set(plan.configurations)
    for candidates in steps.run(VARIANTS, variants, [(plan, brief, tried) for brief in leaders], threads=1):
        briefs += candidates
    return briefs


def thorough_searches(plan: SearchPlan, briefs: Sequence[Candidate], steps: Steps) -> Proposals:
    """Return what thorough searches of the best configurations propose, with all that is proposed before."""
    # The order of the configurations decides between equal ones.
    ordered = [brief.configuration for brief in sorted(briefs, key=lambda brief: brief.rank)]
    ranked = ordered[: plan.n_finalists]
    # Samples of one step count as one: the phases of the best configuration see the same disturbances.
    density = max(plan.sampling.advised, ranked[0].decimation)
    proposals = [brief for brief in briefs if brief.configuration in ranked]
    proposals += steps.run(FORWARD_STEP, iterative_forward, [(plan, configuration) for configuration in ranked])
    likely = list[Candidate]()
    # More than are searched thoroughly, for a brief search of them may be wrong.
    promising = ordered[: 2 * FINALISTS]
    promising = promising[: max(LEADERS, plan.effort.n_likely(promising))]
    for candidates in steps.run(NOISE, by_likelihood, [(plan, configuration) for configuration in promising]):
        likely += candidates
    compared = scored(plan, [*proposals, *likely], density)
    proposals += in_units_of_the_user(plan, compared)
    starts = [(plan, start, density) for start in _descent_starts(compared, ranked)]
    proposals += steps.run(DESCENTS, descent, starts, threads_of_short_calls(plan.n_samples))
    return Proposals(
        candidates=scored(plan, [*proposals, *likely], density),
        likely=likely,
        briefly=[rescored(plan, brief, density) for brief in briefs if brief.configuration not in ranked],
        linear=_linear(plan, briefs),
        density=density,
    )


def brief_search(plan: SearchPlan, configuration: Configuration) -> Candidate | None:
    """Return the best structure of a forward regression in a configuration, or None if no term varies.

    Where all of them diverge, the terms up to degree 1 are tried alone, and then those without the output.
    """
    problem, best = plan.problem(configuration).whole(), None
    for numbers in _groups_of_terms(problem):
        proposals = [Candidate(configuration, terms, BRIEFLY) for terms in _path(problem, numbers)]
        best = best_scored(plan, proposals, plan.sampling.advised) or best
        if best is not None and best.fitness is not None:
            break
    return best


def variants(plan: SearchPlan, brief: Candidate, tried: set[Configuration]) -> list[Candidate]:
    """Return the best structures of variants of a configuration, from the one of its brief search.

    Each input in turn has lags from 1, which are kept for the next input where J is lower, and then from 0, as far
    as these are worth it. Then the signals are centred. Configurations that were ``tried`` are left out; others are
    added to them.
    """
    candidates = _with_first_lags(plan, brief, 1, tried)
    best = best_of([brief, *candidates])
    early = _with_first_lags(plan, best, 0, tried)
    best_early = best_of([best, *early])
    if best_early.error <= EARLY_GAIN * best.error:
        candidates += early
        best = best_early
    for configuration in dict.fromkeys([brief.configuration, best.configuration]):
        if configuration.degree > 1:
            candidates += _variant(plan, replace(configuration, centred=True), tried)
    return candidates


def _with_first_lags(plan: SearchPlan, brief: Candidate, first: int, tried: set[Configuration]) -> list[Candidate]:
    """Return the structures of brief searches with other first lags, one input after another."""
    best, candidates = brief, list[Candidate]()
    for place in inputs_with_open_lags(plan.recording, plan.settings):
        variant = _variant(plan, with_first_lag(best.configuration, place, first), tried)
        candidates += variant
        best = best_of([best, *variant])
    return candidates


def _variant(plan: SearchPlan, configuration: Configuration, tried: set[Configuration]) -> list[Candidate]:
    """Return the structure of a brief search in a configuration, if that is new and has one."""
    if configuration in tried:
        return []
    tried.add(configuration)
    candidate = brief_search(plan, configuration)
    return [] if candidate is None else [candidate]


def _linear(plan: SearchPlan, briefs: Sequence[Candidate]) -> list[Configuration]:
    """Return the linear configurations of all that is planned, and of variants."""
    tried = [*plan.configurations, *(brief.configuration for brief in briefs)]
    return list(dict.fromkeys(replace(configuration, degree=1, centred=False) for configuration in tried))


def iterative_forward(plan: SearchPlan, configuration: Configuration) -> Candidate:
    """Return the structure of iterative orthogonal forward regression, without terms where that takes too long."""
    problem = plan.problem(configuration).whole()
    if len(problem.estimation_rows) * len(problem.terms) > MOST_ROWS * LARGEST:
        return Candidate(configuration, (), FORWARD)
    settings: dict[str, Any] = {"selection": "err", "rows": "estimation"}
    terms = search(problem, algorithm=FORWARD, seed=1, **settings).terms
    return Candidate(configuration, tuple(terms), FORWARD)


def by_likelihood(plan: SearchPlan, configuration: Configuration) -> list[Candidate]:
    """Return the best structure by the likelihood of each noise model, without those that are not finite."""
    problem = plan.problem(configuration).for_prediction_errors()
    settings = SearchSettings(noise_models=list(plan.settings.noise_models), **LIKELIHOOD)
    likelihood_search = LikelihoodSearch(PredictionErrors(problem), settings)
    likelihood_search.run()
    candidates = []
    for fit in likelihood_search.leaders():
        if len(fit.terms) and likelihood_search.value(fit) < math.inf:
            title = f"{PREDICTION_ERRORS}, {fit.noise_model.title}"
            terms = tuple(problem.terms[term] for term in fit.terms)
            candidates.append(Candidate(configuration, terms, title, fit.noise_model))
    return candidates


def in_units_of_the_user(plan: SearchPlan, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return linear structures of centred signals in the units of the user. A constant makes them the same."""
    proposals = []
    for candidate in candidates:
        is_linear = not any("*" in term or "^" in term for term in candidate.terms)
        if not candidate.configuration.centred or not is_linear:
            continue
        plain = replace(candidate.configuration, centred=False)
        terms = (CONSTANT, *(term for term in candidate.terms if term != CONSTANT))
        if set(terms) <= set(plan.problem(plain).terms):
            proposals.append(Candidate(plain, terms, candidate.found_by))
    return proposals


def _descent_starts(candidates: Sequence[Candidate], ranked: Sequence[Configuration]) -> list[Candidate]:
    """Return the best structures of each configuration."""
    starts = []
    for configuration in ranked:
        of_configuration = [candidate for candidate in candidates if candidate.configuration == configuration]
        starts += of_configuration[:POLISHED]
    return starts


def descent(plan: SearchPlan, start: Candidate, density: int) -> Candidate:
    """Return where a descent ends that adds, drops and swaps terms by the score on unseen parts.

    Regressions minimise the error on the data that also give the weights. From there a few steps lead to the minimum
    of the score.
    """
    terms, best, seen = plan.problem(start.configuration).terms, start, {start.terms}
    budget = plan.effort.n_evaluated(POLISHED * plan.n_finalists)
    while True:
        # A step with all swaps takes at most a third of the remaining budget.
        neighbours = [other for other in _neighbours(terms, best.terms, budget / 3) if other not in seen]
        seen.update(neighbours)
        budget -= len(neighbours)
        if budget < 0 or not neighbours:
            return best
        following = best_scored(plan, [start.unscored(other) for other in neighbours], density)
        if following is None or following.rank >= best.rank:
            return best
        best = following


def _neighbours(candidates: Sequence[str], terms: Sequence[str], most: float) -> list[tuple[str, ...]]:
    """Return the structures that differ from one in a term, and those in which one is swapped if they are few enough.

    Terms are in the order of the candidates.
    """
    place = {term: i for i, term in enumerate(candidates)}
    inside = sorted({place[term] for term in terms})
    outside = sorted(set(place.values()) - set(inside))
    changes: list[tuple[int, ...]] = [(i,) for i in (*inside, *outside)]
    if len(changes) + len(inside) * len(outside) <= most:
        changes += product(inside, outside)
    structures = []
    for change in changes:
        positions = sorted(set(inside) ^ set(change))
        if positions:
            structures.append(tuple(candidates[i] for i in positions))
    return structures


def _groups_of_terms(problem: StructureProblem) -> list[list[int]]:
    """Return all candidates, those up to degree 1, and those without the output, by their numbers."""
    linear, without_output = list[int](), list[int]()
    for number, monomial in enumerate(problem.monomials):
        if len(monomial) <= 1:
            linear.append(number)
        if all(signal != OUTPUT for signal, _ in monomial):
            without_output.append(number)
    return [list(range(len(problem.terms))), linear, without_output]


def _path(problem: StructureProblem, candidates: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the nested structures of a forward regression among some candidates, the smallest first."""
    gram, moments = problem.data.gram[np.ix_(candidates, candidates)], problem.data.moments[candidates]
    # To compiled code, read-only arrays are another type.
    gram.flags.writeable = moments.flags.writeable = False
    steps = min(LONGEST_PATH, len(moments), max(1, len(problem.estimation_rows) // 2))
    order, explained = np.empty(steps, np.int64), np.empty(steps)
    entered = forward(gram, moments, -1, order, explained)
    structures = []
    for count in range(1, entered + 1):
        structures.append(tuple(problem.terms[candidates[i]] for i in sorted(order[:count].tolist())))
    return structures
