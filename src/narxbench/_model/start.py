"""The state of a model at the beginning of a record, estimated from its first samples."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from narxbench._io.errors import NarxbenchError
from narxbench._model.prediction import simulated
from narxbench._model.terms import OUTPUT, lags_of

if TYPE_CHECKING:
    from narxbench._model.narx import Model

Floats = NDArray[np.float64]
# Steps after the first ones that show the state: this many, or this many times the largest lag if these are more.
STEPS, TIMES_LAG = 100, 10


def estimated_start(model: "Model", u: Floats, y: Floats, bound: float) -> Floats:
    """Return first outputs whose free run is closest to the first measured outputs, by least squares.

    Outputs that no later one depends on stay as measured.

    Parameters
    ----------
    model : Model
        The model.
    u : array, shape (samples, inputs)
        The scaled inputs.
    y : array, shape (at most as many samples,)
        The measured outputs.
    bound : float
        An output of a larger magnitude has diverged.

    Returns
    -------
    array, shape (initial samples of the model,)

    Raises
    ------
    NarxbenchError
        If there are only as many outputs as the state has, or fewer.
    """
    stride, first = model.decimation, model.max_lag
    n_free = max(lags_of(model.monomials, OUTPUT), default=0)
    needed = (first + n_free + 1) * stride
    if len(y) < needed:
        raise NarxbenchError(f"y: found {len(y)} outputs; needed: {needed}, to estimate the first ones from")
    start = y[: model.initial_samples].copy()
    steps = first + max(STEPS, TIMES_LAG * first)
    for phase in range(stride):
        measured = y[phase::stride][:steps]
        start[phase::stride] = _start_of_phase(model, u[phase::stride][: len(measured)], measured, n_free, bound)
    return start


def _start_of_phase(model: "Model", u: Floats, y: Floats, n_free: int, bound: float) -> Floats:
    """Return the first outputs of a phase, of which the last ``n_free`` are estimated."""
    from scipy.optimize import least_squares

    first = model.max_lag
    start = y[:first].copy()
    offsets, scales = model.scaling()
    offset, scale = float(offsets[OUTPUT]), float(scales[OUTPUT])
    spread = float(np.std(y)) or scale

    def errors(changes: Floats) -> Floats:
        changed = start.copy()
        changed[first - n_free :] += spread * changes
        run, end = simulated(model.monomials, model.coefficients, u, changed, bound=bound, offset=offset, scale=scale)
        run[end:] = bound
        differences: Floats = (run - y) / spread
        return differences

    if n_free == 0:
        return start
    start[first - n_free :] += spread * least_squares(errors, np.zeros(n_free)).x
    return start
