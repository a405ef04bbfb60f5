"""Prediction error methods: the weights of a structure under a model of the noise, and how well it then predicts.

NARX, NARMAX and NOE differ in where the error enters; :mod:`narxbench.fitness.kernel.prediction_error` has the
equations. Their innovations are of the same output, so their likelihoods compare: that of Gaussian innovations of
unknown variance is N ln(SSE / N) but for a constant, and a criterion adds what terms and weights of the noise cost.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapters 7, 9 and 10; S. A. Billings,
Nonlinear System Identification, 2013, chapters 3 and 4.
"""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.kernel import prediction_error as kernel
from narxbench.fitness.kernel.simd import aligned
from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import OUTPUT, Monomial
from narxbench.numerics.logarithm import natural_log

NoiseModel = Literal["narx", "narmax", "noe"]
NOISE_MODELS: tuple[NoiseModel, ...] = get_args(NoiseModel)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Samples at the beginning of a stretch whose errors do not count: at most so many, and this share of the stretch.
TRANSIENT, TRANSIENT_SHARE = 30, 0.05
# Below this share of the output's power, innovations are rounding.
EXACT = 1e-13
# Outputs before stretches are estimated unless they are more than this together.
MOST_INITIAL = 40
# A free run beyond this multiple of the largest output has diverged.
BOUND = 10.0


class Training(Protocol):
    """What offers all data of a problem: a structure problem, or what an algorithm sees of one."""

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

    ``terms``, shape (n,), are numbers of candidates, ascending, ``weights`` theirs; ``moving`` has c_1, c_2, ... of the
    moving average, none but for NARMAX. ``sse`` is the sum of squares of the innovations that count; +inf where the
    model diverges. ``initial``, shape (stretches, depth), has the outputs before each stretch, the last one first,
    where an NOE model begins: its past is not what was measured with noise. They count as measured with the same noise
    as all others.
    """

    noise_model: NoiseModel
    terms: Integers
    weights: Floats
    moving: Floats
    sse: float
    initial: Floats


class Uncertainty(NamedTuple):
    """Standard errors of the terms, in the units of the data, and of the moving average, shape (n + order,)."""

    classical: Floats  # of white innovations of one variance
    robust: Floats  # where innovations may be correlated over some samples and change their variance


class Linearised:
    """The choice of terms close to a model, as a problem of linear regression.

    Columns are the sensitivities of all N_t candidates and, behind them, of the weights of the moving average. What
    they explain are the innovations and what the present terms contribute. ``gram`` has the inner products of the
    columns; off its diagonal only the rows that :meth:`enter` was called for hold numbers. ``moments`` are those with
    what they explain, ``energy`` is that of this with itself. ``finite`` is False where sensitivities grow without
    bounds.
    """

    def __init__(self, data: kernel.Signals, rows: int, bands: Floats, fit: Fit, n_terms: int) -> None:
        self._data, self._rows, self._bands = data, rows, bands
        n = n_terms + len(fit.moving)
        diagonal = np.empty(n + 1)
        kernel.squares(data, rows, bands, diagonal)
        self._products, self._known = np.diag(diagonal), np.zeros(n + 1, np.bool_)
        self._compute([*fit.terms.tolist(), *range(n_terms, n + 1)])
        self._gram, self.moments = np.array(self._products[:n, :n], order="C"), self._products[n, :n].copy()
        weighed = list(zip(fit.terms.tolist(), fit.weights.tolist(), strict=True))
        for term, weight in weighed:
            self.moments += weight * self._products[term, :n]
        # Code for arrays that can be written would be compiled next to that for the others.
        self.gram = self._gram.view()
        self.gram.flags.writeable = self.moments.flags.writeable = False
        self.energy = float(self._products[n, n])
        for term, weight in weighed:
            self.energy += weight * float(self._products[n, term] + self.moments[term])
        self.finite = bool(np.isfinite(diagonal).all() and np.isfinite(self.moments).all())

    def enter(self, columns: Iterable[int]) -> None:
        """Compute the inner products of some columns with all, unless they are known."""
        new = self._compute(columns)
        self._gram[new] = self._products[new, :-1]

    def _compute(self, columns: Iterable[int]) -> Integers:
        new = np.array([c for c in columns if not self._known[c]], np.int64)
        kernel.products(self._data, self._rows, self._bands, new, self._products)
        self._known[new] = True
        return new

    def weights(self, terms: Integers) -> Floats:
        """Return the weights of some candidates that entered, shape (n,), the moving average as it is."""
        n = len(terms)
        equations, weights = np.zeros((n + 1, n + 1)), np.empty(n)
        equations[:n, :n], equations[n, :n] = self.gram[np.ix_(terms, terms)], self.moments[terms]
        kernel.solve(equations, n, weights)
        return weights


class PredictionErrors:
    """Data and candidate terms, for fits under each noise model.

    All samples of the problem are predicted, in stretches without a gap, each from the measured outputs before it. Of
    the errors count ``samples``, N: all but a transient at the beginning of each stretch, which free runs need to
    forget where they began; all noise models leave out the same. Signals are scaled by powers of two, which rounds
    nothing: units do not matter. :meth:`linearised` takes 8 bytes for each sample and candidate: 160 MB for 1001
    candidates and 20,000 samples; a ``NarxbenchError`` tells where that is more than the machine has.
    """

    def __init__(self, problem: Training) -> None:
        u, y, monomials = problem.training_u, problem.training_y, problem.monomials
        samples, degree = len(y), max(1, *map(len, monomials))
        # A copy: of a single stretch a view, which cannot be written, would have code of its own.
        begin, end = np.array(problem.stretches.T, order="C")
        self._rows, self.n_terms = int((end - begin).sum()), len(monomials)
        needed = 8 * kernel.columns_size(self._rows, self.n_terms + 1)
        if needed > (there := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
            raise NarxbenchError(
                f"prediction errors: {self.n_terms} candidate terms of {self._rows} samples need {needed / 1e9:.1f} GB "
                f"of memory; this machine has {there / 1e9:.1f} GB; allowed: fewer samples or candidates"
            )
        signals = np.vstack([y, u.reshape(samples, -1).T])
        exponents = [math.frexp(float(np.abs(row).max()))[1] for row in signals]
        values = np.ldexp(signals, -np.array(exponents)[:, None])
        # What multiplies the weight of a scaled term to give that of the term, and what the likelihood has for it.
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
        self._data = kernel.Signals(
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
        )
        self.samples = int((end - begin - transient).sum())
        self._bands = np.empty(0)
        energy = 0.0
        for first, last in zip(self._data.counted.tolist(), end.tolist(), strict=True):
            for value in values[OUTPUT, first:last].tolist():
                energy += value * value
        self._least_sse = max(EXACT * energy, 1e-300)

    def fit(
        self,
        noise_model: NoiseModel,
        terms: Iterable[int],
        *,
        order: int = 2,
        weights: Floats | None = None,
        moving: Floats | None = None,
        initial: Floats | None = None,
    ) -> Fit:
        """Fit the weights of the candidates of these numbers by Gauss-Newton steps.

        ``order`` is that of the moving average of NARMAX, where ``moving`` is not given. ``weights``, scaled and in
        ascending order of the terms, ``moving``, and ``initial``, the outputs before the stretches, say where to begin.
        Without them NARX begins at 0, which least squares leaves in one step, and the others at the weights of NARX.
        """
        chosen = np.array(sorted(terms), np.int64)
        if noise_model == "narx":
            weights = np.zeros(len(chosen))
        elif weights is None:
            weights = self.fit("narx", chosen.tolist()).weights
        weights, moving = weights.copy(), np.zeros(order) if moving is None else moving.copy()
        if noise_model != "narmax":
            moving = np.zeros(0)
        values, errors = self._data.values.copy(), np.zeros(self._rows)
        if noise_model == "noe" and initial is not None:
            values[self._initial] = initial
        sse = kernel.gauss_newton(self._data, noise_model == "noe", chosen, weights, moving, values, errors)
        return Fit(noise_model, chosen, weights, moving, float(sse), values[self._initial])

    def innovations(self, fit: Fit) -> Floats:
        """Return the innovations of a fit in the units of y, shape (samples of all stretches,)."""
        return np.asarray(np.ldexp(self._predicted(fit)[1], self._output_exponent))

    def linearised(self, fit: Fit) -> Linearised:
        """Return the choice of terms close to a model; it holds until the next one is asked for."""
        size = kernel.columns_size(self._rows, self.n_terms + len(fit.moving) + 1)
        if len(self._bands) < size:
            self._bands = aligned(size)
        self._linearise(fit, np.arange(self.n_terms), self._bands)
        return Linearised(self._data, self._rows, self._bands, fit, self.n_terms)

    def sensitivities(self, fit: Fit) -> Floats:
        """Return what the prediction gains by the weight of each candidate, then of the moving average.

        For scaled signals, shape (rows, N_t + order).
        """
        n = self.n_terms + len(fit.moving)
        bands = np.empty(kernel.columns_size(self._rows, n + 1))
        self._linearise(fit, np.arange(self.n_terms), bands)
        return bands.reshape(-1, self._rows, kernel.BAND).transpose(1, 0, 2).reshape(self._rows, -1)[:, :n]

    def deviance(self, fit: Fit) -> float:
        """Return N ln(SSE / N) in the units of y: -2 times the logarithm of the likelihood but for a constant."""
        if not fit.sse < math.inf:
            return math.inf
        mean = max(fit.sse, self._least_sse) / self.samples
        return self.samples * (float(natural_log(mean)) + 2 * self._output_exponent * float(natural_log(2.0)))

    def log_likelihood(self, fit: Fit) -> float:
        """Return the logarithm of the largest likelihood of Gaussian innovations."""
        return -0.5 * (self.deviance(fit) + self.samples * (float(natural_log(2.0 * math.pi)) + 1.0))

    def coefficients(self, fit: Fit) -> Floats:
        """Return the weights of a fit in the units of the data, shape (n,)."""
        return np.asarray(np.ldexp(fit.weights, self._exponents[fit.terms]))

    def uncertainty(self, fit: Fit) -> Uncertainty:
        """Return the standard errors of the weights, from the Gauss-Newton Hessian.

        Robust ones take correlation up to floor(4 (N / 100)^(2/9)) samples into account (W. K. Newey and K. D. West,
        Review of Economic Studies 61, 1994, pages 631-653).
        """
        n, order = len(fit.terms), len(fit.moving)
        bands = np.empty(kernel.columns_size(self._rows, n + order + 1))
        errors = self._linearise(fit, fit.terms, bands)
        classical, robust = np.empty((2, n + order, n + order))
        bandwidth, freedom = int(4 * (self.samples / 100) ** (2 / 9)), max(1, self.samples - n - order)
        kernel.covariances(self._data, bands, n + order, errors, freedom, bandwidth, classical, robust)
        exponents = np.concatenate([self._exponents[fit.terms], np.zeros(order, np.int64)])
        # What is no more than rounding may lie below 0.
        return Uncertainty(*(np.ldexp(np.sqrt(np.maximum(np.diag(c), 0.0)), exponents) for c in (classical, robust)))

    def bounded(self, fit: Fit) -> bool:
        """Return whether the free run of a model stays bounded over every stretch, whatever its noise model."""
        measured = self._data.values[self._initial]
        return self._predicted(Fit("noe", fit.terms, fit.weights, np.zeros(0), fit.sse, measured))[2] < math.inf

    def _predicted(self, fit: Fit) -> tuple[Floats, Floats, float]:
        """Return the signals that the predictions saw, the innovations, and their sum of squares."""
        values, errors, output_error = self._data.values.copy(), np.zeros(self._rows), fit.noise_model == "noe"
        values[self._initial] = fit.initial
        sse = kernel.innovations(self._data, output_error, fit.terms, fit.weights, fit.moving, values, errors)
        return values, errors, sse

    def _linearise(self, fit: Fit, candidates: Integers, bands: Floats) -> Floats:
        """Compute the sensitivities of some candidates and return the innovations."""
        values, errors, _ = self._predicted(fit)
        model = fit.terms, fit.weights, fit.moving, values, errors
        kernel.linearise(self._data, fit.noise_model == "noe", *model, candidates, 0, bands)
        return errors
