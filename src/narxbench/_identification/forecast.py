"""Forecasts after measured data as they come: files, frames and arrays."""

from typing import Any, Unpack

import pandas as pd

from narxbench._identification.data.model_data import read_for_models
from narxbench._identification.data.reading import Reading, read_inputs
from narxbench._identification.validation.bands import BAND
from narxbench._identification.validation.forecasts import forecast_after_record
from narxbench._io.errors import FieldError
from narxbench._model.narx import Model
from narxbench._model.records import Recording


def forecast_after(
    model: Model,
    data: Any,
    future: Any = None,
    steps: int | None = None,
    confidence: float | None = BAND,
    **reading: Unpack[Reading],
) -> tuple[pd.DataFrame, Recording]:
    """Return the outputs that a model expects after the last record of some data, with bands, and the data.

    Parameters
    ----------
    model : Model
        A model that :func:`narxbench.identify` returned, or a file that it was saved to.
    data : path, DataFrame, mapping of str to array, or a list of these
        As for :func:`narxbench.identify`.
    future : path, DataFrame or mapping of str to array, optional
        The inputs after the data, in columns named as in the model.
    steps, confidence
        As for :func:`narxbench._identification.validation.forecasts.forecast_frame`.
    **reading
        What :func:`narxbench._identification.data.reading.read_recording` takes. ``input`` and ``output`` are by
        default the columns that the model names.

    Returns
    -------
    frame : DataFrame
        The columns ``forecast``, ``lower`` and ``upper``. The index has the times after those of the record or, where
        these are not known, counts the samples after it from 1.
    recording : Recording
        The data; the forecast goes on after their last record.

    Raises
    ------
    NarxbenchError
        For data that cannot be read or do not fit, also by their sampling time and units, and as
        :meth:`narxbench.Identification.forecast`.
    """
    recording = read_for_models([model], data, reading)
    record = recording.records[-1]
    u_future = None
    if future is not None:
        if not model.n_inputs:
            raise FieldError("future", "found data for a model without inputs; needed: steps alone")
        u_future = _future_inputs(future, {"input": list(model.inputs), **reading})
    frame = forecast_after_record(model, record, u_future, steps, confidence)
    if record.index is None:
        frame.index = pd.RangeIndex(1, len(frame) + 1, name="ahead")
    return frame, recording


def _future_inputs(future: Any, reading: Reading) -> Any:
    """Return the inputs after a record, as a frame with their times where these are known."""
    experiment = read_inputs(future, reading, "future", [])
    return pd.DataFrame(experiment.values, index=experiment.index)
