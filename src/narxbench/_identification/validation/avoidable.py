"""The part of the prediction errors that a better model could avoid, because earlier data predict it.

Errors are regressed on the prediction, and on slow and fast parts of the inputs and of their squares. For a series,
the outputs before the prediction replace the inputs. The regression of one half of the blocks predicts the errors of
the other half, and the part that it predicts there is avoidable. The rest is noise, as far as such a regression sees.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.search.problem import MOST_ROWS
from narxbench._identification.validation.error_table import Case, predicted
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Steps over which means are taken (benchmarks/verdicts.md).
MEMORIES = (1, 3, 10, 30)


def avoidable_share(cases: Sequence[Case], steps: int | None) -> float | None:
    """Return the share of the mean squared error that a better model could avoid, from 0 to 1.

    None where the records are too short to tell, or a prediction diverges.

    Parameters
    ----------
    cases : sequence of Case
        Records with the models that predict them.
    steps : int, optional
        How many steps ahead outputs are predicted, or None in free run.
    """
    blocks = list[tuple[Floats, Floats]]()
    for case in cases:
        errors_and_features = _errors_and_features(case, steps)
        if errors_and_features is None:
            return None
        errors, features = errors_and_features
        if len(errors) >= N_PARTS:
            pairs = zip(np.array_split(errors, N_PARTS), np.array_split(features, N_PARTS), strict=True)
            blocks += pairs
    # A row of each block of a record is needed for each weight.
    if not blocks or sum(len(errors) for errors, _ in blocks) < N_PARTS * blocks[0][1].shape[1]:
        return None
    total = remaining = 0.0
    for first in (0, 1):
        weights = _weights(blocks[1 - first :: 2])
        for errors, features in blocks[first::2]:
            rest = errors - features @ weights
            total += float(errors @ errors)
            remaining += float(rest @ rest)
    return significant(max(0.0, 1.0 - remaining / total)) if total else 0.0


def _weights(blocks: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return the weights of features by least squares over blocks, a little drawn to zero."""
    errors, features = map(np.concatenate, zip(*blocks, strict=True))
    products = features.T @ features
    ridge = 1e-3 * np.diag(np.diag(products)) + 1e-12 * np.eye(len(products))
    weights: Floats = np.asarray(np.linalg.solve(products + ridge, features.T @ errors), dtype=np.float64)
    return weights


def _errors_and_features(case: Case, steps: int | None) -> tuple[Floats, Floats] | None:
    """Return errors of predictions of a record and features of earlier data, or None where it diverges."""
    model, record = case.model, case.record
    if len(record) > MOST_ROWS:
        record = record.part(0, MOST_ROWS)
    first = model.initial_samples
    if len(record) <= first + 1:
        return np.empty(0), np.empty((0, 1))
    run = predicted(model, record, steps)
    if run is None:
        return None
    signals = record.u
    if not signals.shape[1]:
        distance = (steps or 1) * model.decimation
        signals = np.pad(record.y, (distance, 0), mode="edge")[: len(record), None]
    features = np.column_stack([_means(signals), run, run**2])
    return (record.y - run)[first:], _standard(features[first:])


def _means(signals: Floats) -> Floats:
    """Return means of signals and of their squares over several memories, shape (samples, features)."""
    centred = signals - signals.mean(axis=0)
    from_zero = np.pad(np.hstack([centred, centred**2]), ((1, 0), (0, 0)))
    # SciPy has a filter that does this, but its import would take longer than the rest of a short identification.
    frame = pd.DataFrame(from_zero)
    means = [frame.ewm(alpha=1.0 / memory, adjust=False).mean().to_numpy(np.float64)[1:] for memory in MEMORIES]
    return np.hstack(means)


def _standard(features: Floats) -> Floats:
    """Return features about their means in units of their deviations, after a constant."""
    deviations = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    return np.column_stack([np.ones(len(features)), scaled])
