"""Inputs of a model as users give them: arrays, frames, or None where there are none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._io.errors import NarxbenchError, did_you_mean, is_whole_number, printable, show
from narxbench._io.units import split_name
from narxbench._model.dataset import finite_signals
from narxbench._model.functions import check_domains, completed, derived

Floats = NDArray[np.float64]


def input_values(
    names: Sequence[str], u: Any, samples: int | None, n_outputs: int | None, argument: str = "u"
) -> Floats:
    """Return the inputs of some names, shape (samples, inputs), or an array without columns if there are none.

    Parameters
    ----------
    names : sequence of str
        The inputs in the order of the model. Those that are functions of others may be left out of ``u``.
    u : array, frame or None
        The inputs, as :meth:`narxbench.Model.predict` takes them.
    samples : int or None
        How many samples there should be, if that is known.
    n_outputs : int or None
        How many samples there are without inputs, unless ``samples`` says it.
    argument : str
        What errors call the inputs.
    """
    if samples is not None and not is_whole_number(samples, 0):
        raise NarxbenchError(f"samples: found {show(samples)}; allowed: a whole number from 0 on, or None")
    if u is None:
        return _no_inputs(names, n_outputs if samples is None else samples)
    if not names and not (isinstance(u, np.ndarray) and u.ndim == 2):
        raise NarxbenchError(f"{argument}: the model has no inputs; allowed: None")
    inputs = finite_signals(argument, _completed_inputs(names, u, argument), len(names))
    if samples not in (None, len(inputs)):
        raise NarxbenchError(f"samples: found {samples}, but {len(inputs)} of u; allowed: as many, or None")
    return inputs


def _no_inputs(names: Sequence[str], samples: int | None) -> Floats:
    """Return an array of inputs without columns."""
    if names:
        raise NarxbenchError(f"u: found null; needed: {', '.join(map(printable, names))}")
    if samples is None:
        raise NarxbenchError("samples: found null; needed: how many to predict, for the model has no inputs")
    return np.zeros((samples, 0))


def _completed_inputs(names: Sequence[str], u: Any, argument: str) -> Any:
    """Return inputs in the order of the model, and compute functions of inputs that were left out."""
    functions = derived(names)
    measured = [position for position in range(len(names)) if position not in functions]
    u = columns_of_frame(u, [names[position] for position in measured], argument)
    if not functions:
        return u
    shape = np.shape(np.array(u, dtype=object))
    n_columns = len(shape)
    if len(shape) == 2:
        n_columns = shape[1]
    if n_columns != len(measured):
        return u
    values = finite_signals(argument, u, len(measured))
    inputs = np.zeros((len(values), len(names)))
    inputs[:, measured] = values
    inputs = completed(names, inputs)
    check_domains(argument, names, inputs)
    return inputs


def columns_of_frame(frame: Any, names: Sequence[str], argument: str) -> Any:
    """Return the columns of a frame that have some names, with a unit or without, or anything else as it is.

    A frame that has some of the names but not all raises NarxbenchError. One that has none is taken by position.
    """
    if not hasattr(frame, "iloc") or not hasattr(frame, "columns"):
        return frame
    column_by_name = {split_name(str(column))[0]: column for column in frame.columns}
    column_by_name |= {column: column for column in frame.columns}
    lacking = [name for name in names if name not in column_by_name]
    if names and len(lacking) == len(names):
        return frame
    if lacking:
        columns = printable(", ".join(map(str, frame.columns)))
        hint = did_you_mean(lacking[0], map(str, frame.columns))
        needed = f"{', '.join(map(printable, names))}{hint}"
        raise NarxbenchError(f"{argument}: found the columns {columns}; needed: {needed}")
    return frame[[column_by_name[name] for name in names]]
