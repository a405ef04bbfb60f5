"""The search: many configurations briefly, the best of them thoroughly, and one structure that is chosen in the end.

Configurations are compared by the free-run error on parts of the data that the weights do not know, at the sampling of
the data: so a decimation, which is a stride with all of its phases, competes with any other. Each step depends on data
and settings alone: nothing is drawn, and none looks at a clock.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from narxbench._algorithms.forward_regression import forward
from narxbench._algorithms.likelihood_search import LikelihoodSearch, SearchSettings
from narxbench._algorithms.search import search
from narxbench._fitness.criteria import parse_criterion
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._fitness.problem import StructureProblem
from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.data.checks import dead_times
from narxbench._identification.data.evidence import input_evidence, largest_degree_shown
from narxbench._identification.data.horizon import check_horizon, steps_judged
from narxbench._identification.data.responses import responses
from narxbench._identification.data.sampling import advised_decimations
from narxbench._identification.data.scaling import SMALLEST, scaling
from narxbench._identification.data.seasons import seasons, seasons_beside_inputs
from narxbench._identification.search.configurations import (
    Configuration,
    configurations,
    inputs_with_open_lags,
    strides,
    with_first_lag,
)
from narxbench._identification.search.noise import PLAIN, NoiseOrders
from narxbench._identification.search.stretches import chosen_stretches
from narxbench._identification.search.structures import LikelyProposal, Proposal, Structure
from narxbench._identification.search.ties import CLEARLY_BETTER, Candidate, likeliest_first
from narxbench._identification.search.trial import CRITERION, MOST_ROWS, MOST_VALUES, MOST_WEIGHED, PartErrors, Trial
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError, printable
from narxbench._model.noise_models import NoiseName, name_of
from narxbench._model.records import Recording
from narxbench._model.terms import OUTPUT
from narxbench._numerics.logarithm import natural_log
from narxbench._numerics.memory import give_back
from narxbench._numerics.rounding import significant

# Samples of long records that are searched, for each one that counts.
MOST_SEARCHED = 20_000
# Configurations that are searched thoroughly.
FINALISTS = 6
# Configurations of which variants are searched briefly: with other first lags of the inputs, and of centred signals.
VARIED = 3
# Lags from 0 that no check of the dead time suggests count where the error on unseen parts falls to this share. Effects
# within one sample are rare; under feedback the input follows the output at once, and such terms mislead: with any gain
# accepted, a record of a winding machine (``benchmarks/bars.py``) has 1.3 times the error on its test.
EARLY_GAIN = 0.5
# Configurations whose data are kept for further searches.
KEPT_TRIALS = FINALISTS + 2
# Evaluations that a brief search is planned with, and those of an iterative forward regression at most.
BRIEF, ITERATIVE = 300, 2000
# Terms of a forward regression at most.
LONGEST_PATH = 30
# Shares of the planned time.
_SHARES = {"brief": 0.3, "polished": 0.4, "weighed": 0.12}
# The same where less would leave out noise models, and the least effort that is planned with there.
_LARGER_SHARES, LEAST_EFFORT = {"weighed": 0.15, "likely": 0.3}, 10.0
# Structures of each configuration that descents start from.
POLISHED = 4
# Seconds on the machine that this was measured on, per product of two columns at a row, per evaluation and in it per
# step and per candidate term. They decide how much is planned for a time, on every machine the same.
_PER_PRODUCT, _PER_EVALUATION, _PER_STEP, _PER_CANDIDATE = 4e-11, 2e-5, 3e-9, 2e-7
# The same per fit under a noise model, and per sample of it.
_PER_FIT, _PER_FITTED_SAMPLE = 1e-3, 2e-6
# The same of a search by likelihood, per step of a phase.
_PER_LIKELY_STEP = 4e-4
# Configurations that are searched by likelihood at least.
FEWEST_LIKELY = 3
# What a structure of a brief search was found by.
BRIEFLY = "forward regression"
# The method whose structure is shown next to that of the search.
FORWARD = "iterative_ofr"
# The method that searches by likelihood under each noise model; it draws nothing.
PREDICTION_ERRORS = "pem"
# Its settings: it is one search among others here, and the noise model of a structure is chosen with the weights.
LIKELIHOOD: dict[str, Any] = {"drift": False, "tails": False, "largest_order": 4, "path_length": 20, "starts": [4]}
# Products of a few larger numbers overflow.
LARGEST = 1e50
# Relative errors below this are rounding: such structures are equally good.
ROUNDING = 1e-13
# The free run over whole records may have this times the relative error of that over parts, and this more.
COMPARABLE, NEGLIGIBLE = 2.0, 0.02
# More values of candidate terms are too many for it.
_MOST_VALUES = 2e7


class Scan:
    """All steps of a search on one recording, whose test records are not looked at.

    Long records are searched on the stretches ``searched``, and estimated on all of ``recording``.

    ``configurations`` are what is tried, in the order of the cost, ``named`` the same by name, and ``n_finalists`` of
    them are searched thoroughly; ``left_out`` is how many the time is not planned for.
    """

    def __init__(self, recording: Recording, settings: IdentificationSettings) -> None:
        self.recording, self.settings = recording, settings
        _check_signals(recording)
        if self.horizon is not None:
            check_horizon(recording, self.horizon)
        self.sampling = advised_decimations(recording)
        self.searched = searched = chosen_stretches(recording, MOST_SEARCHED * self.sampling.advised, N_PARTS)
        self._estimate_on(recording)
        self.responses = responses(searched)
        self.evidence = input_evidence(searched)
        samples = self.n_samples = sum(map(len, searched.known))
        decimations = strides(self.sampling.advised, self.sampling.first_minimum, samples)
        most_degree = largest_degree_shown(list(self.evidence.values()))
        self.seasons = seasons(searched)
        tried = configurations(searched, settings, decimations, self._delays(), most_degree, self.seasons)
        tried.sort(key=self.seconds)
        costs = np.cumsum([self.seconds(configuration) for configuration in tried])
        count = max(1, int(np.searchsorted(costs, _SHARES["brief"] * settings.effort, side="right")))
        self.configurations, self.left_out = tried[:count], len(tried) - count
        self.named = {configuration.name: configuration for configuration in self.configurations}
        # All terms up to degree 1 of each combination of decimation and lags: these structures compete unsearched.
        linear = [replace(configuration, degree=1, centred=False) for configuration in self.configurations]
        self.linear = list(dict.fromkeys(linear))
        self.named |= {configuration.name: configuration for configuration in self.linear}
        self._briefly_searched = {configuration.name for configuration in self.configurations}
        self.n_finalists = min(FINALISTS, len(self.configurations))
        by_role = {role: sum(map(len, searched.of_role(role))) for role in ("selection", None)}
        # Parts that take turns in selection, at most: short data have fewer at a large decimation.
        self.n_parts = 0 if by_role["selection"] else N_PARTS
        # Samples of the selection: one number for all configurations, whatever they need for lags.
        self._n_selected = by_role["selection"] or by_role[None] or samples
        # Configurations have different candidates.
        self._judged_by = parse_criterion(CRITERION).across_candidates()
        # Threads that want the same configuration at once may both make it; it is the same.
        trial = partial(Trial, searched, settings=settings, density=self.sampling.advised)
        self.trial = lru_cache(maxsize=KEPT_TRIALS)(trial)

    def _estimate_on(self, recording: Recording) -> None:
        """Estimate the weights of the model that leaves on a recording, which has the records of the test too."""
        self.estimated = recording
        # Several models are estimated on it.
        self.scaling = lru_cache(maxsize=None)(partial(scaling, recording))

    def make_room(self) -> None:
        """Free the memory of the searches of a long record, before all of its samples are needed at once."""
        if self.searched is not self.recording:
            self.trial.cache_clear()
            give_back()

    @cached_property
    def data_digest(self) -> str:
        """The digest of all data, also those of the test."""
        return self.recording.digest

    def hurry(self) -> None:
        """Estimate the weights of the model on the stretches that were searched, as the user does not wait for more."""
        tests = tuple(self.recording.of_role("test"))
        if self.searched is not self.recording:
            self._estimate_on(replace(self.searched, records=(*self.searched.records, *tests)))

    def _delays(self) -> list[int]:
        """Return the samples before each input acts; 1 where no effect is seen."""
        checked = dead_times(self.searched, self.responses)
        delays = []
        for name in self.recording.inputs:
            delay = checked.get(name, {}).get("delay")
            delays.append(1 if delay is None else delay)
        return delays

    def seconds(self, configuration: Configuration) -> float:
        """Return the seconds that a brief search is planned for."""
        steps, size = min(self.n_samples, 20_000), configuration.size
        searched = BRIEF * (_PER_EVALUATION + _PER_STEP * steps + _PER_CANDIDATE * size)
        # The products of the parts are needed once, and are used for all.
        return _PER_PRODUCT * min(self.n_samples, 50_000) * size**2 + searched

    def n_weighed(self, fewest: int) -> int:
        """Return how many structures are weighed under noise models, each also without each part.

        There are at least ``fewest``, if some more time allows it.
        """
        samples = min(self.n_samples, MOST_WEIGHED)
        seconds_each = (1 + self.n_parts) * (_PER_FIT + _PER_FITTED_SAMPLE * samples)
        affordable = int(_LARGER_SHARES["weighed"] * max(LEAST_EFFORT, self.settings.effort) / seconds_each)
        return max(min(fewest, affordable), int(_SHARES["weighed"] * self.settings.effort / seconds_each))

    def n_likely(self, configurations: Sequence[Configuration], most: int) -> int:
        """Return how many of some configurations are searched by likelihood: the first ones, a few in any case."""
        seconds = _LARGER_SHARES["likely"] * max(LEAST_EFFORT, self.settings.effort)
        for count, configuration in enumerate(configurations[:most]):
            steps = self.n_samples // configuration.decimation
            seconds -= _PER_LIKELY_STEP * min(steps, MOST_VALUES // configuration.size)
            if seconds < 0.0:
                return max(min(FEWEST_LIKELY, most), count)
        return most

    def brief(self, configuration: Configuration) -> Structure | None:
        """Return the best structure of a forward regression in a configuration; None where no term varies.

        Where all of them diverge, the terms up to degree 1 are tried alone, and then those without the output.
        """
        problem, density = self.trial(configuration).whole(), self.sampling.advised
        best = None
        for candidates in _groups_of_terms(problem):
            proposals = [Proposal(configuration.name, BRIEFLY, terms) for terms in _path(problem, candidates)]
            best = self._best(proposals, density) or best
            if best is not None and best.fitness is not None:
                break
        return best

    def variants(self, brief: Structure) -> list[Structure]:
        """Return the best structures of variants of a configuration, from the one of its brief search.

        Each input in turn has lags from 1, which are kept for the next input where J is lower, and then from 0, as far
        as these are worth it. Then the signals are centred.
        """
        structures = self._with_first_lags(brief, 1)
        best = _best_of([brief, *structures])
        early = self._with_first_lags(best, 0)
        best_early = _best_of([best, *early])
        if best_early.error <= EARLY_GAIN * best.error:
            structures += early
            best = best_early
        for name in dict.fromkeys([brief.configuration, best.configuration]):
            if self.named[name].degree > 1:
                structures += self._variant(replace(self.named[name], centred=True))
        for structure in structures:
            self._add_linear(self.named[structure.configuration])
        return structures

    def _with_first_lags(self, brief: Structure, first: int) -> list[Structure]:
        """Return the structures of brief searches with other first lags, one input after another."""
        best, structures = brief, list[Structure]()
        for place in inputs_with_open_lags(self.recording, self.settings):
            variant = self._variant(with_first_lag(self.named[best.configuration], place, first))
            structures += variant
            best = _best_of([best, *variant])
        return structures

    def _variant(self, configuration: Configuration) -> list[Structure]:
        """Return the structure of a brief search in a configuration that may be new; none where there is none."""
        if configuration.name in self._briefly_searched:
            return []
        self._briefly_searched.add(configuration.name)
        self.named[configuration.name] = configuration
        structure = self.brief(configuration)
        return [] if structure is None else [structure]

    def _add_linear(self, configuration: Configuration) -> None:
        """Add the linear configuration of a variant to those of the linear competitor."""
        linear = replace(configuration, degree=1, centred=False)
        if linear not in self.linear:
            self.linear.append(linear)
            self.named[linear.name] = linear

    def ranked(self, briefs: Sequence[Structure]) -> list[Configuration]:
        """Return the configurations that are searched thoroughly, by their brief searches, the best first."""
        return self.ordered(briefs)[: self.n_finalists]

    def ordered(self, briefs: Sequence[Structure]) -> list[Configuration]:
        """Return all configurations whose brief search ended with a structure, the best first."""
        # The order of the configurations decides between equal ones.
        return [self.named[structure.configuration] for structure in sorted(briefs, key=lambda brief: brief.rank)]

    def forward(self, configuration: Configuration) -> Proposal:
        """Return the structure of iterative orthogonal forward regression, without terms where that takes too long."""
        problem = self.trial(configuration).whole()
        if len(problem.estimation_rows) * len(problem.terms) > _MOST_VALUES:
            return Proposal(configuration.name, FORWARD, [])
        settings: dict[str, Any] = {"selection": "err", "rows": "estimation"}
        terms = search(problem, algorithm=FORWARD, seed=1, evaluations=ITERATIVE, **settings).terms
        return Proposal(configuration.name, FORWARD, terms)

    def by_prediction_errors(self, configuration: Configuration) -> list[LikelyProposal]:
        """Return the best structure by the likelihood of each noise model; none where no model is finite."""
        problem = self.trial(configuration).for_prediction_errors()
        settings = SearchSettings(noise_models=list(self.settings.noise_models), **LIKELIHOOD)
        likelihood_search = LikelihoodSearch(PredictionErrors(problem), settings)
        likelihood_search.run()
        proposals = []
        for fit in likelihood_search.leaders():
            if len(fit.terms) and likelihood_search.value(fit) < math.inf:
                title = f"{PREDICTION_ERRORS}, {fit.noise_model.title}"
                terms = [problem.terms[term] for term in fit.terms]
                proposal = Proposal(configuration.name, title, terms)
                proposals.append(LikelyProposal(proposal, name_of(fit.noise_model)))
        return proposals

    def compared(self, proposals: Sequence[Proposal], density: int) -> list[Structure]:
        """Return each different structure with its score, the best first; ``density`` samples count as one."""
        by_configuration: dict[str, dict[tuple[str, ...], Proposal]] = {}
        for proposal in proposals:
            if proposal.terms:
                by_terms = by_configuration.setdefault(proposal.configuration, {})
                by_terms.setdefault(tuple(proposal.terms), proposal)
        scored: list[Structure] = []
        for by_terms in by_configuration.values():
            scored += self._scored(list(by_terms.values()), density)
        return in_order(scored)

    def under(self, structure: Structure, families: Sequence[NoiseName], density: int) -> Structure:
        """Return a structure with its score under the noise model of some families that its noise calls for."""
        trial = self.trial(self.named[structure.configuration])
        whole = trial.fit(structure.terms, families)
        errors = trial.part_errors_under_noise(structure.terms, whole, trial.steps)
        return self._structure(structure.proposal, errors, 0, density, NoiseOrders.of(whole.noise_model))

    def likeliest_first(self, structures: Sequence[Structure], density: int) -> tuple[list[Structure], int]:
        """Return structures with those that tie with the first by their likelihood, and how many these are."""
        candidates, infinite = list[Candidate](), list[Structure]()
        for structure in structures:
            if structure.fitness is None:
                infinite.append(structure)
            else:
                candidates.append(Candidate(structure, self.named[structure.configuration]))
        ordered, n_tied = likeliest_first(self.searched, candidates, self._n_selected / density, density)
        return [*ordered, *infinite], n_tied

    def holds(self, structure: Structure) -> bool:
        """Return whether free runs over whole records, which show what grows slowly, are about as good as of parts."""
        trial = self.trial(self.named[structure.configuration])
        if trial.error == "one_step":
            return True
        allowed = COMPARABLE * (structure.rrse or 0.0) + NEGLIGIBLE
        if structure.kind == "unpruned":
            return trial.whole_ridge_error(structure.shrinkage) <= allowed
        return trial.whole_error(structure.terms, structure.noise_model) <= allowed

    def leaves_all_bounds(self, structure: Structure) -> bool:
        """Return whether the model of a structure leaves all bounds where inputs are held inside their ranges."""
        trial = self.trial(self.named[structure.configuration])
        if structure.kind == "unpruned":
            return trial.ridge_leaves_all_bounds(structure.shrinkage)
        return trial.leaves_all_bounds(structure.terms, structure.noise_model)

    @property
    def horizon(self) -> int | None:
        """The samples ahead that matter to the user; None where they did not say."""
        return self.settings.horizon if isinstance(self.settings.horizon, int) else None

    @property
    def seasons_of_output(self) -> tuple[int, ...]:
        """The seasons of the output, whose naive forecasts compete; with inputs only at a horizon of the user's."""
        if self.recording.inputs and self.horizon is not None:
            return seasons_beside_inputs(self.searched)
        return self.seasons

    def steps_judged(self, configuration: str) -> int:
        """Return the steps ahead that the models of a configuration are judged at besides one."""
        decimation = self.named[configuration].decimation
        if self.horizon is not None:
            return math.ceil(self.horizon / decimation)
        return steps_judged(self.recording, decimation, self.seasons)

    def with_error_ahead(self, structure: Structure, steps: int) -> Structure:
        """Return the structure of a series with its selection error so many steps ahead."""
        trial = self.trial(self.named[structure.configuration])
        if structure.kind == "unpruned":
            errors = trial.part_errors_of_ridge(structure.shrinkage, steps)
        elif structure.kind == "last value":
            errors = trial.part_errors_of_last_value(structure.terms[0], steps)
        else:
            whole = trial.fit_under(structure.terms, structure.noise_model)
            errors = trial.part_errors_under_noise(structure.terms, whole, steps)
        relative, _ = self._error(errors, 0)
        ahead = significant(math.sqrt(relative)) if np.isfinite(relative) else None
        return structure.model_copy(update={"ahead": ahead})

    def unpruned(self, configuration: str, shrinkage: float) -> Structure:
        """Return the structure of all candidates of a configuration with its score by ridge regression."""
        trial = self.trial(self.named[configuration])
        proposal = Proposal(configuration, "ridge regression", trial.terms)
        errors = trial.part_errors_of_ridge(shrinkage, trial.steps)
        return self._competitor(proposal, errors, kind="unpruned", shrinkage=shrinkage)

    def last_value(self, configuration: str, term: str) -> Structure:
        """Return the structure y(k) = y(k-i), its term having this name, with its score in a configuration."""
        trial = self.trial(self.named[configuration])
        errors = trial.part_errors_of_last_value(term, trial.steps)
        proposal = Proposal(configuration, "last value", [term])
        return self._competitor(proposal, errors, kind="last value")

    def _competitor(self, proposal: Proposal, errors: PartErrors, **about: Any) -> Structure:
        """Return a structure with its selection error; it has no J, for none is what it is chosen by."""
        relative, divergent = self._error(errors, 0)
        return Structure(
            **{**proposal._asdict(), "terms": list(proposal.terms)},
            fitness=None,
            rrse=significant(math.sqrt(relative)) if np.isfinite(relative) else None,
            divergent=divergent,
            singular=False,
            candidates=len(self.trial(self.named[proposal.configuration]).terms),
            parts=errors.relative(0),
            **about,
        )

    def polished(self, start: Structure, density: int) -> Structure:
        """Return where a descent ends that adds, drops and swaps terms by the score on unseen parts.

        Regressions minimise the error of the data that also give the weights; a few steps lead to the minimum of the
        score.
        """
        candidates, best = self.trial(self.named[start.configuration]).terms, start
        scored = {tuple(start.terms)}
        seconds_each = _PER_EVALUATION * max(1, self.n_parts) + _PER_STEP * min(self.n_samples, MOST_ROWS)
        budget = _SHARES["polished"] * self.settings.effort / (POLISHED * self.n_finalists) / seconds_each
        while True:
            differing = _neighbours(candidates, best.terms, budget / 3)
            neighbours = [terms for terms in differing if terms not in scored]
            scored.update(neighbours)
            budget -= len(neighbours)
            if budget < 0 or not neighbours:
                return best
            proposals = [start.proposal._replace(terms=terms) for terms in neighbours]
            following = self._best(proposals, density)
            if following is None or following.rank >= best.rank:
                return best
            best = following

    def _scored(self, proposals: Sequence[Proposal], density: int) -> list[Structure]:
        """Return structures of one configuration with their scores on the parts that the weights do not know."""
        errors = self._part_errors(proposals)
        return [self._structure(proposal, errors, i, density, PLAIN) for i, proposal in enumerate(proposals)]

    def _best(self, proposals: Sequence[Proposal], density: int) -> Structure | None:
        """Return the first structure of lowest J of one configuration with its score; None where none has terms."""
        proposals = [proposal for proposal in proposals if proposal.terms]
        if not proposals:
            return None
        errors = self._part_errors(proposals)
        n_candidates, ranks = len(self.trial(self.named[proposals[0].configuration]).terms), list[float]()
        for i, proposal in enumerate(proposals):
            fitness = self._judged(proposal, errors, i, n_candidates, PLAIN, density)[1]
            ranks.append(math.inf if fitness is None else fitness)
        best = ranks.index(min(ranks))
        return self._structure(proposals[best], errors, best, density, PLAIN)

    def _part_errors(self, proposals: Sequence[Proposal]) -> PartErrors:
        """Return the errors of structures of one configuration, there being some."""
        trial = self.trial(self.named[proposals[0].configuration])
        return trial.part_errors([proposal.terms for proposal in proposals])

    def _structure(self, proposal: Proposal, errors: PartErrors, i: int, density: int, noise: NoiseOrders) -> Structure:
        """Return a structure with its score, by row i of the errors."""
        n_candidates = len(self.trial(self.named[proposal.configuration]).terms)
        rrse, fitness, divergent = self._judged(proposal, errors, i, n_candidates, noise, density)
        # Of many structures that a search looks at, all are known to be valid.
        return Structure.model_construct(
            **{**proposal._asdict(), "terms": list(proposal.terms)},
            fitness=fitness,
            rrse=rrse,
            divergent=divergent,
            singular=bool(errors.singular[i]),
            candidates=n_candidates,
            noise=noise,
            parts=errors.relative(i),
        )

    def _judged(
        self, proposal: Proposal, errors: PartErrors, i: int, n_candidates: int, noise: NoiseOrders, density: int
    ) -> tuple[float | None, float | None, float]:
        """Return the error and J of a structure, None if one is infinite, and the share of parts that diverge."""
        relative, divergent = self._error(errors, i)
        if not math.isfinite(relative):
            return None, None, divergent
        rrse = math.sqrt(relative)
        return rrse, self._fitness(proposal, rrse, n_candidates, noise, density), divergent

    def with_fitness(self, structure: Structure, density: int) -> Structure:
        """Return a structure with its J where so many samples count as one."""
        if structure.rrse is None:
            return structure.model_copy(update={"fitness": None})
        fitness = self._fitness(structure.proposal, structure.rrse, structure.candidates, structure.noise, density)
        return structure.model_copy(update={"fitness": fitness})

    def _fitness(self, proposal: Proposal, rrse: float, n_candidates: int, noise: NoiseOrders, density: int) -> float:
        """Return J of a structure of this error where so many samples count as one."""
        independent, size = max(2.0, self._n_selected / density), len(proposal.terms)
        fitness = independent * natural_log(max(rrse, ROUNDING) ** 2)
        judged_by = self._judged_by
        fitness += judged_by.per_term(independent) * size
        fitness += judged_by.surcharge(size, independent, n_candidates)
        centred = self.named[proposal.configuration].centred
        fitness += CLEARLY_BETTER * centred
        fitness += CLEARLY_BETTER * (noise.name != "narx" and self.settings.noise == "auto")
        return float(fitness)

    def _error(self, errors: PartErrors, i: int) -> tuple[float, float]:
        """Return the squared error relative to the output's variance, and the share of parts that diverge."""
        finite, n_parts = errors.finite(i), len(errors.energy)
        divergent = 0.0 if errors.singular[i] else (n_parts - len(finite)) / n_parts
        energy = errors.total_energy
        if errors.singular[i] or divergent or not energy > 0.0:
            return np.inf, divergent
        return math.fsum(finite) / energy, divergent


def in_order(structures: Iterable[Structure]) -> list[Structure]:
    """Return structures by their J, the best first; the order of equal ones depends on nothing else than them."""
    return sorted(structures, key=lambda s: (s.rank, len(s.terms), s.configuration, s.terms, repr(s.noise)))


def _check_signals(recording: Recording) -> None:
    sizes: dict[str, float] = {}
    for record in recording.records:
        for name, signal in zip((recording.output, *recording.inputs), (record.y, *record.u.T), strict=True):
            size = float(np.abs(signal).max()) if len(signal) else 0.0
            sizes[name] = max(sizes.get(name, 0.0), size)
            if not size <= LARGEST:
                largest = f"found {size:.3g} in {record.name}"
                raise NarxbenchError(f"{name}: {largest}; allowed: up to {LARGEST:g} in size, so scale the signal")
    for name, size in sizes.items():
        if 0.0 < size < SMALLEST:
            largest = f"found no value larger than {size:.3g}"
            raise NarxbenchError(f"{name}: {largest}; allowed: {SMALLEST:g} or more in size, so scale the signal")
    outputs = np.concatenate([record.y for record in recording.known])
    if np.ptp(outputs) == 0.0:
        names = printable(", ".join(record.name for record in recording.known))
        constant = f"found {outputs[0]:g} in all {len(outputs)} samples of {names}"
        raise NarxbenchError(f"{recording.output}: {constant}; allowed: an output that varies")


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


def _path(problem: StructureProblem, candidates: Sequence[int]) -> list[list[str]]:
    """Return the nested structures of a forward regression among some candidates, the smallest first."""
    gram, moments = problem.data.gram[np.ix_(candidates, candidates)], problem.data.moments[candidates]
    # To compiled code, read-only arrays are another type.
    gram.flags.writeable = moments.flags.writeable = False
    steps = min(LONGEST_PATH, len(moments), max(1, len(problem.estimation_rows) // 2))
    order, explained = np.empty(steps, np.int64), np.empty(steps)
    entered = forward(gram, moments, -1, order, explained)
    structures = []
    for count in range(1, entered + 1):
        structures.append([problem.terms[candidates[i]] for i in sorted(order[:count].tolist())])
    return structures


def _best_of(structures: Sequence[Structure]) -> Structure:
    """Return the structure of the lowest J, the first of several."""
    return min(structures, key=lambda structure: structure.rank)
