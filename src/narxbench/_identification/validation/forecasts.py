"""Bands about forecasts: as wide as the errors at that distance on parts of the data that the weights do not know.

Each part is forecast by weights of the others, from many samples before it and in it, with the state that the noise has
there. So the bands widen as these errors do, and hold whatever the noise is, on average over data like these. They do
not know of inputs out of their range, nor of changes of the process.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from narxbench._identification.validation.bands import BAND, Integers, Unseen, half_width, unknown_stretches
from narxbench._identification.validation.fit import ModelFit
from narxbench._identification.validation.residuals import SHARE_OF_RECORD
from narxbench._io.errors import NarxbenchError, show
from narxbench._model.narx import Initial, Model
from narxbench._model.records import Record
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Shares of the samples whose bands a model has with it.
SHARES = (0.5, 0.8, BAND, 0.95, 0.99)
# The key of a model's ``about`` that has them.
ABOUT = "forecast_errors"
# The horizons, in steps, are each longer by this factor, up to this number, or a share of the longest record. Forecasts
# of a part start at this many samples, or at all before and in it if these are fewer (time: benchmarks/budget.md,
# coverage: benchmarks/forecasts.md).
FACTOR, LONGEST, ORIGINS = 1.2, 256, 128
# The golden section: its multiples are spread evenly, and in step with no season.
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def forecast_errors(fit: ModelFit, model: Model, free_run: Unseen) -> dict[str, Any]:
    """Return half widths of bands by share and horizon, and of a free run, which no forecast is worse than for long.

    Parameters
    ----------
    fit : ModelFit
        Weights with and without parts of the data.
    model : Model
        The model of all data.
    free_run : Unseen
        Errors of its free run.

    Returns
    -------
    dict
        ``steps``: the horizons, in steps of the model. ``half_widths``: for each share the half widths at these
        horizons, up to the last that has one. ``free_run``: the half width of a free run, None where it diverges.
    """
    horizons = _horizons(fit)
    unseen = unseen_at_horizons(fit, model, horizons)
    half_widths, limits = {}, {}
    for share in SHARES:
        half_widths[str(share)] = _rising(unseen, share)
        limits[str(share)] = half_width(free_run, share)
    return {"steps": horizons, "half_widths": half_widths, "free_run": limits}


def _horizons(fit: ModelFit) -> list[int]:
    """Return the horizons, in steps of the model, that are measured."""
    longest = max(map(len, fit.searched)) // fit.turns.decimation
    most = max(1, min(LONGEST, int(SHARE_OF_RECORD * longest)))
    horizons, horizon = [], 1
    while horizon <= most:
        horizons.append(horizon)
        horizon = max(horizon + 1, round(FACTOR * horizon))
    return horizons


def unseen_at_horizons(fit: ModelFit, model: Model, horizons: Sequence[int]) -> list[Unseen]:
    """Return the absolute errors at some horizons, on samples that the weights did not know."""
    parts: list[list[Floats]] = [[] for _ in horizons]
    for part_model, stretches in unknown_stretches(fit, model):
        errors_of_part = []
        for record, times in stretches:
            errors_of_part.append(_errors(part_model, record, int(times[0]), int(times[-1]), horizons[-1]))
        for place, horizon in enumerate(horizons):
            values = np.concatenate([errors[:, horizon - 1].ravel() for errors in errors_of_part])
            # Outside of the part there is none.
            values = np.sort(values[~np.isnan(values)])
            if len(values):
                parts[place].append(values)
    return list(map(tuple, parts))


def _errors(model: Model, record: Record, first: int, last: int, steps: int) -> Floats:
    """Return the absolute errors of forecasts of a stretch of a record, this many steps ahead, from many samples.

    The shape is (samples, steps, samples in a step). Errors outside of the stretch are NaN.
    """
    samples = steps * model.decimation
    origins = _spread_places(max(model.initial_samples, first - samples), last - 1)
    u = np.concatenate([record.u, np.zeros((samples, record.u.shape[1]))])
    measured = np.concatenate([record.y, np.full(samples, np.nan)])
    measured[:first] = np.nan
    measured[last + 1 :] = np.nan
    targets = measured[origins[:, None] + np.arange(1, samples + 1)]
    forecasts = model.forecaster(u, record.y).forecasts(origins.tolist(), samples)
    errors: Floats = np.abs(targets - forecasts)
    return errors.reshape(len(origins), steps, model.decimation)


def _spread_places(first: int, last: int) -> Integers:
    """Return the places from the first to the last or, if these are many, a number of them without a period."""
    count = last + 1 - first
    if count <= ORIGINS:
        return np.arange(first, last + 1)
    fractions = np.arange(ORIGINS) * GOLDEN % 1.0
    return np.unique((first + fractions * count).astype(np.int64))


def _rising(unseen: Sequence[Unseen], share: float) -> list[float]:
    """Return half widths that rise with the horizon, closest to the errors', up to the last that has one."""
    half_widths = []
    for errors in unseen:
        half = half_width(errors, share)
        if half is None:
            break
        half_widths.append(half)
    return [significant(value) for value in closest_rising(half_widths)]


def closest_rising(values: Sequence[float]) -> list[float]:
    """Return the numbers closest to some, by squares, of which none is lower than the one before it.

    This is isotonic regression: where numbers fall, their mean replaces them. SciPy has it in a package that takes half
    as long to import as everything else that an identification needs.
    """
    # Sum and length of each run of numbers that has one mean.
    runs: list[tuple[float, int]] = []
    for value in values:
        total, length = value, 1
        while runs and runs[-1][0] * length > total * runs[-1][1]:
            before, length_before = runs.pop()
            total, length = before + total, length_before + length
        runs.append((total, length))
    return [total / length for total, length in runs for _ in range(length)]


def has_errors(model: Model) -> bool:
    """Return whether a model has errors of its forecasts on unseen data, which bands come from."""
    return isinstance(model.about.get(ABOUT), Mapping)


def free_run_half_width(model: Model, confidence: float = BAND) -> float | None:
    """Return the half width of the band about free runs, or None for a model without one."""
    if not has_errors(model):
        return None
    half: float | None = model.about[ABOUT]["free_run"][str(confidence)]
    return half


def half_widths(model: Model, samples: int, confidence: float) -> Floats:
    """Return the half widths of the bands about the forecasts of this many samples.

    Raises
    ------
    NarxbenchError
        For another share than those that a model has, for a model without such errors, and where forecasts of unseen
        data diverge.
    """
    if confidence not in SHARES:
        raise NarxbenchError(f"confidence: found {show(confidence)}; allowed: {', '.join(map(str, SHARES))}")
    if not has_errors(model):
        raise NarxbenchError("bands: found a model without errors of its forecasts; needed: one that identify returned")
    errors = model.about[ABOUT]
    measured, limit = errors["half_widths"][str(confidence)], errors["free_run"][str(confidence)]
    ahead = -(-np.arange(1, samples + 1) // model.decimation)
    farthest = 0
    if measured:
        farthest = errors["steps"][len(measured) - 1]
    if limit is None and samples > farthest * model.decimation:
        finding = f"found {samples} samples ahead; known are {farthest * model.decimation}"
        raise NarxbenchError(f"bands: {finding}, for free runs of unseen data diverge; allowed: up to as many")
    widths: Floats = np.interp(ahead, errors["steps"][: len(measured)] or [0], measured or [0.0])
    if limit is not None:
        widths[ahead > farthest] = max([limit, *measured[-1:]])
    return widths


def forecast_after_record(
    model: Model,
    record: Record,
    u_future: ArrayLike | None,
    steps: int | None,
    confidence: float | None,
    *,
    initial: Initial = "measured",
) -> pd.DataFrame:
    """Return the :func:`forecast_frame` of a record that was read, whose times go on where they are known."""
    y = record.measured(model.initial_samples)
    if record.index is not None:
        y = pd.Series(y, record.index)
    u = record.u if model.n_inputs else None
    return forecast_frame(model, u, y, u_future, steps, confidence, initial=initial)


def forecast_frame(
    model: Model,
    u: ArrayLike | None,
    y: ArrayLike,
    u_future: ArrayLike | None = None,
    steps: int | None = None,
    confidence: float | None = BAND,
    *,
    initial: Initial = "measured",
) -> pd.DataFrame:
    """Return the outputs that a model expects after a record, with bands.

    Parameters
    ----------
    model : Model
        A model that :func:`narxbench.identify` returned, or a file that it was saved to.
    u, y, u_future, steps, initial
        As for :meth:`narxbench.Model.forecast`.
    confidence : {0.5, 0.8, 0.9, 0.95, 0.99}, optional
        The share of samples that the band holds. With None there is no band.

    Returns
    -------
    DataFrame
        The columns ``forecast``, ``lower`` and ``upper``. The index continues the index of the record, or counts
        its samples from 0 if it has none.

    Raises
    ------
    NarxbenchError
        As :meth:`narxbench.Model.forecast` and :func:`half_widths`.
    """
    forecast = model.forecast(u, y, u_future, steps, initial=initial)
    index = getattr(forecast, "index", None)
    if index is None:
        index = pd.RangeIndex(len(np.asarray(y)), len(np.asarray(y)) + len(forecast))
    values = np.asarray(forecast)
    if confidence is None:
        return pd.DataFrame({"forecast": values}, index=index)
    half = half_widths(model, len(values), confidence)
    return pd.DataFrame({"forecast": values, "lower": values - half, "upper": values + half}, index=index)
