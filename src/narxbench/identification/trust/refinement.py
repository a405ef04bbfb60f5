"""Other weights for a structure that is found: those of least free-run error, and those with coloured noise in mind."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from narxbench.identification.trust.weights import orthogonalise
from narxbench.io.errors import NarxbenchError
from narxbench.model.records import Record
from narxbench.model.terms import OUTPUT, Monomial
from narxbench.numerics.compilation import compiled

Floats = NDArray[np.float64]

# An output of larger magnitude than this many times the largest measured one has diverged.
BOUND = 1e6
# Weights have settled when what each adds to the output changes by no more than this part of the residuals (both rms):
# far less than the weights are sure to.
SETTLED = 1e-4
# Residuals below this part of the output are rounding.
NO_NOISE = 1e-12


class Refit(NamedTuple):
    """Outcome of a refit by simulation.

    Attributes
    ----------
    coefficients : array of float, shape (n,)
        The weights to use: the new ones if they are accepted, else the given ones.
    accepted : bool
        Whether the new weights are better on the selection records.
    before, after : float or None
        Free-run error (rms) on the selection records; None where it diverges, or nothing was fitted.
    obstacle : {"", "records", "diverges", "samples"}
        Why nothing was fitted: the records have no sample after the largest lag, the run diverges on the estimation
        records, or there are fewer samples than weights.
    """

    coefficients: Floats
    accepted: bool
    before: float | None = None
    after: float | None = None
    obstacle: Literal["", "records", "diverges", "samples"] = ""


class Extended(NamedTuple):
    """Outcome of extended least squares.

    Attributes
    ----------
    coefficients : array of float, shape (n,)
        Weights of the terms.
    noise_coefficients : array of float, shape (n_e,)
        Weights of the past residuals.
    converged : bool
        Whether they have settled. If not, the coefficients are those of plain least squares and the others zero.
    """

    coefficients: Floats
    noise_coefficients: Floats
    converged: bool


class _Run(NamedTuple):
    """What the free runs of a model over some records give, and their derivatives by the weights."""

    errors: Floats
    slopes: Floats


def refit_by_simulation(
    monomials: Sequence[Monomial],
    start: Sequence[float],
    estimation: Sequence[Record],
    selection: Sequence[Record],
    *,
    decimation: int = 1,
    evaluations: int = 100,
) -> Refit:
    """Refit the weights of a structure by the error of its free runs, if that helps on other records.

    Least squares minimises the error one step ahead. Noise on the output biases its weights, which the free run does
    not suffer from; but its error has several minima, and it fits what the records happen to start with.

    Parameters
    ----------
    monomials : sequence of Monomial
        The n terms.
    start : sequence of float
        Their weights, which the search starts from.
    estimation : sequence of Record
        Records over which the error is minimised, in the units that the terms are of.
    selection : sequence of Record
        Records that decide whether the new weights are kept: only if the free-run error over them is lower and finite.
    decimation : int
        Samples of a record in one step of the model; each record is run in all of its phases.
    evaluations : int
        Free runs over all estimation records, at most.

    Returns
    -------
    Refit
        Weights and whether they are new.

    Notes
    -----
    Levenberg and Marquardt's method of MINPACK with exact derivatives, which follow the recursion of the model. Weights
    with which a run leaves its bounds count as far worse than all others.

    Examples
    --------
    >>> from narxbench.model.terms import parse_term
    >>> u = np.array([[1.0], [0.0], [2.0], [1.0], [3.0], [0.0], [1.0]])
    >>> y = np.array([0.0, 1.0, 0.5, 2.25, 2.125, 4.0625, 2.03125])
    >>> record = Record("", u, y)
    >>> refit_by_simulation([parse_term("y(k-1)"), parse_term("u(k-1)")], [0.4, 1.1], [record], [record])[1]
    True
    """
    given = np.array(start, np.float64)
    model = _Model(monomials)
    pieces, guards = model.pieces(estimation, decimation), model.pieces(selection, decimation)
    if not pieces or not guards:
        return Refit(given, False, obstacle="records")
    before, first = model.run(guards, given), model.run(pieces, given)
    if first is None:
        return Refit(given, False, obstacle="diverges")
    if len(first.errors) < len(given):
        return Refit(given, False, obstacle="samples")
    # The sum of squares only ever goes down, so that none like this is accepted.
    worst = np.full(len(first.errors), 10.0 * float(np.abs(first.errors).max()))

    # Derivatives are asked for at weights whose errors were asked for just before.
    @lru_cache(maxsize=2)
    def run(weights: bytes) -> _Run | None:
        return model.run(pieces, np.frombuffer(weights))

    def errors(weights: Floats) -> Floats:
        found = run(weights.tobytes())
        return worst if found is None else found.errors

    def slopes(weights: Floats) -> Floats:
        found = run(weights.tobytes())
        return first.slopes if found is None else found.slopes

    new = least_squares(errors, given, slopes, method="lm", x_scale="jac", max_nfev=evaluations).x
    was, now = _rms(before), _rms(model.run(guards, new))
    better = now is not None and (was is None or now < was)
    return Refit(new if better else given, better, was, now)


def extended_least_squares(
    columns: Floats, y: Floats, previous: NDArray[np.int64], *, terms: Sequence[str], iterations: int = 60
) -> Extended:
    """Return the weights of a structure with a moving average of past residuals as model of the noise.

    Noise that is correlated over time makes plain least squares biased where terms have past outputs. Here the
    residuals of the last fit are further columns of the next, until the weights settle.

    Parameters
    ----------
    columns : array, shape (rows, n)
        Values of the terms.
    y : array, shape (rows,)
        Output.
    previous : array of int, shape (rows, n_e)
        Which row is 1, …, n_e steps before; -1 where the record begins, there the residual is taken as zero.
    terms : sequence of str
        Names of the n terms.
    iterations : int
        Fits at most.

    Returns
    -------
    Extended
        Weights of terms and residuals. In a free run or a prediction only the former count.

    Raises
    ------
    NarxbenchError
        For a singular structure.

    Notes
    -----
    Sources: G. C. Goodwin and K. S. Sin, Adaptive Filtering, Prediction and Control, 1984; S. A. Billings and W. S. F.
    Voon, International Journal of Control 44(1), 1986, pages 235-244. Noise that hardly forgets settles slowly
    or not at all.
    """
    n, n_e = columns.shape[1], previous.shape[1]
    names = [*terms, *(f"e(k-{lag})" for lag in range(1, n_e + 1))]
    plain = weights = orthogonalise(columns, y, terms).coefficients
    residuals = y - columns @ weights
    without = np.zeros(n_e)
    if np.abs(residuals).max(initial=0.0) <= NO_NOISE * np.abs(y).max(initial=0.0):
        return Extended(plain, without, True)
    noise = without
    for _ in range(iterations):
        lagged = np.where(previous >= 0, residuals[previous], 0.0)
        extended = np.column_stack([columns, lagged])
        try:
            found = orthogonalise(extended, y, names).coefficients
        except NarxbenchError:
            # The past residuals are sums of the terms.
            break
        moves = np.abs(found - np.concatenate([weights, noise])) * np.sqrt((extended**2).mean(axis=0))
        weights, noise = found[:n], found[n:]
        residuals = y - extended @ found
        if moves.max() <= SETTLED * np.sqrt((residuals**2).mean()):
            return Extended(weights, noise, True)
    return Extended(plain, without, False)


class _Model:
    """The terms of a model as compiled code takes them."""

    def __init__(self, monomials: Sequence[Monomial]) -> None:
        factors = [factor for monomial in monomials for factor in monomial]
        self.ends = np.cumsum([len(monomial) for monomial in monomials], dtype=np.int64)
        self.signals = np.array([signal for signal, _ in factors], np.int64)
        self.lags = np.array([lag for _, lag in factors], np.int64)
        self.longest = int(self.lags.max(initial=0))

    def pieces(self, records: Sequence[Record], decimation: int) -> list[Floats]:
        """Return output and inputs, shape (samples, 1 + inputs), of each phase that has samples to predict."""
        phases = (record.phase(first, decimation) for record in records for first in range(decimation))
        return [np.column_stack([phase.y, phase.u]) for phase in phases if len(phase) > self.longest]

    def run(self, pieces: Sequence[Floats], weights: Floats) -> _Run | None:
        """Return the errors of the free runs, shape (samples,), and their derivatives, shape (samples, n).

        None where a run or its derivatives leave their bounds.
        """
        errors, slopes = [np.empty(0)], [np.empty((0, len(weights)))]
        bound = BOUND * max((float(np.abs(piece[:, OUTPUT]).max()) for piece in pieces), default=0.0)
        for piece in pieces:
            values, derivatives = piece.copy(), np.zeros((len(piece), len(weights)))
            if not _simulate(self.ends, self.signals, self.lags, weights, values, self.longest, bound, derivatives):
                return None
            errors.append(values[self.longest :, OUTPUT] - piece[self.longest :, OUTPUT])
            slopes.append(derivatives[self.longest :])
        return _Run(np.concatenate(errors), np.concatenate(slopes))


@compiled
def _simulate(ends, signals, lags, weights, values, start, bound, slopes):  # type: ignore[no-untyped-def]
    # Replaces the output, column 0 of the values, from the start on by the free run, and fills in its derivatives by
    # the weights; returns whether both stay within bounds. The factors of a term t are those from ends[t - 1] on.
    by_past = np.empty(start + 1)
    for k in range(start, values.shape[0]):
        by_past[:] = 0.0
        value = 0.0
        first = 0
        for t in range(ends.shape[0]):
            product = 1.0
            for f in range(first, ends[t]):
                product *= values[k - lags[f], signals[f]]
            slopes[k, t] = product
            value += weights[t] * product
            for f in range(first, ends[t]):
                if signals[f] == 0:
                    rest = weights[t]
                    for g in range(first, ends[t]):
                        if g != f:
                            rest *= values[k - lags[g], signals[g]]
                    by_past[lags[f]] += rest
            first = ends[t]
        for lag in range(1, start + 1):
            if by_past[lag] != 0.0:
                for t in range(ends.shape[0]):
                    slopes[k, t] += by_past[lag] * slopes[k - lag, t]
        if not abs(value) <= bound:
            return False
        for t in range(ends.shape[0]):
            # Beyond this their squares overflow.
            if not abs(slopes[k, t]) <= 1e150:
                return False
        values[k, 0] = value
    return True


def _rms(run: _Run | None) -> float | None:
    return None if run is None else float(np.sqrt(np.mean(run.errors**2)))
