"""Bands about predictions, as wide as the errors on parts of the data that the weights did not know."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.validation.error_table import predicted
from narxbench._identification.validation.fit import ModelFit
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Share of samples that the bands hold which are shown, and the quantiles that are tried from the share to the largest
# error (benchmarks/bands.md).
BAND, LEVELS = 0.9, 20


# Sorted absolute errors in each part of the data, on samples that the weights did not know, in units of the output.
# They are infinite where the prediction diverges.
Unseen = tuple[Floats, ...]


def half_width(unseen: Unseen, confidence: float) -> float | None:
    """Return the half width of the band that holds this share of samples, or None where predictions diverge.

    Neighbouring errors are alike, so samples count for less than they are. Therefore the quantile is raised until the
    quantile of the other parts holds the share of each part, on average.
    """
    if not unseen:
        return None
    further = [_merged([*unseen[:i], *unseen[i + 1 :]] or unseen) for i in range(len(unseen))]
    for step in range(LEVELS + 1):
        level = confidence + (1 - confidence) * step / LEVELS
        held = []
        for part, of_others in zip(unseen, further, strict=True):
            held.append(np.searchsorted(part, _quantile(of_others, level), side="right") / len(part))
        if math.fsum(held) >= confidence * len(held):
            break
    half = _quantile(_merged(unseen), level)
    return significant(half) if math.isfinite(half) else None


def _merged(parts: Sequence[Floats]) -> Floats:
    """Return all errors of some parts in ascending order."""
    return np.sort(np.concatenate(parts))


def _quantile(ascending: Floats, level: float) -> float:
    """Return the value that the next one does not exceed with at least this probability, or the largest."""
    return float(ascending[min(len(ascending), math.ceil(level * (len(ascending) + 1))) - 1])


def unseen_errors(fit: ModelFit, model: Model, steps: int | None = None) -> Unseen:
    """Return the errors, some steps of the model ahead or (None) of a free run, on what the weights did not know.

    Parts that take turns are predicted by weights of the others, in a run over the whole record: one that began at the
    part would begin with measured outputs. Records of the role selection are predicted by the model of all data.
    """
    errors = list[Floats]()
    for part_model, stretches in unknown_stretches(fit, model):
        for record, times in stretches:
            run = predicted(part_model, record, steps)
            measured = times[record.is_measured[times]]
            errors.append(np.full(len(measured), np.inf) if run is None else np.abs(record.y - run)[measured])
    return tuple(map(np.sort, errors))


def unknown_stretches(fit: ModelFit, model: Model) -> Iterator[tuple[Model, list[tuple[Record, Integers]]]]:
    """Yield for each part of the data a model that does not know it, and the records with their samples in the part."""
    arrangement = fit.turns
    for part in range(arrangement.n_parts_selected):
        inside = (arrangement.part == part) & arrangement.has_lags
        stretches = []
        for number, record in enumerate(fit.searched):
            times = np.sort(arrangement.time[inside & (arrangement.record == number)])
            if len(times):
                stretches.append((record, times))
        yield fit.unknowing(part) if arrangement.takes_turns else model, stretches
