"""Recordings with gaps of the output: cut at the gaps, or filled with predictions of a model."""

from collections.abc import Sequence
from dataclasses import replace

from narxbench._identification.data.experiments import LEAST_SAMPLES
from narxbench._identification.data.sampling import runs
from narxbench._io.errors import FieldError
from narxbench._model.narx import Model
from narxbench._model.records import Record, Recording


def has_gaps(recording: Recording) -> bool:
    """Return whether outputs of a recording are missing."""
    return any(record.is_missing is not None for record in recording.records)


def cut_at_gaps(recording: Recording) -> Recording:
    """Return a recording whose records are the stretches without a missing output that are long enough.

    FieldError is raised where none is left to estimate a model from.
    """
    records: list[Record] = []
    for record in recording.records:
        records += _stretches(record)
    if not any(record.role in (None, "estimation") for record in records):
        finding = f"found no stretch of {LEAST_SAMPLES} samples between missing outputs"
        raise FieldError("data", f"{finding}; needed: one, to estimate a model from that bridges their gaps")
    return replace(recording, records=tuple(records))


def _stretches(record: Record) -> Sequence[Record]:
    if record.is_missing is None:
        return [record]
    stretches = []
    for start, end in runs(record.is_measured):
        if end - start >= LEAST_SAMPLES:
            stretches.append(record.part(start, end))
    return stretches


def filled_by(model: Model, recording: Recording) -> Recording:
    """Return a recording in which predictions of a model replace missing outputs.

    Outputs that are missing among the first ones of a record, which the model begins from, stay as they are.
    DivergedError is raised if a prediction diverges.
    """
    records = []
    for record in recording.records:
        if record.is_missing is not None and len(record) > model.initial_samples:
            y = model.filled(record.u, record.measured(model.initial_samples))
            record = replace(record, y=y)
        records.append(record)
    return replace(recording, records=tuple(records))
