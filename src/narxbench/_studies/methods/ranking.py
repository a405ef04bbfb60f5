"""Methods compared over the data sets of a study: from score files to frames.

Runs of a method on a data set are averaged first, so that the one run of a deterministic method counts as much as
several runs of another. Then its data sets of a system are averaged, then the systems. Data sets of one system are
alike and not further evidence, so that systems are the units of intervals and tests. Held-out data sets, on which no
method was developed or tuned, are separate.

A run without a finite J, such as one that failed, has an infinite gap and error on fresh data, and no hits. So has a
method that is not run on a data set because it would need too long. Where the system terms are not candidates,
exactness and F1 are unknown, but such systems count in gaps and errors on fresh data. Only methods that minimise J have
gaps, under the criterion that most of them have.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import StrPath
from narxbench._studies.methods.frames import framed
from narxbench._studies.methods.metrics import COMPARISON, EXACT, TESTED, ComparisonMetric, mean_transformed
from narxbench._studies.methods.pairs import compared_with_best
from narxbench._studies.methods.score_file import TIME, Score, read_score

Groups = Mapping[tuple[str, str], pd.DataFrame]  # results by part of the data sets and group

FRAMES = ("scores", "ranking", "pairs", "systems")
DATA_SET = ["scenario", "system", "snr_db", "data_seed"]
ALL = "all"  # the group of all scenarios
HELD_OUT, DEVELOPMENT = "held-out", "development"
PARTS = (HELD_OUT, DEVELOPMENT)
_OF_SCORE = (*DATA_SET, "criterion", "n_terms", "samples", "n_validation", "true_fitness")
_OF_METHOD = ("method", "algorithm", "reference", "minimises", "budget")
_OF_RUN = ("seed", "evaluations", "fitness", "failure")


def rank_study(
    score_files: Iterable[StrPath],
    *,
    confidence: float,
    situations: Mapping[str, Sequence[str]] | None = None,
    unsteady: Collection[str] = (),
) -> dict[str, pd.DataFrame]:
    """Return the `FRAMES` of a comparison of methods by name, from score files in any order.

    ``situations`` are groups of systems by name: the data sets of these systems, from all scenarios, form a group
    besides the scenarios. ``unsteady`` methods, of which a repeated run found something else, are not ranked. A score
    file that is damaged, or repeats a problem, raises a `NarxbenchError` that names it.
    """
    level = round(1 - confidence, 9)
    runs = _runs(load_scores(score_files))
    results = _results(runs, unsteady)
    return {
        "scores": framed("scores", runs),
        "ranking": _ranking_frame(_groups(results, situations or {}), level),
        "pairs": _pairs_frame(results, level),
        "systems": _systems_frame(results),
    }


def load_scores(paths: Iterable[StrPath]) -> list[Score]:
    """Read score files and return them in the order of their problems, with the methods and runs of each in order."""
    scores: dict[tuple[Any, ...], Score] = {}
    for path in paths:
        score = read_score(path)
        if score.scenario == ALL:
            raise NarxbenchError(f"{path}: scenario: found {ALL!r}, which represents all; allowed: another name")
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
    """Return one row for each run, and for each reference, with all metrics."""
    rows = []
    for score in scores:
        best = _lowest_fitness(score)
        part = HELD_OUT if score.held_out else DEVELOPMENT
        for method in score.methods:
            for run in method.runs:
                row = {"part": part, "best_known": best}
                for source, names in ((score, _OF_SCORE), (method, _OF_METHOD), (run, _OF_RUN)):
                    row |= {name: getattr(source, name) for name in names}
                row |= {metric.name: metric.of_run(score, run, best) for metric in COMPARISON}
                rows.append(row)
    runs = pd.DataFrame(rows)
    minimises = runs["minimises"] & ~runs["reference"]
    criteria = Counter(runs.loc[minimises, "criterion"])
    most_common = max(criteria, key=lambda name: (criteria[name], name), default="")
    runs["searches"] = minimises & (runs["criterion"] == most_common)
    for metric in COMPARISON:
        if metric.of_searches:
            runs.loc[~runs["searches"] & ~runs["reference"], metric.name] = math.nan
    return runs


def _lowest_fitness(score: Score) -> float:
    """Return the lowest J of all runs and of the system terms, infinite if none is finite."""
    values = [score.true_fitness, *(run.fitness for method in score.methods for run in method.runs)]
    return min((value for value in values if value is not None), default=math.inf)


def _results(runs: pd.DataFrame, unsteady: Collection[str]) -> pd.DataFrame:
    """Return one row for each data set and method, with the means of the transformed metrics over its runs.

    ``ranked`` says whether the method is ranked: it repeats, and has all data sets of its part.
    """
    # A reference is in the scores of every criterion: one of them is enough.
    runs = runs.drop_duplicates([*DATA_SET, "method", "seed"])
    grouped = runs.groupby([*DATA_SET, "method"], sort=False)
    results = grouped[["part", "reference", "searches"]].first()
    for metric in COMPARISON:
        results[metric.name] = grouped[metric.name].agg(partial(_mean_of_runs, metric))
    results["runs"] = grouped.size()
    results["failures"] = results["runs"] - grouped["fitness"].count()
    results["not_run"] = grouped["failure"].agg(lambda failures: int((failures == TIME).any()))
    results = results.reset_index()
    n_data_sets = results.drop_duplicates(DATA_SET).groupby("part").size()
    n_of_method = results.groupby(["part", "method"])["method"].transform("size")
    is_complete = n_of_method == results["part"].map(n_data_sets)
    results["ranked"] = is_complete & ~results["reference"] & ~results["method"].isin(list(unsteady))
    return results


def _mean_of_runs(metric: ComparisonMetric, values: pd.Series) -> float:
    return mean_transformed(metric, list(values))


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


def _by_system(results: pd.DataFrame, metric: ComparisonMetric) -> pd.DataFrame:
    """Return the means of a metric over the data sets of each system, shape (systems, methods), names in order."""
    defined = results.dropna(subset=metric.name)
    means = defined.groupby(["system", "method"])[metric.name].agg(_mean)
    return means.unstack("method").sort_index().sort_index(axis=1)


def _mean(values: pd.Series) -> float:
    return math.fsum(values) / len(values)


def _ranking_frame(groups: Groups, level: float) -> pd.DataFrame:
    """Return the methods of each group with all metrics."""
    rows: list[tuple[Any, ...]] = []
    for (part, group), results in groups.items():
        by_metric = [(metric, _by_system(results, metric)) for metric in COMPARISON]
        for method, of_method in results.groupby("method"):
            first = of_method.iloc[0]
            row = [part, group, method, first["reference"], of_method["searches"].any(), first["ranked"]]
            row += [of_method["runs"].sum(), len(of_method), of_method["system"].nunique()]
            row += [of_method["failures"].sum(), of_method["not_run"].sum()]
            for metric, by_system in by_metric:
                values = by_system[method].dropna().to_numpy(float) if method in by_system else np.empty(0)
                row += metric.overall(values, level)
            rows.append(tuple(row))
    return framed("ranking", rows)


def _pairs_frame(results: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return the comparisons of the best method of each part with the others, for each metric that is tested."""
    rows = []
    for part, of_part in results[results["ranked"]].groupby("part"):
        for metric in TESTED:
            by_system = _by_system(of_part, metric).dropna(axis=1, how="all")
            best = _best(by_system, metric)
            if best is None:
                continue
            for pair in compared_with_best(by_system, best, metric, level):
                rows.append((part, metric.name, best, *pair))
    return framed("pairs", rows)


def _best(by_system: pd.DataFrame, metric: ComparisonMetric) -> str | None:
    """Return the method of the best mean, or None if there is none, or where no run is exact."""
    means = {str(method): math.fsum(values) / len(values) for method, values in by_system.items()}
    if not means or (metric is EXACT and max(means.values()) == 0):
        return None
    sign = -1 if metric.larger_is_better else 1
    return min(means, key=lambda method: (sign * means[method], method))


def _systems_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of each method on each system of a scenario."""
    rows = []
    for key, group in results.groupby(["part", "scenario", "system", "method"]):
        numbers = []
        for metric in COMPARISON:
            defined = group[metric.name].dropna()
            numbers.append(metric.inverse(_mean(defined)) if len(defined) else math.nan)
        rows.append((*key, *map(_rounded, numbers)))
    return framed("systems", rows)


def _rounded(value: float) -> float:
    return value if math.isnan(value) else float(f"{value:.12g}")
