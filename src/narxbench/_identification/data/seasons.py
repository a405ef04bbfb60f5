"""Seasons of a series: after how many samples it repeats itself, as hourly loads do after 24 and 168."""

import numpy as np

from narxbench._identification.data.sampling import Array, autocorrelation
from narxbench._identification.data.signals import outputs
from narxbench._model.records import Recording

# The correlation of the changes of the output with those a season earlier, at least, and what a longer season has more.
STRONG, STRONGER = 0.5, 0.02
# The shortest and the longest season, in samples; a record has so many of the longest one at least.
SHORTEST, LONGEST, REPEATED = 3, 5000, 3
# Seasons that a series may have.
MOST_SEASONS = 2


def seasons(recording: Recording) -> tuple[int, ...]:
    """Return the seasons of an output without inputs in samples, ascending; inputs may explain what repeats itself.

    They are peaks of the autocorrelation of its changes, which have no trend. Of several each is higher than the
    shorter ones, so that multiples of a season are none.
    """
    if recording.inputs:
        return ()
    changes = [np.diff(y) for y in outputs(recording.known)]
    correlation = _unbiased(changes)
    lengths, highest = [], STRONG
    for lag in range(SHORTEST, len(correlation) - 1):
        before, here, after = correlation[lag - 1 : lag + 2]
        if before <= here > after and here > highest:
            lengths.append(lag)
            highest = here + STRONGER
    return tuple(lengths[-MOST_SEASONS:])


def _unbiased(changes: list[Array]) -> Array:
    """Return the autocorrelation of changes over several records, without its decay by the number of products."""
    correlation = autocorrelation(changes)
    samples = np.array(list(map(len, changes)))
    lags = np.arange(min(len(correlation), LONGEST + 2, max(samples) // REPEATED + 2))
    products = np.maximum(samples[:, None] - lags, 0).sum(axis=0)
    unbiased: Array = correlation[: len(lags)] * samples.sum() / np.maximum(products, 1)
    return unbiased
