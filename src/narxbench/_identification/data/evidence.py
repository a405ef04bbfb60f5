"""Evidence before any search on what records can show of a process: changes of the inputs, feedback of the output."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from narxbench._identification.data.sampling import STEPS
from narxbench._identification.data.signals import (
    MOST_SAMPLES,
    NOTHING,
    REPEATED,
    SAMPLES_PER_WEIGHT,
    SMALL,
    inputs,
    outputs,
)
from narxbench._model.records import Recording

Array = NDArray[np.float64]

# With at most this many changes, an input cannot be shown to have no effect, and its different changes are counted.
FEW_CHANGES = 30


class InputEvidence(NamedTuple):
    """How much an input moves.

    Attributes
    ----------
    constant : bool
        Whether it never changes.
    changes : int or None
        How many different changes it makes from one held level to another. None if it is not held, or changes often.
    follows : float
        The share of what its own past does not predict that past outputs explain: large under feedback.
    exchanged : bool
        Whether it looks like the output, and the output like an input.
    """

    constant: bool
    changes: int | None
    follows: float
    exchanged: bool = False


def input_evidence(recording: Recording) -> dict[str, InputEvidence]:
    """Return how much each input moves in the known records, by its column."""
    evidence = {}
    for place, column in enumerate(recording.inputs):
        pieces = inputs(recording.known, place)
        all_values = np.concatenate(pieces)
        is_constant = bool(np.ptp(all_values) <= 1e-12 * np.abs(all_values).max())
        if is_constant:
            evidence[column] = InputEvidence(True, 0, 0.0)
        else:
            of_output = outputs(recording.known)
            follows = explained_by_past(pieces, of_output, 1.0 - SMALL) or 0.0
            exchanged = is_under_feedback(follows) and _predicts_nothing(pieces, of_output)
            evidence[column] = InputEvidence(False, count_changes(pieces), follows, exchanged)
    return evidence


def is_under_feedback(follows: float) -> bool:
    """Return whether past outputs explain more of an input than without a loop.

    Of inputs of the library's systems they explain up to 0.07, of those in loops with a proportional controller 0.13 to
    0.28.
    """
    return follows > SMALL


def _predicts_nothing(input_pieces: Sequence[Array], output_pieces: Sequence[Array]) -> bool:
    """Return whether the past of an input is seen not to predict the output, also where a reference jumps."""
    share = explained_by_past(output_pieces, input_pieces)
    return share is not None and share <= NOTHING


def largest_degree_shown(evidence: Sequence[InputEvidence]) -> int | None:
    """Return 1 if all inputs together make a single change, which shows no nonlinear behaviour, else None."""
    n_changes = 0
    for about in evidence:
        if about.changes is None:
            return None
        n_changes += about.changes
    return 1 if n_changes == 1 else None


def count_changes(pieces: Sequence[Array]) -> int | None:
    """Return how many different changes an input makes from one held level to another.

    None means an input that is not held, or makes more than ``FEW_CHANGES``. Equal changes in several records
    count once.

    Examples
    --------
    >>> step = np.repeat([0.0, 1.0], 50)
    >>> count_changes([step]), count_changes([step, step]), count_changes([step, step[::-1]])
    (1, 1, 2)
    >>> count_changes([np.sin(np.arange(100.0))]) is None
    True
    """
    reach = float(np.ptp(np.concatenate(pieces)))
    changes = set()
    held = total = 0
    for piece in pieces:
        stays, end = _stays(piece, SMALL * reach)
        total += end
        levels = []
        for start, stop in stays:
            held += stop - start
            levels.append(round(float(np.median(piece[start:stop])) / (SMALL * reach)))
        for before, after in pairwise(levels):
            if before != after:
                changes.add((before, after))
        if end < len(piece):
            return None
    return len(changes) if held >= (1.0 - SMALL) * total else None


def _stays(values: Array, tolerance: float) -> tuple[list[tuple[int, int]], int]:
    """Return the stretches in which a signal stays within a tolerance, and up to which sample it was examined."""
    stays = list[tuple[int, int]]()
    start = 0
    while start < len(values) and len(stays) <= FEW_CHANGES:
        end = _end_of_stay(values, start, tolerance)
        if end - start >= REPEATED:
            stays.append((start, end))
        elif start > FEW_CHANGES / SMALL * REPEATED and not stays:
            break
        start = end
    return stays, start


def _end_of_stay(values: Array, start: int, tolerance: float) -> int:
    """Return the first sample after ``start`` at which the range since then exceeds a tolerance."""
    low = high = values[start]
    size = 64
    while start < len(values):
        chunk = values[start : start + size]
        lows = np.minimum(np.minimum.accumulate(chunk), low)
        highs = np.maximum(np.maximum.accumulate(chunk), high)
        leaves = highs - lows > tolerance
        if leaves.any():
            return start + int(np.argmax(leaves))
        low, high = lows[-1], highs[-1]
        start, size = start + len(chunk), 2 * size
    return len(values)


def explained_by_past(
    signal_pieces: Sequence[Array], other_pieces: Sequence[Array], share_fitted: float = 1.0
) -> float | None:
    """Return the share of what the past of a signal does not predict of it that another's past explains, above chance.

    It is None where there are few samples, or the signal's own past predicts nearly all of it, and near 0 for a signal
    that depends on no past of the other. ``share_fitted`` are the samples that count: those predicted best.
    """
    rows, targets = [], []
    for whole, whole_other in zip(signal_pieces, other_pieces, strict=True):
        signal, cause = whole[:MOST_SAMPLES], whole_other[:MOST_SAMPLES]
        if len(signal) <= STEPS:
            continue
        rows.append(np.column_stack([_past(signal), _past(cause)]))
        targets.append(signal[STEPS:])
    n_weights = 2 * STEPS + 1
    if sum(map(len, targets)) < SAMPLES_PER_WEIGHT * n_weights:
        return None
    columns, target = np.vstack(rows), np.concatenate(targets)
    # The input cannot be predicted where the reference of a loop jumps. The rest of the time shows the feedback.
    sizes = np.abs(_unexplained(columns, target))
    is_calm = sizes <= np.quantile(sizes, share_fitted)
    columns, target = columns[is_calm], target[is_calm]
    alone = _energy(_unexplained(columns[:, :STEPS], target))
    together = _energy(_unexplained(columns, target))
    if alone <= NOTHING * _energy(target - target.mean()):
        return None
    by_chance = STEPS / (len(target) - n_weights)
    return max(0.0, 1.0 - together / alone * (1.0 + by_chance))


def _past(signal: Array) -> Array:
    """Return the last samples before each one that has as many, shape (samples, STEPS)."""
    return sliding_window_view(signal[:-1], STEPS)[:, ::-1]


def _unexplained(columns: Array, target: Array) -> Array:
    """Return the residual of a regression of a signal on columns and a constant."""
    centred = columns - columns.mean(axis=0)
    scales = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(scales > 0.0, scales, 1.0)
    deviation = target - target.mean()
    rest: Array = deviation - scaled @ np.linalg.lstsq(scaled, deviation, rcond=1e-10)[0]
    return rest


def _energy(values: Array) -> float:
    return float(values @ values)
