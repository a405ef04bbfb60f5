"""Prediction error methods: the weights of a structure under a model of the noise, and how well it then predicts.

Noise models differ in where the noise enters, in its filter and in the distribution of the innovations.
:mod:`narxbench._fitness.kernel.prediction_error` has the equations. All innovations are of the same output, so their
likelihoods compare: -2 times the logarithm of that of Gaussian innovations of unknown variance is N ln(SSE / N) but for
a constant, and a criterion adds what terms and coefficients of the noise cost.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapters 7, 9 and 10; S. A. Billings,
Nonlinear System Identification, 2013, chapters 3 and 4.

The module is long because one iteration fits all noise models.
"""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel import prediction_error as kernel
from narxbench._fitness.kernel.least_squares import EXACT, SMALLEST_SSE
from narxbench._fitness.kernel.simd import aligned
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import STUDENT_T, Distribution, Lags, Narx, Noe, NoiseModel
from narxbench._model.terms import OUTPUT, Monomial
from narxbench._numerics.logarithm import natural_log

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Samples at the beginning of a stretch whose errors do not count: at most this many, and this share of the stretch.
TRANSIENT, TRANSIENT_SHARE = 30, 0.05
# A fit ends when the deviance falls by less than this for each sample: no digit that is shown changes any more.
CONVERGED = 1e-12
# Fits that are only compared with others end earlier: of 300 that the shipped record needs, no deviance lay more than
# 2e-5 higher, and a term costs several units.
COMPARED = 1e-8
# Outputs before stretches are estimated unless they are more than this together.
MOST_INITIAL = 40
# A free run beyond this multiple of the largest output has diverged.
BOUND = 10.0
# Outputs before a stretch differ from measured ones by the whole noise, not by one innovation: their squares count by
# the ratio of the variances, and by at least this.
LEAST_START_SHARE = 2.0**-10
# Fits at most until the share agrees with the noise of the fit.
MOST_SHARES = 3
# A long autoregression whose innovations replace the true ones has this many orders more than the others.
LONGER = 12
# A filter of first order to begin with: as an autoregression it represents coloured noise, as a moving average of drift
# for much white noise on slow drift. ``benchmarks/recovery.md`` measures what it finds.
COLOUR = -0.9
_LN2 = float(natural_log(2.0))
_LN_2PI = float(natural_log(2.0 * math.pi))


class Training(Protocol):
    """All data of a problem, as a structure problem offers them, or the view of one that an algorithm gets."""

    @property
    def training_u(self) -> Floats:
        """Input, shape (samples,) or (samples, inputs)."""

    @property
    def training_y(self) -> Floats:
        """Output, shape (samples,)."""

    @property
    def stretches(self) -> Integers:
        """First sample of each run of samples to predict, and the one behind its last, shape (stretches, 2)."""

    @property
    def monomials(self) -> Sequence[Monomial]:
        """The N_t candidate terms."""


@dataclass(frozen=True)
class Fit:
    """A structure with its weights under one noise model, for signals as :class:`PredictionErrors` scales them.

    Attributes
    ----------
    noise_model : NoiseModel
        The noise model, without values.
    terms : array of int, shape (n,)
        Numbers of the candidates, ascending.
    weights : array, shape (n,)
        Their weights.
    autoregression, moving_average : arrays
        d_1, d_2, ... and c_1, c_2, ... up to the largest lag.
    objective : float
        The sum of squares of the innovations that count; of Student-t -2 times the logarithm of the likelihood but for
        a constant. +inf where the model diverges.
    initial : array, shape (stretches, depth)
        The outputs before each stretch, the last one first, where a model with noise on the output begins: its past is
        not what was measured with noise.
    scale : float
        The squared scale of Student-t.
    start_share : float
        What the squares count that ``initial`` differs by from the measured outputs.
    """

    noise_model: NoiseModel
    terms: Integers
    weights: Floats
    autoregression: Floats
    moving_average: Floats
    objective: float
    initial: Floats
    scale: float = 1.0
    start_share: float = 1.0

    @property
    def is_finite(self) -> bool:
        """Whether the model does not diverge."""
        return self.objective < math.inf

    @property
    def noise_weights(self) -> Floats:
        """The coefficients of the noise that are free: d_i, then c_i."""
        ar_lags, ma_lags = _places(self.noise_model.ar_lags), _places(self.noise_model.ma_lags)
        return np.concatenate([self.autoregression[ar_lags], self.moving_average[ma_lags]])


class FilterChoice(NamedTuple):
    """A filter of the noise with coefficients to begin with, and the criterion that it promises."""

    ar_lags: Lags
    ma_lags: Lags
    autoregression: Floats
    moving_average: Floats
    criterion: float


class Uncertainty(NamedTuple):
    """Standard errors of the terms, in the units of the data, and of the coefficients of the noise."""

    classical: Floats  # of white innovations of one variance, shape (n + coefficients,)
    robust: Floats  # where innovations may be correlated over some samples and change their variance
    covariance: Floats  # of the terms, in the units of the data, shape (n, n)


class Linearised:
    """The choice of terms close to a model, as a problem of linear regression.

    Columns are the sensitivities of all N_t candidates and, behind them, of the coefficients of the noise. What they
    explain are the innovations and what the present terms contribute. ``gram`` has the inner products of the columns.
    Off its diagonal only the rows that :meth:`enter` was called for hold numbers. ``moments`` are those with what they
    explain, ``energy`` is that of this with itself. ``finite`` is False where sensitivities grow without bounds.
    """

    def __init__(self, data: kernel.PredictionData, rows: int, bands: Floats, fit: Fit, n_terms: int) -> None:
        self._data, self._rows, self._bands = data, rows, bands
        n = n_terms + len(fit.noise_weights)
        diagonal = np.empty(n + 1)
        kernel.squares(data, rows, bands, diagonal)
        self._products, self._is_known = np.diag(diagonal), np.zeros(n + 1, np.bool_)
        self._compute([*fit.terms.tolist(), *range(n_terms, n + 1)])
        self._gram, self.moments = np.array(self._products[:n, :n], order="C"), self._products[n, :n].copy()
        pairs = list(zip(fit.terms.tolist(), fit.weights.tolist(), strict=True))
        # Products that are not finite are found by ``finite``.
        with np.errstate(invalid="ignore", over="ignore"):
            for term, weight in pairs:
                self.moments += weight * self._products[term, :n]
        # Code for arrays that can be written would be compiled next to that for the others.
        self.gram = self._gram.view()
        self.gram.flags.writeable = self.moments.flags.writeable = False
        self.energy = float(self._products[n, n])
        for term, weight in pairs:
            self.energy += weight * float(self._products[n, term] + self.moments[term])
        self.finite = bool(np.isfinite(diagonal).all() and np.isfinite(self.moments).all())

    def enter(self, columns: Iterable[int]) -> None:
        """Compute the inner products of some columns with all, unless they are known."""
        new = self._compute(columns)
        self._gram[new] = self._products[new, :-1]

    def _compute(self, columns: Iterable[int]) -> Integers:
        new = np.array([c for c in columns if not self._is_known[c]], np.int64)
        kernel.products(self._data, self._rows, self._bands, new, self._products)
        self._is_known[new] = True
        return new

    def weights(self, terms: Integers) -> Floats:
        """Return the weights of some candidates that entered, shape (n,), the noise model as it is."""
        n = len(terms)
        equations, weights = np.zeros((n + 1, n + 1)), np.empty(n)
        equations[:n, :n], equations[n, :n] = self.gram[np.ix_(terms, terms)], self.moments[terms]
        kernel.solve(equations, n, weights)
        return weights


class PredictionErrors:
    """Data and candidate terms, for fits under each noise model.

    All samples of the problem are predicted, in stretches without a gap, each from the measured outputs before it. Of
    the errors count ``samples``, N: all but a transient at the beginning of each stretch, which free runs and filters
    need to forget where they began. It is the same for all noise models. Signals are scaled by powers of two, which is
    exact, so units do not matter. :meth:`linearised` takes 8 bytes for each sample and candidate: 160 MB for 1001
    candidates and 20,000 samples. A ``NarxbenchError`` is raised where that is more than the machine has.

    Parameters
    ----------
    problem : Training
        The data and the candidate terms.
    tolerance : float
        A fit ends when the deviance falls by less than this for each sample.
    """

    def __init__(self, problem: Training, tolerance: float = CONVERGED) -> None:
        self._tolerance = tolerance
        u, y, monomials = problem.training_u, problem.training_y, problem.monomials
        samples, degree = len(y), max(1, *map(len, monomials))
        # A copy: a view of a single stretch, which cannot be written, would need other machine code.
        begin, end = np.array(problem.stretches.T, order="C")
        self._rows, self.n_terms = int((end - begin).sum()), len(monomials)
        _check_memory(self._rows, self.n_terms)
        signals = np.vstack([y, u.reshape(samples, -1).T])
        exponents = [math.frexp(float(np.abs(row).max()))[1] for row in signals]
        values = np.ldexp(signals, -np.array(exponents)[:, None])
        # Exponents of the factors from weights of scaled terms to weights of the terms.
        self._exponents = np.array([exponents[OUTPUT] - sum(exponents[s] for s, _ in m) for m in monomials])
        self._output_exponent = exponents[OUTPUT]
        factors = np.full((len(monomials), degree), len(signals) * samples)
        lags = np.zeros((len(monomials), degree), np.int64)
        for term, monomial in enumerate(monomials):
            for f, (signal, lag) in enumerate(monomial):
                factors[term, f], lags[term, f] = signal * samples - lag, lag if signal == OUTPUT else 0
        # Of many records no start matters much.
        depth = int(lags.max()) if int(lags.max()) * len(begin) <= MOST_INITIAL else 0
        self._initial = begin[:, None] - 1 - np.arange(depth)
        transient = np.minimum(TRANSIENT, ((end - begin) * TRANSIENT_SHARE).astype(np.int64))
        self.samples = int((end - begin - transient).sum())
        ranges = zip((begin + transient).tolist(), end.tolist(), strict=True)
        counted = np.concatenate([values[OUTPUT, first:last] for first, last in ranges])
        # Sums in the order of time, the same on every machine.
        energy = float(np.cumsum(counted * counted)[-1]) if len(counted) else 0.0
        self._least_sse = max(EXACT * energy, SMALLEST_SSE)
        self._data = kernel.PredictionData(
            values=np.concatenate([values.ravel(), np.ones(samples)]),
            factors=factors,
            sizes=np.array([len(monomial) for monomial in monomials]),
            lags=lags,
            begin=begin,
            counted=begin + transient,
            end=end,
            row=np.cumsum(end - begin) - (end - begin),
            bound=BOUND * float(np.abs(values[OUTPUT]).max()),
            depth=depth,
            n_counted=self.samples,
            floor=self._least_sse,
        )
        self._bands = np.empty(0)
        self.monomials = list(monomials)
        self._advanced = _advanced_terms(monomials)
        self._is_linear_output = [len(monomial) == 1 and monomial[0][0] == OUTPUT for monomial in monomials]

    def advanced(self, term: int) -> list[int]:
        """Return the candidates that are a term some samples ahead: those that it is a lagged copy of."""
        return self._advanced[term]

    def output_gain(self, fit: Fit) -> float:
        """Return the sum of the weights of the linear terms of past outputs."""
        weights = zip(fit.terms.tolist(), fit.weights.tolist(), strict=True)
        return math.fsum(weight for term, weight in weights if self._is_linear_output[term])

    def fit(
        self,
        noise_model: NoiseModel,
        terms: Iterable[int],
        *,
        start: Fit | None = None,
        weights: Floats | None = None,
        noise_weights: tuple[Floats, Floats] | None = None,
        tolerance: float | None = None,
    ) -> Fit:
        """Fit the weights of the candidates of these numbers, and the noise model, by Gauss-Newton steps.

        Parameters
        ----------
        noise_model : NoiseModel
            Which coefficients of the noise are free.
        terms : iterable of int
            Numbers of the candidates.
        start : Fit, optional
            A fit, perhaps of other terms, whose noise and initial outputs to begin with.
        weights : array, shape (n,), optional
            Weights to begin with, scaled and in ascending order of the terms. By default white noise in the equation
            begins at 0, from where least squares takes one step, and all others at the weights of NARX. If those
            diverge under noise that drifts on the output, at the weights of NARX with drift. A filter of both parts
            begins at the fit under white noise.
        noise_weights : pair of arrays, optional
            d_1, d_2, ... and c_1, c_2, ... to begin with. By default those of ``start``, else 0; of a filter of both
            parts those that :meth:`filters` finds.
        tolerance : float, optional
            The iteration ends when the deviance falls by less than this for each sample; by default that of all fits.
        """
        tolerance = self._tolerance if tolerance is None else tolerance
        chosen = np.array(sorted(terms), np.int64)
        if _is_mixed(noise_model) and start is None and weights is None and noise_weights is None:
            start = self._white_fit(noise_model, chosen, tolerance)
            weights, noise_weights = start.weights, self._filter_of(start, noise_model)
        first = self._start(noise_model, chosen, start, weights, noise_weights, tolerance)
        fit = self._iterated(first, tolerance)
        if not fit.is_finite and weights is None and noise_model.is_integrated and noise_model.place == "output":
            # The weights of NARX take drift for a pole at 1 or beyond, while weights for differences do not.
            weights = self.fit(Narx(is_integrated=True), chosen.tolist(), tolerance=tolerance).weights
            first = self._start(noise_model, chosen, start, weights, noise_weights, tolerance)
            fit = self._iterated(first, tolerance)
        return self._settled(fit, tolerance)

    def _white_fit(self, noise_model: NoiseModel, terms: Integers, tolerance: float) -> Fit:
        """Return the fit of a structure under white noise where a noise model has its noise."""
        white = Noe() if noise_model.place == "output" else Narx()
        return self.fit(white, terms.tolist(), tolerance=tolerance)

    def _filter_of(self, fit: Fit, noise_model: NoiseModel) -> tuple[Floats, Floats] | None:
        """Return coefficients of a filter for the noise of a fit, by regression, or None where it diverges."""
        choices = self.filters(fit, [(noise_model.ar_lags, noise_model.ma_lags)], 0.0)
        return (choices[0].autoregression, choices[0].moving_average) if choices else None

    def _start(
        self,
        noise_model: NoiseModel,
        terms: Integers,
        start: Fit | None,
        weights: Floats | None,
        noise_weights: tuple[Floats, Floats] | None,
        tolerance: float,
    ) -> Fit:
        """Return where the Gauss-Newton steps of :meth:`fit` begin, which has the same parameters."""
        if noise_model == Narx():
            weights = np.zeros(len(terms))
        elif weights is None:
            weights = self.fit(Narx(), terms.tolist(), tolerance=tolerance).weights
        if noise_weights is None and start is not None:
            noise_weights = start.autoregression, start.moving_average
        autoregression, moving_average = _noise_start(noise_model, noise_weights)
        values = self._data.values.copy()
        if noise_model.place == "output" and start is not None and start.noise_model.place == "output":
            values[self._initial] = start.initial
        first = Fit(
            noise_model,
            terms,
            weights.copy(),
            autoregression,
            moving_average,
            math.inf,
            values[self._initial],
            start.scale if start is not None else self._least_sse / self.samples,
        )
        return replace(first, start_share=self._start_share(first))

    def _iterated(self, first: Fit, tolerance: float) -> Fit:
        """Return the fit where Gauss-Newton steps from another one end."""
        state, following = self._state(first), self._empty_state(first)
        noise = self._noise(first)
        objective = float(kernel.gauss_newton(self._data, noise, first.terms, state, following, tolerance))
        return replace(
            first,
            weights=state.weights,
            autoregression=state.autoregression,
            moving_average=state.moving_average,
            objective=objective,
            initial=state.values[self._initial],
            scale=float(state.scale[0]),
        )

    def _settled(self, fit: Fit, tolerance: float) -> Fit:
        """Return a fit whose initial outputs count by the share of its own noise, whichever way led to it."""
        for _ in range(MOST_SHARES):
            share = self._start_share(fit)
            if share == fit.start_share or not fit.is_finite:
                break
            fit = self._iterated(replace(fit, start_share=share), tolerance)
        return fit

    def filters(self, fit: Fit, filters: Iterable[tuple[Lags, Lags]], price: float) -> list[FilterChoice]:
        """Return filters for the noise of a fit, with start values, the most promising first.

        The innovations of a long autoregression replace the true ones, so that each filter is a problem of linear
        regression (Hannan and Rissanen, Biometrika 69, 1982). ``price`` is what each coefficient costs.
        """
        choices = list(filters)
        state, _ = self._evaluated(fit)
        largest = 0
        for ar_lags, ma_lags in choices:
            largest = max((largest, *ar_lags, *ma_lags))
        if not largest or not fit.is_finite:
            return []
        order = min(largest + LONGER, (self.samples - 1) // 3)
        innovations = self._long_innovations(state, order)
        gram = np.empty((2 * largest + 1, 2 * largest + 1))
        orders = (largest, largest)
        kernel.lagged_products(self._data, state.noise, innovations, orders, state.row_weights, gram)
        columns = np.zeros((len(choices), largest * 2), np.int64)
        sizes = np.array([len(ar_lags) + len(ma_lags) for ar_lags, ma_lags in choices])
        for row, (ar_lags, ma_lags) in zip(columns, choices, strict=True):
            row[: len(ar_lags)] = _places(ar_lags)
            row[len(ar_lags) : len(ar_lags) + len(ma_lags)] = largest + _places(ma_lags)
        weights, errors = np.empty(columns.shape), np.empty(len(choices))
        kernel.regressions(gram, float(gram[-1, -1]), columns, sizes, weights, errors)
        promised = []
        for lags_of, own_weights, sse in zip(choices, weights, errors.tolist(), strict=True):
            ar_lags, ma_lags = lags_of
            autoregression, moving_average = _dense(ar_lags), _dense(ma_lags)
            autoregression[_places(ar_lags)] = -own_weights[: len(ar_lags)]
            moving_average[_places(ma_lags)] = own_weights[len(ar_lags) : len(ar_lags) + len(ma_lags)]
            deviance = self.samples * float(natural_log(max(sse, self._least_sse) / self.samples))
            value = deviance + price * (len(ar_lags) + len(ma_lags))
            promised.append(FilterChoice(ar_lags, ma_lags, autoregression, moving_average, value))
        return sorted(promised, key=lambda choice: choice.criterion)

    def _long_innovations(self, state: kernel.State, order: int) -> Floats:
        """Return the innovations of the noise of a state by an autoregression of high order."""
        gram = np.empty((order + 1, order + 1))
        kernel.lagged_products(self._data, state.noise, state.noise, (order, 0), state.row_weights, gram)
        weights, errors = np.empty((1, order)), np.empty(1)
        columns, sizes = np.arange(order)[None], np.array([order])
        kernel.regressions(gram, float(gram[-1, -1]), columns, sizes, weights, errors)
        innovations = np.empty(self._rows)
        kernel.whitened(self._data, -weights[0], np.empty(0), state.noise, innovations)
        return innovations

    def tails(self, fit: Fit) -> tuple[Distribution, float]:
        """Return the distribution that the innovations of a fit are most likely from, and the gain in deviance.

        The gain is over Gaussian innovations, the weights being those of the fit.
        """
        gaussian = replace(fit.noise_model, distribution=Distribution())
        best, lowest = Distribution(), self.deviance(replace(fit, noise_model=gaussian, objective=self._squares(fit)))
        at_gaussian = lowest
        for distribution in STUDENT_T:
            model = replace(fit.noise_model, distribution=distribution)
            heavy = replace(fit, noise_model=model)
            _, objective = self._evaluated(heavy)
            deviance = self.deviance(replace(heavy, objective=objective))
            if deviance < lowest:
                best, lowest = distribution, deviance
        return best, at_gaussian - lowest

    def innovations(self, fit: Fit) -> Floats:
        """Return the innovations of a fit in the units of y, shape (samples of all stretches,)."""
        return np.asarray(np.ldexp(self._evaluated(fit)[0].innovations, self._output_exponent))

    def counted(self, series: Floats) -> list[Floats]:
        """Return the samples that count of a series of all stretches, stretch by stretch."""
        data = self._data
        first = data.row + data.counted - data.begin
        last = data.row + data.end - data.begin
        return [series[begin:end] for begin, end in zip(first.tolist(), last.tolist(), strict=True)]

    def linearised(self, fit: Fit) -> Linearised:
        """Return the choice of terms close to a model, which is valid until the next call."""
        size = kernel.columns_size(self._rows, self.n_terms + len(fit.noise_weights) + 1)
        if len(self._bands) < size:
            self._bands = aligned(size)
        self._linearise(fit, np.arange(self.n_terms), self._bands)
        return Linearised(self._data, self._rows, self._bands, fit, self.n_terms)

    def sensitivities(self, fit: Fit) -> Floats:
        """Return what the prediction gains by the weight of each candidate, then of the coefficients of the noise.

        For scaled signals, shape (rows, N_t + coefficients).
        """
        gaussian = replace(fit, noise_model=replace(fit.noise_model, distribution=Distribution()))
        return self._columns(gaussian)[:, :-1]

    def regression(self, fit: Fit) -> tuple[Floats, Floats]:
        """Return the choice of terms close to a model as columns and what they explain, over the samples that count.

        It is the problem of :meth:`linearised` before products are taken, which lose half of the digits.

        Returns
        -------
        columns : array, shape (N, N_t + coefficients)
            What the prediction gains by the weight of each candidate, then of the coefficients of the noise.
        explained : array, shape (N,)
            The innovations, and what the present terms contribute.
        """
        columns = np.concatenate(self.counted(self._columns(fit)))
        explained = columns[:, -1].copy()
        for term, weight in zip(fit.terms.tolist(), fit.weights.tolist(), strict=True):
            explained += weight * columns[:, term]
        return columns[:, :-1], explained

    def _columns(self, fit: Fit) -> Floats:
        """Return the sensitivities of all candidates and of the coefficients of the noise, then the innovations."""
        n = self.n_terms + len(fit.noise_weights) + 1
        bands = np.empty(kernel.columns_size(self._rows, n))
        self._linearise(fit, np.arange(self.n_terms), bands)
        return bands.reshape(-1, self._rows, kernel.BAND).transpose(1, 0, 2).reshape(self._rows, -1)[:, :n]

    def deviance(self, fit: Fit) -> float:
        """Return -2 times the logarithm of the likelihood in the units of y, less N (ln(2 pi) + 1).

        Of Gaussian innovations that is N ln(SSE / N).
        """
        if not fit.is_finite:
            return math.inf
        units = 2 * self._output_exponent * _LN2
        if fit.noise_model.distribution.is_gaussian:
            mean = max(fit.objective, self._least_sse) / self.samples
            return self.samples * (float(natural_log(mean)) + units)
        return fit.objective + self.samples * units

    def log_likelihood(self, fit: Fit) -> float:
        """Return the logarithm of the largest likelihood."""
        return -0.5 * (self.deviance(fit) + self.samples * (_LN_2PI + 1.0))

    def coefficients(self, fit: Fit) -> Floats:
        """Return the weights of a fit in the units of the data, shape (n,)."""
        return np.asarray(np.ldexp(fit.weights, self._exponents[fit.terms]))

    def uncertainty(self, fit: Fit) -> Uncertainty:
        """Return the standard errors of the weights, from the Gauss-Newton Hessian.

        Robust ones take correlation up to floor(4 (N / 100)^(2/9)) samples into account (W. K. Newey and K. D. West,
        Review of Economic Studies 61, 1994, pages 631-653). Of Student-t innovations the Hessian is the expected one
        (K. L. Lange et al., Journal of the American Statistical Association 84, 1989, appendix B).
        """
        n, free = len(fit.terms), len(fit.terms) + len(fit.noise_weights)
        bands = np.empty(kernel.columns_size(self._rows, free + 1))
        gaussian = replace(fit, noise_model=replace(fit.noise_model, distribution=Distribution()))
        self._linearise(gaussian, fit.terms, bands)
        state, _ = self._evaluated(fit)
        errors = state.innovations
        freedom = max(1, self.samples - free)
        if fit.noise_model.distribution.is_gaussian:
            variance = self._squares(fit) / freedom
        else:
            nu = fit.noise_model.distribution.degrees_of_freedom
            errors = errors * state.row_weights * ((nu + 3.0) / (nu + 1.0))
            variance = fit.scale * (nu + 3.0) / (nu + 1.0) * self.samples / freedom
        classical, robust = np.empty((2, free, free))
        bandwidth = int(4 * (self.samples / 100) ** (2 / 9))
        kernel.covariances(self._data, bands, free, errors, variance, bandwidth, classical, robust)
        exponents = np.concatenate([self._exponents[fit.terms], np.zeros(free - n, np.int64)])
        of_terms = np.ldexp(classical[:n, :n], self._exponents[fit.terms][:, None] + self._exponents[fit.terms])
        return Uncertainty(
            classical=_standard_errors(classical, exponents),
            robust=_standard_errors(robust, exponents),
            covariance=np.asarray(of_terms),
        )

    def bounded(self, fit: Fit) -> bool:
        """Return whether the free run of a model stays bounded over every stretch, whatever its noise model."""
        measured = self._data.values[self._initial]
        nothing = np.zeros(0)
        free_run = Fit(Noe(), fit.terms, fit.weights, nothing, nothing, math.inf, measured)
        return self._evaluated(free_run)[1] < math.inf

    def _squares(self, fit: Fit) -> float:
        total = 0.0
        for series in self.counted(self._evaluated(fit)[0].innovations):
            for value in series.tolist():
                total += value * value
        return total

    def _start_share(self, fit: Fit) -> float:
        """Return the ratio of the variances of innovations and noise, as a power of 2 that rounding does not change."""
        if fit.noise_model.place != "output" or fit.noise_model.is_white or not self._initial.size:
            return 1.0
        state, objective = self._evaluated(fit)
        if fit.noise_model.is_integrated or not objective < math.inf:
            return LEAST_START_SHARE
        innovations = sum(float(series @ series) for series in self.counted(state.innovations))
        noise = sum(float(series @ series) for series in self.counted(state.noise))
        if not innovations < noise:
            return 1.0
        return max(LEAST_START_SHARE, math.ldexp(1.0, math.frexp(innovations / noise)[1] - 1))

    def _noise(self, fit: Fit) -> kernel.NoiseParts:
        model = fit.noise_model
        distribution = model.distribution
        return kernel.NoiseParts(
            on_output=model.place == "output",
            is_integrated=model.is_integrated,
            ar_lags=np.array(model.ar_lags, np.int64),
            ma_lags=np.array(model.ma_lags, np.int64),
            degrees_of_freedom=0.0 if distribution.is_gaussian else distribution.degrees_of_freedom,
            constant=0.0 if distribution.is_gaussian else _student_constant(round(distribution.degrees_of_freedom)),
            start_share=fit.start_share,
        )

    def _state(self, fit: Fit) -> kernel.State:
        values = self._data.values.copy()
        if fit.noise_model.place == "output":
            values[self._initial] = fit.initial
        return kernel.State(
            weights=fit.weights.copy(),
            autoregression=fit.autoregression.copy(),
            moving_average=fit.moving_average.copy(),
            values=values,
            noise=np.empty(self._rows),
            innovations=np.empty(self._rows),
            row_weights=np.ones(self._rows),
            scale=np.array([fit.scale]),
        )

    def _empty_state(self, fit: Fit) -> kernel.State:
        return kernel.State(
            weights=np.empty(len(fit.terms)),
            autoregression=np.empty(len(fit.autoregression)),
            moving_average=np.empty(len(fit.moving_average)),
            values=np.empty(len(self._data.values)),
            noise=np.empty(self._rows),
            innovations=np.empty(self._rows),
            row_weights=np.ones(self._rows),
            scale=np.ones(1),
        )

    def _evaluated(self, fit: Fit) -> tuple[kernel.State, float]:
        """Return the state of a fit, with noise and innovations, and its objective."""
        state = self._state(fit)
        return state, float(kernel.objective(self._data, self._noise(fit), fit.terms, state))

    def _linearise(self, fit: Fit, candidates: Integers, bands: Floats) -> None:
        """Compute the sensitivities of some candidates."""
        state, _ = self._evaluated(fit)
        kernel.linearise(self._data, self._noise(fit), fit.terms, state, candidates, 0, bands)


def _standard_errors(covariance: Floats, exponents: Integers) -> Floats:
    # Rounding may make it negative.
    return np.asarray(np.ldexp(np.sqrt(np.maximum(np.diag(covariance), 0.0)), exponents))


def _advanced_terms(monomials: Sequence[Monomial]) -> list[list[int]]:
    numbers = {tuple(monomial): term for term, monomial in enumerate(monomials)}
    advanced: list[list[int]] = []
    for monomial in monomials:
        advance = min((lag for _, lag in monomial), default=0)
        copies = []
        for ahead in range(1, advance + 1):
            copy = tuple((signal, lag - ahead) for signal, lag in monomial)
            if copy in numbers:
                copies.append(numbers[copy])
        advanced.append(copies)
    return advanced


def _check_memory(rows: int, n_terms: int) -> None:
    needed = 8 * kernel.columns_size(rows, n_terms + 1)
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > available:
        raise NarxbenchError(
            f"prediction errors: {n_terms} candidate terms of {rows} samples need {needed / 1e9:.1f} GB "
            f"of memory; this machine has {available / 1e9:.1f} GB; allowed: fewer samples or candidates"
        )


def _is_mixed(noise_model: NoiseModel) -> bool:
    """Return whether a filter has both parts: at zero their sensitivities are alike, so they do not say where to go."""
    return bool(noise_model.ar_lags and noise_model.ma_lags) and not noise_model.is_integrated


def _places(lags: Iterable[int]) -> Integers:
    return np.array([lag - 1 for lag in lags], np.int64)


def _dense(lags: Lags) -> Floats:
    return np.zeros(max(lags, default=0))


def _noise_start(noise_model: NoiseModel, weights: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    """Return coefficients to begin with: those that are at hand, as far as they are free, and 0 for all others."""
    autoregression, moving_average = _dense(noise_model.ar_lags), _dense(noise_model.ma_lags)
    if weights is None:
        if noise_model.is_integrated and noise_model.ma_lags[:1] == (1,):
            moving_average[0] = COLOUR
        return autoregression, moving_average
    for target, source, lags in (
        (autoregression, weights[0], noise_model.ar_lags),
        (moving_average, weights[1], noise_model.ma_lags),
    ):
        places = _places(lags)
        places = places[places < len(source)]
        target[places] = source[places]
    radius = kernel.DRIFT_RADIUS if noise_model.is_integrated else kernel.RADIUS
    return _shrunk(autoregression, kernel.AR_RADIUS), _shrunk(moving_average, radius)


def _shrunk(coefficients: Floats, radius: float) -> Floats:
    """Return coefficients whose zeros are pulled towards 0 until they are inside of a radius."""
    while not kernel.stable(coefficients, radius):
        coefficients = coefficients * 0.95 ** np.arange(1, len(coefficients) + 1)
    return coefficients


@lru_cache
def _student_constant(degrees_of_freedom: int) -> float:
    """Return what -2 times the logarithm of the likelihood has more for each sample, less ln(2 pi) + 1."""
    # Gamma((nu + 1) / 2) / Gamma(nu / 2), without a library whose last digit depends on the machine.
    ratio = 1.0 / math.sqrt(math.pi)
    for nu in range(1, degrees_of_freedom):
        ratio = nu / 2 / ratio
    constant = float(natural_log(ratio)) - 0.5 * float(natural_log(degrees_of_freedom * math.pi))
    return -2.0 * constant - _LN_2PI - 1.0
