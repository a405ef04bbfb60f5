"""Metrics, each declared once: what it is called, how it is computed and shown, which way is better, where it applies.

Frames, ranks, tests, tables, figures and pages read the declarations: those of the runs of one condition (`CONDITION`;
paper, section IV-C), and those of methods that are compared on many problems (`COMPARISON`).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any, Literal, NamedTuple

import pandas as pd
from scipy import stats

from narxbench.experiment.score_file import Score, ScoredRun

# How values are shown, which narxbench.report.table knows.
Form = Literal["frequency", "share", "effect", "significant", "count", "fitness", "number"]


class Interval(NamedTuple):
    """An observed value with its confidence limits."""

    value: float
    low: float
    high: float


def significant(value: float, digits: int = 12) -> float:
    """Return a number rounded to significant digits: what is stored must not depend on the C library's last bit."""
    return float(f"{value:.{digits}g}")


@cache
def selection_frequency(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return nu = count / runs (paper, equation 12) with its Wilson score interval, to 12 digits.

    The same interval serves nu_max (equation 14). Where one spurious term leads, nu_max is such a proportion; where
    several are about as frequent the interval is wider than it need be (``benchmarks/coverage.md``).
    """
    limits = stats.binomtest(count, runs).proportion_ci(confidence, method="wilson")
    return Interval(*map(significant, (count / runs, limits.low, limits.high)))


@cache
def spurious_ratio(count: int, possible: int, n_terms: int, confidence: float = 0.95) -> Interval:
    """Return r = count / n_terms (paper, equation 13) with an interval for its expected value, to 12 digits.

    ``count`` is the number of spurious terms that at least one run chose, a sum over the ``possible`` ones of events
    with unequal chances. The interval is the exact one (Clopper and Pearson) of that many successes in ``possible``
    trials of equal chance. It covers at least as often as it claims: for independent terms the sum varies less than
    with equal chances (Hoeffding, Annals of Mathematical Statistics 27, 1956). ``benchmarks/coverage.md`` shows by
    simulation that it does so for terms of real runs too. Resampling the runs cannot: no resample has a new term.
    """
    if not possible:
        return Interval(0.0, 0.0, 0.0)
    tail, rest = (1 - confidence) / 2, possible - count
    low = stats.beta.ppf(tail, count, rest + 1) if count else 0.0
    high = stats.beta.ppf(1 - tail, count + 1, rest) if rest else 1.0
    return Interval(*(significant(share * possible / n_terms) for share in (count / possible, low, high)))


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What every metric says of itself.

    ``name`` is its column in frames, ``heading`` that in tables, which may stand under a ``group``; ``form`` is how
    its values are shown; ``description`` follows the heading.
    """

    name: str
    heading: str
    form: Form
    description: str
    group: str = ""


@dataclass(frozen=True, kw_only=True)
class ConditionMetric(Metric):
    """A metric of a condition; ``of`` computes it with its interval from a row of the frame ``conditions``."""

    of: Callable[[Mapping[Any, Any], float], Interval]


@dataclass(frozen=True, kw_only=True)
class ComparisonMetric(Metric):
    """A metric by which methods are compared.

    It is computed for each run, from problem, run and best known J (``of_run``; NaN where it does not apply), and then
    averaged; or for all runs of a method together (``of_runs``), from rows of `narxbench.analysis.ranking`. ``kind`` is
    that of its column in the frame ``scores``, ``words`` its name in sentences, ``hint`` what a heading says below it.
    ``tested`` ones have Friedman's test, those with an ``interval`` one over systems.
    """

    words: str = ""
    hint: str = ""
    of_run: Callable[[Score, ScoredRun, float], float] | None = None
    of_runs: Callable[[pd.DataFrame], float] | None = None
    average: Literal["mean", "median"] = "mean"
    larger_is_better: bool = False
    kind: str = "number"
    on_leaderboard: bool = True
    by_system: bool = True
    tested: bool = False
    interval: bool = False

    @property
    def columns(self) -> list[str]:
        """Its columns in the frame ``ranking``."""
        return [self.name, f"{self.name}_low", f"{self.name}_high"] if self.interval else [self.name]

    def averaged(self, values: Iterable[float]) -> float:
        """Return the mean or median of the values that are known; NaN without any."""
        known = [value for value in values if not math.isnan(value)]
        average = median if self.average == "median" else mean
        return average(known) if known else math.nan

    def overall(self, results: pd.DataFrame) -> float:
        """Return the value of a method over its problems, one row each, to 12 digits."""
        return significant(self.of_runs(results) if self.of_runs else self.averaged(results[self.name]))


def mean(values: Sequence[float]) -> float:
    """Return the mean, correctly rounded."""
    return math.fsum(values) / len(values)


NU = Metric(name="nu", heading="ν", form="frequency", description="share of the runs in which a term was selected")
R = ConditionMetric(
    name="r",
    heading="r",
    group="Spurious terms",
    form="frequency",
    description="share of the candidate terms that are spurious and selected in at least one run",
    of=lambda row, level: spurious_ratio(row["spurious"], row["n_terms"] - len(row["nu"]), row["n_terms"], level),
)
NU_MAX = ConditionMetric(
    name="nu_max",
    heading="ν_max",
    group="Spurious terms",
    form="frequency",
    description="largest selection frequency of a spurious term",
    of=lambda row, level: selection_frequency(row["nu_max"], row["runs"], level),
)
CONDITION = (R, NU_MAX)
PUBLISHED = (NU, R, NU_MAX)  # those that the paper prints

# Values this many decimals apart count as equal: the last bits of two equal results may differ.
DECIMALS = 9
# Gaps that runs are to reach; the expected evaluations are those to one of them.
TARGETS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ERT_TARGET = 0.01
TARGETS_NAMED = f"{', '.join(f'{target:g}' for target in TARGETS[:-1])} and {TARGETS[-1]:g}"


def _of_terms(share: Callable[[int, int, int], float]) -> Callable[[Score, ScoredRun, float], float]:
    """Return a metric of the numbers of right, chosen and system terms; unknown where the latter are no candidates."""
    return lambda score, run, _: share(run.hits, len(run.terms), score.true_terms) if score.true_terms else math.nan


def gap(score: Score, run: ScoredRun, best: float) -> float:
    """Return (J - best known J) / L, the logarithm of a ratio of errors; infinite without a finite J."""
    return math.inf if run.fitness is None else round((run.fitness - best) / score.n_validation, DECIMALS)


def expected_evaluations(results: pd.DataFrame) -> float:
    """Return the evaluations that one success at `ERT_TARGET` costs: those of all runs, by the number of successes.

    A run that reaches the target counts until then, another whole (the ERT of COCO, N. Hansen et al., Optimization
    Methods and Software 36 (2021) 114-144). NaN without a success, and for a method that evaluates nothing but what it
    returns: evaluations are no measure of what it costs.
    """
    reached, spent = zip(*(reach[TARGETS.index(ERT_TARGET)] for reach in results["reach"]), strict=True)
    successes = sum(map(len, reached))
    if not successes or results["evaluations"].max() <= 1:
        return math.nan
    return (sum(map(sum, reached)) + sum(map(sum, spent))) / successes


def reached(results: pd.DataFrame) -> float:
    """Return the share of all pairs of a run and a target that were reached."""
    pairs = int(results["runs"].sum()) * len(TARGETS)
    return sum(len(times) for reach in results["reach"] for times, _ in reach) / pairs


GAP = ComparisonMetric(
    name="gap",
    heading="Gap",
    words="gap",
    hint="to the lowest J",
    form="significant",
    of_run=gap,
    average="median",
    tested=True,
    description="J less the lowest J known for the data set, divided by the number of validation samples; 0.01 is one "
    "per cent of squared error. Median over the runs on each data set, then over the data sets.",
)
COMPARISON = (
    ComparisonMetric(
        name="exact",
        heading="Exact recovery",
        words="exact recovery",
        hint="share of the runs",
        form="share",
        kind="truth",
        of_run=_of_terms(lambda hits, size, true: float(hits == size == true)),
        larger_is_better=True,
        interval=True,
        description="share of the runs that end at exactly the system terms, averaged over the data sets of each "
        "system, then over the systems.",
    ),
    ComparisonMetric(
        name="precision",
        heading="Precision",
        form="effect",
        of_run=_of_terms(lambda hits, size, true: hits / max(size, 1)),
        larger_is_better=True,
        on_leaderboard=False,
        by_system=False,
        description="share of the chosen terms that are system terms; averaged likewise.",
    ),
    ComparisonMetric(
        name="recall",
        heading="Recall",
        form="effect",
        of_run=_of_terms(lambda hits, size, true: hits / true),
        larger_is_better=True,
        on_leaderboard=False,
        by_system=False,
        description="share of the system terms that are chosen; averaged likewise.",
    ),
    ComparisonMetric(
        name="f1",
        heading="F1",
        words="F1",
        hint="of the terms",
        form="effect",
        of_run=_of_terms(lambda hits, size, true: 2 * hits / (size + true)),
        larger_is_better=True,
        tested=True,
        description="twice the number of right terms, divided by the number of chosen and system terms together; "
        "averaged likewise.",
    ),
    GAP,
    ComparisonMetric(
        name="fresh_error",
        heading="Fresh error",
        words="error on fresh data",
        hint="on new data",
        form="significant",
        of_run=lambda score, run, best: math.inf if run.fresh_error is None else run.fresh_error,
        average="median",
        tested=True,
        description="root of the squared error of the free run on new data without noise, relative to the spread of "
        "the output; 0 is perfect, 1 no better than a constant. Median likewise.",
    ),
    ComparisonMetric(
        name="reached",
        heading="Targets",
        words="targets reached",
        hint="reached",
        form="share",
        of_runs=reached,
        larger_is_better=True,
        by_system=False,
        description=f"share of the gaps {TARGETS_NAMED} that the runs reach.",
    ),
    ComparisonMetric(
        name="ert",
        heading="Expected evaluations",
        words="expected evaluations",
        hint=f"to a gap of {ERT_TARGET:g}",
        form="count",
        of_runs=expected_evaluations,
        description=f"what one success, a gap of {ERT_TARGET:g}, costs: evaluations of all runs, each until its "
        "success or its end, divided by the number of successes. Methods that evaluate no more than their result have "
        "no such number.",
    ),
)
