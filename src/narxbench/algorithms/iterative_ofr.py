"""Iterative orthogonal forward regression: forward regressions that begin with each term of the best model in turn.

Source: Y. Guo, L. Z. Guo, S. A. Billings and H.-L. Wei, An iterative orthogonal forward regression algorithm,
International Journal of Systems Science 46(5), 2015, pages 776-789, as R. Gunawardena, Z.-Q. Lang and F. He restate it
(NonSysId, 2024, arXiv:2411.16475, and the supplement of that package):

1. Each of a set of terms is the first of a forward regression over all candidates.
2. The best of these models is chosen, in the restatement by the BIC of its free run.
3. Its terms are the new set. Again from 1, until no better model is found.

The first set are the terms of one long forward regression, as Guo et al. propose, or all candidates. What comes after
a first term depends on it alone; so no term is first twice, and the search ends when all terms of the best model have
been.

The restatement chooses each next term by PRESS, the sum of squared errors when each row is left out in turn (X. Hong,
P. M. Sharkey and K. Warwick, IEE Proceedings - Control Theory and Applications 150(3), 2003), Guo et al. by ERR. A
path has many lengths; here that of the best model is chosen, or, as in Hong et al., the path ends where PRESS begins
to rise. Models are judged by the BIC of their free run over all samples, or by J. Of NonSysId are left out: its
threshold for the fall of PRESS, which depends on the units of y; the linear model that it begins with; and its test of
stability with constant inputs, as the free run is judged.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench.algorithms.forward_regression import best_length, enter, forward, nested, residuals
from narxbench.algorithms.training import Rows, WholeRecordJudge, criterion_of, estimated, products
from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.compilation import compiled
from narxbench.numerics.logarithm import natural_log

ABOUT = About(
    reference="Guo, Guo, Billings and Wei, An iterative orthogonal forward regression algorithm, International Journal "
    "of Systems Science 46(5), 2015",
    deterministic=True,
    stops_early=True,
    minimises=False,
    options={"length": ["one_step"], "first_terms": ["all"], "max_terms": [3], "rows": ["estimation"]},
)


class Settings(BaseSettings):
    """Settings of iterative orthogonal forward regression."""

    selection: Literal["press", "err"] = Field(
        default="press", description="how the next term is chosen: by the lowest PRESS or by the largest ERR"
    )
    length: Literal["free_run", "one_step"] = Field(
        default="free_run",
        description="how many terms of a path are chosen: those of the best free run; or where PRESS begins to rise, "
        "for ERR the lowest BIC of the prediction one step ahead",
    )
    first_terms: Literal["long_model", "all"] = Field(
        default="long_model", description="the first terms of the first paths: those of a long path, or all candidates"
    )
    max_terms: int = Field(default=30, ge=1, description="terms of a path at most")
    rows: Rows = Field(
        default="all",
        description="all: terms are chosen from all rows, and models by the BIC of their free run over all samples; "
        "estimation: from the estimation part, and by J, an evaluation for each",
    )


@compiled
def forward_by_press(gram, moments, columns, y, first, order, press):
    """Let terms enter by the lowest PRESS, as :func:`forward` does by the largest ERR.

    ``columns`` and ``y``, shapes (rows, N_t) and (rows,), are what ``gram`` and ``moments`` are the products of;
    ``press`` receives PRESS after each term.
    """
    n_rows, n_terms = columns.shape
    factor, left = np.empty((order.shape[0], n_terms)), np.ones(n_terms, np.bool_)
    pivots, projections = np.diag(gram).copy(), moments.copy()
    # The columns made orthogonal, the residuals, and 1 minus the leverage of each row.
    w, residual, slack = columns.copy(), y.copy(), np.ones(n_rows)
    weight, inverse, share, sums = np.empty(n_terms), np.empty(n_terms), np.zeros(n_terms), np.empty(n_terms)
    entering = np.zeros(n_rows)
    for step in range(order.shape[0]):
        for j in range(n_terms):
            regular = left[j] and pivots[j] > SINGULAR * gram[j, j]
            inverse[j] = 1.0 / pivots[j] if regular else 0.0
            weight[j] = projections[j] * inverse[j]
            sums[j] = 0.0
        # Candidates go side by side; each sum runs over time in order.
        for k in range(n_rows):
            for j in range(n_terms):
                value = w[k, j] - share[j] * entering[k]
                w[k, j] = value
                error = (residual[k] - weight[j] * value) / (slack[k] - inverse[j] * value * value)
                sums[j] += error * error
        chosen, least = -1, np.inf
        for j in range(n_terms):
            if inverse[j] > 0.0 and sums[j] < least and (step > 0 or first < 0 or j == first):
                chosen, least = j, sums[j]
        if chosen < 0:
            return step
        order[step], press[step], left[chosen] = chosen, least, False
        for k in range(n_rows):
            entering[k] = w[k, chosen]
            residual[k] -= weight[chosen] * entering[k]
            slack[k] -= inverse[chosen] * entering[k] * entering[k]
        root = np.sqrt(inverse[chosen])
        enter(gram, step, chosen, factor, pivots, projections)
        for j in range(n_terms):
            share[j] = factor[step, j] * root
    return order.shape[0]


def first_rise(values: NDArray[np.float64]) -> int:
    """Return how many values there are before the first that is not below its predecessor."""
    rises = np.flatnonzero(values[1:] >= values[:-1])
    return int(rises[0]) + 1 if len(rises) else len(values)


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion | None:
    """Return the BIC of the free run over all samples, if models are chosen by it."""
    return criterion_of(problem, "free_run") if settings.rows == "all" else None


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search paths until all terms of the best model have been first."""
    n_terms = objective.n_terms
    longest = min(settings.max_terms, n_terms)
    order, values = np.empty(longest, np.int64), np.empty(longest)
    found = products(problem, settings.rows)
    whole = settings.rows == "all"
    columns = problem.training_regressors() if whole else problem.regressors()
    y = problem.training_outputs() if whole else problem.outputs()
    judge = WholeRecordJudge(problem) if whole else objective

    def path(first: int) -> tuple[list[int], NDArray[np.uint8]]:
        """Return the terms of a path in order, and the structures along it or the one where it ends."""
        if settings.selection == "press":
            entered = forward_by_press(found.gram, found.moments, columns, y, first, order, values)
        else:
            entered = forward(found.gram, found.moments, first, order, values)
        terms, structures = order[:entered].tolist(), nested(order[:entered], n_terms)
        if settings.length == "free_run" or not entered:
            return terms, structures
        if settings.selection == "press":
            length = first_rise(values[:entered])
        else:
            sums = residuals(values[:entered], found.energy)
            length = best_length(sums, found.n_rows, float(natural_log(float(found.n_rows))))
        return terms, structures[length - 1 : length]

    waiting = list(range(n_terms))
    if settings.first_terms == "long_model":
        # All of its terms, whatever length of it is best.
        waiting, structures = path(-1)
        judge.evaluate(structures)
    been: set[int] = set()
    # The end of the budget ends the run, if J is what judges.
    while waiting:
        for first in waiting:
            judge.evaluate(path(first)[1])
        been.update(waiting)
        waiting = [int(term) for term in np.flatnonzero(judge.best_position) if term not in been]
    return estimated(problem, judge.best_position) if whole else Found(judge.best_position)
