"""Shares with intervals and medians of ratios, as text; systems are the units."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import beta

from benchmarks.common import number
from benchmarks.recovery.runs import Outcome

CONFIDENCE = 0.95
NOTHING = "-"


def clopper_pearson(successes: float, trials: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson of a share; successes may be a sum of shares."""
    tail, low, high = (1 - CONFIDENCE) / 2, 0.0, 1.0
    if successes > 0:
        low = float(beta.ppf(tail, successes, trials - successes + 1))
    if successes < trials:
        high = float(beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def mean_by_system(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the share of exact structures of each system."""
    exact: dict[str, list[bool]] = {}
    for outcome in outcomes:
        exact.setdefault(outcome.plant, []).append(outcome.is_exact)
    return [sum(values) / len(values) for values in exact.values()]


def exact_share(outcomes: Sequence[Outcome]) -> str:
    """Return how many structures are exact, with the interval of the share."""
    if not outcomes:
        return NOTHING
    shares, n_exact = mean_by_system(outcomes), 0
    for outcome in outcomes:
        n_exact += outcome.is_exact
    low, high = clopper_pearson(sum(shares), len(shares))
    return f"{n_exact}/{len(outcomes)} {sum(shares) / len(shares):.0%} ({low:.0%}-{high:.0%})"


def share(flags: Iterable[bool]) -> str:
    """Return a share with its count, or that there is none."""
    values = list(flags)
    return f"{sum(values) / len(values):.0%} of {len(values)}" if values else NOTHING


def ratio_to_oracle(outcomes: Sequence[Outcome]) -> str:
    """Return the median of the error on fresh data over that of the oracle."""
    return _median(o.error / o.oracle for o in outcomes if 0 < o.oracle < math.inf)


def median_oracle(outcomes: Sequence[Outcome]) -> str:
    """Return the median of the error of the oracle."""
    return _median(outcome.oracle for outcome in outcomes)


def _median(values: Iterable[float]) -> str:
    """Return the median of some values as text, or that there are none."""
    numbers = list(values)
    if not numbers:
        return NOTHING
    return number(float(np.median(numbers)), missing=NOTHING)


def seconds(outcomes: Sequence[Outcome]) -> str:
    """Return the mean and the largest CPU time."""
    if not outcomes:
        return NOTHING
    times = [outcome.cpu for outcome in outcomes]
    return f"{number(float(np.mean(times)), 2)} / {number(max(times), 2)}"


def mean_cpu(outcomes: Sequence[Outcome]) -> float:
    """Return the mean CPU time in seconds; NaN if there is none."""
    return float(np.mean([outcome.cpu for outcome in outcomes])) if outcomes else math.nan
