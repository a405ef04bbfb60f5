"""Methods compared over the problems of a study: from score files to frames.

The unit is the problem: scenario, system, SNR, data seed and criterion. Runs of a method on it differ in nothing but
their seeds. They are summed up first (medians of gap and error on fresh data, means of the rest), so that the one run
of a deterministic method counts as much. Problems of one system are alike, and no further evidence: systems are what
is tested and resampled.

A run without a finite J, such as one that failed, has an infinite gap and error on fresh data, and no hits. Where the
system terms are no candidates, exactness, precision, recall and F1 are unknown; such systems count in gaps, ranks,
targets and errors on fresh data.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from narxbench.analysis.frames import framed
from narxbench.analysis.metrics import COMPARISON, DECIMALS, GAP, TARGETS, Interval, gap
from narxbench.analysis.performance import TOLERANCE
from narxbench.analysis.rank_tests import (
    PROBLEM,
    Blocks,
    Floats,
    bootstrap_means,
    friedman_frame,
    mean_by_system,
    pairs_frame,
)
from narxbench.experiment.score_file import Score, ScoredMethod, read_score
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath
from narxbench.numerics.random_streams import generator

FRAMES = ("scores", "reach", "ranking", "tests", "pairs", "ecdf", "systems", "exceptions")
ALL = "all"  # the group of all scenarios
# Points of an ECDF for each factor of ten in the evaluations.
POINTS_PER_DECADE = 10
_OF_RUN = [(metric, metric.of_run) for metric in COMPARISON if metric.of_run]
_BY_SYSTEM = [metric for metric in COMPARISON if metric.by_system]
_UNRANKED = Interval(math.nan, math.nan, math.nan)


def rank_study(
    score_files: Iterable[StrPath], *, confidence: float, bootstrap_samples: int, default_method: str = "multistart"
) -> dict[str, pd.DataFrame]:
    """Return all frames of a comparison of methods by name, those of `FRAMES`.

    Parameters
    ----------
    score_files
        The score files of the study, in any order.
    confidence, bootstrap_samples
        Coverage of the intervals and level of the critical difference; resamples of the systems behind the intervals.
    default_method
        The method that the ``exceptions`` are exceptions to; a study without it has none.

    Raises
    ------
    NarxbenchError
        In one line that names the file, if it is damaged, no score file, or repeats a problem.
    """
    scores = load_scores(score_files)
    results = _results(scores)
    systems = systems_frame(results)
    groups = {ALL: results, **{str(name): own for name, own in results.groupby("scenario")}}
    blocks = {group: Blocks(own) for group, own in groups.items()}
    return {
        "scores": scores_frame(scores),
        "reach": reach_frame(results),
        "ranking": ranking_frame(groups, blocks, confidence, bootstrap_samples),
        "tests": friedman_frame(blocks, confidence),
        "pairs": pairs_frame(blocks),
        "ecdf": ecdf_frame(results),
        "systems": systems,
        "exceptions": exceptions_frame(systems, default_method),
    }


def load_scores(paths: Iterable[StrPath]) -> list[Score]:
    """Read score files and return them in the order of their problems, the methods and runs of each in order too.

    Raises
    ------
    NarxbenchError
        In one line that names the file, if it is damaged, no score file, or repeats a problem; and if there is none.
    """
    found: dict[tuple[Any, ...], Score] = {}
    for path in paths:
        score = read_score(path)
        if score.scenario == ALL:
            raise NarxbenchError(f"{path}: scenario: found {ALL!r}, which stands for all; allowed: another name")
        if (key := _key(score)) in found:
            raise NarxbenchError(f"{path}: found the problem {key} a second time; allowed: each problem once")
        score.methods.sort(key=lambda method: method.method)
        for method in score.methods:
            method.runs.sort(key=lambda run: run.seed)
        found[key] = score
    if not found:
        raise NarxbenchError("score files: found none; allowed: at least one")
    return [found[key] for key in sorted(found)]


def scores_frame(scores: Iterable[Score]) -> pd.DataFrame:
    """Return one row a run."""
    rows = []
    for score in scores:
        best = best_known(score)
        sizes = (score.n_terms, score.samples, score.n_validation)
        for method in score.methods:
            for run in method.runs:
                made = (method.method, method.algorithm, run.seed, method.deterministic, *sizes, method.budget)
                found = (run.evaluations, run.fitness, best, score.true_fitness, gap(score, run, best))
                others = (of_run(score, run, best) for metric, of_run in _OF_RUN if metric is not GAP)
                rows.append((*_key(score), *made, *found, *others, run.failure))
    return framed("scores", rows)


def best_known(score: Score) -> float:
    """Return the lowest J of all runs on a problem and of its system terms; +infinity if none is finite."""
    found = [score.true_fitness, *(run.fitness for method in score.methods for run in method.runs)]
    return min((fitness for fitness in found if fitness is not None), default=math.inf)


def _results(scores: Iterable[Score]) -> pd.DataFrame:
    """Return one row for each problem and method, summed up over its runs; nothing is rounded; a metric may be unknown.

    ``reach`` has for each target the evaluations of the runs that reached it, in ascending order, and of the others;
    ``evaluations`` is the largest number of any run, ``worst`` the largest finite gap of any run on the problem.
    """
    rows = []
    for score in scores:
        best = best_known(score)
        gaps = (gap(score, run, best) for method in score.methods for run in method.runs)
        worst = max(filter(math.isfinite, gaps), default=0.0)
        for method in score.methods:
            runs = method.runs
            rows.append(
                {
                    **dict(zip(PROBLEM, _key(score), strict=True)),
                    "method": method.method,
                    "contributed": method.contributed,
                    "runs": len(runs),
                    "failures": sum(run.fitness is None for run in runs),
                    "budget": method.budget,
                    "evaluations": max(run.evaluations for run in runs),
                    "worst": worst,
                    **{m.name: m.averaged(of_run(score, run, best) for run in runs) for m, of_run in _OF_RUN},
                    "reach": _reach(score, best, method),
                }
            )
    return pd.DataFrame(rows)


def _key(score: Score) -> tuple[Any, ...]:
    return tuple(getattr(score, name) for name in PROBLEM)


def _reach(score: Score, best: float, method: ScoredMethod) -> list[tuple[list[int], list[int]]]:
    targets = best + np.array(TARGETS) * score.n_validation
    limits = targets + TOLERANCE * abs(targets)
    found: list[tuple[list[int], list[int]]] = [([], []) for _ in TARGETS]
    for run in method.runs:
        made = [] if run.failure or math.isinf(best) else run.history.evaluations
        # The first entry of the history, which falls, that is not above the limit.
        places = np.searchsorted(-np.array(run.history.fitness), -limits)
        for place, (reached, spent) in zip(places.tolist(), found, strict=True):
            if place < len(made):
                reached.append(made[place])
            else:
                spent.append(run.evaluations)
    return [(sorted(reached), spent) for reached, spent in found]


def reach_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return for each problem, method and target the evaluations of the runs that reached it, and of the others."""
    rows = []
    for *key, runs, reach in results[[*PROBLEM, "method", "runs", "reach"]].itertuples(index=False, name=None):
        of_targets = zip(TARGETS, reach, strict=True)
        rows += [(*key, target, tuple(reached), tuple(spent), runs) for target, (reached, spent) in of_targets]
    return framed("reach", rows)


def ranking_frame(
    groups: Mapping[str, pd.DataFrame], blocks: Mapping[str, Blocks], confidence: float, resamples: int
) -> pd.DataFrame:
    """Return the methods of each group with all metrics.

    ``average_rank`` is the mean over the systems of `Blocks.ranks` of the gap; it is missing for methods that are not
    ranked. Metrics that are averaged by the mean are means over the problems of a system, then over systems; others are
    medians over problems, or belong to all runs together. Intervals are percentile intervals of the bootstrap over
    systems.
    """
    rows = []
    for group, results in groups.items():

        def intervals(values: Floats, group: str = group) -> list[Interval]:
            rng = generator(purpose="bootstrap", group=group)
            return bootstrap_means(values, rng, confidence=confidence, resamples=resamples)

        ranks = dict(zip(blocks[group].methods, intervals(blocks[group].ranks(GAP)), strict=True))
        for method, own in results.groupby("method"):
            values: list[float] = []
            for metric in COMPARISON:
                if metric.of_run and metric.average == "mean":
                    known = own.dropna(subset=metric.name)
                    (found,) = intervals(mean_by_system(known[[metric.name]].to_numpy(), known["system"]))
                    values += found if metric.interval else found[:1]
                else:
                    values.append(metric.overall(own))
            size = (own["runs"].sum(), len(own), own["system"].nunique())
            rank = ranks.get(str(method), _UNRANKED)
            rows.append((group, method, *size, *rank, *values, own["failures"].sum()))
    return framed("ranking", rows)


def ecdf_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return how many pairs of a run and a target each method has reached after how many evaluations, by system."""
    most = int(results["budget"].max())
    points = (round(10 ** (i / POINTS_PER_DECADE)) for i in range(POINTS_PER_DECADE * len(str(most))))
    grid = sorted({most, *(point for point in points if point < most)})
    rows = []
    for key, own in results.groupby(["scenario", "system", "method"]):
        times = np.sort([time for reach in own["reach"] for reached, _ in reach for time in reached])
        reached = np.searchsorted(times, grid, side="right").tolist()
        total = int(own["runs"].sum()) * len(TARGETS)
        rows += [(*key, *point, total) for point in zip(grid, reached, strict=True)]
    return framed("ecdf", rows)


def systems_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of each method on each system of a scenario."""
    groups = results.groupby(["scenario", "system", "method"])
    return framed("systems", [(*key, *(metric.overall(own) for metric in _BY_SYSTEM)) for key, own in groups])


def exceptions_frame(systems: pd.DataFrame, default_method: str) -> pd.DataFrame:
    """Return where a method is better than the default method of the project, on the frame ``systems``."""
    ours = systems[systems["method"] == default_method]
    rows = []
    for row in systems.merge(ours, on=["scenario", "system"], suffixes=("", "_ours")).to_dict("records"):
        for metric in _BY_SYSTEM:
            theirs, best_ours = row[metric.name], row[f"{metric.name}_ours"]
            sign = -1.0 if metric.larger_is_better else 1.0
            worse = math.isnan(best_ours) or round(sign * (best_ours - theirs), DECIMALS) > 0
            if not math.isnan(theirs) and worse:
                rows.append((row["scenario"], row["system"], row["method"], metric.name, theirs, best_ours))
    return framed("exceptions", rows)
