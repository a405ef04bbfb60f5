"""Seasons of an output, after which it repeats itself, and how far ahead predictions are judged.

Hourly loads have seasons of 24 and 168 samples. Predictions of a series are judged over a season, or over the time that
its values depend on one another.
"""

from collections.abc import Sequence

import numpy as np

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.data.sampling import FEWEST_STEPS, Array, autocorrelation
from narxbench._identification.data.signals import REPEATED, inputs, outputs
from narxbench._io.errors import FieldError
from narxbench._model.records import Record, Recording

# Values with at least this correlation depend on one another: with noise alone, an optimal prediction that far ahead
# misses some 87 % of the standard deviation. Correlations are alike if they differ by less than the second number: with
# half of it, the heat flow of a wall (DaISy) seems to have a season of 20 days.
CORRELATED, ALIKE = 0.5, 0.02
# The longest season in samples, for the time that it takes: a week has 2016 times five minutes. A series may have two.
LONGEST, MOST_SEASONS = 5000, 2
# Steps ahead that are judged, at most, for the time that it takes.
MOST_STEPS_AHEAD = 500


def seasons(recording: Recording) -> tuple[int, ...]:
    """Return the seasons of an output in samples, ascending, but none with inputs, which may explain them."""
    if recording.inputs:
        return ()
    return _seasons_of(_unbiased(outputs(recording.known)))


def seasons_beside_inputs(recording: Recording) -> tuple[int, ...]:
    """Return the seasons of an output that is driven by inputs, none of which repeats itself as exactly."""
    of_inputs = [_unbiased(inputs(recording.known, place)) for place in range(len(recording.inputs))]
    seasons = []
    for season in _seasons_of(_unbiased(outputs(recording.known))):
        # The correlation of a constant input is empty.
        if all(correlation[season : season + 1].sum() < 1.0 - ALIKE for correlation in of_inputs):
            seasons.append(season)
    return tuple(seasons)


def _seasons_of(correlation: Array) -> tuple[int, ...]:
    """Return the seasons of a signal whose changes have such an autocorrelation.

    They are peaks of it. Of several each is higher than the shorter ones, so that multiples of a season are none.
    """
    lengths, highest = [], CORRELATED
    for lag in range(REPEATED, len(correlation) - 1):
        before, here, after = correlation[lag - 1 : lag + 2]
        if before <= here > after and here > highest:
            lengths.append(lag)
            highest = here + ALIKE
    return tuple(lengths[-MOST_SEASONS:])


def _unbiased(pieces: Sequence[Array]) -> Array:
    """Return the unbiased autocorrelation of the changes of a signal over several records.

    Changes do not have the trend of the signal.
    """
    changes = [np.diff(piece) for piece in pieces]
    correlation = autocorrelation(changes)
    samples = np.array(list(map(len, changes)))
    lags = np.arange(min(len(correlation), LONGEST + 2, max(samples) // REPEATED + 2))
    products = np.maximum(samples[:, None] - lags, 0).sum(axis=0)
    unbiased: Array = correlation[: len(lags)] * samples.sum() / np.maximum(products, 1)
    return unbiased


def steps_judged(recording: Recording, decimation: int, seasons: Sequence[int]) -> int:
    """Return the steps ahead, besides one, at which predictions are judged. Without inputs they decide.

    It is the shortest season of a series, in samples, else its correlation time, but at most a part of the data.
    """
    if recording.inputs:
        return FEWEST_STEPS
    if not seasons:
        return steps_ahead(recording.records, decimation)
    most = max(FEWEST_STEPS, max(map(len, recording.known)) // (N_PARTS * decimation))
    return min(most, max(2, round(seasons[0] / decimation)))


def check_horizon(recording: Recording, horizon: int) -> None:
    """Raise NarxbenchError for a horizon of more than half of the samples that are judged."""
    longest = max(map(len, recording.known))
    longest_test = max(map(len, recording.of_role("test")), default=longest)
    most = min(longest, longest_test) // 2
    if horizon > most:
        name = "test" if longest_test < longest else "known"
        raise FieldError("horizon", f"found {horizon}; allowed: up to {most}, half of the longest {name} record")


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
    most = max(1, min(MOST_STEPS_AHEAD, shortest // 2 // decimation))
    return min(most, max(1, round(time / decimation)))
