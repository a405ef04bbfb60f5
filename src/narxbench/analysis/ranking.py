"""Methods compared over the problems of a study: from score files to frames.

The unit is the problem: scenario, system, SNR, data seed and criterion. Runs of a method on it differ in nothing but
their seeds. They are summed up first (medians of gap and error on fresh data, means of the rest), so that the one run
of a deterministic method counts as much. Problems of one system are alike, and no further evidence: systems are what
is tested and resampled.

The gap of a run is (J - best known J) / L, the logarithm of a ratio of errors. Best known is the lowest J of all runs
and of the system terms. A run without a finite J, such as one that failed, has an infinite gap and error on fresh data,
and no hits. Where the system terms are no candidates, exactness, precision, recall and F1 are unknown; such systems
count in gaps, ranks, targets and errors on fresh data.
"""

import math
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from narxbench.analysis.frames import framed
from narxbench.analysis.metrics import Interval, significant
from narxbench.analysis.performance import TOLERANCE
from narxbench.analysis.rank_tests import (
    DECIMALS,
    PROBLEM,
    SHARES,
    Blocks,
    Floats,
    bootstrap_means,
    friedman_frame,
    mean_by_system,
    pairs_frame,
)
from narxbench.experiment.score_file import Score, ScoredMethod, ScoredRun, read_score
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath
from narxbench.numerics.random_streams import generator

FRAMES = ("scores", "reach", "ranking", "tests", "pairs", "ecdf", "systems", "exceptions")
ALL = "all"  # the group of all scenarios
# Gaps that runs are to reach; the expected evaluations are those to one of them.
TARGETS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ERT_TARGET = 0.01
# Points of an ECDF for each factor of ten in the evaluations.
POINTS_PER_DECADE = 10
# Of a system, for the exceptions.
COMPARED = ("exact", "f1", "gap", "fresh_error", "ert")
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
        The method that ``exceptions`` are told of; a study without it has none.

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
                reached = (run.evaluations, run.fitness, best, score.true_fitness, _gap(score, best, run))
                exact, *shares = _shares(score, run)
                exact_or_unknown = None if math.isnan(exact) else bool(exact)
                judged = (exact_or_unknown, *shares, run.fresh_error, run.failure)
                rows.append((*_key(score), *made, *reached, *judged))
    return framed("scores", rows)


def best_known(score: Score) -> float:
    """Return the lowest J of all runs on a problem and of its system terms; +infinity if none is finite."""
    found = [score.true_fitness, *(run.fitness for method in score.methods for run in method.runs)]
    return min((fitness for fitness in found if fitness is not None), default=math.inf)


def _results(scores: Iterable[Score]) -> pd.DataFrame:
    """Return one row for each problem and method, summed up over its runs; nothing is rounded or missing but F1.

    ``reach`` has for each target the evaluations of the runs that reached it, in ascending order, and of the others;
    ``evaluations`` is the largest number of any run, ``worst`` the largest finite gap of any run on the problem.
    """
    rows = []
    for score in scores:
        best = best_known(score)
        gaps = {method.method: [_gap(score, best, run) for run in method.runs] for method in score.methods}
        worst = max((gap for own in gaps.values() for gap in own if math.isfinite(gap)), default=0.0)
        for method in score.methods:
            runs = method.runs
            shares = zip(*(_shares(score, run) for run in runs), strict=True)
            rows.append(
                {
                    **dict(zip(PROBLEM, _key(score), strict=True)),
                    "method": method.method,
                    "contributed": method.contributed,
                    "runs": len(runs),
                    "failures": sum(run.fitness is None for run in runs),
                    "budget": method.budget,
                    "evaluations": max(run.evaluations for run in runs),
                    "gap": median(gaps[method.method]),
                    "worst": worst,
                    "fresh_error": median(math.inf if run.fresh_error is None else run.fresh_error for run in runs),
                    **{name: math.fsum(of) / len(runs) for name, of in zip(SHARES, shares, strict=True)},
                    "reach": _reach(score, best, method),
                }
            )
    return pd.DataFrame(rows)


def _key(score: Score) -> tuple[Any, ...]:
    return tuple(getattr(score, name) for name in PROBLEM)


def _gap(score: Score, best: float, run: ScoredRun) -> float:
    return math.inf if run.fitness is None else round((run.fitness - best) / score.n_validation, DECIMALS)


def _shares(score: Score, run: ScoredRun) -> tuple[float, ...]:
    """Return exactness (0 or 1), precision, recall and F1 of a run."""
    hits, size, true = run.hits, len(run.terms), score.true_terms
    if not true:
        return (math.nan,) * 4
    return float(hits == size == true), hits / max(size, 1), hits / true, 2 * hits / (size + true)


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
    rows = results[[*PROBLEM, "method", "runs", "reach"]].itertuples(index=False, name=None)
    return framed(
        "reach",
        [
            (*key, target, tuple(reached), tuple(spent), runs)
            for *key, runs, reach in rows
            for target, (reached, spent) in zip(TARGETS, reach, strict=True)
        ],
    )


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
    return significant((sum(map(sum, reached)) + sum(map(sum, spent))) / successes)


def ranking_frame(
    groups: Mapping[str, pd.DataFrame], blocks: Mapping[str, Blocks], confidence: float, resamples: int
) -> pd.DataFrame:
    """Return the methods of each group with all measures.

    ``average_rank`` is the mean over the systems of `Blocks.ranks` of the gap; it is missing for methods that are not
    ranked. Exactness, precision, recall and F1 are means over the problems of a system, then over systems; ``gap`` and
    ``fresh_error`` medians over problems; ``reached`` and ``ert`` belong to all runs together. Intervals are percentile
    intervals of the bootstrap over systems.
    """
    rows = []
    for group, results in groups.items():

        def intervals(values: Floats, group: str = group) -> list[Interval]:
            rng = generator(purpose="bootstrap", group=group)
            return bootstrap_means(values, rng, confidence=confidence, resamples=resamples)

        ranks = dict(zip(blocks[group].methods, intervals(blocks[group].ranks("gap")), strict=True))
        for method, own in results.groupby("method"):
            known = own.dropna(subset=SHARES)
            shares = intervals(mean_by_system(known[SHARES].to_numpy(), known["system"]))
            runs = int(own["runs"].sum())
            reached = sum(len(times) for reach in own["reach"] for times, _ in reach)
            rows.append(
                (
                    *(group, method, runs, len(own), own["system"].nunique(), *ranks.get(str(method), _UNRANKED)),
                    *(*shares[0], *(share.value for share in shares[1:])),
                    *(significant(median(own[name])) for name in ("gap", "fresh_error")),
                    *(significant(reached / (runs * len(TARGETS))), expected_evaluations(own), own["failures"].sum()),
                )
            )
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
    """Return each method on each system of a scenario: means of exactness and F1, medians of gap and fresh error."""
    rows = []
    for key, own in results.groupby(["scenario", "system", "method"]):
        shares = (significant(math.fsum(own[name]) / len(own)) for name in ("exact", "f1"))
        medians = (significant(median(own[name])) for name in ("gap", "fresh_error"))
        rows.append((*key, *shares, *medians, expected_evaluations(own)))
    return framed("systems", rows)


def exceptions_frame(systems: pd.DataFrame, default_method: str) -> pd.DataFrame:
    """Return where a method is better than the default method of the project, on the frame ``systems``."""
    ours = systems[systems["method"] == default_method]
    rows = []
    for row in systems.merge(ours, on=["scenario", "system"], suffixes=("", "_ours")).to_dict("records"):
        for measure in COMPARED:
            theirs, best_ours = row[measure], row[f"{measure}_ours"]
            sign = -1.0 if measure in SHARES else 1.0
            worse = math.isnan(best_ours) or round(sign * (best_ours - theirs), DECIMALS) > 0
            if not math.isnan(theirs) and worse:
                rows.append((row["scenario"], row["system"], row["method"], measure, theirs, best_ours))
    return framed("exceptions", rows)
