"""Order that is left in the errors: correlation tests one step ahead, and what errors of a free run have in common.

Residuals xi of a sufficient model can be foretold neither from the past nor from the inputs. Linear correlations show
missing lags and coloured noise but are blind to many missing nonlinear terms, so there are nonlinear ones. With
(a)' for a less its mean, a sufficient model has (Billings and Voon, Correlation based model validity tests for
non-linear models, International Journal of Control 44, 1986, 235-244)

* phi_xixi(tau) = E[xi(t - tau) xi(t)] = 0 for tau > 0,
* phi_uxi(tau) = E[u(t - tau) xi(t)] = 0,
* phi_xi(xiu)(tau) = E[xi(t) xi(t - 1 - tau) u(t - 1 - tau)] = 0 for tau >= 0,
* phi_(u^2)'xi(tau) = E[(u^2(t - tau))' xi(t)] = 0,
* phi_(u^2)'xi^2(tau) = E[(u^2(t - tau))' xi^2(t)] = 0,

and a sufficient model of a series without input (Billings and Tao, Model validity tests for non-linear signal
processing applications, International Journal of Control 54, 1991, 157-194)

* phi_xixi(tau) as above,
* phi_(xi^2)'xi(tau) = E[(xi^2(t - tau))' xi(t)] = 0 for tau other than 0, where it is only the skewness,
* phi_(xi^2)'(xi^2)'(tau) = E[(xi^2(t - tau))' (xi^2(t))'] = 0 for tau > 0.

A positive tau has the other signal before the residual. The theory takes inputs of zero mean: the means of u and xi
are removed before they are squared or multiplied, or u^2 of an input far from zero would be u once more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from narxbench._identification.trust.validation import predicted
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._model.terms import signal_name
from narxbench._numerics.rounding import significant

# The sources show 20 lags. Beyond a quarter of a record the sums have too few products.
LAGS, SHARE_OF_RECORD = 20, 4
LEVEL = 0.05
# Residuals with less than this share of the output's energy are the rounding of an exact model.
ROUNDING = 1e-18
# Those of less than a thousandth of what the output changes by in a step (rms) are the rounding of the data.
ROUNDING_OF_DATA = 1e-6
# What errors of free runs have in common is reported from this share of the output's deviation, or of the errors' own
# rms, on, unless it is too small to matter, or may be chance (both tails). Errors of neighbouring samples are alike:
# their blocks count as independent, and few of them tell nothing.
BIASED, BIASED_OF_ERROR, NO_MATTER, CHANCE = 0.1, 0.5, 0.01, 0.01
BLOCKS, FEWEST_BLOCKS = 20, 5

Kind = Literal["linear", "nonlinear"]
Signals = list[NDArray[np.float64]]


@dataclass(frozen=True)
class CorrelationTest:
    """One correlation function of the residuals and its verdict."""

    name: str
    """Such as ``phi_uxi``; of several inputs followed by which one, such as ``phi_uxi_u2``."""
    title: str
    """What is correlated with what, in words."""
    kind: Kind
    """What a failure speaks of: lags and noise (linear), or terms."""
    lags: tuple[int, ...]
    """The lags tau, in steps of the model."""
    values: tuple[float, ...]
    """The correlation coefficient at each lag, from -1 to 1."""
    band: float
    """1.96 / sqrt(samples): one coefficient of a sufficient model lies within plus and minus this with 95 %. So some 5
    % of all lags lie outside by chance."""
    limit: float
    """The same for all lags of all tests of the model together (Bonferroni): wider, and what decides."""
    passed: bool
    """Whether every value lies within ``limit``. A sufficient model fails one or more of its tests in about 5 % of
    cases; with 90 residuals in 9 %, as squares have heavy tails."""
    worst_lag: int
    """The lag of the largest magnitude."""
    worst: float
    """The value there."""


def residuals(model: Model, records: Sequence[Record]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return one-step errors (measured less predicted) and the inputs there, of each record that is long enough.

    Of phase 0 alone: the phases of an oversampled record repeat each other, and the bands would be far too narrow.
    """
    pairs, step_model = [], model.decimated()
    for record in records:
        thin, start = record.phase(0, model.decimation), step_model.initial_samples
        # Nothing of a record can be far from all that the record holds but where it hardly moves: then it diverges.
        run = predicted(step_model, thin, 1) if len(thin) > start else None
        if run is not None:
            pairs.append((thin.y[start:] - run[start:], thin.u[start:]))
    return pairs


class _Correlation(NamedTuple):
    """A correlation function to test: signals a(t - distance) and b(t), by record."""

    name: str
    title: str
    kind: Kind
    a: Signals
    b: Signals
    distances: Sequence[int]
    shift: int = 0  # distance less tau

    @property
    def varies(self) -> bool:
        """Whether neither signal is constant."""
        return bool(np.ptp(np.concatenate(self.a)) > 0 and np.ptp(np.concatenate(self.b)) > 0)

    def test(self, band: float, limit: float) -> CorrelationTest:
        """Return the coefficients and the verdict."""
        energy = _energy(self.a) * _energy(self.b)
        values = []
        for distance in self.distances:
            values.append(significant(_product(self.a, self.b, distance) / math.sqrt(energy)))
        taus = tuple(distance - self.shift for distance in self.distances)
        worst, lag = max(zip(values, taus, strict=True), key=lambda pair: abs(pair[0]))
        passed = abs(worst) <= limit
        return CorrelationTest(self.name, self.title, self.kind, taus, tuple(values), band, limit, passed, lag, worst)


def correlation_tests(model: Model, records: Sequence[Record], lags: int = LAGS) -> list[CorrelationTest]:
    """Test the residuals of a model on some records, up to a largest lag; sums never go across a join.

    The bands presume white residuals: where ``phi_xixi`` fails, a near failure of another test with a slow input is a
    hint. Signals that are constant, few residuals and those that are rounding are not tested.
    """
    errors, inputs = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for record_errors, record_inputs in residuals(model, records):
        errors.append(record_errors)
        inputs.append(record_inputs)
    largest = min(lags, max(map(len, errors), default=0) // SHARE_OF_RECORD)
    if largest < 2 or _are_rounding(errors, records, model.decimation):
        return []
    xi = _centred(errors)
    functions = _correlations(model, xi, inputs, largest)
    samples, coefficients = sum(map(len, xi)), sum(len(function.distances) for function in functions)
    band, limit = _half_width(1, samples), _half_width(max(1, coefficients), samples)
    return [function.test(band, limit) for function in functions]


def _are_rounding(errors: Signals, records: Sequence[Record], decimation: int) -> bool:
    """Return whether residuals are so small that they are the rounding of an exact model, or of the data."""
    outputs, changes = Signals(), Signals()
    for record in records:
        outputs.append(record.y)
        changes.append(np.diff(record.phase(0, decimation).y))
    limits = ROUNDING * _sum_of_squares(outputs), ROUNDING_OF_DATA * _sum_of_squares(changes)
    return _sum_of_squares(errors) <= max(limits)


def _half_width(coefficients: int, samples: int) -> float:
    """Return the half width of the band that holds all of some coefficients of a sufficient model with 95 %."""
    return float(-ndtri(LEVEL / 2 / coefficients) / np.sqrt(samples))


def _sum_of_squares(parts: Sequence[NDArray[np.float64]]) -> float:
    return sum(float(np.sum(part**2)) for part in parts)


def _energy(parts: Signals) -> float:
    return sum(float(part @ part) for part in parts)


def _squared(parts: Signals) -> Signals:
    """Return the squares of signals about their mean, of largest magnitude 1."""
    return _centred([part**2 for part in parts])


def _correlations(model: Model, xi: Signals, inputs: Sequence[NDArray[np.float64]], largest: int) -> list[_Correlation]:
    """Return the correlation functions of residuals, up to a largest lag, whose signals are not constant."""
    after = range(1, largest + 1)
    functions = [_Correlation("phi_xixi", "residuals and earlier residuals", "linear", xi, xi, after)]
    for signal in range(1, model.n_inputs + 1):
        functions += _input_correlations(model, signal, xi, [u[:, signal - 1] for u in inputs], largest)
    if not model.n_inputs:
        functions += _series_correlations(xi, largest)
    return [function for function in functions if function.varies]


def _input_correlations(
    model: Model, signal: int, xi: Signals, inputs: Sequence[NDArray[np.float64]], largest: int
) -> list[_Correlation]:
    """Return the correlation functions of residuals and an input."""
    name = model.inputs[signal - 1]
    u, xi_squared = _centred(inputs), _squared(xi)
    squared = _squared(u)
    product = _centred([a * b for a, b in zip(xi, u, strict=True)])
    after, around = range(1, largest + 1), range(-largest, largest + 1)
    which = f"_{signal_name(signal, model.n_inputs)}" if model.n_inputs > 1 else ""
    square, earlier = f"the square of {name}", f"residuals and earlier residuals times {name}"
    return [
        _Correlation(f"phi_uxi{which}", f"residuals and {name}", "linear", u, xi, around),
        # At tau the product lies tau + 1 steps before the residual.
        _Correlation(f"phi_xixiu{which}", earlier, "nonlinear", product, xi, after, 1),
        _Correlation(f"phi_u2xi{which}", f"residuals and {square}", "nonlinear", squared, xi, around),
        _Correlation(f"phi_u2xi2{which}", f"squared residuals and {square}", "nonlinear", squared, xi_squared, around),
    ]


def _series_correlations(xi: Signals, largest: int) -> list[_Correlation]:
    """Return the correlation functions of the residuals of a series without input."""
    xi_squared, after = _squared(xi), range(1, largest + 1)
    but_zero = [*range(-largest, 0), *after]
    earlier = "squared residuals and earlier squared residuals"
    return [
        _Correlation("phi_xi2xi", "residuals and squared residuals", "nonlinear", xi_squared, xi, but_zero),
        _Correlation("phi_xi2xi2", earlier, "nonlinear", xi_squared, xi_squared, after),
    ]


def _product(a: Signals, b: Signals, distance: int) -> float:
    """Return the sum of a(t - distance) b(t)."""
    total = 0.0
    for earlier, later in zip(a, b, strict=True):
        overlap = max(len(earlier) - abs(distance), 0)
        total += float(earlier[max(-distance, 0) :][:overlap] @ later[max(distance, 0) :][:overlap])
    return total


def _centred(parts: Sequence[NDArray[np.float64]]) -> Signals:
    mean = np.mean(np.concatenate(parts))
    centred = [part - mean for part in parts]
    # A correlation has no unit, and squares of tiny numbers would be zero.
    largest = max((float(np.abs(part).max()) for part in centred if len(part)), default=0.0)
    return [part / largest for part in centred] if largest > 0 else centred


def free_run_bias(runs: Sequence[tuple[Model, Record]]) -> dict[str, Any] | None:
    """Return what the errors of free runs have in common where the output rises, where it falls, and as time passes.

    It rises or falls where it changes by more than usual (rms) from the step before a sample to that after it: noise of
    the sample has no part in that. ``rising``, ``falling`` and ``drift`` have ``error``, the mean there or the change
    to the end, and whether it is ``seen``: large enough, and no chance. None where no run is long enough and finite.
    """
    series = []
    for model, record in runs:
        run = _free_run(model, record)
        if run is not None:
            series.append(run)
    if not series:
        return None
    y, errors, slopes = np.concatenate(series, axis=1)
    rms, deviation, usual = map(_root_mean_square, (errors, y - y.mean(), slopes))
    least = max(min(BIASED * deviation, BIASED_OF_ERROR * rms), NO_MATTER * deviation)
    # No block reaches from one record into the next.
    share = min(BLOCKS / len(y), 1.0)
    blocks: list[NDArray[np.float64]] = []
    for run in series:
        blocks += np.array_split(run, max(1, round(share * run.shape[1])), axis=1)
    values: dict[str, Any] = {"rms": significant(rms), "deviation": significant(deviation)}
    for name, sign in (("rising", 1.0), ("falling", -1.0)):
        values[name] = _bias_where(blocks, sign, usual, least)
    values["drift"] = _drift(blocks, least)
    return values


def _root_mean_square(series: NDArray[np.float64]) -> float:
    return math.sqrt(math.fsum(series**2) / len(series))


def _bias_where(blocks: Sequence[NDArray[np.float64]], sign: float, usual: float, least: float) -> dict[str, Any]:
    """Return the mean error where the output changes by more than usual in one direction."""
    parts = []
    for _, errors, slopes in blocks:
        is_there = sign * slopes > usual
        if is_there.any():
            parts.append(errors[is_there])
    means = [math.fsum(part) / len(part) for part in parts]
    error = math.fsum(map(math.fsum, parts)) / max(1, sum(map(len, parts)))
    _, p = _regression(means, [1.0] * len(means))
    return {"error": significant(error), "seen": bool(abs(error) > least and p < CHANCE)}


def _drift(blocks: Sequence[NDArray[np.float64]], least: float) -> dict[str, Any]:
    """Return the change of the error from beginning to end."""
    means = [math.fsum(errors) / len(errors) for _, errors, _ in blocks]
    # About its mean the number of a block is orthogonal to a constant.
    numbers = np.arange(len(means)) - (len(means) - 1) / 2
    slope, p = _regression(np.subtract(means, np.mean(means)), numbers, 2)
    change = significant(slope * len(means))
    return {"error": change, "seen": bool(abs(change) > least and p < CHANCE)}


def _regression(means: ArrayLike, column: ArrayLike, estimated: int = 1) -> tuple[float, float]:
    """Return the weight of a column in the means of blocks, and the p value of Student's t; 0 and 1 of too few."""
    y, x = np.asarray(means, np.float64), np.asarray(column, np.float64)
    if len(y) < FEWEST_BLOCKS or not np.ptp(y):
        return 0.0, 1.0
    weight, freedom = float(x @ y / (x @ x)), len(y) - estimated
    rest = y - weight * x
    error = math.sqrt(float(rest @ rest) / freedom / float(x @ x))
    return weight, 2.0 * float(stdtr(freedom, -abs(weight) / error)) if error else 0.0


def _free_run(model: Model, record: Record) -> NDArray[np.float64] | None:
    """Return output, error of the free run and change of the output around the sample, of phase 0 of a record."""
    step_model, thin = model.decimated(), record.phase(0, model.decimation)
    inner = slice(max(1, step_model.initial_samples), len(thin) - 1)
    run = predicted(step_model, thin) if inner.start < inner.stop else None
    if run is None:
        return None
    errors = thin.y - run
    return np.array([thin.y[inner], errors[inner], (thin.y[2:] - thin.y[:-2])[inner.start - 1 :]])
