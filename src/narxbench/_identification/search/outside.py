"""Models outside of the course of the records: inputs that are off, at the ends of their ranges, and held there."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from narxbench._model.joint import JointModel
from narxbench._model.narx import DivergedError, Model
from narxbench._model.terms import INPUT

Floats = NDArray[np.float64]

# Inputs are held for this many steps, and a model may be this many half ranges of the measured outputs away from their
# middle. An integrator stays within, and a model that grows by 1 % in each step does not.
HELD_STEPS = 1000


def diverges_when_held(model: Model, u: Floats, y: Floats) -> bool:
    """Return whether a model goes far outside of the measured outputs while its inputs are held inside their ranges.

    It begins with the measured outputs about the highest, the lowest and the last one. A model without inputs runs by
    itself.

    Parameters
    ----------
    model : Model
        A model of decimation 1 for these signals.
    u : array of float, shape (samples, inputs)
        Measured inputs.
    y : array of float, shape (samples,)
        Measured outputs.
    """
    middle, half = (float(y.max()) + float(y.min())) / 2, float(np.ptp(y)) / 2
    n_initial = model.initial_samples
    for start in _starts(y, n_initial):
        initial = y[start : start + n_initial]
        for level in _held_inputs(_used_inputs(model), u):
            course = np.vstack([u[start : start + n_initial], np.tile(level, (HELD_STEPS, 1))])
            try:
                run = model.predict(course if model.n_inputs else None, initial, samples=len(course))
            except DivergedError:
                return True
            if not np.abs(run - middle).max() <= HELD_STEPS * half:
                return True
    return False


def _starts(y: Floats, n_initial: int) -> list[int]:
    """Return where the outputs are that a run begins with: about the highest, the lowest and the last one."""
    last = max(0, len(y) - n_initial)
    highest, lowest = int(np.argmax(y)) - n_initial + 1, int(np.argmin(y)) - n_initial + 1
    return sorted({min(max(0, start), last) for start in (highest, lowest, last)})


def joint_run_diverges_when_held(model: JointModel, u: Floats, y: Floats) -> bool:
    """Return whether any output of a joint run goes as far outside while the inputs are held inside their ranges.

    Parameters
    ----------
    model : JointModel
        The models of all outputs.
    u : array of float, shape (samples, inputs)
        Measured inputs.
    y : array of float, shape (samples, outputs)
        Measured outputs.
    """
    middle, half = (y.max(axis=0) + y.min(axis=0)) / 2, np.ptp(y, axis=0) / 2
    n_initial = model.initial_samples
    n_held = HELD_STEPS * max(part.decimation for part in model.models)
    starts, used = set[int](), set[int]()
    for series in y.T:
        starts |= set(_starts(series, n_initial))
    for equation in model.equations:
        used |= {signal - model.n_outputs for signal, _ in equation.factors if signal >= model.n_outputs}
    for start, level in product(sorted(starts), _held_inputs(sorted(used), u)):
        course = np.vstack([u[start : start + n_initial], np.tile(level, (n_held, 1))])
        try:
            run = model.simulate(course, y[start : start + n_initial], samples=len(course))
        except DivergedError:
            return True
        if not (np.abs(run - middle) <= HELD_STEPS * half).all():
            return True
    return False


def _used_inputs(model: Model) -> list[int]:
    """Return the positions of the inputs that occur in terms."""
    return sorted({signal - INPUT for monomial in model.monomials for signal, _ in monomial if signal >= INPUT})


def _held_inputs(used: Sequence[int], u: Floats) -> list[Floats]:
    """Return measured inputs to hold: those nearest to the middle and to zero, and those at the ends of each range.

    Such inputs occurred together, as functions of others do. Only the inputs that are used count.
    """
    if not used:
        return [u[0]]
    reach = np.ptp(u, axis=0)
    relative = u / np.where(reach > 0.0, reach, 1.0)
    places = {_nearest(relative, np.median(relative, axis=0)), _nearest(relative, np.zeros(u.shape[1]))}
    for place in used:
        places |= {int(np.argmin(u[:, place])), int(np.argmax(u[:, place]))}
    return [u[place] for place in sorted(places)]


def _nearest(rows: Floats, point: Floats) -> int:
    """Return the place of the row that is nearest to a point."""
    return int(np.argmin(np.abs(rows - point).max(axis=1)))
