"""The metrics by which methods are compared, each declared once.

Frames, ranks, tests, tables, figures and pages read the declarations: the name of a metric, how it is computed and
shown, which way is better, and where it applies.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from statistics import median
from typing import Literal

import pandas as pd

from narxbench._numerics.rounding import significant
from narxbench._studies.methods.score_file import Score, ScoredRun
from narxbench._study.metrics import Metric, mean

# "identify" is about the terms and the model that a method returns, whatever its criterion; "search" about the J that
# it reaches.
Contest = Literal["identify", "search"]


@dataclass(frozen=True, kw_only=True)
class ComparisonMetric(Metric):
    """A metric that compares the methods which take part in its ``contest``.

    It is computed for each run from the problem, the run and the best known J (``of_run``; NaN where it does not
    apply). The values are then summarised over the runs on a data set (``over_runs``) and over data sets
    (``average``). Other metrics are computed for all runs of a method together (``of_runs``), from the rows of the
    ranking. ``kind`` is the type of its column in the frame ``scores``, if it has one. ``words`` is its name in
    sentences, ``hint`` the text below its heading.
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
        """The columns of the metric in the frame ``ranking``."""
        if self.interval:
            return [self.name, f"{self.name}_low", f"{self.name}_high"]
        return [self.name]

    def of_data_set(self, values: Iterable[float]) -> float:
        """Return the value of a method on a data set, from the values of its runs."""
        return _summary(values, self.over_runs or self._mean_or_median)

    def overall(self, results: pd.DataFrame) -> float:
        """Return the value of a method over its data sets, which have one row each, to 12 digits."""
        if self.of_runs:
            return significant(self.of_runs(results))
        return significant(_summary(results[self.name], self._mean_or_median))

    def _mean_or_median(self, values: Sequence[float]) -> float:
        return median(values) if self.average == "median" else mean(values)


def _summary(values: Iterable[float], summarise: Callable[[Sequence[float]], float]) -> float:
    """Return the summary of the values that are not NaN; NaN where there are none."""
    defined_values = [value for value in values if not math.isnan(value)]
    return summarise(defined_values) if defined_values else math.nan


# Values are compared to this many decimals, because the last bits of two equal results may differ.
DECIMALS = 9
# The targets of a search: how far J of a run may lie above J of the system terms, over L. They do not depend on what
# other methods find. None lies below the system terms, because a lower J fits the noise.
TARGETS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
# The target that the expected evaluations are computed for.
ERT_TARGET = 0.01
TARGETS_NAMED = f"{', '.join(f'{target:g}' for target in TARGETS[:-1])} and {TARGETS[-1]:g}"
# Numbers of evaluations after which searches are ranked, besides the end of the run.
EARLY = (100, 500)
# A free run with a larger error is worse than the mean of the output, which takes no model.
USELESS = 1.0


def _exact(score: Score, run: ScoredRun, _: float) -> float:
    """Return 1 if a run chose exactly the system terms, else 0; NaN where these are no candidates."""
    if not score.true_terms:
        return math.nan
    return float(run.hits == len(run.terms) == score.true_terms)


def _f1(score: Score, run: ScoredRun, _: float) -> float:
    """Return the F1 score of the terms that a run chose; NaN where the system terms are no candidates."""
    if not score.true_terms:
        return math.nan
    return 2 * run.hits / (len(run.terms) + score.true_terms)


def _lost(score: Score, run: ScoredRun, _: float, *, to_search: bool) -> float:
    """Return 1 if a run missed the system terms by its search, or else by the method's criterion; NaN where unknown."""
    if not score.true_terms:
        return math.nan
    if not run.terms:
        return float(to_search)
    if run.excess is None:
        return math.nan
    is_exact = run.hits == len(run.terms) == score.true_terms
    # The search is the limit if the method's own criterion is lower at the system terms.
    search_is_limit = round(run.excess, 6) > 0
    return float(not is_exact and search_is_limit == to_search)


def gap(score: Score, run: ScoredRun, best: float, after: int | None = None) -> float:
    """Return (J - best known J) / L, after some evaluations or at the end; infinite without a finite J."""
    if run.fitness is None:
        return math.inf
    fitness = run.fitness
    if after is not None:
        n_improvements = bisect_right(run.history.evaluations, after)
        if not n_improvements:
            return math.inf
        fitness = run.history.fitness[n_improvements - 1]
    return round((fitness - best) / score.n_validation, DECIMALS)


def expected_evaluations(results: pd.DataFrame) -> float:
    """Return the evaluations that one success at `ERT_TARGET` costs; NaN without a success.

    A run that reaches the target counts until then, another run counts whole (the ERT of COCO, N. Hansen et al.,
    Optimization Methods and Software 36 (2021) 114-144).
    """
    target = TARGETS.index(ERT_TARGET)
    spent = successes = 0
    for run in chain.from_iterable(results["reach"]):
        evaluations, is_reached = run[target]
        spent += evaluations
        successes += is_reached
    return spent / successes if successes else math.nan


def reached(results: pd.DataFrame) -> float:
    """Return the share of all pairs of a run and a target that were reached; NaN where there are no targets."""
    n_pairs = n_reached = 0
    for run in chain.from_iterable(results["reach"]):
        n_pairs += len(run)
        n_reached += sum(is_reached for _, is_reached in run)
    return n_reached / n_pairs if n_pairs else math.nan


def or_infinity(value: float | None) -> float:
    """Return a value, or infinity for a missing one, so that it is the worst."""
    return math.inf if value is None else value


def _fresh_error(_: Score, run: ScoredRun, best: float) -> float:
    return or_infinity(run.fresh_error)


EXACT = ComparisonMetric(
    name="exact",
    heading="Exact recovery",
    words="exact recovery",
    hint="share of the runs",
    form="tenths",
    kind="truth",
    of_run=_exact,
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
    of_run=_f1,
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
    of_run=_fresh_error,
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
        of_run=_fresh_error,
        over_runs=max,
        average="median",
        description="the same error of the worst run on each data set; median over the data sets.",
    ),
    ComparisonMetric(
        name="lost_to_criterion",
        heading="Criterion",
        words="runs lost to the criterion",
        hint="was the limit",
        form="tenths",
        of_run=partial(_lost, to_search=False),
        description="share of the runs that miss the system terms although the method’s own criterion is no lower "
        "there: a better search would not help. Averaged like exact recovery.",
    ),
    ComparisonMetric(
        name="lost_to_search",
        heading="Search",
        words="runs lost to the search",
        hint="was the limit",
        form="tenths",
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
# The names of metrics in sentences.
WORDS = {metric.name: metric.words for metric in COMPARISON}


@dataclass(frozen=True)
class Difference:
    """How two methods are compared on a metric, and which difference is too small to matter.

    ``transform`` maps the value on a data set to the one that is averaged and subtracted; for a ``ratio`` it is the
    logarithm. ``negligible`` is in the units of the transformed value, and ``region`` says it in words.
    """

    metric: ComparisonMetric
    transform: Callable[[float], float]
    negligible: float
    region: str
    ratio: bool = False


IN_RECOVERY = Difference(EXACT, float, 0.05, "5 percentage points of exact recovery")
IN_FRESH_ERROR = Difference(
    FRESH,
    # An error worse than that of the mean counts like it, and one below rounding counts as exact.
    lambda error: math.log(min(max(error, 1e-9), USELESS)),
    math.log(1.1),
    "a factor of 1.1 in the error on fresh data",
    ratio=True,
)
# A gap of more than 1 counts as 1: such a model is as useless as one whose free run is off by a factor of e.
IN_GAP = Difference(GAP, lambda value: min(value, 1.0), 0.01, "a gap of 0.01, one per cent of squared error")
