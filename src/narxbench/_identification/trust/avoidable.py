"""The part of the prediction errors that a better model could avoid, as it follows from what is known in time.

Errors are regressed on slow and fast parts of the inputs and their squares, and on the prediction, or, of a series, on
the outputs that were measured before the prediction. The regression of one half of the blocks predicts the errors of
the other half: what it predicts there is avoidable. The rest is noise, as far as such a regression sees.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.search.problem import MOST_ROWS
from narxbench._identification.trust.validation import Case, predicted
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Steps over which means of the inputs are taken, and the last outputs of a series that count (benchmarks/verdicts.md).
MEMORIES, LAST_OUTPUTS = (1, 3, 10, 30), 3


def avoidable_share(cases: Sequence[Case], steps: int | None) -> float | None:
    """Return the share of the mean squared error that a better model could avoid, from 0 to 1.

    None where the records are too short to tell, or a prediction diverges.

    Parameters
    ----------
    cases : sequence of Case
        Records with the models that predict them.
    steps : int, optional
        How many steps ahead outputs are predicted; None: in free run.
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
    # Two rows of each block of a record are needed for each weight.
    if not blocks or sum(len(errors) for errors, _ in blocks) < 2 * N_PARTS * blocks[0][1].shape[1]:
        return None
    total = remaining = 0.0
    for first in (0, 1):
        others, half = blocks[1 - first :: 2], blocks[first::2]
        weights = _weights(others)
        for errors, features in half:
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
    """Return errors of predictions of a record and what is known in time; None where the prediction diverges."""
    model, record = case.model, case.record
    if len(record) > MOST_ROWS:
        record = record.part(0, MOST_ROWS)
    first = model.initial_samples
    if len(record) <= first + 1:
        return np.empty(0), np.empty((0, 1))
    run = predicted(model, record, steps)
    if run is None:
        return None
    if record.u.shape[1]:
        features = np.column_stack([_input_features(record.u), run, run**2])
    else:
        features = _past_outputs(record.y, (steps or 1) * model.decimation)
    return (record.y - run)[first:], _standard(features[first:])


def _input_features(u: Floats) -> Floats:
    """Return means of inputs and of their squares over several memories, shape (samples, features)."""
    columns = []
    centred = u - u.mean(axis=0)
    for signal in (centred, centred**2):
        for memory in MEMORIES:
            forgetting = 1.0 - 1.0 / memory
            columns.append(_smoothed(signal, forgetting))
    return np.hstack(columns)


def _smoothed(signal: Floats, forgetting: float) -> Floats:
    """Return the exponentially weighted means of the columns of a signal, which begin at zero."""
    # SciPy has a filter that does this; its import would take longer than all else of a short identification.
    frame = pd.DataFrame(np.vstack([np.zeros((1, *signal.shape[1:])), signal]))
    means: Floats = frame.ewm(alpha=1.0 - forgetting, adjust=False).mean().to_numpy(np.float64)
    return means[1:]


def _past_outputs(y: Floats, distance: int) -> Floats:
    """Return the last outputs that were measured some samples before, their squares and their cubes."""
    columns = []
    for lag in range(distance, distance + LAST_OUTPUTS):
        late = np.pad(y - y.mean(), (lag, 0), mode="edge")[: len(y)]
        columns += [late, late**2, late**3]
    return np.column_stack(columns)


def _standard(features: Floats) -> Floats:
    """Return features about their means in units of their deviations, after a constant."""
    deviations = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    return np.column_stack([np.ones(len(features)), scaled])
