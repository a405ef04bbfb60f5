"""The judge: errors on fresh data, the oracle that knows terms and noise, and why true terms were not chosen."""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter

import numpy as np

import narxbench
from benchmarks.recovery.plants import Floats, respond
from benchmarks.recovery.situations import DataSet, TrueNoise, own_orders
from narxbench._algorithms.likelihood_search import criterion_of, term_penalties
from narxbench._algorithms.pem import Settings
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._model.terms import Monomial

# A free run has diverged beyond this multiple of the largest output.
BOUND = 10.0
# Samples in which a model has gone to its own level.
SETTLING = 200
# What differs by less is rounding.
ROUNDING = 1e-6
VALIDATION_SHARE = 0.3
# Why a true structure was not chosen.
REASONS = WEAK_TERM, CRITERION, SEARCH = ("weak term", "criterion", "search")


def largest_lag(monomials: Iterable[Monomial]) -> int:
    """Return the largest lag of some terms; 0 where they have none."""
    largest = 0
    for _, lag in chain(*monomials):
        largest = max(largest, lag)
    return largest


def make_problem(data: DataSet, criterion: str, candidates: list[Monomial] | None = None) -> narxbench.StructureProblem:
    """Return the problem of a data set; the last samples validate."""
    if candidates is None:
        candidates = data.candidates
    samples = len(data.record.output)
    first = largest_lag(candidates)
    start = samples - int(samples * VALIDATION_SHARE)
    return narxbench.StructureProblem.of_records(
        data.record.inputs,
        data.record.output,
        candidates,
        rows=np.arange(first, start),
        segments=[range(start, samples)],
        criterion=criterion,
    )


def fresh_error(data: DataSet, monomials: Sequence[Monomial], weights: Sequence[float] | Floats) -> float:
    """Return the RRSE of the free run on a new input without noise; infinite where it diverges.

    Where the noise hides the level of the output, neither the mean of the difference counts nor the time in which a
    model goes to its own level.
    """
    inputs, output = data.fresh
    first = largest_lag([*monomials, *data.plant.monomials])
    predicted = respond(list(monomials), weights, inputs, output[:first])
    difference = predicted[first:] - output[first:]
    if not np.abs(predicted).max() < BOUND * np.abs(output).max():
        return math.inf
    if data.is_level_hidden:
        settled = difference[SETTLING:]
        difference = settled - settled.mean()
    return float(np.sqrt(np.mean(difference**2)) / output[first:].std())


class Truth:
    """The true terms of a data set, fitted under the noise models that may represent the true noise."""

    def __init__(self, data: DataSet) -> None:
        self._data = data
        candidates = data.candidates
        if not data.is_inside:
            candidates = data.plant.candidates(*own_orders(data.plant))
        self._candidates = candidates
        self._errors = PredictionErrors(make_problem(data, "bic", candidates))
        self._penalties = term_penalties(self._errors, Settings().gamma)
        self._terms = sorted(map(candidates.index, data.plant.monomials))
        self.best, self.criterion, self.noise = self._best()

    def _best(self) -> tuple[Fit, float, TrueNoise]:
        fits = []
        for noise in self._data.true_noise:
            fit = self._fit(noise, self._terms)
            fits.append((fit, criterion_of(self._errors, fit, self._penalties), noise))
        return min(fits, key=itemgetter(1))

    def _fit(self, noise: TrueNoise, terms: list[int]) -> Fit:
        return self._errors.fit(noise.model, terms, noise_weights=noise.weights)

    def oracle_error(self) -> float:
        """Return the error on fresh data of the true terms under the true noise model."""
        monomials = [self._candidates[term] for term in self.best.terms]
        return fresh_error(self._data, monomials, self._errors.coefficients(self.best))

    def reason(self, criterion: float) -> str:
        """Return why a structure of this criterion was chosen in place of the true one."""
        if self.criterion < criterion - ROUNDING:
            return SEARCH
        for term in self._terms:
            fit = self._fit(self.noise, [kept for kept in self._terms if kept != term])
            if criterion_of(self._errors, fit, self._penalties) < self.criterion:
                return WEAK_TERM
        return CRITERION
