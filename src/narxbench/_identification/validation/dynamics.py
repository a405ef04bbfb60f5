"""How a model answers its inputs in the middle of the data, with intervals: gain, poles, settling time, delay.

An interval is the range of a figure over equally good models: the model and its rivals, each with weights that are
drawn from the normal distribution that their covariance describes. Where the model lacks terms, a richer model that has
them gets as many draws as all others together. What this model lacks too is not covered: ``Dynamics.unexplained`` says
where residuals show that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.validation.drawn_models import DrawnModels
from narxbench._identification.validation.errors import LITTLE
from narxbench._identification.validation.steady_state import POINTS, FixedPoint
from narxbench._model.functions import completed, derived
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._model.terms import INPUT
from narxbench._model.working_point import delay_of
from narxbench._numerics.intervals import LEVEL
from narxbench._numerics.rounding import DIGITS, significant

Floats = NDArray[np.float64]

# Share of the draws that an interval holds.
COVERAGE = 1.0 - LEVEL
# Draws of all models together: ten beyond each end of an interval.
DRAWS = round(10 / (LEVEL / 2))
# Poles of a model with a larger lag cost too much: for all draws 0.2 s here, growing with the third power of the lag.
LONGEST_LAG = 60


@dataclass(frozen=True)
class Range:
    """A figure of the model, and its range over equally good ones. None is an unknown value or an unbounded end."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Band:
    """A curve of the model with its range over equally good models, or None where they have no value."""

    at: list[float]
    """Inputs of a static curve, or samples after a step."""
    value: list[float | None]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class InputDynamics:
    """How the output answers one input.

    Attributes
    ----------
    at : float
        The input of the working point.
    is_used : bool
        Whether the model has a term of it.
    gain : Range, optional
        Change of the output at rest per change of the input, or None where the model does not rest.
    delay : list of int, optional
        The smallest lag in samples of the data, the least and the largest one over equally good structures.
    step : Band, optional
        Change of the output after a small step of the input, per unit of the input.
    curve : Band
        The static curve.
    """

    at: float
    is_used: bool
    gain: Range | None
    delay: list[int] | None
    step: Band | None
    curve: Band


@dataclass(frozen=True)
class Dynamics:
    """How a model answers its inputs near its rest in the middle of the data.

    Attributes
    ----------
    models : int
        Structures that are about equally good, including the model's.
    stable : float
        Share of the draws that rest there stably.
    settling : Range, optional
        Samples of the data until 2 % of a small deviation are left, or None where the model does not rest stably.
    lacking : list of str, optional
        Terms outside the candidates that the model lacks, and that widen the intervals, or None if this was not tested.
    unexplained : list of str
        Titles of correlation tests that show order in the residuals even with these terms: the intervals hold only for
        a system that is among the candidates, and this one is not.
    poles : list of (complex, Range)
        The poles of the model and their magnitudes, by its step, the slowest first. The interval of the slowest one
        covers all models, the intervals of the others this structure alone.
    inputs : dict of str to InputDynamics
        By name, without inputs that are functions of others.
    """

    models: int
    stable: float
    settling: Range | None
    lacking: list[str] | None = None
    unexplained: list[str] = field(default_factory=list)
    poles: list[tuple[complex, Range]] = field(default_factory=list)
    inputs: Mapping[str, InputDynamics] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = asdict(self)
        plain["confidence"] = COVERAGE
        plain["poles"] = []
        for pole, magnitude in self.poles:
            plain["poles"].append({"real": pole.real, "imaginary": pole.imag, "magnitude": asdict(magnitude)})
        return plain


# Constant inputs in the middle of the data, and the output at which the model rests there.
WorkingPoint = tuple[tuple[float, ...], float]


def working_point(model: Model, records: Sequence[Record], curve: Sequence[FixedPoint]) -> WorkingPoint | None:
    """Return the point of the first input's static curve nearest to the inputs' medians, or None without a rest."""
    if not model.n_inputs or not records:
        return None
    medians = np.median(np.concatenate([record.u for record in records]), axis=0)
    points = [point for point in curve if point.signal == model.inputs[0]]
    rest = middle_rest(points, float(medians[0]))
    if rest is None or rest.u is None or rest.y is None:
        return None
    medians[0] = rest.u
    u = completed(model.inputs, medians[None])[0]
    return tuple(u.tolist()), rest.y


def middle_rest(curve: Sequence[FixedPoint], u: float) -> FixedPoint | None:
    """Return the stable rest within the data at the level of a static curve nearest to an input."""
    levels = [point.u for point in curve if point.u is not None]
    level = min(levels, key=lambda value: abs(value - u), default=None)
    for point in curve:
        if point.u == level and point.y is not None and point.stable and point.inside:
            return point
    return None


def dynamics(
    models: Sequence[Model],
    records: Sequence[Record],
    point: WorkingPoint,
    richer: Model | None = None,
) -> Dynamics | None:
    """Return how a model answers its inputs, with intervals, or None where its lags are too long for that.

    Parameters
    ----------
    models : sequence of Model
        The model, and those that are about as good, all with covariances.
    records : sequence of Record
        The data that the weights were estimated with. The static curve has their ranges.
    point : WorkingPoint
        Where small changes begin.
    richer : Model, optional
        A model with terms that the others lack. It has as many draws as they have together.
    """
    short = [model for model in models if model.max_lag <= LONGEST_LAG]
    if not records or not short or short[0] is not models[0]:
        return None
    y = np.concatenate([record.y for record in records])
    centre, half_range = (float(y.max()) + float(y.min())) / 2, float(np.ptp(y)) / 2 or 1.0
    reach = half_range * (1 + 2 * LITTLE)
    drawn_models = _drawn_models(short, richer, point, (centre, reach))
    stable = np.concatenate([draws.stable for draws in drawn_models])
    inputs = {}
    for i, name in enumerate(models[0].inputs):
        if i not in derived(models[0].inputs):
            inputs[name] = _input_dynamics(drawn_models, i, records, point, (centre, reach))
    settling = None
    if drawn_models[0].stable[0]:
        settling = _interval(np.concatenate([draws.settling for draws in drawn_models]))
    return Dynamics(
        models=len(short),
        stable=significant(float(stable.mean()), DIGITS),
        settling=settling,
        poles=_poles(drawn_models),
        inputs=inputs,
    )


def _drawn_models(
    models: Sequence[Model], richer: Model | None, point: WorkingPoint, outputs: tuple[float, float]
) -> list[DrawnModels]:
    """Return draws of models that are about as good, and as many of a richer one as of all of them together."""
    n_draws = DRAWS // len(models)
    drawn_models = []
    for number, model in enumerate(models):
        drawn_models.append(DrawnModels(model, n_draws, point, outputs, number=number))
    if richer is not None and richer.max_lag <= LONGEST_LAG:
        drawn_models.append(DrawnModels(richer, n_draws * len(models), point, outputs, number=len(models)))
    return drawn_models


def _interval(values: Floats) -> Range:
    """Return the first value, and the range of the middle share of all. An infinite end is None."""
    finite = values[~np.isnan(values)]
    outside = (1.0 - COVERAGE) / 2.0
    # Without interpolation, as values may be infinite. The model's own value is always inside.
    low = min(values[0], float(np.quantile(finite, outside, method="lower")))
    high = max(values[0], float(np.quantile(finite, 1.0 - outside, method="higher")))
    return Range(*map(_plain, (values[0], low, high)))


def _plain(value: float) -> float | None:
    return significant(float(value), DIGITS) if math.isfinite(value) else None


def _poles(drawn_models: Sequence[DrawnModels]) -> list[tuple[complex, Range]]:
    """Return the poles of the first model that are not zero, with the ranges of their magnitudes.

    The range of the slowest one is over the slowest poles of all draws, at the step of the model. Other poles have no
    counterpart in models of another order, so their ranges are over draws of the weights of this model.
    """
    first = drawn_models[0]
    if np.isnan(first.y[0]):
        return []
    slowest = []
    for draws in drawn_models:
        slowest.append(draws.sizes ** (first.model.decimation / draws.model.decimation))
    poles = first.poles(first.a[~np.isnan(first.y)])
    order = np.argsort(-np.abs(poles[0]), kind="stable")
    pairs = []
    for pole in poles[0][order]:
        if abs(pole) > 0.0:
            if np.isclose(abs(pole), first.sizes[0]):
                magnitudes = np.concatenate(slowest)
            else:
                nearest = np.abs(poles - pole).argmin(axis=1)
                magnitudes = np.abs(poles[np.arange(len(poles)), nearest])
            rounded = complex(significant(float(pole.real), DIGITS), significant(float(pole.imag), DIGITS))
            pairs.append((rounded, _interval(magnitudes)))
    return pairs


def _input_dynamics(
    drawn_models: Sequence[DrawnModels],
    i: int,
    records: Sequence[Record],
    point: WorkingPoint,
    outputs: tuple[float, float],
) -> InputDynamics:
    """Return how the output answers one input."""
    model = drawn_models[0].model
    slopes = _slopes(model.inputs, i, point[0])
    answers = [np.einsum("bik,i->bk", draws.b, slopes) for draws in drawn_models]
    gain = step = None
    if drawn_models[0].stable[0]:
        gains = []
        for draws, weights in zip(drawn_models, answers, strict=True):
            gains.append(weights[draws.stable].sum(axis=1) / (1.0 - draws.a[draws.stable].sum(axis=1)))
        gain = _interval(np.concatenate(gains))
        step = _step_response(drawn_models, answers, max(map(len, records)))
    delays = []
    for draws in drawn_models:
        delay = delay_of(draws.model, INPUT + i)
        if delay is not None:
            delays.append(delay)
    return InputDynamics(
        at=point[0][i],
        is_used=delay_of(model, INPUT + i) is not None,
        gain=gain,
        delay=[min(delays), max(delays)] if delays else None,
        step=step,
        curve=_static_band(drawn_models, i, records, point, outputs),
    )


def _slopes(inputs: Sequence[str], i: int, u: Sequence[float]) -> Floats:
    """Return by how much all inputs change with one of them: 1, and for functions of it their slopes."""
    step = np.cbrt(np.finfo(np.float64).eps) * (abs(u[i]) or 1.0)
    around = np.array([u, u])
    around[:, i] += (-step, step)
    slopes: Floats = np.diff(completed(inputs, around), axis=0)[0] / (2.0 * step)
    slopes[~np.isfinite(slopes)] = 0.0
    slopes[i] = 1.0
    return slopes


def _step_response(drawn_models: Sequence[DrawnModels], answers: Sequence[Floats], longest: int) -> Band:
    """Return the change of the output after a small unit step, with its range over the stable draws.

    It covers two settling times, but not more samples than the longest record has.
    """
    first = drawn_models[0]
    stride = first.model.decimation
    settling = float(first.settling[0]) / stride + first.a.shape[1] + 1
    steps = math.ceil(min(longest / stride, 2.0 * settling))
    times = np.unique(np.linspace(0, steps, min(steps + 1, POINTS)).astype(int)) * stride
    responses = []
    for draws, weights in zip(drawn_models, answers, strict=True):
        q = draws.model.decimation
        n_steps = -(-int(times[-1]) // q)
        response = draws.step_response(weights, n_steps)
        own_times = q * np.arange(n_steps + 1)
        responses.append(np.array([np.interp(times, own_times, values) for values in response]).reshape(-1, len(times)))
    return _band(times.tolist(), np.concatenate(responses))


def _static_band(
    drawn_models: Sequence[DrawnModels],
    i: int,
    records: Sequence[Record],
    point: WorkingPoint,
    outputs: tuple[float, float],
) -> Band:
    """Return the static curve about the working point, with its range over the draws that rest near the data."""
    u = np.concatenate([record.u[:, i] for record in records])
    levels = np.unique(np.linspace(u.min(), u.max(), POINTS))
    inputs = np.repeat(np.array([point[0]]), len(levels), axis=0)
    inputs[:, i] = levels
    inputs = completed(drawn_models[0].model.inputs, inputs)
    centre, reach = outputs
    start = _continued(drawn_models[0], inputs, int(np.abs(levels - point[0][i]).argmin()), point[1])
    rests = np.concatenate([draws.rests(inputs, start) for draws in drawn_models])
    rests[np.abs(rests - centre) > reach] = np.nan
    return _band([significant(level, DIGITS) for level in levels.tolist()], rests)


def _continued(drawn: DrawnModels, inputs: Floats, middle: int, y: float) -> Floats:
    """Return the rests of the model itself along a static curve, each sought from its neighbour's."""
    start = np.full(len(inputs), y)
    for places in (range(middle, len(inputs)), range(middle, -1, -1)):
        nearest = y
        for place in places:
            rest = float(drawn.rests(inputs[place : place + 1], np.array([nearest]), most=1)[0, 0])
            nearest = nearest if math.isnan(rest) else rest
            start[place] = nearest
    return start


def _band(at: list[float], values: Floats) -> Band:
    """Return curves, the model's first, as a band, which has no ends where most of them have no value."""
    low, high, middle = list[float | None](), list[float | None](), list[float | None]()
    for place in range(len(at)):
        column = values[:, place]
        middle.append(_plain(column[0]))
        if math.isnan(column[0]) or 2 * int(np.isnan(column).sum()) > len(column):
            low.append(None)
            high.append(None)
        else:
            interval = _interval(column)
            low.append(interval.low)
            high.append(interval.high)
    return Band(at, middle, low, high)
