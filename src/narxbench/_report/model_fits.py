"""The predictions of a model for the records that a reader looks at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.result import Identification
from narxbench._identification.validation import error_table
from narxbench._identification.validation.bands import BAND, half_width
from narxbench._io.errors import NarxbenchError, printable
from narxbench._io.words import counted, ordinal
from narxbench._model.narx import DivergedError
from narxbench._model.records import Record
from narxbench._report.formats import count

Floats = NDArray[np.float64]

# The chart can zoom into records with this many samples together: twice as many numbers of five digits, some 0.6 MB.
MOST_SAMPLES = 40_000
SHARED = "estimation and selection in turns"


@dataclass(frozen=True)
class ShownFit:
    """The measured output of one record, which has this name and role, and its prediction by a model."""

    name: str
    role: str
    stride: int  # samples of the record from one of these values to the next
    y: Floats  # measured output, shape (samples,)
    predicted: Floats | None  # None if the prediction diverges or is not possible
    initial: int  # samples at the beginning that the model is given
    note: str = ""  # the reason for a missing prediction, or a remark on it
    half_width: float | None = None  # of the band about the prediction


def shown_fits(identification: Identification) -> list[ShownFit]:
    """Return the fits of the chart: to the records of test, else of selection, else to all, in their order."""
    budget, fits = MOST_SAMPLES, []
    for record in _shown_records(identification.recording.records):
        if budget > 0:
            fits.append(fit_of(identification, record, budget))
            budget -= len(fits[-1].y)
    return fits


def _shown_records(records: Sequence[Record]) -> list[Record]:
    """Return the records of the first of these roles that has samples, so that test data come before others."""
    for role in ("test", "selection", None, "estimation"):
        shown = [record for record in records if record.role == role and len(record)]
        if shown:
            return shown
    return []


def fit_of(identification: Identification, record: Record, most: int) -> ShownFit:
    """Return the prediction of at most this many first samples of a record.

    It is made at the incoming sampling or, where it diverges there, at the sampling of the model. A series without
    inputs is predicted some steps ahead.
    """
    model, role, note = identification.model, record.role or SHARED, ""
    if len(record) > most:
        note = f"The first {count(most)} of {count(len(record))} samples are shown."
        record = record.part(0, most)
    if record.role != "test":
        note = f"{note} The model was made with these data.".strip()
    if record.is_missing is not None:
        n_missing = int(record.is_missing.sum())
        shown = counted(n_missing, "missing output is shown as it was", "missing outputs are shown as they were")
        note = f"{note} {shown} bridged.".strip()
    steps = identification.steps_judged
    stride = model.decimation
    attempts = [(model, record, 1, "")]
    if stride > 1:
        coarser = f"At the incoming sampling the prediction diverges: every {ordinal(stride)} sample."
        attempts.append((model.decimated(), record.phase(0, stride), stride, coarser))
    for sampled_model, sampled, step, remark in attempts:
        note, u = f"{remark} {note}".strip(), sampled.u if sampled_model.n_inputs else None
        try:
            y = sampled.measured(sampled_model.initial_samples)
            predicted = sampled_model.predict(u, y, steps, samples=len(sampled))
        except DivergedError as error:
            # The message begins with the cause, followed by the allowed values.
            reason = str(error).partition(";")[0].replace("of the model diverges ", "diverges ")
            failure = f"The prediction diverges: {reason}."
        except NarxbenchError:
            failure = f"The record is shorter than the {sampled_model.initial_samples} samples that the model is given."
            break
        else:
            half_width, initial = _half_width(identification, steps), sampled_model.initial_samples
            return ShownFit(name_of(record), role, step, sampled.y, predicted, initial, note, half_width)
    return ShownFit(name_of(record), role, 1, record.y, None, 0, f"{failure} {note}".strip())


def _half_width(identification: Identification, steps: int | None) -> float | None:
    """Return the half width of the band about predictions of this many steps ahead, or None if it is not known."""
    case = {None: error_table.FREE_RUN, 1: error_table.ONE_STEP}.get(steps, "")
    if case not in identification.unseen:
        return None
    return half_width(identification.unseen[case], BAND)


def name_of(record: Record) -> str:
    """Return the name of a record as a reader sees it."""
    return printable(record.name) or "data"
