"""What errors still hold: correlation tests one step ahead, and what the errors of a free run have in common.

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
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from narxbench.identification.trust.validation import predicted
from narxbench.model.narx import Model
from narxbench.model.records import Record
from narxbench.model.terms import signal_name
from narxbench.numerics.rounding import significant

# The sources show 20 lags. Beyond a quarter of a record the sums have too few products.
LAGS, SHARE_OF_RECORD = 20, 4
LEVEL = 0.05
# Residuals with less than this share of the output's energy are the rounding of an exact model.
ROUNDING = 1e-18
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
    found, own = [], model.decimated()
    for record in records:
        thin, start = record.phase(0, model.decimation), own.initial_samples
        # Nothing of a record can be far from all that the record holds but where it hardly moves: then it diverges.
        run = predicted(own, thin, 1) if len(thin) > start else None
        if run is not None:
            found.append((thin.y[start:] - run[start:], thin.u[start:]))
    return found


def correlation_tests(model: Model, records: Sequence[Record], lags: int = LAGS) -> list[CorrelationTest]:
    """Test the residuals of a model on some records, up to a largest lag; sums never go across a join.

    The bands presume white residuals: where ``phi_xixi`` fails, a near failure of another test with a slow input is a
    hint. Signals that are constant, few residuals and those of an exact model are not tested.
    """
    found = residuals(model, records)
    largest = min(lags, max((len(xi) for xi, _ in found), default=0) // SHARE_OF_RECORD)
    energy = sum(float(np.sum(record.y**2)) for record in records)
    if largest < 2 or sum(float(np.sum(xi**2)) for xi, _ in found) <= ROUNDING * energy:
        return []
    xi = _centred([own for own, _ in found])
    xi_squared = _centred([own**2 for own in xi])
    after, around = range(1, largest + 1), range(-largest, largest + 1)
    # Name, title and kind; signals a(t - distance) and b(t); the distances, and what tau is less than they are.
    functions: list[tuple[str, str, Kind, Signals, Signals, Sequence[int], int]] = [
        ("phi_xixi", "residuals and earlier residuals", "linear", xi, xi, after, 0)
    ]
    for signal, name in enumerate(model.inputs, 1):
        u = _centred([own[:, signal - 1] for _, own in found])
        squared = _centred([own**2 for own in u])
        product = _centred([a * b for a, b in zip(xi, u, strict=True)])
        which, square = f"_{signal_name(signal, model.n_inputs)}" if model.n_inputs > 1 else "", f"the square of {name}"
        earlier = f"residuals and earlier residuals times {name}"
        functions += [
            (f"phi_uxi{which}", f"residuals and {name}", "linear", u, xi, around, 0),
            # At tau the product lies tau + 1 steps before the residual.
            (f"phi_xixiu{which}", earlier, "nonlinear", product, xi, after, 1),
            (f"phi_u2xi{which}", f"residuals and {square}", "nonlinear", squared, xi, around, 0),
            (f"phi_u2xi2{which}", f"squared residuals and {square}", "nonlinear", squared, xi_squared, around, 0),
        ]
    if not model.n_inputs:
        but_zero, earlier = [tau for tau in around if tau], "squared residuals and earlier squared residuals"
        functions += [
            ("phi_xi2xi", "residuals and squared residuals", "nonlinear", xi_squared, xi, but_zero, 0),
            ("phi_xi2xi2", earlier, "nonlinear", xi_squared, xi_squared, after, 0),
        ]
    functions = [each for each in functions if all(np.ptp(np.concatenate(parts)) > 0 for parts in each[3:5])]
    samples, coefficients = sum(map(len, xi)), max(1, sum(len(each[5]) for each in functions))
    band, limit = (float(-ndtri(LEVEL / 2 / count) / np.sqrt(samples)) for count in (1, coefficients))
    tests = []
    for name, title, kind, a, b, distances, shift in functions:
        energy = math.prod(sum(float(part @ part) for part in parts) for parts in (a, b))
        values = [significant(_product(a, b, distance) / math.sqrt(energy)) for distance in distances]
        taus = tuple(distance - shift for distance in distances)
        worst, lag = max(zip(values, taus, strict=True), key=lambda pair: abs(pair[0]))
        passed = abs(worst) <= limit
        tests.append(CorrelationTest(name, title, kind, taus, tuple(values), band, limit, passed, lag, worst))
    return tests


def _product(a: Signals, b: Signals, distance: int) -> float:
    """Return the sum of a(t - distance) b(t)."""
    total = 0.0
    for one, other in zip(a, b, strict=True):
        overlap = max(len(one) - abs(distance), 0)
        total += float(one[max(-distance, 0) :][:overlap] @ other[max(distance, 0) :][:overlap])
    return total


def _centred(parts: Signals) -> Signals:
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
    found = [of for model, record in runs if (of := _free_run(model, record)) is not None]
    if not found:
        return None
    y, errors, slopes = np.concatenate(found, axis=1)
    rms, deviation, usual = (math.sqrt(math.fsum(of**2) / len(of)) for of in (errors, y - y.mean(), slopes))
    least = max(min(BIASED * deviation, BIASED_OF_ERROR * rms), NO_MATTER * deviation)
    # No block reaches from one record into the next.
    share = min(BLOCKS / len(y), 1.0)
    blocks = [b for of in found for b in np.array_split(of, max(1, round(share * of.shape[1])), axis=1)]
    values: dict[str, Any] = {"rms": significant(rms), "deviation": significant(deviation)}
    for name, sign in (("rising", 1.0), ("falling", -1.0)):
        parts = [e[sign * slope > usual] for _, e, slope in blocks if (sign * slope > usual).any()]
        means = [math.fsum(part) / len(part) for part in parts]
        error = math.fsum(map(math.fsum, parts)) / max(1, sum(map(len, parts)))
        _, p = _regression(means, [1.0] * len(means))
        values[name] = {"error": significant(error), "seen": bool(abs(error) > least and p < CHANCE)}
    means = [math.fsum(e) / len(e) for _, e, _ in blocks]
    # About its mean the number of a block is orthogonal to a constant.
    numbers = np.arange(len(means)) - (len(means) - 1) / 2
    slope, p = _regression(np.subtract(means, np.mean(means)), numbers, 2)
    change = significant(slope * len(means))
    values["drift"] = {"error": change, "seen": bool(abs(change) > least and p < CHANCE)}
    return values


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
    own, thin = model.decimated(), record.phase(0, model.decimation)
    inner = slice(max(1, own.initial_samples), len(thin) - 1)
    run = predicted(own, thin) if inner.start < inner.stop else None
    if run is None:
        return None
    errors = thin.y - run
    return np.array([thin.y[inner], errors[inner], (thin.y[2:] - thin.y[:-2])[inner.start - 1 :]])
