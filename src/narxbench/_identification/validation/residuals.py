"""Order that is left in the errors: correlation tests one step ahead, and what errors of a free run have in common.

Residuals xi of a sufficient model can be predicted neither from the past nor from the inputs. Linear correlations show
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
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from narxbench._identification.search.scores import NEGLIGIBLE
from narxbench._identification.validation.error_table import predicted
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._model.terms import signal_name
from narxbench._numerics.intervals import LEVEL
from narxbench._numerics.rounding import significant

# The sources show 20 lags. Beyond a quarter of a record the sums have too few products (G. E. P. Box and G. M. Jenkins,
# Time series analysis, 1970).
LAGS, SHARE_OF_RECORD = 20, 0.25
# Residuals of less than a thousandth of what the output changes by in a step (rms) are the rounding of the data.
ROUNDING = 1e-6
# What errors of free runs have in common is reported from this share of their rms on, unless it is too small to matter,
# or may be chance, once in a hundred cases. Errors of neighbouring samples are alike: this many blocks of all samples
# count as independent (benchmarks/verdicts.md).
BIASED, CHANCE, BLOCKS = 0.5, 0.01, 20

Kind = Literal["linear", "nonlinear"]
Signals = list[NDArray[np.float64]]


@dataclass(frozen=True)
class CorrelationTest:
    """One correlation function of the residuals and its verdict."""

    name: str
    """Such as ``phi_uxi``, of several inputs followed by which one, such as ``phi_uxi_u2``."""
    title: str
    """The two correlated signals, in words."""
    kind: Kind
    """What a failure speaks of: lags and noise (linear), or terms."""
    lags: tuple[int, ...]
    """The lags tau, in steps of the model."""
    values: tuple[float, ...]
    """The correlation coefficient at each lag, from -1 to 1."""
    band: float
    """1.96 / sqrt(samples): one coefficient of a sufficient model is within plus and minus this with 95 %. So some 5
    % of all lags are outside by chance."""
    limit: float
    """The same for all lags of all tests of the model together (Bonferroni): wider, and what decides."""

    @property
    def worst(self) -> float:
        """The value of the largest magnitude."""
        return max(self.values, key=abs)

    @property
    def worst_lag(self) -> int:
        """The lag of that value."""
        return self.lags[self.values.index(self.worst)]

    @property
    def passed(self) -> bool:
        """Whether every value is within ``limit``.

        A sufficient model fails one or more of its tests in about 5 % of cases, and with 90 residuals in 9 %, as
        squares have heavy tails.
        """
        return abs(self.worst) <= self.limit


def residuals(model: Model, records: Sequence[Record]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return one-step errors (measured less predicted) and the inputs there, of each record that is long enough.

    Of phase 0 alone: the phases of an oversampled record repeat each other, and the bands would be far too narrow.
    """
    pairs, step_model = [], model.decimated()
    for record in records:
        thin, start = record.phase(0, model.decimation), step_model.initial_samples
        # One step ahead a model diverges only on a record that hardly moves: its signals limit the prediction.
        run = predicted(step_model, thin, 1) if len(thin) > start else None
        if run is not None:
            pairs.append((thin.y[start:] - run[start:], thin.u[start:]))
    return pairs


def correlation_tests(model: Model, records: Sequence[Record]) -> list[CorrelationTest]:
    """Test the residuals of a model on some records. Sums never go from one record to the next.

    The bands presume white residuals: where ``phi_xixi`` fails, a near failure of another test with a slow input is a
    hint. Signals that are constant, few residuals and those that are rounding are not tested.
    """
    errors, inputs = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for record_errors, record_inputs in residuals(model, records):
        errors.append(record_errors)
        inputs.append(record_inputs)
    largest = min(LAGS, int(SHARE_OF_RECORD * max(map(len, errors), default=0)))
    if largest < 2 or _are_rounding(errors, records, model.decimation):
        return []
    xi = _centred(errors)
    correlations = _correlations(model, xi, inputs, largest)
    samples, coefficients = sum(map(len, xi)), sum(len(correlation["lags"]) for correlation in correlations)
    band, limit = _half_width(1, samples), _half_width(max(1, coefficients), samples)
    return [CorrelationTest(**correlation, band=band, limit=limit) for correlation in correlations]


def _are_rounding(errors: Signals, records: Sequence[Record], decimation: int) -> bool:
    """Return whether residuals are so small that they are the rounding of the data."""
    changes = [np.diff(record.phase(0, decimation).y) for record in records]
    return _sum_of_squares(errors) <= ROUNDING * _sum_of_squares(changes)


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


def _correlations(
    model: Model, xi: Signals, inputs: Sequence[NDArray[np.float64]], largest: int
) -> list[dict[str, Any]]:
    """Return the correlation functions of residuals, up to a largest lag, whose signals are not constant."""
    after = range(1, largest + 1)
    functions = [_correlation("phi_xixi", "residuals and earlier residuals", "linear", xi, xi, after)]
    for signal in range(1, model.n_inputs + 1):
        functions += _input_correlations(model, signal, xi, [u[:, signal - 1] for u in inputs], largest)
    if not model.n_inputs:
        functions += _series_correlations(xi, largest)
    return list(filter(None, functions))


def _correlation(
    name: str, title: str, kind: Kind, a: Signals, b: Signals, distances: Sequence[int], shift: int = 0
) -> dict[str, Any] | None:
    """Return name, title, kind, lags and values of a correlation function of a(t - distance) and b(t), by record.

    ``shift`` is the distance less tau. None where a signal is constant.
    """
    if not (np.ptp(np.concatenate(a)) > 0 and np.ptp(np.concatenate(b)) > 0):
        return None
    size = math.sqrt(_energy(a) * _energy(b))
    values = tuple(significant(_product(a, b, distance) / size) for distance in distances)
    lags = tuple(distance - shift for distance in distances)
    return {"name": name, "title": title, "kind": kind, "lags": lags, "values": values}


def _input_correlations(
    model: Model, signal: int, xi: Signals, inputs: Sequence[NDArray[np.float64]], largest: int
) -> list[dict[str, Any] | None]:
    """Return the correlation functions of residuals and an input."""
    name = model.inputs[signal - 1]
    u, xi_squared = _centred(inputs), _squared(xi)
    squared = _squared(u)
    product = _centred([a * b for a, b in zip(xi, u, strict=True)])
    after, around = range(1, largest + 1), range(-largest, largest + 1)
    which = f"_{signal_name(signal, model.n_inputs)}" if model.n_inputs > 1 else ""
    square, earlier = f"the square of {name}", f"residuals and earlier residuals times {name}"
    return [
        _correlation(f"phi_uxi{which}", f"residuals and {name}", "linear", u, xi, around),
        # At tau the product is tau + 1 steps before the residual.
        _correlation(f"phi_xixiu{which}", earlier, "nonlinear", product, xi, after, 1),
        _correlation(f"phi_u2xi{which}", f"residuals and {square}", "nonlinear", squared, xi, around),
        _correlation(f"phi_u2xi2{which}", f"squared residuals and {square}", "nonlinear", squared, xi_squared, around),
    ]


def _series_correlations(xi: Signals, largest: int) -> list[dict[str, Any] | None]:
    """Return the correlation functions of the residuals of a series without input."""
    xi_squared, after = _squared(xi), range(1, largest + 1)
    but_zero = [*range(-largest, 0), *after]
    earlier = "squared residuals and earlier squared residuals"
    return [
        _correlation("phi_xi2xi", "residuals and squared residuals", "nonlinear", xi_squared, xi, but_zero),
        _correlation("phi_xi2xi2", earlier, "nonlinear", xi_squared, xi_squared, after),
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
    least = max(BIASED * rms, NEGLIGIBLE * deviation)
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
    """Return the weight of a column in the means of blocks, and the p value of Student's t; of too few 0 and 1."""
    y, x = np.asarray(means, np.float64), np.asarray(column, np.float64)
    if len(y) <= estimated or not np.ptp(y):
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
