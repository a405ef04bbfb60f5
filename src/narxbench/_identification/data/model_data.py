"""Data for models that are there already: in the columns that they name, at their sampling, in their units."""

from collections.abc import Iterable, Sequence
from typing import Any

from narxbench._identification.data.reading import Reading, read_planned_runs, read_recording
from narxbench._io.errors import FieldError, NarxbenchError, printable
from narxbench._model.equation import duration
from narxbench._model.indexes import UNEVEN
from narxbench._model.narx import Model
from narxbench._model.records import Recording


def read_for_models(
    models: Sequence[Model],
    data: Any,
    reading: Reading,
    *,
    any_sampling: bool = False,
    with_plan: bool = False,
    first_outputs: Sequence[float] | None = None,
) -> Recording:
    """Return data for models of the same output.

    Parameters
    ----------
    models : sequence of Model
        The models, at least one.
    data : path, DataFrame, mapping of str to array, a list of these, or None
        As for :func:`narxbench.identify`. None if ``input`` and ``output`` are arrays.
    reading : dict
        Arguments of :func:`narxbench._identification.data.reading.read_recording`. ``input`` and ``output`` are by
        default the columns that the models name. Others replace these in the order in which the models first name
        them.
    any_sampling : bool
        Whether the data may have another sampling time than the models.
    with_plan : bool
        Whether records go on after their last output, as far as the inputs do.
    first_outputs : sequence of float, optional
        The first outputs of each record, instead of the measured ones.

    Raises
    ------
    NarxbenchError
        For data that cannot be read, another number of inputs, and samples that are another time apart or in another
        unit, where both are known.
    """
    inputs = inputs_of(models)
    if data is not None:
        reading = {"output": models[0].output, "input": inputs or None, **reading}
    if first_outputs is None:
        recording = read_recording(data, **reading, with_plan=with_plan)
    else:
        recording = read_planned_runs(data, first_outputs, models[0].output, reading)
    if len(recording.inputs) != len(inputs):
        needed = f"{len(inputs)}, for {printable(', '.join(inputs)) or 'a model without inputs'}"
        raise FieldError("input", f"found {len(recording.inputs)}; needed: {needed}")
    columns = dict(zip(inputs, recording.inputs, strict=True))
    for model in models:
        _check_units(model, {model.output: recording.output, **columns}, recording)
        if not any_sampling:
            _check_sampling(model, recording)
    return recording


def inputs_of(models: Iterable[Model]) -> list[str]:
    """Return the names of the inputs of all models, in the order in which they first name them."""
    names: dict[str, None] = {}
    for model in models:
        names |= dict.fromkeys(model.inputs)
    return list(names)


def _check_units(model: Model, columns: dict[str, str], recording: Recording) -> None:
    """Raise NarxbenchError if a signal is in another unit than its ``columns`` of the data."""
    for signal, column in columns.items():
        unit, unit_in_data = model.units.get(signal), recording.units.get(column)
        if unit and unit_in_data and unit != unit_in_data:
            place = f"{printable(recording.records[0].name)}: column {printable(column)}"
            units = f"found in {printable(unit_in_data)}; needed: in {printable(unit)}, as for the model"
            raise NarxbenchError(f"{place}: {units}")


def _check_sampling(model: Model, recording: Recording) -> None:
    """Raise FieldError if the samples of the data are farther apart, or closer, than the samples of a model."""
    if model.sampling_time is None or recording.sampling_time is None:
        return
    if abs(recording.sampling_time / model.sampling_time - 1) > UNEVEN:
        needed = f"{duration(model.sampling_time)}, as for the model, or no time, to take samples as they come"
        text = f"found samples {duration(recording.sampling_time)} apart; needed: {needed}"
        raise FieldError("time", text, recording.records[0].name)
