"""The search for terms and noise model by likelihood: all models that were fitted, and how to go on from them.

At a model the sensitivities of all candidates make the choice of terms one of linear regression, where terms are added,
dropped and swapped without a fit, by :mod:`narxbench._algorithms.term_changes`. The structure where that ends is fitted
and is the next model. The noise of a model shows which filter to fit next. Both are repeated until the
criterion falls no more.

The module is long because all steps of the search read and extend the same fits.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.common_factor import common_factor, without_factor
from narxbench._algorithms.forward_regression import nested
from narxbench._algorithms.term_changes import predicted
from narxbench._fitness.criteria.ebicl import CRITERION as LINEAR_EBIC
from narxbench._fitness.prediction_error import COLOUR, COMPARED, FilterChoice, Fit, Linearised, PredictionErrors
from narxbench._fitness.structure_fit import LARGEST_ORDER, LEAST_GAIN, NoiseFilters, adapt_filter, noise_price
from narxbench._io.settings import Settings
from narxbench._model.noise_models import (
    GAUSSIAN,
    NOISE_MODELS,
    NOISE_NAMES,
    Ararx,
    Distribution,
    Lags,
    Narmax,
    Narx,
    NoiseModel,
    NoiseName,
    Place,
    noise_family,
)
from narxbench._numerics.logarithm import natural_log

Structure = NDArray[np.uint8]
Floats = NDArray[np.float64]

# All limits were chosen on the development data that ``benchmarks/recovery.md`` names.
# Changes from one model at most: on the shipped systems up to 35 are predicted to help one after the other. Predictions
# for candidates that nearly depend on one another go in circles. Ending at the first repeated structure was worse for
# all binary inputs on which it made a difference.
CHANGES = 60
# Close to the best model this many single changes and swaps are fitted: those predicted to cost least, and less than a
# term does. The search goes on from there without each of this many terms.
FLIPS, SWAPS = 4, 6
# The best model of a kind is skipped if its criterion is above the lowest by this many penalties.
HOPELESS = 5.0
# A polynomial in q^-1 has a slow factor if it is below this at q = 1.
SLOW = 0.2
# Moving averages of noise that drifts have at most this order.
DRIFT_ORDER = 2


class SearchSettings(Settings):
    """Settings of the search."""

    noise_models: list[NoiseName] = Field(
        default=list(NOISE_NAMES), min_length=1, description=f"which noise may be: {', '.join(NOISE_NAMES)}"
    )
    largest_order: int = Field(
        default=LARGEST_ORDER,
        ge=1,
        le=50,
        description="largest order of an autoregression or a moving average of the noise",
    )
    tails: bool = Field(default=True, description="whether innovations may be Student-t, with outliers")
    drift: bool = Field(default=True, description="whether the noise may be integrated, a random walk among others")
    gamma: float = Field(default=1.25, ge=0, le=10, description="what each term costs beyond BIC, in 2 ln(N_t)")
    path_length: int = Field(default=30, ge=1, le=1000, description="terms that enter the forward regression at most")
    starts: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        default=[4, 8], max_length=20, description="lengths of it to begin at, besides its whole and its half"
    )


def independent_samples(errors: PredictionErrors, repeated: float) -> float:
    """Return how many samples are independent evidence, if this many count as one."""
    return max(2.0, errors.samples / repeated)


def term_penalties(errors: PredictionErrors, gamma: float, repeated: float = 1.0) -> Floats:
    """Return what 0 to N_t terms cost, shape (N_t + 1,), and +inf for more than half as many as samples."""
    samples = independent_samples(errors, repeated)
    penalties = LINEAR_EBIC.with_number(gamma).penalties(samples, errors.n_terms)
    penalties[max(1, int(samples) // 2) + 1 :] = math.inf
    return penalties


def criterion_of(errors: PredictionErrors, fit: Fit, penalties: Floats, repeated: float = 1.0) -> float:
    """Return the criterion of a fit: its deviance, and what its terms and its noise model cost."""
    price = float(natural_log(independent_samples(errors, repeated)))
    noise = price * fit.noise_model.n_parameters
    return errors.deviance(fit) / repeated + float(penalties[len(fit.terms)]) + noise


def _first_filters(is_integrated: bool) -> tuple[Floats, Floats]:
    """Return the coefficients of a filter that represents the noise before any model is known."""
    coefficient, nothing = np.array([COLOUR]), np.zeros(0)
    return (nothing, coefficient) if is_integrated else (coefficient, nothing)


class LikelihoodSearch:
    """All models that were fitted, by noise model and structure, and how to go on from there.

    Parameters
    ----------
    errors : PredictionErrors
        The data and the candidate terms.
    settings : SearchSettings
        The settings.
    repeated : float
        How many samples count as one: neighbouring samples of oversampled data are not independent evidence.

    Attributes
    ----------
    fits : dict
        Each fit by its noise model and the bytes of its structure.
    criteria : dict
        The criterion of each.
    independent : float
        The samples that are independent evidence.
    """

    def __init__(self, errors: PredictionErrors, settings: SearchSettings, repeated: float = 1.0) -> None:
        self.repeated, self.independent = repeated, independent_samples(errors, repeated)
        self.errors, self.settings, self.n_terms = errors, settings, errors.n_terms
        self.families = [noise_family(name) for name in settings.noise_models]
        self.penalties = self.term_penalties(settings.gamma)
        self.filters = NoiseFilters(settings.noise_models, settings.largest_order)
        self.fits: dict[tuple[NoiseModel, bytes], Fit] = {}
        self.criteria: dict[tuple[NoiseModel, bytes], float] = {}
        self._descended: set[tuple[NoiseModel, bytes, bool, int | None]] = set()
        self._lowest_at_end = math.inf

    def term_penalties(self, gamma: float) -> Floats:
        """Return what 0 to N_t terms cost, shape (N_t + 1,)."""
        return term_penalties(self.errors, gamma, self.repeated)

    def criterion(self, fit: Fit) -> float:
        """Return the criterion of a fit of these data, which need not be one of the search."""
        return criterion_of(self.errors, fit, self.penalties, self.repeated)

    def fit(self, noise_model: NoiseModel, structure: Structure, near: tuple[Linearised, Fit] | None = None) -> float:
        """Fit a structure, beginning with the weights of a linearised problem, and return the criterion."""
        key, terms = (noise_model, structure.tobytes()), np.flatnonzero(structure)
        if key not in self.criteria:
            fit = None
            if near is not None:
                linear, start = near
                weights = linear.weights(terms)
                fit = self.errors.fit(noise_model, terms.tolist(), start=start, weights=weights, tolerance=COMPARED)
            if fit is None or not fit.is_finite:
                fit = self.errors.fit(noise_model, terms.tolist(), tolerance=COMPARED)
            self._keep(fit)
        return self.criteria[key]

    def _keep(self, fit: Fit) -> float:
        key = fit.noise_model, self.structure(fit).tobytes()
        self.fits[key], self.criteria[key] = fit, self.criterion(fit)
        return self.criteria[key]

    def costs(self, linear: Linearised, structure: Structure) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return by how much each change is predicted to change the criterion.

        Returns
        -------
        members : array, shape (xi,)
            The terms of the structure.
        flips : array, shape (N_t,)
            The change when a term is added or dropped.
        swaps : array, shape (xi * N_t,)
            The change when one of the terms is exchanged for another, row by row.
        """
        n, size = self.n_terms, int(structure.sum())
        members, flips, swaps = self.changes_of_deviance(linear, structure)
        price_of_adding, price_of_dropping = math.inf, math.inf
        if size < n:
            price_of_adding = self.penalties[size + 1] - self.penalties[size]
        if size > 1:
            price_of_dropping = self.penalties[size - 1] - self.penalties[size]
        prices = np.where(structure, price_of_dropping, price_of_adding)
        return members[:size], flips[:n] + prices, swaps[:size, :n].ravel()

    def changes_of_deviance(self, linear: Linearised, structure: Structure) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return by how much each change is predicted to change the deviance.

        As :meth:`costs`, but the coefficients of the noise follow the terms, and ``swaps`` has rows.
        """
        extended = np.ones(len(linear.moments), np.uint8)
        extended[: self.n_terms] = structure
        samples = float(self.errors.samples)
        members, flips, swaps = predicted(linear.gram, linear.moments, linear.energy, samples, 0.0, extended)
        return members, flips, swaps

    def local_optimum(self, linear: Linearised, structure: Structure, left_out: int | None = None) -> Structure:
        """Return where the changes of lowest cost lead to in the linearised problem, if need be without a term."""
        structure = structure.copy()
        for _ in range(CHANGES):
            linear.enter(np.flatnonzero(structure).tolist())
            members, flips, swaps = self.costs(linear, structure)
            if left_out is not None:
                flips[left_out] = math.inf
                swaps[left_out :: self.n_terms] = math.inf
            flip = int(flips.argmin())
            swap = int(swaps.argmin()) if len(swaps) else -1
            swap_cost = float(swaps[swap]) if swap >= 0 else math.inf
            if not min(float(flips[flip]), swap_cost) < -LEAST_GAIN:
                break
            if swap_cost < flips[flip]:
                structure[[int(members[swap // self.n_terms]), swap % self.n_terms]] ^= 1
            else:
                structure[flip] ^= 1
        return structure

    def promising(self, linear: Linearised, structure: Structure) -> list[list[int]]:
        """Return the changes of one term and the swaps of lowest cost, as terms to change, in this order."""
        members, flips, swaps = self.costs(linear, structure)
        # Among many candidates there are very many swaps.
        limit = np.partition(swaps, SWAPS)[SWAPS] if len(swaps) > SWAPS else math.inf
        low = np.flatnonzero((swaps <= limit) & np.isfinite(swaps))
        changes = [(float(flips[term]), [term]) for term in np.argsort(flips, kind="stable")[:FLIPS].tolist()]
        for swap in low[np.argsort(swaps[low], kind="stable")][:SWAPS].tolist():
            changes.append((float(swaps[swap]), [int(members[swap // self.n_terms]), swap % self.n_terms]))
        limit = float(self.penalties[1])
        return [change for cost, change in sorted(changes, key=lambda pair: pair[0]) if cost < limit]

    def descend(
        self, noise_model: NoiseModel, structure: Structure, *, closely: bool = False, left_out: int | None = None
    ) -> None:
        """Go from model to model under one noise model while the criterion falls.

        Parameters
        ----------
        noise_model : NoiseModel
            The noise model.
        structure : array of 0 and 1, shape (N_t,)
            Where to begin.
        closely : bool
            Whether changes are fitted that are only promising.
        left_out : int, optional
            A term that the first step may not take.
        """
        value = self.fit(noise_model, structure)
        while True:
            fit = self.fits[noise_model, structure.tobytes()]
            way = noise_model, structure.tobytes(), closely, left_out
            if way in self._descended or not value < math.inf:
                return
            self._descended.add(way)
            linear = self.errors.linearised(fit)
            if not linear.finite:
                return
            following = self._first_better(fit, linear, value, closely, left_out)
            if following is None:
                return
            structure, value = following
            left_out = None

    def _first_better(
        self, fit: Fit, linear: Linearised, value: float, closely: bool, left_out: int | None
    ) -> tuple[Structure, float] | None:
        """Return the first neighbour of a fit whose criterion is lower, with it."""
        noise_model, structure = fit.noise_model, self.structure(fit)
        is_linear = noise_model == Narx()
        for neighbour in self._neighbours(linear, structure, closely and not is_linear, left_out):
            if (noise_model, neighbour.tobytes()) in self.criteria:
                continue
            linear.enter(np.flatnonzero(neighbour).tolist())
            criterion = self.fit(noise_model, neighbour, (linear, fit))
            if criterion < value - LEAST_GAIN:
                return neighbour, criterion
        return None

    def _neighbours(
        self, linear: Linearised, structure: Structure, closely: bool, left_out: int | None
    ) -> Iterator[Structure]:
        yield self.local_optimum(linear, structure, left_out)
        if closely:
            for change in self.promising(linear, structure):
                neighbour = structure.copy()
                neighbour[change] ^= 1
                yield neighbour

    def adapt(self, fit: Fit) -> Fit:
        """Return the best fit of the same structure, the filter of the noise being chosen anew."""
        largest_lag = DRIFT_ORDER if fit.noise_model.is_integrated else math.inf
        return adapt_filter(self.errors, fit, self.filters, self._fit_filter, largest_lag)

    def _fit_filter(self, fit: Fit, noise_model: NoiseModel, choice: FilterChoice) -> Fit:
        key = noise_model, self.structure(fit).tobytes()
        if key not in self.fits:
            noise_weights = choice.autoregression, choice.moving_average
            terms = fit.terms.tolist()
            self._keep(
                self.errors.fit(
                    noise_model, terms, start=fit, weights=fit.weights, noise_weights=noise_weights, tolerance=COMPARED
                )
            )
        return self.fits[key]

    def descend_with_noise(self, fit: Fit) -> Fit:
        """Go from model to model, the filter of the noise being chosen anew at each, and return the last one."""
        while True:
            fit = self.adapt(fit)
            linear = self.errors.linearised(fit)
            if not linear.finite:
                return fit
            following = self._first_better(fit, linear, self.value(fit), False, None)
            if following is None:
                return fit
            fit = self.fits[fit.noise_model, following[0].tobytes()]

    def grown(self, linear: Linearised, longest: int) -> NDArray[np.uint8]:
        """Return the structures along a forward regression in a linearised problem, one row for each length."""
        structure = np.zeros(self.n_terms, np.uint8)
        order: list[int] = []
        while len(order) < longest:
            flips = self.costs(linear, structure)[1]
            flips[structure == 1] = math.inf
            term = int(flips.argmin())
            if not flips[term] < math.inf:
                break
            order.append(term)
            structure[term] = 1
            linear.enter([term])
        return nested(np.array(order or [0], np.int64), self.n_terms)

    def _empty(self, noise_model: NoiseModel, autoregression: Floats, moving_average: Floats) -> Fit:
        """Return a model without terms under a noise model with these values."""
        empty = self.errors.fit(Narx(), [])
        return replace(empty, noise_model=noise_model, autoregression=autoregression, moving_average=moving_average)

    def starts(self, empty: Fit) -> tuple[list[Structure], list[Structure]]:
        """Return structures to begin at: ends of forward regression, improved in the linearised problem, and as are."""
        linear = self.errors.linearised(empty)
        longest = min(self.settings.path_length, self.n_terms, max(1, self.errors.samples // 2))
        structures = self.grown(linear, longest)
        short = [length for length in self.settings.starts if length <= len(structures)]
        lengths = dict.fromkeys([len(structures), max(1, len(structures) // 2), *short])
        improved = [self.local_optimum(linear, structures[length - 1]) for length in lengths]
        return improved, [structures[length - 1] for length in short]

    def run(self) -> None:
        """Fit structures under each noise model."""
        improved, short = self.starts(self.errors.fit(Narx(), []))
        self._search_white(improved, short)
        self._search_coloured()
        self._search_drifting()
        self._search_tails(short)
        self._search_common_factors()
        self._polish()
        zeros = self.common_factor(self.best())
        if zeros:
            self._search_without_factor(self.best(), zeros)
        self._lowest_at_end = self.value(self.best())

    def polish_further(self) -> bool:
        """Search on if a better model has turned up since the end of the search, and return whether one had."""
        if not self.value(self.best()) < self._lowest_at_end - LEAST_GAIN:
            return False
        self._polish()
        return True

    def _plain(self) -> list[NoiseModel]:
        """Return the noise models that a search begins with: the lowest orders of those that are allowed."""
        order = min(2, self.settings.largest_order)
        plain: list[NoiseModel] = []
        for family in self.families:
            if family is Narmax:
                plain.append(Narmax(ma_lags=tuple(range(1, order + 1))))
            elif ((), ()) in set(family.filters(1)):
                plain.append(family())
        return plain or [family(*next(iter(family.filters(1)))) for family in self.families]

    def _search_white(self, improved: list[Structure], short: list[Structure]) -> None:
        """Search under the noise models of lowest order, each also from the best structures of those before it."""
        starts = list(improved)
        for noise_model in self._plain():
            shorter = short if noise_model != Narx() else []
            for start in starts + shorter:
                self.descend(noise_model, start)
            starts.append(self.structure(self._best_under(noise_model)))

    def _coloured_places(self) -> list[Place]:
        return [place for place in self.filters.places if self.filters.lags(place) != [((), ())]]

    def _search_coloured(self) -> None:
        """Search with filters of the noise, from the best model and from data behind a filter."""
        places = self._coloured_places()
        if not places:
            return
        improved, short = self.starts(self._empty(Ararx((1,)), *_first_filters(is_integrated=False)))
        further = [*improved[:1], *short[:1]]
        for place in places:
            self._descend_from(place, [self.structure(self.best()), *further], is_integrated=False)
            # The noise moves from one place to the other more easily than terms are found anew.
            further = []

    def _search_drifting(self) -> None:
        """Search with noise that is integrated."""
        if self.settings.drift:
            for place in self._coloured_places():
                self._descend_from(place, [self.structure(self.best())], is_integrated=True)

    def _search_tails(self, short: list[Structure]) -> None:
        """Search with heavy tails, where the innovations of the best model have them."""
        if not self.settings.tails:
            return
        best = self.best()
        distribution, gain = self.errors.tails(best)
        if gain <= noise_price(self.errors):
            return
        is_integrated = best.noise_model.is_integrated
        for place in self.filters.places:
            starts = [self.structure(self.best()), *short[:1]]
            self._descend_from(place, starts, is_integrated=is_integrated, distribution=distribution)

    def _search_common_factors(self) -> None:
        """Search from the best structure without the terms that are lagged copies of others of it.

        A filter of the noise that the noise model lacks comes back as lagged copies of the terms, a common factor.
        """
        best = self.best()
        start = self.without_copies(self.structure(best))
        if int(start.sum()) == len(best.terms) or not self._coloured_places():
            return
        place, distribution = best.noise_model.place, best.noise_model.distribution
        self._descend_from(place, [start], is_integrated=False, distribution=distribution)
        if not self.settings.drift:
            return
        starts = [start]
        if self._may_drift(best):
            drifting = Narmax(ma_lags=(1,), is_integrated=True)
            improved, short = self.starts(self._empty(drifting, *_first_filters(is_integrated=True)))
            starts += [*improved[:1], *short[:1]]
        self._descend_from(place, starts, is_integrated=True, distribution=distribution)

    def _may_drift(self, fit: Fit) -> bool:
        """Return whether a fit has a slow factor, in the filter of its noise or in its linear terms of the output."""
        of_noise = 1.0 + float(fit.autoregression.sum())
        of_terms = 1.0 - self.errors.output_gain(fit)
        return fit.noise_model.is_integrated or of_noise < SLOW or of_terms < SLOW

    def common_factor(self, fit: Fit) -> list[complex]:
        """Return the zeros that all polynomials of a fit share: it is a shorter model times a filter."""
        weights = self.errors.coefficients(fit).tolist()
        return common_factor([self.errors.monomials[term] for term in fit.terms], weights)

    def _search_without_factor(self, fit: Fit, zeros: list[complex]) -> None:
        """Search from the shorter model that a fit is times a factor, which represents noise that was not found."""
        monomials = [self.errors.monomials[term] for term in fit.terms]
        shorter = without_factor(monomials, self.errors.coefficients(fit).tolist(), zeros)
        start = np.array([monomial in shorter for monomial in self.errors.monomials], np.uint8)
        for place in self._coloured_places():
            self._descend_from(place, [start], is_integrated=False)
            if self.settings.drift:
                self._descend_from(place, [start], is_integrated=True)
        self._polish()

    def without_copies(self, structure: Structure) -> Structure:
        """Return a structure without the terms that are delayed copies of others."""
        reduced = structure.copy()
        for term in np.flatnonzero(structure).tolist():
            if any(structure[shorter] for shorter in self.errors.advanced(term)):
                reduced[term] = 0
        return reduced

    def _descend_from(
        self,
        place: Place,
        starts: Iterable[Structure],
        *,
        is_integrated: bool,
        distribution: Distribution = GAUSSIAN,
    ) -> None:
        ma_lags: Lags = (1,) if is_integrated else ()
        noise_model = self.filters.noise_model(
            place, (), ma_lags, is_integrated=is_integrated, distribution=distribution
        )
        for start in starts:
            if self.fit(noise_model, start) < math.inf:
                self.descend_with_noise(self.fits[noise_model, start.tobytes()])

    def _polish(self) -> None:
        """Search close to the best models, and with the structure of the best one under the other noise models."""
        enough = self.value(self.best()) + HOPELESS * self.penalties[1]
        leaders = self.leaders()
        for fit in leaders:
            if self.value(fit) < enough:
                self.descend(fit.noise_model, self.structure(fit), closely=True)
        best = self.best()
        while True:
            for fit in leaders:
                self.descend(fit.noise_model, self.structure(best))
            for term in self.cheapest(best):
                without = self.structure(best)
                without[term] = 0
                self.descend(best.noise_model, without, left_out=term)
            self.descend_with_noise(self.best())
            if best is (best := self.best()):
                return

    def cheapest(self, fit: Fit) -> list[int]:
        """Return the terms of a structure of several that cost least to drop."""
        linear = self.errors.linearised(fit)
        if len(fit.terms) < 2 or not linear.finite:
            return []
        flips = self.costs(linear, self.structure(fit))[1][fit.terms]
        cheapest: list[int] = fit.terms[np.argsort(flips, kind="stable")[:FLIPS]].tolist()
        return cheapest

    def run_safely(self, of_inputs: NDArray[np.int64]) -> None:
        """Fit structures that are likely to have a bounded free run: short ones, and ones without past outputs."""
        for structure in self._short_structures(of_inputs):
            for noise_model in self._plain():
                self.fit(noise_model, structure)

    def _short_structures(self, of_inputs: NDArray[np.int64]) -> Iterator[Structure]:
        linear = self.errors.linearised(self.errors.fit(Narx(), []))
        longest = min(self.settings.path_length, self.n_terms, max(1, self.errors.samples // 2))
        yield from self.grown(linear, longest)
        structure = np.zeros(self.n_terms, np.uint8)
        for term in of_inputs.tolist():
            structure[term] = 1
            yield structure.copy()

    def structure(self, fit: Fit) -> Structure:
        """Return the structure of a fit as a row of 0 and 1."""
        structure = np.zeros(self.n_terms, np.uint8)
        structure[fit.terms] = 1
        return structure

    def value(self, fit: Fit) -> float:
        """Return the criterion of a fit."""
        return self.criteria[fit.noise_model, self.structure(fit).tobytes()]

    def coefficients(self, fit: Fit) -> Floats | None:
        """Return the weights of a fit in the units of the data, or None if they are too large for these units."""
        with np.errstate(over="ignore"):
            weights = self.errors.coefficients(fit)
        return weights if np.isfinite(weights).all() else None

    def ranked(self) -> list[Fit]:
        """Return all fits by their criterion. Of equal ones the simpler noise model comes first."""
        by_value = sorted(self.fits.values(), key=self.value)
        first = self.value(by_value[0])
        tied = [by_value[0], *(fit for fit in by_value[1:] if self.value(fit) <= first + LEAST_GAIN)]
        names = list(NOISE_MODELS)
        tied.sort(key=lambda fit: (fit.noise_model.n_parameters, names.index(fit.noise_model.name)))
        return tied + by_value[len(tied) :]

    def best(self) -> Fit:
        """Return the best fit."""
        return min(self.fits.values(), key=self.value)

    def leaders(self) -> list[Fit]:
        """Return the best fit of each family, the best one first."""
        leaders: dict[str, Fit] = {}
        for fit in sorted(self.fits.values(), key=self.value):
            leaders.setdefault(fit.noise_model.name, fit)
        return list(leaders.values())

    def refined(self, fit: Fit) -> Fit:
        """Return a fit whose iteration went on until no digit that is shown changes any more."""
        fit = self.errors.fit(fit.noise_model, fit.terms.tolist(), start=fit, weights=fit.weights)
        self._keep(fit)
        return fit

    def fits_of(self, structure: Structure) -> list[Fit]:
        """Return fits of a structure under the noise models that its noise calls for, one for each place."""
        fits = []
        for place in self.filters.places:
            white = self.filters.noise_model(place)
            self.fit(white, structure)
            fits.append(self.adapt(self.fits[white, structure.tobytes()]))
        return fits

    def _best_under(self, noise_model: NoiseModel) -> Fit:
        return min((fit for fit in self.fits.values() if fit.noise_model == noise_model), key=self.value)
