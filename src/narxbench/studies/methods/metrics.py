"""Metrics by which methods are compared, each declared once.

Frames, ranks, tests, tables, figures and pages read the declarations: what a metric is called, how it is computed and
shown, which way is better, where it applies.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Literal

import pandas as pd

from narxbench.numerics.rounding import significant
from narxbench.studies.methods.score_file import Score, ScoredRun
from narxbench.study.metrics import Metric, mean

# Identify: which terms and which model a method returns, whatever its criterion. Search: which J it reaches.
Contest = Literal["identify", "search"]


@dataclass(frozen=True, kw_only=True)
class ComparisonMetric(Metric):
    """A metric by which methods are compared, those that take part in its ``contest``.

    It is computed for each run, from problem, run and best known J (``of_run``; NaN where it does not apply), then
    summed up over the runs on a data set (``over_runs``) and over data sets (``average``); or for all runs of a method
    together (``of_runs``), from rows of the ranking. ``kind`` is that of its column in the frame ``scores``, if it has
    one; ``words`` is its name in sentences, ``hint`` what a heading says below it.
    """

    contest: Contest = "identify"
    words: str = ""
    hint: str = ""
    of_run: Callable[[Score, ScoredRun, float], float] | None = None
    of_runs: Callable[[pd.DataFrame], float] | None = None
    over_runs: Callable[[Sequence[float]], float] | None = None
    average: Literal["mean", "median"] = "mean"
    larger_is_better: bool = False
    kind: str = ""
    shown: bool = True
    by_system: bool = False
    ranked: bool = False
    interval: bool = False

    @property
    def columns(self) -> list[str]:
        """Its columns in the frame ``ranking``."""
        return [self.name, f"{self.name}_low", f"{self.name}_high"] if self.interval else [self.name]

    def of_data_set(self, values: Iterable[float]) -> float:
        """Return the value of a method on a data set, from those of its runs."""
        return _of_known(values, self.over_runs or self._averaged)

    def overall(self, results: pd.DataFrame) -> float:
        """Return the value of a method over its data sets, one row each, to 12 digits."""
        return significant(self.of_runs(results) if self.of_runs else _of_known(results[self.name], self._averaged))

    def _averaged(self, values: Sequence[float]) -> float:
        return median(values) if self.average == "median" else mean(values)


def _of_known(values: Iterable[float], summed_up: Callable[[Sequence[float]], float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return summed_up(known) if known else math.nan


# Values this many decimals apart count as equal: the last bits of two equal results may differ.
DECIMALS = 9
# How far above J of the system terms, over L, runs are to come. They do not move with what other methods find, and
# there is none below: what is lower fits the noise. The expected evaluations are those to one of them.
TARGETS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
ERT_TARGET = 0.01
TARGETS_NAMED = f"{', '.join(f'{target:g}' for target in TARGETS[:-1])} and {TARGETS[-1]:g}"
# Budgets, of evaluations, at which searches are ranked besides the whole one.
EARLY = (100, 500)
# A free run with a larger error is worse than the mean of the output, which takes no model.
USELESS = 1.0


def _of_terms(share: Callable[[int, int, int], float]) -> Callable[[Score, ScoredRun, float], float]:
    """Return a metric of the numbers of right, chosen and system terms; unknown where the latter are no candidates."""
    return lambda score, run, _: share(run.hits, len(run.terms), score.true_terms) if score.true_terms else math.nan


def _lost(score: Score, run: ScoredRun, _: float, *, to_search: bool) -> float:
    """Return whether a run missed the system terms by its search, or by the method's criterion; NaN where unknown."""
    if not score.true_terms:
        return math.nan
    if not run.terms:
        return float(to_search)
    if run.excess is None:
        return math.nan
    exact = run.hits == len(run.terms) == score.true_terms
    # Its own criterion is lower at the system terms, and they were not found; or it is not.
    return float(not exact and (round(run.excess, 6) > 0) == to_search)


def gap(score: Score, run: ScoredRun, best: float, after: int | None = None) -> float:
    """Return (J - best known J) / L, after some evaluations or at the end; infinite without a finite J."""
    made = 1 if after is None else bisect_right(run.history.evaluations, after)
    if run.fitness is None or not made:
        return math.inf
    fitness = run.fitness if after is None else run.history.fitness[made - 1]
    return round((fitness - best) / score.n_validation, DECIMALS)


def expected_evaluations(results: pd.DataFrame) -> float:
    """Return the evaluations that one success at `ERT_TARGET` costs; NaN without a success.

    A run that reaches the target counts until then, another whole (the ERT of COCO, N. Hansen et al., Optimization
    Methods and Software 36 (2021) 114-144).
    """
    known = [run[TARGETS.index(ERT_TARGET)] for reach in results["reach"] for run in reach]
    successes = sum(hit for _, hit in known)
    return sum(made for made, _ in known) / successes if successes else math.nan


def reached(results: pd.DataFrame) -> float:
    """Return the share of all pairs of a run and a target that were reached; NaN where there are no targets."""
    hits = [hit for reach in results["reach"] for run in reach for _, hit in run]
    return sum(hits) / len(hits) if hits else math.nan


def _fresh(_: Score, run: ScoredRun, best: float) -> float:
    return math.inf if run.fresh_error is None else run.fresh_error


EXACT = ComparisonMetric(
    name="exact",
    heading="Exact recovery",
    words="exact recovery",
    hint="share of the runs",
    form="share",
    kind="truth",
    of_run=_of_terms(lambda hits, size, true: float(hits == size == true)),
    larger_is_better=True,
    by_system=True,
    interval=True,
    description="share of the runs that end at exactly the system terms, averaged over the data sets of each system, "
    "then over the systems.",
)
F1 = ComparisonMetric(
    name="f1",
    heading="F1",
    words="F1",
    hint="of the terms",
    form="effect",
    kind="number",
    of_run=_of_terms(lambda hits, size, true: 2 * hits / (size + true)),
    larger_is_better=True,
    by_system=True,
    ranked=True,
    interval=True,
    description="twice the number of right terms, divided by the number of chosen and system terms together; averaged "
    "likewise.",
)
FRESH = ComparisonMetric(
    name="fresh_error",
    heading="Fresh error",
    words="error on fresh data",
    hint="on new data",
    form="significant",
    kind="number",
    of_run=_fresh,
    average="median",
    by_system=True,
    description="root of the squared error of the free run on new data without noise, relative to the spread of the "
    "output; 0 is perfect, 1 no better than a constant. Median over the runs on a data set, then over the data sets.",
    ranked=True,
)
GAP = ComparisonMetric(
    name="gap",
    contest="search",
    heading="Gap",
    words="gap",
    hint="to the lowest J",
    form="significant",
    of_run=gap,
    average="median",
    by_system=True,
    description="J less the lowest J that the study’s own runs or the system terms have on the data set, divided by "
    "the number of validation samples; 0.01 is one per cent of squared error. Median likewise.",
    ranked=True,
)
COMPARISON = (
    EXACT,
    F1,
    FRESH,
    ComparisonMetric(
        name="fresh_worst",
        heading="Worst run",
        words="error of the worst run",
        hint="on new data",
        form="significant",
        of_run=_fresh,
        over_runs=max,
        average="median",
        description="the same error of the worst run on each data set; median over the data sets.",
    ),
    ComparisonMetric(
        name="lost_to_criterion",
        heading="Criterion",
        words="runs lost to the criterion",
        hint="was the limit",
        form="share",
        of_run=partial(_lost, to_search=False),
        description="share of the runs that miss the system terms although the method’s own criterion is no lower "
        "there: a better search would not help. Averaged like exact recovery.",
    ),
    ComparisonMetric(
        name="lost_to_search",
        heading="Search",
        words="runs lost to the search",
        hint="was the limit",
        form="share",
        of_run=partial(_lost, to_search=True),
        description="share of the runs that miss the system terms where the method’s own criterion is lower at them, "
        "or that fail: a longer or better search would help. Averaged like exact recovery.",
    ),
    GAP,
    ComparisonMetric(
        name="gap_worst",
        contest="search",
        heading="Worst run",
        words="gap of the worst run",
        hint="gap",
        form="significant",
        of_run=gap,
        over_runs=max,
        average="median",
        description="the gap of the worst run on each data set; median over the data sets.",
    ),
    ComparisonMetric(
        name="reached",
        contest="search",
        heading="Targets",
        words="targets reached",
        hint="reached",
        form="share",
        of_runs=reached,
        larger_is_better=True,
        description=f"share of the targets that the runs reach: {TARGETS_NAMED}, times the number of validation "
        "samples, above J of the system terms. Nothing is gained below it, where noise is fitted.",
    ),
    ComparisonMetric(
        name="ert",
        contest="search",
        heading="Expected evaluations",
        words="expected evaluations",
        hint=f"to the target {ERT_TARGET:g}",
        form="count",
        of_runs=expected_evaluations,
        description=f"what one success, the target {ERT_TARGET:g}, costs: evaluations of all runs, each until its "
        "success or its end, divided by the number of successes.",
    ),
    *(
        ComparisonMetric(
            name=f"gap_{evaluations}",
            contest="search",
            heading=f"Gap at {evaluations}",
            words=f"gap after {evaluations} evaluations",
            form="significant",
            of_run=partial(gap, after=evaluations),
            average="median",
            shown=False,
            ranked=True,
            description=f"the gap after {evaluations} evaluations; median likewise.",
        )
        for evaluations in EARLY
    ),
)


RANKED = [metric for metric in COMPARISON if metric.ranked]


@dataclass(frozen=True)
class Difference:
    """How two methods are compared on a metric, and what difference is too small to matter.

    ``transformed`` maps the value on a data set to what is averaged and subtracted, perhaps the logarithm of a
    ``ratio``; ``negligible`` is in its units, and ``region`` says it in words.
    """

    metric: ComparisonMetric
    transformed: Callable[[float], float]
    negligible: float
    region: str
    ratio: bool = False


DIFFERENCES = (
    Difference(EXACT, float, 0.05, "5 percentage points of exact recovery"),
    Difference(
        FRESH,
        # What is worse than the mean is as bad as that, and what is better than rounding is exact.
        lambda error: math.log(min(max(error, 1e-9), USELESS)),
        math.log(1.1),
        "a factor of 1.1 in the error on fresh data",
        ratio=True,
    ),
    # As useless as a free run that is a factor e off.
    Difference(GAP, lambda value: min(value, 1.0), 0.01, "a gap of 0.01, one per cent of squared error"),
)
