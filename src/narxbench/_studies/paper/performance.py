"""Statistics over the runs of conditions: convergence, exact recovery, gaps, and methods compared.

A run without a finite structure has J = +infinity, so it ranks last; the frames that are returned hold no infinity.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from narxbench._numerics.intervals import selection_frequency
from narxbench._numerics.rounding import significant
from narxbench._studies.paper.frames import KEY, PROBLEM, best_after, framed
from narxbench._study.metrics import TOLERANCE
from narxbench._study.significance import a12, holm, magnitude, mann_whitney

# Points of a convergence curve.
CURVE_POINTS = 300


def convergence(runs: pd.DataFrame) -> pd.DataFrame:
    """Return median, quartiles and mean of the best J over the budget of each condition.

    Quartiles are values of runs. The mean is missing where a run has no finite J yet.
    """
    rows = []
    for key, group in runs.groupby(KEY, sort=False):
        budget = int(group["spent"].max())
        grid = [math.ceil(budget * point / CURVE_POINTS) for point in range(1, CURVE_POINTS + 1)]
        best = best_after(group["history_evaluations"], group["history_fitness"], grid)
        # Quartiles are values of runs, not between two runs: some may still be infinite.
        ordered = np.sort(best, axis=0)
        low = ordered[math.ceil(0.25 * len(ordered)) - 1]
        high = ordered[math.ceil(0.75 * len(ordered)) - 1]
        mean = list(map(_mean, best.T.tolist()))
        for point in zip(grid, np.median(best, axis=0), low, high, mean, strict=True):
            rows.append((*key, *point))
    return framed("convergence", rows).drop_duplicates(ignore_index=True)  # fewer evaluations than points


def _mean(fitness: Sequence[float]) -> float:
    """Return the mean of the best J of all runs; NaN where one of them is not finite."""
    if not all(map(math.isfinite, fitness)):
        return math.nan
    # math.fsum is correctly rounded; NumPy's mean depends on the processor's vector width.
    return math.fsum(fitness) / len(fitness)


def recovery(conditions: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return how many runs of each condition found exactly the system terms, with the Wilson interval of the rate."""
    rates = conditions.rename(columns={"exact_runs": "exact"})
    counts = rates[["exact", "runs"]].itertuples(index=False)
    rates[["rate", "low", "high"]] = [selection_frequency(*count, confidence) for count in counts]
    return framed("recovery", rates)


def gaps(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the gaps of each condition, which tell failures of the method from failures of the criterion.

    A method fails in the runs that end above the best known J, the lowest of the true structure and of all runs on the
    same problem; the criterion fails where the best known J lies below that of the true structure.
    """
    rows = []
    for _, problem in runs.groupby(PROBLEM, sort=False):
        best = problem[["fitness", "true_structure"]].min(axis=None)
        # Runs with data of their own have optima of their own.
        is_known = problem["shared_data"].all() and math.isfinite(best)
        if not is_known:
            best = math.nan
        limit = best + TOLERANCE * abs(best)
        for key, group in problem.groupby(KEY, sort=False):
            fitness, true = group["fitness"], group["true_structure"].iloc[0]
            above_true = math.nan
            if np.isfinite(group["true_fitness"]).all():
                above_true = (fitness - group["true_fitness"]).median()
            misleads = bool(true > limit) if is_known and math.isfinite(true) else None
            failures = (fitness > limit).mean() if is_known else math.nan
            rows.append((*key, best, true, fitness.median() - best, above_true, misleads, failures))
    return framed("gaps", rows)


def comparisons(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare the final J of every two methods on a problem under one criterion; ``p_holm`` covers all comparisons."""
    rows = []
    for problem, group in runs.groupby(PROBLEM, sort=False):
        fitness = group.groupby("method", sort=False)["fitness"].agg(list)
        for (method_a, a), (method_b, b) in combinations(fitness.items(), 2):
            effect, sizes, medians = a12(a, b), (len(a), len(b)), (np.median(a), np.median(b))
            tested = *mann_whitney(a, b), math.nan, float(effect), magnitude(effect)
            rows.append((*problem, method_a, method_b, *sizes, *medians, *tested))
    tests = framed("comparisons", rows)
    tests["p_holm"] = [significant(p_value, 6) for p_value in holm(tests["p_value"])]
    return tests
