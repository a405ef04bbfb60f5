"""What a model predicts of the records that a reader looks at."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narxbench.identification.result import Identification
from narxbench.identification.trust import validation
from narxbench.identification.trust.bands import BAND
from narxbench.io.errors import NarxbenchError, printable
from narxbench.io.words import ordinal
from narxbench.model.narx import DivergedError
from narxbench.model.records import Record
from narxbench.report.formats import count

Floats = NDArray[np.float64]

# What the chart can zoom into: together so many samples, of so many records.
MOST_SAMPLES, _MOST_CHARTS = 40_000, 12
SHARED = "estimation and selection in turns"


@dataclass(frozen=True)
class Fit:
    """What a model predicts of one record, which has this name and role."""

    name: str
    role: str
    stride: int  # samples of the record from one here to the next
    y: Floats  # measured output, shape (samples,)
    predicted: Floats | None  # None where the prediction diverges or is not possible
    initial: int  # samples at the beginning that the model is given
    note: str = ""  # why there is no prediction, or what is special about it
    half_width: float | None = None  # of the band about the prediction


def shown_fits(found: Identification) -> list[Fit]:
    """Return what the chart shows: the records of test, else of selection, else all; the longest run of them first."""
    records = found.recording.records
    roles = ("test", "selection", None, "estimation")
    shown = ([record for record in records if record.role == role and len(record)] for role in roles)
    budget, fits = MOST_SAMPLES, []
    for record in next(filter(None, shown), [])[:_MOST_CHARTS]:
        if budget > 0:
            fits.append(fit_of(found, record, budget))
            budget -= len(fits[-1].y)
    return fits


def fit_of(found: Identification, record: Record, most: int) -> Fit:
    """Return the prediction of the first samples of a record, at the incoming sampling or, if it diverges there, not.

    A series without inputs is predicted some steps ahead.
    """
    model, (_, steps) = found.model, validation.decisive(found.model, found.validation)
    role, note = record.role or SHARED, ""
    if len(record) > most:
        note = f"The first {count(most)} of {count(len(record))} samples are shown."
        record = record.part(0, most)
    if record.role != "test":
        note = f"{note} The model was made with these data.".strip()
    stride = model.decimation
    coarser = f"At the incoming sampling the prediction diverges: every {ordinal(stride)} sample."
    attempts = [(model, record, 1, ""), (model.decimated(), record.phase(0, stride), stride, coarser)]
    for of, own, every, how in attempts[: 1 + (stride > 1)]:
        note = f"{how} {note}".strip()
        try:
            predicted = of.predict(own.u if of.n_inputs else None, own.y, steps, samples=len(own))
            unseen = found.unseen.get({None: validation.FREE_RUN, 1: validation.ONE_STEP}.get(steps, ""))
            half = unseen and unseen.half_width(BAND)
            return Fit(name_of(record), role, every, own.y, predicted, of.initial_samples, note, half)
        except DivergedError as error:
            # What was found, without what is allowed.
            said = str(error).partition(";")[0].replace("of the model diverges ", "leaves all bounds ")
            failure = f"The prediction diverges: {said}."
        except NarxbenchError:
            failure = f"The record is shorter than the {of.initial_samples} samples that the model is given."
            break
    return Fit(name_of(record), role, 1, record.y, None, 0, f"{failure} {note}".strip())


def name_of(record: Record) -> str:
    """Return the name of a record as a reader sees it."""
    return printable(record.name) or "data"
