"""Outputs that were not measured, as a model predicts them from the outputs before each gap."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from narxbench._model.prediction import compiled_terms
from narxbench._model.terms import OUTPUT
from narxbench._numerics.compilation import compiled, inner

if TYPE_CHECKING:
    from narxbench._model.narx import Model

Floats = NDArray[np.float64]


def bridged(model: "Model", u: Floats, y: Floats, bound: float) -> tuple[Floats, int]:
    """Return outputs in which predictions replace the missing ones, and the first sample that diverges.

    Noise in the equation: a missing output is the sum of the terms and the forecast of the noise, and later terms have
    it as a factor, as in a free run that begins before the gap. Noise on the output: it is the free run over the whole
    record and the forecast of the noise. So predictions some steps ahead, which begin from these outputs, are those
    from the outputs that were measured.

    Parameters
    ----------
    model : Model
        The model.
    u : array, shape (samples, inputs)
        The scaled inputs.
    y : array, shape (samples,)
        The outputs, NaN where they are missing, but none of the first ``model.initial_samples``.
    bound : float
        A missing output of a larger magnitude has diverged.

    Returns
    -------
    outputs : array, shape (samples,)
        In their own unit.
    end : int
        The first sample that diverges, or the number of samples if none does.
    """
    offsets, scales = model.scaling()
    filled = y.copy()
    end = _bridge(
        *compiled_terms(model.monomials, model.coefficients, model.decimation),
        np.array(model.autoregression, np.float64),
        np.array(model.moving_average, np.float64),
        model.is_integrated,
        model.noise.place == "output",
        model.decimation,
        np.ascontiguousarray(u),
        filled,
        model.initial_samples,
        bound,
        float(offsets[OUTPUT]),
        float(scales[OUTPUT]),
    )
    return filled, int(end)


@compiled
def _bridge(  # type: ignore[no-untyped-def]
    ends, signals, delays, weights, ar, ma, is_integrated, is_on_output, stride, u, y, first, bound, offset, scale
):
    # Returns the first sample outside the bound. The noise w, its differences and its innovations are zero before the
    # sample ``first``, and an integrated noise begins at the level that it has there.
    n = u.shape[0]
    terms_of = (y - offset) / scale  # the outputs that terms refer to
    noise, differences, innovations = np.zeros(n), np.zeros(n), np.zeros(n)
    for k in range(first, n):
        value = _summed(ends, signals, delays, weights, u, terms_of, k)
        change = _filtered(ma, innovations, k, first, stride) - _filtered(ar, differences, k, first, stride)
        has_level = is_integrated and k - stride >= first
        level = noise[k - stride] if has_level else 0.0
        if np.isnan(y[k]):
            y[k] = (value + level + change) * scale + offset
        noise[k] = (y[k] - offset) / scale - value
        differences[k] = 0.0 if is_integrated and not has_level else noise[k] - level
        innovations[k] = differences[k] - change
        terms_of[k] = value if is_on_output else (y[k] - offset) / scale
        # Measured outputs are within the bound.
        if not (abs(y[k]) <= bound and abs(terms_of[k] * scale + offset) <= bound):
            return k
    return n


@inner
def _summed(ends, signals, delays, weights, u, outputs, k):  # type: ignore[no-untyped-def]
    # The sum of the terms at sample k, in the order of a free run.
    value = 0.0
    f = 0
    for t in range(ends.shape[0]):
        product = weights[t]
        while f < ends[t]:
            past = k - delays[f]
            product *= outputs[past] if signals[f] == 0 else u[past, signals[f] - 1]
            f += 1
        value += product
    return value


@inner
def _filtered(weights, series, k, first, stride):  # type: ignore[no-untyped-def]
    # The weighted sum of the past of a series, which is zero before the sample ``first``.
    total = 0.0
    for i in range(weights.shape[0]):
        past = k - (i + 1) * stride
        if past >= first:
            total += weights[i] * series[past]
    return total
