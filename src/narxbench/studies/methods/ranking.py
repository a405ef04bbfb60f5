"""Methods compared over the data sets of a study: from score files to frames.

There are two contests. *Identify*: which terms and which model a method returns, by whatever criterion it chooses.
*Search*: which J it reaches; only methods that minimise J take part, under the criterion that most of them have.

The unit is the data set: scenario, system, SNR and data seed. Runs of a method on it are summed up first, so that the
one run of a deterministic method counts as much. Data sets of one system are alike, and no further evidence: systems
are what is resampled and tested. Held-out ones, on which no method was developed or tuned, stand apart.

A run without a finite J, such as one that failed, has an infinite gap and error on fresh data, and no hits. Where the
system terms are no candidates, exactness and F1 are unknown, and there are no targets; such systems count in gaps and
errors on fresh data.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath
from narxbench.numerics.intervals import Interval
from narxbench.numerics.random_streams import generator
from narxbench.studies.methods.frames import framed
from narxbench.studies.methods.metrics import COMPARISON, RANKED, TARGETS
from narxbench.studies.methods.rank_tests import (
    DATA_SET,
    Blocks,
    Floats,
    bootstrap_means,
    friedman_frame,
    mean_by_system,
    pairs_frame,
)
from narxbench.studies.methods.score_file import Score, read_score
from narxbench.study.metrics import TOLERANCE

FRAMES = ("scores", "ranking", "tests", "pairs", "ecdf", "systems")
ALL = "all"  # the group of all scenarios
HELD_OUT, DEVELOPMENT = "held-out", "development"
PARTS = (HELD_OUT, DEVELOPMENT)
# Points of an ECDF for each factor of ten in the evaluations.
POINTS_PER_DECADE = 10
_OF_RUN = [metric for metric in COMPARISON if metric.of_run]
_BY_SYSTEM = [metric for metric in COMPARISON if metric.by_system]
_OF_SCORE = (*DATA_SET, "criterion", "n_terms", "samples", "n_validation", "true_fitness")
_OF_METHOD = ("method", "algorithm", "deterministic", "reference", "minimises", "budget")
_UNRANKED = Interval(math.nan, math.nan, math.nan)


def rank_study(
    score_files: Iterable[StrPath],
    *,
    confidence: float,
    bootstrap_samples: int,
    situations: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, pd.DataFrame]:
    """Return all frames of a comparison of methods by name, those of `FRAMES`, from score files in any order.

    ``bootstrap_samples`` of the systems are behind the intervals; ``situations`` are groups of systems, by name: their
    data sets of all scenarios are a group besides the scenarios. A score file that is damaged, or repeats a problem,
    raises a `NarxbenchError` that names it.
    """
    runs = _runs(load_scores(score_files))
    results = _results(runs)
    groups = _groups(results, situations or {})
    whole = {key: own for key, own in groups.items() if key[1] == ALL}
    rngs = {key: generator(purpose="differences", part=key[0]) for key in whole}
    return {
        "scores": framed("scores", runs),
        "ranking": ranking_frame(groups, confidence=confidence, resamples=bootstrap_samples),
        "tests": friedman_frame(whole),
        "pairs": pairs_frame(whole, rngs, confidence=confidence, resamples=bootstrap_samples),
        "ecdf": ecdf_frame(groups),
        "systems": systems_frame(results),
    }


def load_scores(paths: Iterable[StrPath]) -> list[Score]:
    """Read score files and return them in the order of their problems, the methods and runs of each in order too."""
    found: dict[tuple[Any, ...], Score] = {}
    for path in paths:
        score = read_score(path)
        if score.scenario == ALL:
            raise NarxbenchError(f"{path}: scenario: found {ALL!r}, which stands for all; allowed: another name")
        key = tuple(getattr(score, name) for name in (*DATA_SET, "criterion"))
        if key in found:
            raise NarxbenchError(f"{path}: found the problem {key} a second time; allowed: each problem once")
        score.methods.sort(key=lambda method: method.method)
        for method in score.methods:
            method.runs.sort(key=lambda run: run.seed)
        found[key] = score
    if not found:
        raise NarxbenchError("score files: found none; allowed: at least one")
    return [found[key] for key in sorted(found)]


def _runs(scores: Iterable[Score]) -> pd.DataFrame:
    """Return one row a run with all metrics of a run, of which the frame ``scores`` has some.

    What is no method, but a reference, has rows too. ``reach`` has for each target the evaluations that the run made
    until it reached it or to its end, and whether it did.
    """
    rows = []
    for score in scores:
        # The lowest J of all runs and of the system terms.
        own = (run.fitness for method in score.methods for run in method.runs)
        best = min((j for j in (score.true_fitness, *own) if j is not None), default=math.inf)
        true = score.true_fitness if score.true_fitness is not None else math.inf
        targets = true + np.array(TARGETS) * score.n_validation
        limits = targets + TOLERANCE * abs(targets)
        for method in score.methods:
            for run in method.runs:
                made = [] if run.failure else run.history.evaluations
                # The first entry of the history, which falls, that is not above the limit.
                places = np.searchsorted(-np.array(run.history.fitness), -limits).tolist()
                rows.append(
                    {name: getattr(score, name) for name in _OF_SCORE}
                    | {name: getattr(method, name) for name in _OF_METHOD}
                    | {name: getattr(run, name) for name in ("seed", "evaluations", "fitness", "excess", "failure")}
                    | {metric.name: metric.of_run(score, run, best) for metric in COMPARISON if metric.of_run}
                    | {"part": HELD_OUT if score.held_out else DEVELOPMENT, "best_known": best}
                    | {"reach": [(made[i], True) if i < len(made) else (run.evaluations, False) for i in places]}
                )
    return pd.DataFrame(rows)


def _results(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each data set and method, summed up over its runs; nothing is rounded.

    ``searches`` tells whether the method takes part in the search; it has no gap otherwise. ``reach`` has those of the
    runs, and nothing where there are no targets.
    """
    grouped = runs.groupby([*DATA_SET, "criterion", "method"], sort=False)
    results = grouped[["part", "reference", "minimises", "budget", "true_fitness"]].first()
    for metric in _OF_RUN:
        results[metric.name] = grouped[metric.name].agg(metric.of_data_set)
    results["runs"], results["reach"] = grouped.size(), grouped["reach"].agg(list)
    results["failures"] = results["runs"] - grouped["fitness"].count()
    results = results.reset_index()
    minimises = results["minimises"] & ~results["reference"]
    criteria = Counter(results.loc[minimises, "criterion"])
    searched = results["criterion"] == max(criteria, key=lambda name: (criteria[name], name), default="")
    results["searches"] = minimises & searched
    results.loc[~searched, [metric.name for metric in _OF_RUN if metric.contest == "search"]] = math.nan
    aims = results["searches"] & results["true_fitness"].notna()
    results["reach"] = [reach if has else [] for reach, has in zip(results["reach"], aims, strict=True)]
    # A reference stands in the scores of every criterion; it has a J of that which is searched.
    return results.loc[np.argsort(~searched, kind="stable")].drop_duplicates([*DATA_SET, "method"])


def _groups(results: pd.DataFrame, situations: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the results of each part and group: of all scenarios, of each of them, and of each situation."""
    found: dict[tuple[str, str], pd.DataFrame] = {}
    for part in PARTS:
        whole = results[results["part"] == part]
        special = ((name, whole[whole["system"].isin(list(systems))]) for name, systems in situations.items())
        found |= {(part, group): own for group, own in ((ALL, whole), *whole.groupby("scenario"), *special) if len(own)}
    return found


def ranking_frame(groups: Mapping[tuple[str, str], pd.DataFrame], *, confidence: float, resamples: int) -> pd.DataFrame:
    """Return the methods of each group with their mean ranks and all metrics.

    Mean ranks, which methods that are not ranked lack, and metrics that are averaged by the mean are means over the
    data sets of each system, then over the systems; others are medians over data sets, or belong to all runs together.
    """

    def intervals(values: Floats, part: str, group: str) -> list[Interval]:
        rng = generator(purpose="bootstrap", part=part, group=group)
        return bootstrap_means(values, rng, confidence=confidence, resamples=resamples)

    rows = []
    for key, results in groups.items():
        ranks = {}
        for metric in RANKED:
            blocks = Blocks(results, metric)
            ranks[metric.name] = dict(zip(blocks.methods, intervals(blocks.ranks(), *key), strict=True))
        for method, own in results.groupby("method"):
            values: list[float] = []
            for metric in COMPARISON:
                if metric.of_run and metric.average == "mean":
                    known = own.dropna(subset=metric.name)
                    (found,) = intervals(mean_by_system(known[[metric.name]].to_numpy(), known["system"]), *key)
                    values += found if metric.interval else found[:1]
                else:
                    values.append(metric.overall(own))
            kind = own["reference"].iloc[0], own["searches"].any()
            size = (own["runs"].sum(), len(own), own["system"].nunique(), own["failures"].sum())
            of_ranks = (limit for name in ranks for limit in ranks[name].get(str(method), _UNRANKED))
            rows.append((*key, method, *kind, *size, *of_ranks, *values))
    return framed("ranking", rows)


def ecdf_frame(groups: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return how many pairs of a run and a target each method of the search has reached within some evaluations."""
    rows = []
    for key, results in groups.items():
        searched = results[results["searches"] & results["reach"].map(bool)]
        most = int(results["budget"].max())
        points = (round(10 ** (i / POINTS_PER_DECADE)) for i in range(POINTS_PER_DECADE * len(str(most))))
        grid = sorted({most, *(point for point in points if point < most)})
        for method, own in searched.groupby("method"):
            times = np.sort([made for reach in own["reach"] for run in reach for made, hit in run if hit])
            reached = np.searchsorted(times, grid, side="right").tolist()
            total = int(own["runs"].sum()) * len(TARGETS)
            rows += [(*key, method, *point, total) for point in zip(grid, reached, strict=True)]
    return framed("ecdf", rows)


def systems_frame(results: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of each method on each system of a scenario."""
    groups = results.groupby(["part", "scenario", "system", "method"])
    return framed("systems", [(*key, *(metric.overall(own) for metric in _BY_SYSTEM)) for key, own in groups])
