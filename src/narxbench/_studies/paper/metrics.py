"""Metrics of the runs of one condition (paper, section IV-C), each declared once.

Frames, tables and pages read from the declarations what a metric is called, and how it is computed and shown.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from scipy.special import betaincinv

from narxbench._numerics.intervals import LEVEL, Interval, selection_frequency
from narxbench._numerics.rounding import significant
from narxbench._study.metrics import Metric


@cache
def spurious_ratio(count: int, possible: int, n_terms: int, confidence: float = 1.0 - LEVEL) -> Interval:
    """Return r = count / n_terms (paper, equation 13) with an interval for its expected value, to 12 digits.

    ``count`` is the number of spurious terms that at least one run chose, a sum of events with unequal chances over the
    ``possible`` spurious terms. The interval is the exact one (Clopper and Pearson) of that many successes in
    ``possible`` trials of equal chance. It covers at least as often as it claims: for independent terms the sum varies
    less than with equal chances (Hoeffding, Annals of Mathematical Statistics 27, 1956). ``benchmarks/coverage.md``
    shows by simulation that it does so for the terms of real runs too. Resampling the runs does not: no resample has a
    new term.
    """
    if not possible:
        return Interval(0.0, 0.0, 0.0)
    tail, rest = (1 - confidence) / 2, possible - count
    low = betaincinv(count, rest + 1, tail) if count else 0.0
    high = betaincinv(count + 1, rest, 1 - tail) if rest else 1.0
    ratios = [share * possible / n_terms for share in (count / possible, low, high)]
    return Interval(*map(significant, ratios))


@dataclass(frozen=True, kw_only=True)
class ConditionMetric(Metric):
    """A metric of a condition. ``compute`` returns it with its interval from a row of the frame ``conditions``."""

    compute: Callable[[Mapping[Any, Any], float], Interval]


NU = Metric(name="nu", heading="ν", form="frequency", description="share of the runs in which a term was selected")
R = ConditionMetric(
    name="r",
    heading="r",
    group="Spurious terms",
    form="frequency",
    description="share of the candidate terms that are spurious and selected in at least one run",
    compute=lambda row, level: spurious_ratio(row["spurious"], row["n_terms"] - len(row["nu"]), row["n_terms"], level),
)
NU_MAX = ConditionMetric(
    name="nu_max",
    heading="ν_max",
    group="Spurious terms",
    form="frequency",
    description="largest selection frequency of a spurious term",
    compute=lambda row, level: selection_frequency(row["nu_max"], row["runs"], level),
)
CONDITION = (R, NU_MAX)
PUBLISHED = (NU, R, NU_MAX)  # those that the paper prints
