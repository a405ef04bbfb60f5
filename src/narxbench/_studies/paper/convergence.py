"""The mean course of the best J over the evaluations of a condition (paper, figure 1)."""

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from narxbench._studies.paper.frames import Summary, best_after, framed, key_of

# Points of a convergence curve.
CURVE_POINTS = 300


def convergence(summaries: Iterable[Summary]) -> pd.DataFrame:
    """Return the mean over the runs of the best J so far, at `CURVE_POINTS` points of the budget of each condition.

    The mean is missing where a run has no finite J yet.
    """
    rows = []
    for summary in summaries:
        budget = max(summary["spent"])
        grid = [math.ceil(budget * point / CURVE_POINTS) for point in range(1, CURVE_POINTS + 1)]
        best = best_after(summary["history_evaluations"], summary["history_fitness"], grid)
        for evaluations, fitness in zip(grid, best.T.tolist(), strict=True):
            rows.append((*key_of(summary), evaluations, _mean(fitness)))
    return framed("convergence", rows).drop_duplicates(ignore_index=True)  # fewer evaluations than points


def _mean(fitness: Sequence[float]) -> float:
    """Return the mean of the best J of all runs, or NaN where one of them is not finite."""
    if not all(map(math.isfinite, fitness)):
        return math.nan
    # math.fsum is correctly rounded, but NumPy's mean depends on the processor's vector width.
    return math.fsum(fitness) / len(fitness)
