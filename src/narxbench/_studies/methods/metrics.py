"""The metrics by which methods are compared, each declared once.

Frames, tests, tables, figures and pages read the declarations: the name of a metric, how it is computed and shown,
which way is better, and which difference is too small to matter.

A metric has one value for each run. It is transformed, and then averaged: over the runs of a method on a data set, over
the data sets of a system, over the systems. So each system counts the same. The mean is transformed back.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from narxbench._numerics.rounding import significant
from narxbench._studies.methods.score_file import Score, ScoredRun
from narxbench._study.metrics import Metric

Floats = NDArray[np.float64]
# The limits of the mean of values, one for each system, at a level.
Limits = Callable[[Floats, float], tuple[float, float]]

# Values are compared to this many decimals, because the last bits of two equal results may differ.
DECIMALS = 9
# Errors count as at least the size of rounding.
_LEAST_ERROR = 10.0**-DECIMALS


@dataclass(frozen=True, kw_only=True)
class ComparisonMetric(Metric):
    """A metric that compares methods.

    It is computed for each run from the problem, the run and the lowest known J (``of_run``, or NaN where it does not
    apply). ``words`` is its name in sentences, ``hint`` the text below its heading, ``kind`` the type of its column in
    the frame ``scores``. Differences up to ``negligible``, in the units of the transformed value, are too small to
    matter, which ``region`` says in words. Differences of a metric without it are not tested.
    """

    of_run: Callable[[Score, ScoredRun, float], float]
    words: str
    hint: str = ""
    kind: str = "number"
    transform: Callable[[float], float] = float
    inverse: Callable[[float], float] = float
    limits: Limits | None = None
    larger_is_better: bool = False
    of_searches: bool = False
    """Whether only methods that minimise J are compared by it."""
    negligible: float | None = None
    region: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns of the metric in the frame ``ranking``."""
        if self.limits:
            return [self.name, f"{self.name}_low", f"{self.name}_high"]
        return [self.name]

    def overall(self, values: Floats, level: float) -> list[float]:
        """Return what the columns have, from the transformed values of a method, one for each system."""
        if not len(values):
            return [math.nan] * len(self.columns)
        numbers = [math.fsum(values) / len(values)]
        if self.limits:
            numbers += self.limits(values, level)
        return [significant(self.inverse(number)) for number in numbers]


def _exact(score: Score, run: ScoredRun, _: float) -> float:
    """Return 1 if a run chose exactly the system terms, else 0, or NaN where these are not candidates."""
    if not score.true_terms:
        return math.nan
    return float({*run.terms} == {*score.true_terms})


def _f1(score: Score, run: ScoredRun, _: float) -> float:
    """Return the F1 score of the terms that a run chose, or NaN where the system terms are not candidates."""
    if not score.true_terms:
        return math.nan
    return 2 * len({*run.terms} & {*score.true_terms}) / (len(run.terms) + len(score.true_terms))


def _size(score: Score, run: ScoredRun, _: float) -> float:
    """Return the number of terms for each system term, or NaN without terms or with other candidates."""
    if not score.true_terms or not run.terms:
        return math.nan
    return len(run.terms) / len(score.true_terms)


def _fresh_error(_: Score, run: ScoredRun, best: float) -> float:
    return math.inf if run.fresh_error is None else run.fresh_error


def _gap(score: Score, run: ScoredRun, best: float) -> float:
    """Return (J - lowest known J) / L, infinite without a finite J."""
    if run.fitness is None:
        return math.inf
    return round((run.fitness - best) / score.n_validation, DECIMALS)


def _log_error(error: float) -> float:
    # A model worse than a constant, whose error is 1, is no more useless than this.
    return math.log(min(max(error, _LEAST_ERROR), 1.0))


def share_limits(values: Floats, level: float) -> tuple[float, float]:
    """Return the limits of the mean of shares that hold near 0 and 1 too.

    They are the limits of C. J. Clopper and E. S. Pearson (Biometrika 26, 1934, pages 404-413), with the sum of the
    shares as the number of successes: of all values between 0 and 1 with the same mean, 0 and 1 alone vary most.
    """
    successes = math.fsum(values)
    failures = math.fsum(1 - value for value in values)
    low = float(stats.beta.ppf(level / 2, successes, failures + 1)) if successes > 0 else 0.0
    high = float(stats.beta.ppf(1 - level / 2, successes + 1, failures)) if failures > 0 else 1.0
    return low, high


def mean_limits(values: Floats, level: float) -> tuple[float, float]:
    """Return the limits of a mean by Student’s t, or NaN for fewer than two values."""
    if len(values) < 2:
        return math.nan, math.nan
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(1 - level)
    return float(interval.low), float(interval.high)


EXACT = ComparisonMetric(
    name="exact",
    heading="Exact recovery",
    words="exact recovery",
    hint="share of the runs",
    form="tenths",
    kind="truth",
    of_run=_exact,
    limits=share_limits,
    larger_is_better=True,
    negligible=0.05,
    region="5 percentage points of exact recovery",
    description="share of the runs that end at exactly the system terms.",
)
F1 = ComparisonMetric(
    name="f1",
    heading="F1",
    words="F1",
    hint="of the terms",
    form="effect",
    of_run=_f1,
    larger_is_better=True,
    description="twice the number of right terms, divided by the number of chosen and system terms together.",
)
FRESH = ComparisonMetric(
    name="fresh_error",
    heading="Error on fresh data",
    words="error on fresh data",
    hint="share of the spread",
    form="significant",
    of_run=_fresh_error,
    transform=_log_error,
    inverse=math.exp,
    limits=mean_limits,
    negligible=math.log(1.1),
    region="a factor of 1.1 in the error on fresh data",
    description="root of the mean squared error of the free run on new data without noise, relative to the spread of "
    "the output; geometric mean. A model worse than a constant counts as 1.",
)
SIZE = ComparisonMetric(
    name="size",
    heading="Terms",
    words="number of terms",
    hint="for each system term",
    form="effect",
    of_run=_size,
    transform=math.log,
    inverse=math.exp,
    description="number of chosen terms, divided by that of the system; geometric mean.",
)
GAP = ComparisonMetric(
    name="gap",
    heading="Gap",
    words="gap",
    hint="to the lowest J",
    form="significant",
    of_run=_gap,
    # At a gap of 1 a free run is off by a factor of e, so that the model is useless, as those beyond it are.
    transform=lambda gap: min(gap, 1.0),
    of_searches=True,
    negligible=0.01,
    region="a gap of 0.01, one per cent of squared error",
    description="J less the lowest J that all runs or the system terms have on the data set, divided by the number of "
    "validation samples; at most 1.",
)
COMPARISON = (
    EXACT,
    F1,
    FRESH,
    SIZE,
    GAP,
)
TESTED = [metric for metric in COMPARISON if metric.negligible is not None]


def mean_transformed(metric: ComparisonMetric, values: Sequence[float]) -> float:
    """Return the mean of the transformed values to which the metric applies, or NaN without one."""
    transformed = [metric.transform(value) for value in values if not math.isnan(value)]
    return math.fsum(transformed) / len(transformed) if transformed else math.nan
