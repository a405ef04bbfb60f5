"""Bands about predictions, as wide as the errors on parts of the data that the weights did not know."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.identification.trust.fit import Fit
from narxbench.identification.trust.validation import predicted
from narxbench.model.narx import Model
from narxbench.numerics.rounding import significant

Floats = NDArray[np.float64]
# Share of samples that the bands hold which are shown.
BAND = 0.9
# Quantiles that are tried, from the share to the largest error.
LEVELS = 20


class Unseen(NamedTuple):
    """Absolute errors on samples that the weights did not know, in units of the output."""

    parts: tuple[Floats, ...]
    """Sorted errors in each part of the data; infinite where the prediction diverges."""

    def half_width(self, confidence: float) -> float | None:
        """Return the half width of the band that holds this share of samples; None where predictions diverge.

        Neighbouring errors are alike, so that samples count for less than they are: the quantile is raised until that
        of the other parts holds the share of each part, on average.
        """
        if not self.parts:
            return None
        all_but = ([*self.parts[:i], *self.parts[i + 1 :]] or self.parts for i in range(len(self.parts)))
        others = [np.sort(np.concatenate(parts)) for parts in all_but]
        for step in range(LEVELS + 1):
            level = confidence + (1 - confidence) * step / LEVELS
            held = [
                np.searchsorted(part, _quantile(other, level), side="right") / len(part)
                for part, other in zip(self.parts, others, strict=True)
            ]
            if math.fsum(held) >= confidence * len(held):
                break
        found = _quantile(np.sort(np.concatenate(self.parts)), level)
        return significant(found) if math.isfinite(found) else None


def _quantile(ascending: Floats, level: float) -> float:
    """Return the value that the next one does not exceed with at least this probability, or the largest."""
    return float(ascending[min(len(ascending), math.ceil(level * (len(ascending) + 1))) - 1])


def unseen_errors(fit: Fit, model: Model, steps: int | None = None) -> Unseen:
    """Return the errors, some steps of the model ahead or (None) of a free run, on what the weights did not know.

    Parts that take turns are predicted by weights of the others, in a run over the whole record: one that began at the
    part would begin with measured outputs. Records of the role selection are predicted by the model of all data.
    """
    arrangement, found = fit.arrangement, list[Floats]()
    for part in range(arrangement.n_parts_selected):
        own = fit.unknowing(part) if arrangement.takes_turns else model
        inside = (arrangement.part == part) & arrangement.has_lags
        for i, record in enumerate(fit.known):
            times = np.sort(arrangement.time[inside & (arrangement.record == i)])
            if len(times):
                run = predicted(own, record, steps)
                found.append(np.full(len(times), np.inf) if run is None else np.abs(record.y - run)[times])
    return Unseen(tuple(map(np.sort, found)))
