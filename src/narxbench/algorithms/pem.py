"""Prediction error method: the terms and the place of the noise, chosen together by likelihood and extended BIC.

Where the error enters decides which structure explains the data best. Least squares of the prediction one step ahead
(NARX) is biased by noise on the output, and further terms make up for the bias. So structures are fitted as NARX, as
NARMAX with a linear moving average, and as NOE (:mod:`narxbench.fitness.prediction_error`), and the lowest

    N ln(SSE / N) + xi (ln(N) + 2 gamma ln(N_t)) + order ln(N)

is chosen, SSE being the sum of squared innovations, xi the number of terms, N_t that of the candidates, and order that
of the moving average. The second part is the extended BIC: among many candidates some fit by chance. Its gamma was
chosen, as was the search, on the shipped systems with the data seeds 31 and 41 to 46 and on systems that are not
shipped; ``benchmarks/recovery.md`` reports on other seeds.

Sources: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapter 7 (prediction errors); S. A.
Billings, Nonlinear System Identification, 2013, chapters 3 and 4 (NARMAX, forward regression); J. Chen and Z. Chen,
Biometrika 95, 2008, pages 759-771, and R. Foygel and M. Drton, NIPS 23, 2010 (extended BIC). The search is our own.

The search. At a model the sensitivities of all candidates make the choice of terms one of linear regression, where
terms are added, dropped and swapped without a fit, as in :mod:`narxbench.algorithms.multistart`. The structure where
that ends is fitted and is the next model, until the criterion falls no more. That is done from several lengths of a
forward regression and from the best structures of the noise models before. Close to the best model changes of one
term and swaps that promise most are fitted as well.

It uses all samples; none are held out for J. Its model has its own weights; ``fitness`` is J of the structure with
least-squares weights, as for every algorithm. A model whose own free run does not stay bounded over all samples, or
whose J is infinite, is passed over for the next one.

``SearchResult.details`` holds: ``noise_model`` and ``noise_weights``, c_1, c_2, ... of the moving average; ``samples``,
N; ``log_likelihood`` and ``criterion``; ``standard_errors`` and ``robust_standard_errors`` of the coefficients;
``noise_models``, for each the best structure with its likelihood and criterion; and ``passed_over``, the models of
lower criterion that were not chosen, with the reason.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench.algorithms.forward_regression import forward, nested
from narxbench.algorithms.multistart import predicted
from narxbench.fitness.criteria import LinearExtendedBIC
from narxbench.fitness.prediction_error import NOISE_MODELS, Fit, Linearised, NoiseModel, PredictionErrors
from narxbench.io.settings import Settings as BaseSettings
from narxbench.model.terms import OUTPUT
from narxbench.numerics.logarithm import natural_log

ABOUT = About(
    reference="Own; Ljung, System Identification: Theory for the User, 1999; Chen and Chen, Biometrika 95, 2008",
    deterministic=True,
    stops_early=True,
    minimises=False,
    # Where the search begins changes nothing in small problems.
    options={"noise_models": [["narx"], ["narmax"]], "order": [1], "gamma": [0.0]},
)

Structure = NDArray[np.uint8]
Floats = NDArray[np.float64]

# What lowers the criterion by less is no better: rounding differs between ways to the same model.
LEAST_GAIN = 1e-6
# Changes from one model, and models on the way from one start, at most.
CHANGES, MODELS = 60, 25
# Close to the best model so many single changes and swaps are fitted that are predicted to cost least, if that is below
# so many penalties of a term.
FLIPS, SWAPS, WINDOW = 4, 6, 1.0
# Terms of the best model that are left out in turn, to search on from there.
DROPS = 4
# Nothing is tried close to the best model of a kind whose criterion is above the lowest by so many penalties.
HOPELESS = 5.0
# Models that are named as passed over.
MOST_PASSED_OVER = 20


class Settings(BaseSettings):
    """Settings of the prediction error method."""

    noise_models: list[NoiseModel] = Field(
        default=list(NOISE_MODELS), min_length=1, description="where the error may enter: narx, narmax, noe"
    )
    order: int = Field(default=2, ge=1, le=10, description="order of the moving average of NARMAX")
    gamma: float = Field(default=1.25, ge=0, le=10, description="what each term costs beyond BIC, in 2 ln(N_t)")
    path_length: int = Field(default=30, ge=1, le=1000, description="terms that enter the forward regression at most")
    starts: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        default=[4, 8], max_length=20, description="lengths of it to begin at, besides its whole and its half"
    )


def criterion_of(errors: PredictionErrors, fit: Fit, penalties: Floats) -> float:
    """Return the criterion of a fit: its deviance, and what its terms and its moving average cost."""
    noise = float(natural_log(float(errors.samples))) * len(fit.moving)
    return errors.deviance(fit) + float(penalties[len(fit.terms)]) + noise


def penalties_of(errors: PredictionErrors, gamma: float) -> Floats:
    """Return what 0 to N_t terms cost, shape (N_t + 1,); more than half of the samples fit anything, and cost +inf."""
    penalties = LinearExtendedBIC(gamma).penalties(errors.samples, errors.n_terms)
    penalties[max(1, errors.samples // 2) + 1 :] = math.inf
    return penalties


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion:
    """Return the criterion of a structure: that of its best noise model."""
    errors = PredictionErrors(problem)
    penalties = penalties_of(errors, settings.gamma)

    def of(position: Structure) -> float:
        terms = np.flatnonzero(position).tolist()
        fits = [errors.fit(noise_model, terms, order=settings.order) for noise_model in settings.noise_models]
        return min(criterion_of(errors, fit, penalties) for fit in fits)

    return of


class _Search:
    """All models that were fitted, and how to go on from there."""

    def __init__(self, errors: PredictionErrors, settings: Settings) -> None:
        self.errors, self.settings, self.n_terms = errors, settings, errors.n_terms
        self.penalties = penalties_of(errors, settings.gamma)
        self.fits: dict[tuple[NoiseModel, bytes], Fit] = {}
        self.values: dict[tuple[NoiseModel, bytes], float] = {}
        self.gone: set[tuple[NoiseModel, bytes, bool, int | None]] = set()

    def fit(self, noise_model: NoiseModel, position: Structure, near: tuple[Linearised, Fit] | None = None) -> float:
        """Fit a structure, from where the linearised problem of a model has its weights; return the criterion."""
        key, terms = (noise_model, position.tobytes()), np.flatnonzero(position)
        if key not in self.values:
            order, fit = self.settings.order, None
            if near:
                weights, moving = near[0].weights(terms), near[1].moving if noise_model == "narmax" else None
                begin = {"weights": weights, "moving": moving, "initial": near[1].initial}
                fit = self.errors.fit(noise_model, terms.tolist(), order=order, **begin)
            if fit is None or not fit.sse < math.inf:
                fit = self.errors.fit(noise_model, terms.tolist(), order=order)
            self.fits[key], self.values[key] = fit, criterion_of(self.errors, fit, self.penalties)
        return self.values[key]

    def costs(self, linear: Linearised, position: Structure) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return what each change is predicted to change the criterion by.

        These are the terms of the structure, shape (xi,); the changes when a term is added or dropped, shape (N_t,);
        and when one of the terms is exchanged for another, row by row, shape (xi * N_t,).
        """
        n, size = self.n_terms, int(position.sum())
        extended = np.ones(len(linear.moments), np.uint8)
        extended[:n] = position
        samples = float(self.errors.samples)
        members, flips, swaps = predicted(linear.gram, linear.moments, linear.energy, samples, 0.0, extended)
        more = self.penalties[size + 1] - self.penalties[size] if size < n else math.inf
        less = self.penalties[size - 1] - self.penalties[size] if size > 1 else math.inf
        return members[:size], flips[:n] + np.where(position, less, more), swaps[:size, :n].ravel()

    def local_optimum(self, linear: Linearised, position: Structure, left_out: int | None = None) -> Structure:
        """Return where the changes of lowest cost lead to in the linearised problem, if need be without a term."""
        position = position.copy()
        for _ in range(CHANGES):
            linear.enter(np.flatnonzero(position).tolist())
            members, flips, swaps = self.costs(linear, position)
            if left_out is not None:
                flips[left_out] = math.inf
                swaps[left_out :: self.n_terms] = math.inf
            single, double = int(flips.argmin()), int(swaps.argmin()) if len(swaps) else -1
            cost = swaps[double] if double >= 0 else math.inf
            if not min(flips[single], cost) < -LEAST_GAIN:
                break
            swapped = [int(members[double // self.n_terms]), double % self.n_terms]
            position[swapped if cost < flips[single] else single] ^= 1
        return position

    def promising(self, linear: Linearised, position: Structure) -> list[list[int]]:
        """Return the changes of one term and the swaps of lowest cost, as terms to change, in this order."""
        members, flips, swaps = self.costs(linear, position)
        # Among many candidates there are very many swaps.
        limit = np.partition(swaps, SWAPS)[SWAPS] if len(swaps) > SWAPS else math.inf
        low = np.flatnonzero((swaps <= limit) & np.isfinite(swaps))
        double = low[np.argsort(swaps[low], kind="stable")][:SWAPS].tolist()
        single = np.argsort(flips, kind="stable")[:FLIPS].tolist()
        changes = [(float(flips[term]), [term]) for term in single]
        changes += [(float(swaps[at]), [int(members[at // self.n_terms]), at % self.n_terms]) for at in double]
        limit = WINDOW * float(self.penalties[1])
        return [change for cost, change in sorted(changes, key=lambda c: c[0]) if cost < limit]

    def descend(
        self, noise_model: NoiseModel, position: Structure, *, closely: bool = False, left_out: int | None = None
    ) -> None:
        """Go from model to model while the criterion falls.

        ``closely``: also by changes that are only promising. ``left_out``: a term that the first step may not take.
        """
        value = self.fit(noise_model, position)
        for _ in range(MODELS):
            fit = self.fits[noise_model, position.tobytes()]
            way = noise_model, position.tobytes(), closely, left_out
            if way in self.gone or not value < math.inf:
                return
            self.gone.add(way)
            linear = self.errors.linearised(fit)
            if not linear.finite:
                return
            for other in self._neighbours(linear, position, closely and noise_model != "narx", left_out):
                if (noise_model, other.tobytes()) in self.values:
                    continue
                linear.enter(np.flatnonzero(other).tolist())
                found = self.fit(noise_model, other, (linear, fit))
                if found < value - LEAST_GAIN:
                    position, value, left_out = other, found, None
                    break
            else:
                return

    def _neighbours(
        self, linear: Linearised, position: Structure, closely: bool, left_out: int | None
    ) -> Iterator[Structure]:
        yield self.local_optimum(linear, position, left_out)
        if closely:
            for change in self.promising(linear, position):
                other = position.copy()
                other[change] ^= 1
                yield other

    def path(self, among: NDArray[np.int64]) -> tuple[Linearised, NDArray[np.uint8]]:
        """Return the linearised problem of no terms, and the structures along a forward regression among candidates."""
        nothing = self.errors.linearised(self.errors.fit("narx", []))
        nothing.enter(range(self.n_terms))
        longest = min(self.settings.path_length, len(among), max(1, self.errors.samples // 2))
        order, explained = np.empty(longest, np.int64), np.empty(longest)
        gram, moments = np.ascontiguousarray(nothing.gram[np.ix_(among, among)]), nothing.moments[among]
        gram.flags.writeable = moments.flags.writeable = False
        entered = forward(gram, moments, -1, order, explained)
        return nothing, nested(among[order[:entered]] if entered else among[:1], self.n_terms)

    def starts(self) -> tuple[list[Structure], list[Structure]]:
        """Return structures to begin at: ends of forward regression as NARX improves them, and as they are."""
        nothing, structures = self.path(np.arange(self.n_terms))
        given = [length for length in self.settings.starts if length <= len(structures)]
        lengths = dict.fromkeys([len(structures), max(1, len(structures) // 2), *given])
        improved = [self.local_optimum(nothing, structures[length - 1]) for length in lengths]
        return improved, [structures[length - 1] for length in given]

    def run(self) -> None:
        """Fit structures under each noise model."""
        improved, plain = self.starts()
        for noise_model in self.settings.noise_models:
            for start in improved + (plain if noise_model != "narx" else []):
                self.descend(noise_model, start)
            improved.append(self.position(self.best(noise_model)))
        enough = self.value(self.ranked()[0]) + HOPELESS * self.penalties[1]
        for noise_model in self.settings.noise_models:
            if self.value(best := self.best(noise_model)) < enough:
                self.descend(noise_model, self.position(best), closely=True)
        best = self.ranked()[0]
        while True:
            # What is best under one noise model is tried under the others, and so is what is left without a term.
            for noise_model in self.settings.noise_models:
                self.descend(noise_model, self.position(best))
            for term in self.cheapest(best):
                without = self.position(best)
                without[term] = 0
                self.descend(best.noise_model, without, left_out=term)
            if best is (best := self.ranked()[0]):
                return

    def cheapest(self, fit: Fit) -> list[int]:
        """Return the terms of a structure of several that cost least to drop."""
        linear = self.errors.linearised(fit)
        if len(fit.terms) < 2 or not linear.finite:
            return []
        flips = self.costs(linear, self.position(fit))[1][fit.terms]
        dropped: list[int] = fit.terms[np.argsort(flips, kind="stable")[:DROPS]].tolist()
        return dropped

    def run_safely(self, of_inputs: NDArray[np.int64]) -> None:
        """Fit structures that are likely to have a bounded free run: short ones, and ones without past outputs."""
        everything = np.arange(self.n_terms)
        for among in filter(len, (everything, of_inputs)):
            for structure in self.path(among)[1]:
                for noise_model in self.settings.noise_models:
                    self.fit(noise_model, structure)

    def position(self, fit: Fit) -> Structure:
        """Return the structure of a fit as a row of 0 and 1."""
        position = np.zeros(self.n_terms, np.uint8)
        position[fit.terms] = 1
        return position

    def value(self, fit: Fit) -> float:
        """Return the criterion of a fit."""
        return self.values[fit.noise_model, self.position(fit).tobytes()]

    def ranked(self) -> list[Fit]:
        """Return all fits by their criterion; of equal ones the simpler noise model comes first."""
        by_value = sorted(self.fits.values(), key=self.value)
        first = self.value(by_value[0])
        tied = [fit for fit in by_value if self.value(fit) <= first + LEAST_GAIN or fit is by_value[0]]
        tied.sort(key=lambda fit: NOISE_MODELS.index(fit.noise_model))
        return tied + by_value[len(tied) :]

    def best(self, noise_model: NoiseModel) -> Fit:
        """Return the best fit under a noise model."""
        return min((fit for fit in self.fits.values() if fit.noise_model == noise_model), key=self.value)


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search, then choose the best model whose free run is bounded."""
    errors = PredictionErrors(problem)
    search = _Search(errors, settings)
    search.run()
    passed_over: dict[int, dict[str, Any]] = {}
    found = _first_bounded(problem, objective, search, passed_over)
    if found is None:
        without = [i for i, m in enumerate(problem.monomials) if all(signal != OUTPUT for signal, _ in m)]
        search.run_safely(np.array(without, np.int64))
        found = _first_bounded(problem, objective, search, passed_over)
    if found is None:
        return Found(np.zeros(objective.n_terms, np.uint8))
    uncertainty, n = errors.uncertainty(found), len(found.terms)
    best = {name: search.best(name) for name in settings.noise_models}
    own = {name: value for name, value in _described(problem, search, found).items() if name != "terms"}
    details = {
        "noise_model": found.noise_model,
        **own,
        "samples": errors.samples,
        "standard_errors": uncertainty.classical[:n].tolist(),
        "robust_standard_errors": uncertainty.robust[:n].tolist(),
        "noise_models": {
            name: _described(problem, search, fit) for name, fit in best.items() if search.value(fit) < math.inf
        },
        "passed_over": list(passed_over.values())[:MOST_PASSED_OVER],
    }
    return Found(search.position(found), errors.coefficients(found), details)


def _first_bounded(
    problem: ProblemView, objective: Objective, search: _Search, passed_over: dict[int, dict[str, Any]]
) -> Fit | None:
    """Return the best fit with a bounded free run and a finite J, and note those before it."""
    for fit in search.ranked():
        if id(fit) in passed_over:
            continue
        if not search.value(fit) < math.inf or not objective.remaining:
            return None
        reason = "" if search.errors.bounded(fit) else "its free run diverges"
        if not reason and not objective.evaluate(search.position(fit)[None])[0] < math.inf:
            reason = "its J is infinite"
        if not reason:
            return fit
        passed_over[id(fit)] = {
            **{"noise_model": fit.noise_model, "reason": reason},
            **_described(problem, search, fit),
        }
    return None


def _described(problem: ProblemView, search: _Search, fit: Fit) -> dict[str, Any]:
    return {
        "terms": [problem.terms[term] for term in fit.terms],
        "noise_weights": fit.moving.tolist(),
        "log_likelihood": search.errors.log_likelihood(fit),
        "criterion": search.value(fit),
    }
