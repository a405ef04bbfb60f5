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
    tail = (1 - CONFIDENCE) / 2
    low = beta.ppf(tail, successes, trials - successes + 1) if successes > 0 else 0.0
    high = beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return float(low), float(high)


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
    exact, shares = sum(outcome.is_exact for outcome in outcomes), mean_by_system(outcomes)
    low, high = clopper_pearson(sum(shares), len(shares))
    return f"{exact}/{len(outcomes)} {sum(shares) / len(shares):.0%} ({low:.0%}-{high:.0%})"


def share(flags: Iterable[bool]) -> str:
    """Return a share with its count, or that there is none."""
    values = list(flags)
    return f"{sum(values) / len(values):.0%} of {len(values)}" if values else NOTHING


def ratio_to_oracle(outcomes: Sequence[Outcome]) -> str:
    """Return the median of the error on fresh data over that of the oracle."""
    ratios = [o.error / o.oracle for o in outcomes if 0 < o.oracle < math.inf]
    return number(float(np.median(ratios))) if ratios else NOTHING


def median_oracle(outcomes: Sequence[Outcome]) -> str:
    """Return the median of the error of the oracle."""
    return number(float(np.median([outcome.oracle for outcome in outcomes]))) if outcomes else NOTHING


def seconds(outcomes: Sequence[Outcome]) -> str:
    """Return the mean and the largest CPU time."""
    if not outcomes:
        return NOTHING
    times = [outcome.cpu for outcome in outcomes]
    return f"{number(float(np.mean(times)), 2)} / {number(max(times), 2)}"


def mean_cpu(outcomes: Sequence[Outcome]) -> float:
    """Return the mean CPU time in seconds; NaN where there is none."""
    return float(np.mean([outcome.cpu for outcome in outcomes])) if outcomes else math.nan
