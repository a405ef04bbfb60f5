"""Scores of candidates: J of the error on parts of the data that the weights do not know.

Errors are taken at the sampling of the data. So decimations, which are strides with all of their phases, can compete.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.criteria import parse_criterion
from narxbench._fitness.criterion import Criterion
from narxbench._identification.search.candidate import EXACT, PLAIN, Candidate, in_order
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.noise import StructureFit, noise_of_model
from narxbench._identification.search.outside import diverges_when_held as model_diverges_when_held
from narxbench._identification.search.plan import SearchPlan
from narxbench._identification.search.problem import ConfigurationProblem
from narxbench._model.narx import DivergedError, Model, divergence_bound
from narxbench._model.noise_models import NoiseName
from narxbench._model.prediction import simulated
from narxbench._model.scaling import mean
from narxbench._model.terms import max_lag_of
from narxbench._numerics.logarithm import natural_log
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
# Weights of terms, and the arguments of a model that their noise has.
Weighted = tuple[Sequence[float], dict[str, Any]]

# Signals in their own units are easier to read, and NARX has the plainest noise: what centred signals and other noise
# models gain must be very strong evidence, a difference of 10 (R. E. Kass and A. E. Raftery, Bayes factors, Journal of
# the American Statistical Association 90, 1995, pages 773-795).
CLEARLY_BETTER = 10.0
# The free run over whole records may have this times the relative error of that over parts, and this more.
COMPARABLE, NEGLIGIBLE = 2.0, 0.02
# Errors over parts that differ by no more than this share are equal: over few parts they scatter much.
EQUAL = 0.05


def scored(plan: SearchPlan, proposals: Sequence[Candidate], density: int) -> list[Candidate]:
    """Return each different structure with its score by least squares, the best first.

    As many samples of the data count as one as ``density`` says.
    """
    by_configuration: dict[Configuration, dict[tuple[str, ...], Candidate]] = {}
    for proposal in proposals:
        if proposal.terms:
            by_terms = by_configuration.setdefault(proposal.configuration, {})
            by_terms.setdefault(proposal.terms, proposal)
    candidates: list[Candidate] = []
    for configuration, by_terms in by_configuration.items():
        squares, singular = least_squares_errors(plan.problem(configuration), list(by_terms))
        for i, proposal in enumerate(by_terms.values()):
            plain = replace(proposal, noise_model=PLAIN)
            candidates.append(_with_score(plan, plain, squares[i], density, bool(singular[i])))
    return in_order(candidates)


def best_scored(plan: SearchPlan, proposals: Sequence[Candidate], density: int) -> Candidate | None:
    """Return the first proposal of lowest J of one configuration with its score, or None if none has terms."""
    proposals = [proposal for proposal in proposals if proposal.terms]
    if not proposals:
        return None
    problem = plan.problem(proposals[0].configuration)
    squares, singular = least_squares_errors(problem, [proposal.terms for proposal in proposals])
    ranks = []
    for i, proposal in enumerate(proposals):
        rank, (relative, _) = math.inf, _over_all(problem, squares[i], bool(singular[i]))
        if math.isfinite(relative):
            rank = _fitness(plan, proposal, math.sqrt(relative), len(problem.terms), density)
        ranks.append(rank)
    best = ranks.index(min(ranks))
    return _with_score(plan, proposals[best], squares[best], density, bool(singular[best]))


def scored_under(plan: SearchPlan, candidate: Candidate, families: Sequence[NoiseName], density: int) -> Candidate:
    """Return a candidate with its score under the noise model of some families that its noise calls for."""
    problem = plan.problem(candidate.configuration)
    whole = problem.fit(candidate.terms, families)
    candidate = replace(candidate, noise_model=whole.noise_model)
    return _with_score(plan, candidate, _part_errors(problem, candidate, problem.steps, whole), density)


def rescored(plan: SearchPlan, candidate: Candidate, density: int) -> Candidate:
    """Return a candidate with its J where this many samples count as one."""
    if candidate.rrse is None:
        return replace(candidate, fitness=None)
    return replace(candidate, fitness=_fitness(plan, candidate, candidate.rrse, candidate.candidates, density))


def with_error(plan: SearchPlan, competitor: Candidate) -> Candidate:
    """Return a competitor with its error over parts. It has no J, because competitors are not chosen by J."""
    problem = plan.problem(competitor.configuration)
    squares = _part_errors(problem, competitor, problem.steps)
    relative, divergent = _over_all(problem, squares)
    return replace(
        competitor,
        fitness=None,
        rrse=_root(relative),
        divergent=divergent,
        candidates=len(problem.terms),
        parts=_relative(problem, squares),
    )


def with_error_ahead(plan: SearchPlan, candidate: Candidate, steps: int) -> Candidate:
    """Return the candidate for a series with its error over parts this many steps ahead."""
    problem = plan.problem(candidate.configuration)
    relative, _ = _over_all(problem, _part_errors(problem, candidate, steps))
    return replace(candidate, ahead=_root(relative))


def holds(plan: SearchPlan, candidate: Candidate) -> bool:
    """Return whether free runs over whole records, which show what grows slowly, are about as good as of parts."""
    problem = plan.problem(candidate.configuration)
    if problem.error == "one_step":
        return True
    return whole_error(problem, candidate) <= COMPARABLE * (candidate.rrse or 0.0) + NEGLIGIBLE


def diverges_when_held(plan: SearchPlan, candidate: Candidate) -> bool:
    """Return whether the model of a candidate diverges when inputs are held inside their ranges."""
    problem = plan.problem(candidate.configuration)
    weighted = _weighted(problem, candidate)
    if weighted is None:
        return True
    model = _model(problem, candidate, (weighted[0], {}))
    return model_diverges_when_held(model, problem.arrangement.u, problem.arrangement.y)


def _root(relative: float) -> float | None:
    return significant(math.sqrt(relative)) if math.isfinite(relative) else None


def _with_score(
    plan: SearchPlan, proposal: Candidate, squares: Floats, density: int, is_singular: bool = False
) -> Candidate:
    """Return a proposal with its score, by its sum of squared errors on each part."""
    problem = plan.problem(proposal.configuration)
    relative, divergent = _over_all(problem, squares, is_singular)
    n_candidates = len(problem.terms)
    rrse = math.sqrt(relative) if math.isfinite(relative) else None
    return replace(
        proposal,
        fitness=None if rrse is None else _fitness(plan, proposal, rrse, n_candidates, density),
        rrse=rrse,
        divergent=divergent,
        singular=is_singular,
        candidates=n_candidates,
        parts=_relative(problem, squares),
    )


def _over_all(problem: ConfigurationProblem, squares: Floats, is_singular: bool = False) -> tuple[float, float]:
    """Return the squared error over all parts relative to the variance, and the share of parts that diverge."""
    # There are many structures, and Python is quicker than NumPy with few numbers.
    finite = [square for square in squares.tolist() if math.isfinite(square)]
    divergent = 0.0 if is_singular else (len(squares) - len(finite)) / len(squares)
    if is_singular or divergent or not problem.energy > 0.0:
        return math.inf, divergent
    return math.fsum(finite) / problem.energy, divergent


def _relative(problem: ConfigurationProblem, squares: Floats) -> tuple[float, ...]:
    """Return the squared error on each part relative to the variance, or an empty tuple where one diverges."""
    steps = np.array(list(map(len, problem.measured_parts)))
    variance = problem.energy / int(steps.sum())
    if not variance or not np.isfinite(squares).all():
        return ()
    return tuple(map(significant, (squares / steps / variance).tolist()))


@cache
def _criterion() -> Criterion:
    """Return the criterion that prices terms, which compares structures out of different candidates.

    BIC admits spurious terms, and the extended BIC with 1 omits terms that models of real data need.
    """
    return parse_criterion("ebic-0.5")


def _fitness(plan: SearchPlan, proposal: Candidate, rrse: float, n_candidates: int, density: int) -> float:
    """Return J of a structure of this error where this many samples count as one."""
    independent, size, criterion = max(2.0, plan.n_selected / density), len(proposal.terms), _criterion()
    fitness = independent * natural_log(max(rrse, EXACT) ** 2)
    fitness += criterion.per_term(independent, criterion.number) * size
    fitness += criterion.surcharge_of(size, independent, n_candidates)
    fitness += CLEARLY_BETTER * proposal.configuration.centred
    fitness += CLEARLY_BETTER * (proposal.noise_model.name != "narx" and plan.settings.noise == "auto")
    return float(fitness)


def least_squares_errors(
    problem: ConfigurationProblem, structures: Sequence[Sequence[str]]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the errors of structures with least-squares weights on each part, run freely from measured outputs.

    Where parts take turns, the weights for one are estimated on the others.

    Returns
    -------
    squares : array of float, shape (structures, parts)
        Sums of squared errors, +inf where the run diverges or the structure is singular.
    singular : array of bool, shape (structures,)
        Whether the structure is singular in some part.
    """
    sse, singular = np.empty((len(structures), len(problem.parts))), np.zeros(len(structures), np.bool_)
    positions = problem.positions(structures)
    for k, (_, _, other_samples) in enumerate(problem.parts):
        _, sse[:, k], weights = other_samples.evaluate_positions(positions)
        singular |= ~np.isfinite(sse[:, k]) & ~weights.any(axis=1)
    return sse, singular


def _part_errors(
    problem: ConfigurationProblem, candidate: Candidate, steps: int | None, whole: StructureFit | None = None
) -> Floats:
    """Return the sum of squared errors on each part of a candidate whose weights follow the rule of its kind.

    Predictions are this many ``steps`` ahead; None: free runs. ``whole`` is the fit of a sparse or linear candidate to
    all data that estimate.
    """
    if whole is None and _is_fitted(candidate):
        whole = problem.fit_under(candidate.terms, candidate.noise_model)
    sums = []
    for number, segments, _ in problem.parts:
        weighted = _weighted_without(problem, candidate, number, whole)
        sums.append(_squares(problem, candidate, weighted, segments, steps))
    return np.array(sums)


def whole_error(problem: ConfigurationProblem, candidate: Candidate) -> float:
    """Return the root relative squared error of free runs over whole records, or +inf if one diverges."""
    arrangement = problem.arrangement
    segments = arrangement.segments(arrangement.has_lags)
    squares = _squares(problem, candidate, _weighted(problem, candidate), segments, None)
    y = arrangement.y[arrangement.has_lags]
    middle = mean(y.tolist())
    return math.sqrt(squares / math.fsum(((y - middle) ** 2).tolist()))


def _is_fitted(candidate: Candidate) -> bool:
    """Return whether weights come from a fit, and not from ridge regression or a rule."""
    return candidate.kind in ("sparse", "linear")


def _weighted(problem: ConfigurationProblem, candidate: Candidate) -> Weighted | None:
    """Return the weights on all data that estimate, or None if they diverge."""
    if _is_fitted(candidate):
        return _of_fit(problem.fit_under(candidate.terms, candidate.noise_model))
    return _weighted_without(problem, candidate, None, None)


def _weighted_without(
    problem: ConfigurationProblem, candidate: Candidate, part: int | None, whole: StructureFit | None
) -> Weighted | None:
    """Return the weights on all data that estimate except a part. ``whole`` is the fit to all of them."""
    if candidate.kind == "unpruned":
        return problem.ridge_weights(candidate.shrinkage, part), {}
    if whole is None:
        # The last value, or the value a season before.
        return [1.0], {}
    if not problem.arrangement.takes_turns or not whole.is_finite:
        return _of_fit(whole)
    return _of_fit(problem.fit_under(candidate.terms, whole.noise_model, part, whole.fit))


def _of_fit(fit: StructureFit) -> Weighted | None:
    if not fit.is_finite:
        return None
    return fit.coefficients.tolist(), noise_of_model(fit.fit)


def _model(problem: ConfigurationProblem, candidate: Candidate, weighted: Weighted) -> Model:
    """Return the model of the arranged samples, whose signals may be centred and are of one phase."""
    coefficients, noise = weighted
    return Model(
        terms=candidate.terms,
        coefficients=tuple(coefficients),
        inputs=tuple(f"u{i}" for i in range(problem.n_inputs)),
        output="y",
        **noise,
    )


def _squares(
    problem: ConfigurationProblem,
    candidate: Candidate,
    weighted: Weighted | None,
    segments: Sequence[range],
    steps: int | None,
) -> float:
    """Return the sum of squared errors of runs from the measured outputs before each segment, +inf if one diverges."""
    if weighted is None:
        return math.inf
    monomials = problem.monomials_of(candidate.terms)
    max_lag, sums = max_lag_of(monomials), []
    # A free run is the same for all noise models, and there are many: it needs no model.
    model = None if steps is None else _model(problem, candidate, weighted)
    for segment in segments:
        samples = slice(segment.start - max_lag, segment.stop)
        u, y = problem.arrangement.u[samples], problem.arrangement.y[samples]
        if model is None:
            bound = divergence_bound(y, len(y))
            predicted, end = simulated(monomials, weighted[0], u, y[:max_lag], bound=bound)
            if end < len(y):
                return math.inf
        else:
            try:
                predicted = model.predict(u, y, steps)
            except DivergedError:
                return math.inf
        sums.append(math.fsum(((y - predicted) ** 2).tolist()))
    return math.fsum(sums)
