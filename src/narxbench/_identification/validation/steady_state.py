"""Where a model comes to rest: fixed points at constant inputs, whether they are stable, and rests in the data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.validation.errors import LITTLE
from narxbench._model.functions import completed, derived
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._model.working_point import fixed_points
from narxbench._numerics.rounding import significant

# Points of a static curve and of a step response: as many as their figures show.
POINTS = 41
# After this many time constants 2 % of a deviation is left, the settling time of control engineering.
TIME_CONSTANTS = 4
# So what rests moves by no more than that share of its range: the inputs (a digit of a converter may flicker), and the
# mean of the output from the middle third to the last.
AT_REST = math.exp(-TIME_CONSTANTS)
# Steps of the model that a rest takes at least: each third has five.
LEAST_STEPS = 15


@dataclass(frozen=True)
class FixedPoint:
    """An output that a model keeps at constant inputs."""

    signal: str | None
    """Name of the input that was varied, or None without inputs."""
    u: float | None
    """Its value. The other inputs are at their medians."""
    y: float | None
    """The output, or None where the model has no fixed point at this input."""
    stable: bool
    """Whether small deviations die out: all eigenvalues are inside the unit circle."""
    eigenvalue: float | None
    """The largest magnitude of an eigenvalue of the model linearized there."""
    settling_steps: float | None
    """Steps of the model until 2 % of a small deviation are left, or None where it is not stable."""
    inside: bool
    """Whether the output is within the measured range, widened by a tenth at both ends."""


@dataclass(frozen=True)
class Rest:
    """A stretch of the data in which the inputs stay constant and the output has settled."""

    record: str
    u: tuple[float, ...]
    """Means of the inputs."""
    y: float
    """Mean of the output over the last third."""
    samples: int
    """Length of the stretch."""
    model_y: float | None
    """The stable fixed point of the model nearest to ``y`` at these inputs, or None where it has none."""
    deviation: float | None
    """How far that is from ``y``, as share of the range of the output."""


def _rests_at(model: Model, u: Sequence[float], around: float, scale: float) -> list[tuple[float, float]]:
    """Return the fixed points of a model, computed in its scaling: a level would drown an expanded polynomial."""
    offsets, scales = (values.tolist() for values in model.scaling())
    inner = replace(model, covariance=None, offsets=None, scales=None)
    inputs = [(value - offset) / unit for value, offset, unit in zip(u, offsets[1:], scales[1:], strict=True)]
    rests = fixed_points(inner, inputs, (around - offsets[0]) / scales[0], scale / scales[0])
    return [(rest * scales[0] + offsets[0], size) for rest, size in rests]


def _joined(records: Sequence[Record]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the outputs and the inputs of all records."""
    return np.concatenate([record.y for record in records]), np.concatenate([record.u for record in records])


def static_curve(model: Model, records: Sequence[Record], points: int = POINTS) -> list[FixedPoint]:
    """Return the fixed points of a model over the range of each input, sorted.

    Every value of an input is there, if only with None for an output.
    """
    y, u = _joined(records)
    low, high = float(y.min()), float(y.max())
    centre, half_range = (low + high) / 2, (high - low) / 2 or 1.0
    curve = []
    for signal, level, inputs in _levels(model, u, points):
        rests = _rests_at(model, inputs, centre, half_range)
        if not rests:
            curve.append(FixedPoint(signal, level, None, False, None, None, False))
        for rest, size in rests:
            curve.append(_fixed_point(signal, level, significant(rest), significant(size), centre, half_range))
    return curve


def _levels(model: Model, u: NDArray[np.float64], points: int) -> list[tuple[str | None, float | None, list[float]]]:
    """Return the constant inputs of a static curve: the input that is varied, its value, and all inputs."""
    if not model.n_inputs:
        return [(None, None, [])]
    levels: list[tuple[str | None, float | None, list[float]]] = []
    medians = np.median(u, axis=0).tolist()
    for i, signal in enumerate(model.inputs):
        # One that is derived goes with the input that it is of.
        if i in derived(model.inputs):
            continue
        for value in np.unique(np.linspace(u[:, i].min(), u[:, i].max(), points)).tolist():
            inputs = np.array([[*medians[:i], value, *medians[i + 1 :]]])
            levels.append((signal, value, completed(model.inputs, inputs)[0].tolist()))
    return levels


def _fixed_point(
    signal: str | None, level: float | None, rest: float, size: float, centre: float, half_range: float
) -> FixedPoint:
    """Return a fixed point by its output and the largest magnitude of an eigenvalue there."""
    settling = None
    if size < 1:
        settling = TIME_CONSTANTS / -float(np.log(size)) if size > 0 else 0.0
    inside = abs(rest - centre) <= half_range * (1 + 2 * LITTLE)
    return FixedPoint(signal, level, rest, size < 1, size, settling, inside)


def measured_static_points(model: Model, records: Sequence[Record]) -> list[Rest]:
    """Return where the data rest, to compare with the static curve of a model. Without inputs there are no rests."""
    if not model.n_inputs or not records:
        return []
    y, u = _joined(records)
    y_range, tolerance = float(np.ptp(y)), AT_REST * np.ptp(u, axis=0)
    rests = []
    for record in records:
        for start, end in _plateaus(record.u, tolerance):
            if end - start >= LEAST_STEPS * model.decimation and _has_settled(record.y[start:end], y_range):
                rests.append(_rest(model, record, start, end, y_range))
    return rests


def _has_settled(y: NDArray[np.float64], y_range: float) -> bool:
    """Return whether the mean of an output hardly moves from the middle third to the last."""
    third = len(y) // 3
    middle, last = _mean(y[len(y) - 2 * third : len(y) - third]), _mean(y[len(y) - third :])
    return abs(last - middle) <= AT_REST * y_range


def _mean(values: NDArray[np.float64]) -> float:
    return significant(float(np.mean(values)))


def _rest(model: Model, record: Record, start: int, end: int, y_range: float) -> Rest:
    """Return a rest of a record with the stable rest of the model nearest to it."""
    y = _mean(record.y[end - (end - start) // 3 : end])
    inputs = [significant(value) for value in record.u[start:end].mean(axis=0)]
    rests = _rests_at(model, inputs, y, y_range or 1.0)
    stable = [rest for rest, size in rests if size < 1]
    if not stable:
        return Rest(record.name, tuple(inputs), y, end - start, None, None)
    distance, nearest = min((abs(rest - y), rest) for rest in stable)
    deviation = significant(distance / y_range) if y_range else None
    return Rest(record.name, tuple(inputs), y, end - start, significant(nearest), deviation)


def _plateaus(u: NDArray[np.float64], tolerance: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the stretches of constant inputs.

    From left to right, a plateau ends before the first sample that would widen its range beyond the tolerance.
    """
    plateaus, start = [], 0
    low, high = u[:1].copy(), u[:1].copy()
    for k in range(len(u)):
        low, high = np.minimum(low, u[k]), np.maximum(high, u[k])
        if (high - low > tolerance).any():
            plateaus.append((start, k))
            start, low, high = k, u[k].copy(), u[k].copy()
    return [*plateaus, (start, len(u))] if len(u) else []
