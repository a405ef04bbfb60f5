"""Methods compared over the data sets of a study: from score files to frames.

There are two contests. *Identify*: which terms and which model a method returns, by whatever criterion it chooses.
*Search*: which J it reaches; only methods that minimise J take part, under the criterion that most of them have.

The unit is the data set: scenario, system, SNR and data seed. Runs of a method on it are summarised first, so that the
one run of a deterministic method counts as much as several runs of another. Data sets of one system are alike and no
further evidence, so that systems are resampled and tested. Held-out data sets, on which no method was developed or
tuned, stand apart.

A run without a finite J, such as one that failed, has an infinite gap and error on fresh data, and no hits. Where the
system terms are no candidates, exactness and F1 are unknown, and there are no targets; such systems count in gaps and
errors on fresh data.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import StrPath
from narxbench._numerics.intervals import Interval
from narxbench._numerics.random_streams import generator
from narxbench._numerics.rounding import significant
from narxbench._studies.methods.evidence import pairs_frame
from narxbench._studies.methods.frames import framed
from narxbench._studies.methods.metrics import COMPARISON, RANKED, TARGETS, ComparisonMetric, or_infinity
from narxbench._studies.methods.rank_tests import (
    DATA_SET,
    Blocks,
    Floats,
    bootstrap_means,
    mean_by_system,
)
from narxbench._studies.methods.score_file import Score, ScoredMethod, ScoredRun, read_score
from narxbench._studies.methods.sign_flips import share_limits
from narxbench._study.metrics import TOLERANCE

Groups = Mapping[tuple[str, str], pd.DataFrame]  # results by part of the data sets and group

FRAMES = ("scores", "ranking", "pairs", "ecdf", "systems")
ALL = "all"  # the group of all scenarios
HELD_OUT, DEVELOPMENT = "held-out", "development"
PARTS = (HELD_OUT, DEVELOPMENT)
# Points of an ECDF for each factor of ten in the evaluations.
POINTS_PER_DECADE = 10
_METRICS_OF_A_RUN = [metric for metric in COMPARISON if metric.of_run]
_METRICS_BY_SYSTEM = [metric for metric in COMPARISON if metric.by_system]
_OF_SCORE = (*DATA_SET, "criterion", "n_terms", "samples", "n_validation", "true_fitness")
_OF_METHOD = ("method", "algorithm", "deterministic", "reference", "minimises", "budget")
_OF_RUN = ("seed", "evaluations", "fitness", "excess", "failure")
_UNRANKED = Interval(math.nan, math.nan, math.nan)


def rank_study(
    score_files: Iterable[StrPath],
    *,
    confidence: float,
    bootstrap_samples: int,
    situations: Mapping[str, Sequence[str]] | None = None,
    unsteady: Collection[str] = (),
) -> dict[str, pd.DataFrame]:
    """Return all frames of a comparison of methods by name, those of `FRAMES`, from score files in any order.

    ``bootstrap_samples`` is the number of resamples of the systems behind the intervals of mean ranks. ``situations``
    are groups of systems by name: the data sets of these systems, from all scenarios, form a group besides the
    scenarios. ``unsteady`` methods, of which a repeated run found something else, are not ranked. A score file that is
    damaged, or repeats a problem, raises a `NarxbenchError` that names it.
    """
    runs = _runs(load_scores(score_files))
    results = _results(runs, unsteady)
    groups = _groups(results, situations or {})
    ranking = ranking_frame(groups, confidence=confidence, resamples=bootstrap_samples)
    return {
        "scores": framed("scores", runs),
        "ranking": ranking,
        "pairs": pairs_frame(groups, ranking, alpha=round(1 - confidence, 9)),
        "ecdf": ecdf_frame(groups),
        "systems": systems_frame(results),
    }


def load_scores(paths: Iterable[StrPath]) -> list[Score]:
    """Read score files and return them in the order of their problems, with the methods and runs of each in order."""
    scores: dict[tuple[Any, ...], Score] = {}
    for path in paths:
        score = read_score(path)
        if score.scenario == ALL:
            raise NarxbenchError(f"{path}: scenario: found {ALL!r}, which stands for all; allowed: another name")
        problem = attrgetter(*DATA_SET, "criterion")(score)
        if problem in scores:
            raise NarxbenchError(f"{path}: found the problem {problem} a second time; allowed: each problem once")
        score.methods.sort(key=lambda method: method.method)
        for method in score.methods:
            method.runs.sort(key=lambda run: run.seed)
        scores[problem] = score
    if not scores:
        raise NarxbenchError("score files: found none; allowed: at least one")
    return [scores[problem] for problem in sorted(scores)]


def _runs(scores: Iterable[Score]) -> pd.DataFrame:
    """Return one row for each run with all metrics of a run, of which the frame ``scores`` has some.

    References have rows too.
    """
    rows = []
    for score in scores:
        best = _best_fitness(score)
        part = HELD_OUT if score.held_out else DEVELOPMENT
        for method in score.methods:
            for run in method.runs:
                row = _fields(score, _OF_SCORE) | _fields(method, _OF_METHOD) | _fields(run, _OF_RUN)
                for metric in COMPARISON:
                    if metric.of_run:
                        row[metric.name] = metric.of_run(score, run, best)
                rows.append(row | {"part": part, "best_known": best, "reach": _reach(score, run)})
    return pd.DataFrame(rows)


def _fields(model: Score | ScoredMethod | ScoredRun, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(model, name) for name in names}


def _best_fitness(score: Score) -> float:
    """Return the lowest J of all runs and of the system terms; infinite if none is finite."""
    best = or_infinity(score.true_fitness)
    for method in score.methods:
        for run in method.runs:
            best = min(best, or_infinity(run.fitness))
    return best


def _reach(score: Score, run: ScoredRun) -> list[tuple[int, bool]]:
    """Return for each target the evaluations that a run made until it reached it or ended, and whether it did."""
    targets = or_infinity(score.true_fitness) + np.array(TARGETS) * score.n_validation
    limits = targets + TOLERANCE * abs(targets)
    # The history falls: for each limit, the first improvement that is not above it.
    improvements = np.searchsorted(-np.array(run.history.fitness), -limits).tolist()
    reach = []
    for improvement in improvements:
        is_reached = not run.failure and improvement < len(run.history.evaluations)
        evaluations = run.history.evaluations[improvement] if is_reached else run.evaluations
        reach.append((evaluations, is_reached))
    return reach


def _results(runs: pd.DataFrame, unsteady: Collection[str]) -> pd.DataFrame:
    """Return one row for each data set and method, summarised over its runs; nothing is rounded.

    ``ranked`` says whether the method is ranked: references and unsteady methods are not. ``searches`` says whether it
    takes part in the search; it has no gap otherwise. ``reach`` has the lists of its runs; it is empty where there are
    no targets.
    """
    grouped = runs.groupby([*DATA_SET, "criterion", "method"], sort=False)
    results = grouped[["part", "reference", "minimises", "budget", "true_fitness"]].first()
    for metric in _METRICS_OF_A_RUN:
        results[metric.name] = grouped[metric.name].agg(metric.of_data_set)
    results["runs"], results["reach"] = grouped.size(), grouped["reach"].agg(list)
    results["failures"] = results["runs"] - grouped["fitness"].count()
    results = results.reset_index()
    results["ranked"] = ~results["reference"] & ~results["method"].isin(list(unsteady))
    minimises = results["minimises"] & ~results["reference"]
    criteria = Counter(results.loc[minimises, "criterion"])
    is_searched = results["criterion"] == max(criteria, key=lambda name: (criteria[name], name), default="")
    results["searches"] = minimises & is_searched
    metrics_of_search = [metric.name for metric in _METRICS_OF_A_RUN if metric.contest == "search"]
    results.loc[~is_searched, metrics_of_search] = math.nan
    has_targets = results["searches"] & results["true_fitness"].notna()
    results.loc[~has_targets, "reach"] = results.loc[~has_targets, "reach"].map(lambda _: [])
    # A reference stands in the scores of every criterion; the row of the searched criterion is kept.
    return results.loc[np.argsort(~is_searched, kind="stable")].drop_duplicates([*DATA_SET, "method"])


def _groups(results: pd.DataFrame, situations: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the results of each part and group that has any: all scenarios, each of them, and each situation."""
    groups: dict[tuple[str, str], pd.DataFrame] = {}
    for part, whole_part in sorted(results.groupby("part"), key=lambda item: PARTS.index(item[0])):
        groups[part, ALL] = whole_part
        for scenario, scenario_results in whole_part.groupby("scenario"):
            groups[part, scenario] = scenario_results
        for situation, systems in situations.items():
            situation_results = whole_part[whole_part["system"].isin(list(systems))]
            if len(situation_results):
                groups[part, situation] = situation_results
    return groups


def ranking_frame(groups: Groups, *, confidence: float, resamples: int) -> pd.DataFrame:
    """Return the methods of each group with their mean ranks and all metrics.

    Mean ranks, and metrics that are averaged by the mean, are means over the data sets of each system, then over the
    systems. Other metrics are medians over data sets, or belong to all runs together. Methods that are not ranked have
    no mean ranks.
    """
    rows: list[tuple[Any, ...]] = []
    for (part, group), results in groups.items():
        intervals = partial(_intervals, part=part, group=group, confidence=confidence, resamples=resamples)
        ranks = []
        for metric in RANKED:
            blocks = Blocks(results, metric)
            ranks.append(dict(zip(blocks.methods, intervals(blocks.ranks()), strict=True)))
        for method, method_results in results.groupby("method"):
            row = [part, group, method, method_results["reference"].iloc[0], method_results["searches"].any()]
            row += [method_results["runs"].sum(), len(method_results), method_results["system"].nunique()]
            row.append(method_results["failures"].sum())
            for rank_by_method in ranks:
                row += rank_by_method.get(str(method), _UNRANKED)
            for metric in COMPARISON:
                row += _value(metric, method_results, round(1 - confidence, 9))
            rows.append(tuple(row))
    return framed("ranking", rows)


def _intervals(values: Floats, *, part: str, group: str, confidence: float, resamples: int) -> list[Interval]:
    """Return the mean of each column with its interval; all values of a group share their resamples."""
    rng = generator(purpose="bootstrap", part=part, group=group)
    return bootstrap_means(values, rng, confidence=confidence, resamples=resamples)


def _value(metric: ComparisonMetric, results: pd.DataFrame, level: float) -> Sequence[float]:
    """Return the value of a metric over the data sets of a method; for shares of runs or terms with its interval."""
    if not metric.of_run or metric.average != "mean":
        return [metric.overall(results)]
    defined = results.dropna(subset=metric.name)
    means = mean_by_system(defined[[metric.name]].to_numpy(float), defined["system"])[:, 0]
    value = significant(math.fsum(means) / len(means)) if len(means) else math.nan
    return (value, *share_limits(means, level)) if metric.interval else [value]


def ecdf_frame(groups: Groups) -> pd.DataFrame:
    """Return how many pairs of a run and a target each method of the search has reached within some evaluations."""
    rows: list[tuple[Any, ...]] = []
    for key, results in groups.items():
        searches = results[results["searches"] & results["reach"].map(bool)]
        grid = _evaluation_grid(int(results["budget"].max()))
        for method, method_results in searches.groupby("method"):
            runs = chain.from_iterable(method_results["reach"])
            times = np.sort([evaluations for evaluations, is_reached in chain.from_iterable(runs) if is_reached])
            counts = np.searchsorted(times, grid, side="right").tolist()
            total = int(method_results["runs"].sum()) * len(TARGETS)
            for evaluations, count in zip(grid, counts, strict=True):
                rows.append((*key, method, evaluations, count, total))
    return framed("ecdf", rows)


def _evaluation_grid(budget: int) -> list[int]:
    """Return the numbers of evaluations at which an ECDF is computed, the budget the last."""
    grid = {budget}
    for point in range(POINTS_PER_DECADE * len(str(budget))):
        grid.add(min(budget, round(10 ** (point / POINTS_PER_DECADE))))
    return sorted(grid)


def systems_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of each method on each system of a scenario."""
    rows = []
    for key, group in results.groupby(["part", "scenario", "system", "method"]):
        rows.append((*key, *(metric.overall(group) for metric in _METRICS_BY_SYSTEM)))
    return framed("systems", rows)
