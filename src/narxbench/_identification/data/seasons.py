"""Seasons of an output: after how many samples it repeats itself, as hourly loads do after 24 and 168."""

from collections.abc import Sequence

import numpy as np

from narxbench._identification.data.sampling import Array, autocorrelation
from narxbench._identification.data.signals import inputs, outputs
from narxbench._model.records import Recording

# The correlation of the changes of the output with those a season earlier, at least, and what a longer season has more.
STRONG, STRONGER = 0.5, 0.02
# The shortest and the longest season, in samples; a record has so many of the longest one at least.
SHORTEST, LONGEST, REPEATED = 3, 5000, 3
# Seasons that a series may have.
MOST_SEASONS = 2
# The correlation from which on an input is a periodic test signal: what it drives repeats itself as it does.
PERIODIC = 0.98


def seasons(recording: Recording) -> tuple[int, ...]:
    """Return the seasons of an output without inputs in samples, ascending; inputs may explain what repeats itself."""
    if recording.inputs:
        return ()
    return _seasons_of(_unbiased(outputs(recording.known)))


def seasons_beside_inputs(recording: Recording) -> tuple[int, ...]:
    """Return the seasons of an output that is driven by inputs, none of which repeats itself as exactly."""
    of_inputs = [_unbiased(inputs(recording.known, place)) for place in range(len(recording.inputs))]
    found = []
    for season in _seasons_of(_unbiased(outputs(recording.known))):
        # A constant input has no correlation.
        if all(correlation[season : season + 1].sum() < PERIODIC for correlation in of_inputs):
            found.append(season)
    return tuple(found)


def _seasons_of(correlation: Array) -> tuple[int, ...]:
    """Return the seasons of a signal whose changes have such an autocorrelation.

    They are peaks of it. Of several each is higher than the shorter ones, so that multiples of a season are none.
    """
    lengths, highest = [], STRONG
    for lag in range(SHORTEST, len(correlation) - 1):
        before, here, after = correlation[lag - 1 : lag + 2]
        if before <= here > after and here > highest:
            lengths.append(lag)
            highest = here + STRONGER
    return tuple(lengths[-MOST_SEASONS:])


def _unbiased(pieces: Sequence[Array]) -> Array:
    """Return the autocorrelation of the changes of a signal, which have no trend, over several records.

    It does not decay with the number of products.
    """
    changes = [np.diff(piece) for piece in pieces]
    correlation = autocorrelation(changes)
    samples = np.array(list(map(len, changes)))
    lags = np.arange(min(len(correlation), LONGEST + 2, max(samples) // REPEATED + 2))
    products = np.maximum(samples[:, None] - lags, 0).sum(axis=0)
    unbiased: Array = correlation[: len(lags)] * samples.sum() / np.maximum(products, 1)
    return unbiased
