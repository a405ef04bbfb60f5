"""Simple models that the sparse one competes with, and the choice of the selected one.

All are judged by the selection error: the relative error over the parts of the data that the weights do not know, of
free runs or, where a search minimises that, one step ahead. A series is judged farther ahead, so those that are about
as good one step ahead are also compared there. Test records are not used.

- Full linear models (ARX, ARMAX, OE, Box-Jenkins): all terms up to degree 1 of a configuration. Those of all lags that
  are tried compete by least squares, and the best of these under the other noise models too.
- The unpruned polynomial: all candidates of the sparse model's configuration, by ridge regression.
- The last value, y(k) = y(k-1), and of an output with seasons the value a season before.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from operator import attrgetter

from narxbench._identification.search.candidate import EXACT, Candidate
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.plan import LEADERS, SearchPlan
from narxbench._identification.search.scores import (
    EQUAL,
    diverges_when_held,
    holds,
    scored,
    scored_under,
    with_error,
    with_error_ahead,
)
from narxbench._identification.search.steps import COMPETITION, Steps
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NOISE_MODELS, NOISE_NAMES, NoiseName
from narxbench._model.terms import parse_term

# Noise models that the likelihood chooses one of for each structure: all in the equation, and each on the output by
# itself. Between these groups free runs choose.
IN_EQUATION = tuple(name for name in NOISE_NAMES if NOISE_MODELS[name].place == "equation")
ON_OUTPUT = tuple(name for name in NOISE_NAMES if NOISE_MODELS[name].place == "output")
TOGETHER: tuple[tuple[NoiseName, ...], ...] = (IN_EQUATION, *((name,) for name in ON_OUTPUT))
# Ridges that are tried, as shares of the columns' sums of squares: from what rounding needs to shrinking by per cents.
SHRINKAGES = (1e-8, 1e-6, 1e-4, 1e-2)
# Times the selection error of the best competitor up to which a sparse structure is preferred, because they tie.
SPARSE_WITHIN = 1.0 + EQUAL
LAST_VALUE_TERM = "y(k-1)"


def selected_structure(plan: SearchPlan, sparse: Candidate, competitors: Sequence[Candidate]) -> Candidate:
    """Return the selected structure: the sparse one, or the competitor of lowest selection error.

    A sparse model is selected if its selection error is at most ``SPARSE_WITHIN`` times the error of the best
    competitor whose free run over whole records holds, and which stays within bounds where inputs are held. The sparse
    model of a series must also be within this factor of the best one as far ahead as it is judged.
    """
    for competitor in sorted(competitors, key=attrgetter("error")):
        if sparse.error <= SPARSE_WITHIN * competitor.error:
            return _leaving_ahead(plan, sparse, competitors)
        if competitor.kind == "last value":
            return competitor
        if holds(plan, competitor) and not diverges_when_held(plan, competitor):
            return competitor
    return sparse


def with_errors_ahead(
    plan: SearchPlan, sparse: Candidate, competitors: Sequence[Candidate]
) -> tuple[Candidate, list[Candidate]]:
    """Return a sparse structure and its competitors, for a series with their errors as far ahead as it is judged.

    Competitors have one if they are about as good by the selection error, which is taken one step ahead.
    """
    if plan.recording.inputs:
        return sparse, [*competitors]
    # All have the decimation of the sparse one.
    steps, limit = plan.steps_ahead(sparse.configuration.decimation), SPARSE_WITHIN * sparse.error
    judged = []
    for competitor in competitors:
        is_as_good = competitor.error <= limit
        judged.append(with_error_ahead(plan, competitor, steps) if is_as_good else competitor)
    return with_error_ahead(plan, sparse, steps), judged


def _leaving_ahead(plan: SearchPlan, sparse: Candidate, competitors: Sequence[Candidate]) -> Candidate:
    """Return a sparse structure or, if that is clearly better as far ahead as a series is judged, a competitor."""
    best, lowest = sparse, _error_ahead(sparse) / SPARSE_WITHIN
    for competitor in competitors:
        error = _error_ahead(competitor)
        if error < lowest and not diverges_when_held(plan, competitor):
            best, lowest = competitor, error
    return best


def _error_ahead(candidate: Candidate) -> float:
    return math.inf if candidate.ahead is None else max(candidate.ahead, EXACT)


def competing_structures(
    plan: SearchPlan, sparse: Candidate, linear: Sequence[Configuration], density: int, steps: Steps
) -> list[Candidate]:
    """Return the competitors of a sparse structure that stay finite on all parts, the one of lowest error first.

    ``linear`` configurations must have its decimation. An interrupted search has no competitors.
    """
    if steps.interrupted:
        return []
    allowed, configuration = plan.settings.noise_models, sparse.configuration
    alike = [other for other in linear if other.decimation == configuration.decimation]
    plain = _full_linear(plan, alike, density)
    jobs: list[Callable[[], Candidate]] = []
    for candidate, families in product(plain[:LEADERS], competing_names(allowed)):
        if families != ("narx",):
            jobs.append(partial(scored_under, plan, candidate, families, density))
    if "narx" in allowed:
        terms = tuple(plan.problem(configuration).terms)
        for shrinkage in SHRINKAGES:
            unpruned = Candidate(configuration, terms, "ridge regression", kind="unpruned", shrinkage=shrinkage)
            jobs.append(partial(with_error, plan, unpruned))
    competitors = steps.run(COMPETITION, _called, [(job,) for job in jobs]) + _last_values(plan, configuration, alike)
    if "narx" in allowed:
        competitors += plain
    finite = [candidate for candidate in competitors if candidate.rrse is not None]
    return sorted(finite, key=attrgetter("error"))


def _called(job: Callable[[], Candidate]) -> Candidate:
    return job()


def best_by_description(candidates: Sequence[Candidate]) -> Mapping[str, Candidate]:
    """Return the best structure of each kind and noise model by its name for readers, in the order of the errors."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=attrgetter("error")):
        key = candidate.kind + candidate.noise_model.name
        if _is_seasonal(candidate):
            key = description(candidate)
        best.setdefault(key, candidate)
    return {description(candidate): candidate for candidate in best.values()}


def description(candidate: Candidate) -> str:
    """Return the name of a structure for readers, such as ``linear OE``."""
    if candidate.kind == "linear":
        # A linear NARMAX model is an ARMAX model, a linear NOE model an OE model.
        return f"linear {candidate.noise_model.description.removeprefix('N')}"
    if candidate.kind == "unpruned":
        return "unpruned polynomial"
    if _is_seasonal(candidate):
        ((_, lag),) = parse_term(candidate.terms[0], 0)
        return f"seasonal naive, {lag} steps"
    return candidate.kind


def _is_seasonal(candidate: Candidate) -> bool:
    """Return whether a structure repeats the output of a season before."""
    return candidate.kind == "last value" and candidate.terms != (LAST_VALUE_TERM,)


def competing_names(allowed: Sequence[NoiseName]) -> list[tuple[NoiseName, ...]]:
    """Return the allowed noise models in groups, of each of which the likelihood chooses one."""
    groups = []
    for names in TOGETHER:
        group = tuple(name for name in names if name in allowed)
        if group:
            groups.append(group)
    return groups


def _full_linear(plan: SearchPlan, linear: Sequence[Configuration], density: int) -> list[Candidate]:
    """Return full linear structures by least squares, the one of lowest error first."""
    proposals = []
    for configuration in linear:
        proposals.append(
            Candidate(configuration, _linear_terms(plan, configuration), "full linear model", kind="linear")
        )
    finite = [candidate for candidate in scored(plan, proposals, density) if candidate.rrse is not None]
    return sorted(finite, key=attrgetter("error"))


def _linear_terms(plan: SearchPlan, configuration: Configuration) -> tuple[str, ...]:
    """Return the candidates up to degree 1 of a configuration, if the settings allow any."""
    try:
        problem = plan.problem(configuration)
    except NarxbenchError:
        return ()
    return tuple(term for term, monomial in zip(problem.terms, problem.monomials, strict=True) if len(monomial) <= 1)


def _last_values(plan: SearchPlan, configuration: Configuration, linear: Sequence[Configuration]) -> list[Candidate]:
    """Return the last value and the values a season before as structures, as far as their terms are candidates.

    The values a season before belong to the first of the linear configurations that has them.
    """
    candidates = []
    if LAST_VALUE_TERM in plan.problem(configuration).terms:
        candidates.append(_last_value(plan, configuration, LAST_VALUE_TERM))
    for season in plan.seasons:
        steps, rest = divmod(season, configuration.decimation)
        term = f"y(k-{steps})"
        for other in linear:
            if rest == 0 and steps in other.y_lags and term in plan.problem(other).terms:
                candidates.append(_last_value(plan, other, term))
                break
    return candidates


def _last_value(plan: SearchPlan, configuration: Configuration, term: str) -> Candidate:
    """Return the structure y(k) = y(k-i), its term having this name, with its error in a configuration."""
    return with_error(plan, Candidate(configuration, (term,), "last value", kind="last value"))
