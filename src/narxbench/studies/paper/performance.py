"""Statistics over the runs of conditions: convergence, exact recovery, gaps, and methods compared.

A run without a finite structure has J = +infinity, so it ranks last; in the frames that come out nothing is infinite.
"""

import math
from itertools import combinations

import numpy as np
import pandas as pd

from narxbench.numerics.intervals import selection_frequency
from narxbench.numerics.rounding import significant
from narxbench.studies.paper.frames import KEY, PROBLEM, best_after, framed
from narxbench.study.metrics import TOLERANCE
from narxbench.study.significance import a12, holm, magnitude, mann_whitney

# Points of a convergence curve.
CURVE_POINTS = 300


def convergence(runs: pd.DataFrame) -> pd.DataFrame:
    """Return median and quartiles of the best J over the budget of each condition; quartiles are the values of runs."""
    rows = []
    for key, group in runs.groupby(KEY, sort=False):
        budget = int(group["spent"].max())
        grid = [math.ceil(budget * i / CURVE_POINTS) for i in range(1, CURVE_POINTS + 1)]
        best = best_after(group["history_evaluations"], group["history_fitness"], grid)
        # Quartiles are values of runs, not between two runs: some may still be infinite.
        ordered = np.sort(best, axis=0)
        low, high = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.25, 0.75))
        rows += [(*key, *values) for values in zip(grid, np.median(best, axis=0), low, high, strict=True)]
    return framed("convergence", rows).drop_duplicates(ignore_index=True)  # fewer evaluations than points


def recovery(conditions: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return how many runs of each condition found exactly the system terms, with the Wilson interval of the rate."""
    found = conditions.rename(columns={"exact_runs": "exact"})
    counts = found[["exact", "runs"]].itertuples(index=False)
    found[["rate", "low", "high"]] = [selection_frequency(*count, confidence) for count in counts]
    return framed("recovery", found)


def gaps(runs: pd.DataFrame) -> pd.DataFrame:
    """Tell failures of the method from failures of the criterion.

    A method fails in the runs that end above the best known J, the lowest of the true structure and of all runs on the
    same problem; the criterion fails where that lies below the J of the true structure.
    """
    rows = []
    for _, problem in runs.groupby(PROBLEM, sort=False):
        best = problem[["fitness", "true_structure"]].min(axis=None)
        # Runs with data of their own have optima of their own.
        known = problem["shared_data"].all() and math.isfinite(best)
        best = best if known else math.nan
        limit = best + TOLERANCE * abs(best)
        for key, group in problem.groupby(KEY, sort=False):
            fitness, true = group["fitness"], group["true_structure"].iloc[0]
            own = (fitness - group["true_fitness"]).median() if np.isfinite(group["true_fitness"]).all() else math.nan
            misleads = bool(true > limit) if known and math.isfinite(true) else None
            failures = (fitness > limit).mean() if known else math.nan
            rows.append((*key, best, true, fitness.median() - best, own, misleads, failures))
    return framed("gaps", rows)


def comparisons(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare the final J of every two methods on a problem under one criterion; ``p_holm`` covers all comparisons."""
    rows = []
    for problem, group in runs.groupby(PROBLEM, sort=False):
        fitness = {method: own.tolist() for method, own in group.groupby("method", sort=False)["fitness"]}
        for (one, a), (other, b) in combinations(fitness.items(), 2):
            effect, sizes, medians = a12(a, b), (len(a), len(b)), (np.median(a), np.median(b))
            tested = *mann_whitney(a, b), float("nan"), float(effect), magnitude(effect)
            rows.append((*problem, one, other, *sizes, *medians, *tested))
    found = framed("comparisons", rows)
    found["p_holm"] = [significant(p, 6) for p in holm(found["p_value"])]
    return found
