"""How far ahead a series is predicted where it is judged: over the time that its values depend on one another."""

from collections.abc import Sequence

import numpy as np

from narxbench._identification.data.sampling import autocorrelation
from narxbench._model.records import Record

# The correlation time is over where the autocorrelation stays below this. With noise alone, an optimal prediction that
# far ahead misses some 87 % of the standard deviation.
CORRELATED = 0.5
# Steps ahead, at most, and the share of the shortest record that they may take.
MOST_STEPS_AHEAD, LARGEST_SHARE = 500, 0.5


def steps_ahead(records: Sequence[Record], decimation: int) -> int:
    """Return how many steps ahead a model of a series is judged.

    It is the correlation time: 1 where neighbouring steps are hardly correlated, and up to half of the shortest record
    for an oscillation that goes on.
    """
    correlation = autocorrelation([record.y for record in records if record.role != "test"])
    n_lags = len(correlation)
    shortest = min(map(len, records))
    if n_lags:
        # The autocorrelation of few products is biased towards zero.
        longest = max(len(record) for record in records if record.role != "test")
        unbiased = np.abs(correlation) / (1.0 - np.arange(n_lags) / longest)
        large = np.flatnonzero(unbiased >= CORRELATED)
        time = int(large[-1]) + 1 if len(large) else 1
    else:
        time = 1
    most = max(1, min(MOST_STEPS_AHEAD, int(LARGEST_SHARE * shortest) // decimation))
    return min(most, max(1, round(time / decimation)))
