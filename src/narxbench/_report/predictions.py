"""Predictions of a model over measured data and planned inputs, as a table."""

from collections.abc import Sequence
from typing import Any, Unpack

import pandas as pd

from narxbench._identification.data.model_data import read_for_models
from narxbench._identification.data.reading import Reading
from narxbench._identification.validation.forecasts import free_run_half_width
from narxbench._io.errors import FieldError, NarxbenchError, printable, show
from narxbench._io.words import counted
from narxbench._model.dataset import finite_signals
from narxbench._model.narx import Model
from narxbench._model.records import Record


def predictions(
    model: Model,
    data: Any,
    steps: int | None = None,
    y_initial: Sequence[float] | None = None,
    **reading: Unpack[Reading],
) -> pd.DataFrame:
    """Return measured and predicted outputs of all records.

    Outputs that are missing at the end of the data are predicted as far as the inputs go: of a planned run only the
    first outputs are known.

    Parameters
    ----------
    model, data, **reading
        As for :func:`narxbench.compare`, of a single model.
    steps : int, optional
        As for :meth:`narxbench.Model.predict`: steps of the model ahead, or None for a free run.
    y_initial : sequence of float, optional
        The first outputs of each planned run, at least as many as the model needs. Such data have inputs alone.

    Returns
    -------
    DataFrame
        One row for each sample: ``record``, ``sample`` (from 1 on in its record), ``time`` (seconds or dates) where the
        data have it, ``measured``, empty where a gap of the output was bridged and where the output is planned, and
        ``predicted``. The first samples of a record, which the prediction begins from, are as measured. Free runs of
        which one is planned also have ``lower`` and ``upper``, the ends of the 90 % band, if the model has one.

    Raises
    ------
    NarxbenchError
        For data that cannot be read or do not fit, such as a planned run without its first outputs. Predictions that
        grow beyond all bounds raise DivergedError.

    Examples
    --------
    >>> model = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> predictions(model, {"u": [1.0, -1.0, 2.0], "y": [1.0, None, None]})["predicted"].tolist()
    [1.0, 1.5, -0.25]
    >>> predictions(model, {"u": [1.0, -1.0, 2.0]}, y_initial=[1.0])["predicted"].tolist()
    [1.0, 1.5, -0.25]
    """
    records = _records(model, data, y_initial, reading)
    half_width = None
    if steps is None and any(map(_is_planned, records)):
        half_width = free_run_half_width(model)
    frames = []
    for record in records:
        u = record.u if model.inputs else None
        y = record.measured(model.initial_samples)
        frame = pd.DataFrame({"record": printable(record.name), "sample": range(1, len(record) + 1)})
        if record.index is not None:
            frame["time"] = without_rounding(record.index)
        frame["measured"] = record.measured()
        frame["predicted"] = model.predict(u, y, steps, samples=len(record))
        if half_width is not None:
            run = frame["predicted"].where(frame["sample"] > model.initial_samples)
            frame["lower"], frame["upper"] = run - half_width, run + half_width
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _records(model: Model, data: Any, y_initial: Sequence[float] | None, reading: Reading) -> list[Record]:
    """Return the records that are long enough to predict, with their first outputs."""
    first_outputs = None
    if y_initial is not None:
        first_outputs = _first_outputs(model, y_initial, reading)
    try:
        recording = read_for_models([model], data, reading, with_plan=bool(model.inputs), first_outputs=first_outputs)
    except FieldError as error:
        if error.field != "output" or not model.inputs:
            raise
        advice = f"without a column, initial values give {_needed(model)}"
        raise FieldError(error.field, f"{error.text}; {advice}", error.source) from None
    records = [record for record in recording.records if len(record) > model.initial_samples]
    if not records:
        finding = f"found no record of more than {model.initial_samples} samples, the largest lag of the model"
        raise FieldError("data", finding)
    for record in records:
        _check_beginning(model, record, recording.output)
    return records


def _first_outputs(model: Model, y_initial: Sequence[float], reading: Reading) -> list[float]:
    """Return the first outputs of planned runs, or raise FieldError if they do not fit."""
    if not model.inputs:
        raise FieldError(
            "initial", "found for a model without inputs; needed: a record, and the number of steps to forecast"
        )
    if reading.get("output") is not None:
        output = show(reading["output"], kind=False)
        raise FieldError("initial", f"found next to the output {output}; allowed: one of them")
    try:
        outputs: list[float] = finite_signals("initial", y_initial)[:, 0].tolist()
    except NarxbenchError:
        raise FieldError("initial", f"found {show(y_initial, kind=False)}; needed: {_needed(model)}") from None
    if len(outputs) < model.initial_samples:
        raise FieldError("initial", f"found {counted(len(outputs), 'output', 'outputs')}; needed: {_needed(model)}")
    return outputs


def _is_planned(record: Record) -> bool:
    """Return whether a record goes on after its last output."""
    return not record.is_measured[-1]


def _check_beginning(model: Model, record: Record, output: str) -> None:
    """Raise FieldError for a planned run without the first outputs, which it begins from."""
    n_known = int((~record.is_measured).argmax())
    if _is_planned(record) and n_known < model.initial_samples:
        finding = f"found none, and {counted(n_known, 'output', 'outputs')} at the start of column {printable(output)}"
        raise FieldError("initial", f"{finding}; needed: {_needed(model)}, here or there", record.name)


def _needed(model: Model) -> str:
    """Return in words what a planned run begins from."""
    if model.initial_samples == 1:
        return "the first output of the run"
    return f"the first {model.initial_samples} outputs of the run"


def without_rounding(index: pd.Index) -> pd.Index:
    """Return the times of an index, numbers without the rounding errors of their sums."""
    if index.dtype.kind != "f":
        return index
    return pd.Index([float(f"{time:.15g}") for time in index], name=index.name)
