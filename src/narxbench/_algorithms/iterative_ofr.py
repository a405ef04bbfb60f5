"""Iterative orthogonal forward regression: forward regressions that begin with each term of the best model in turn.

Source: Y. Guo, L. Z. Guo, S. A. Billings and H.-L. Wei, An iterative orthogonal forward regression algorithm,
International Journal of Systems Science 46(5), 2015, pages 776-789, as R. Gunawardena, Z.-Q. Lang and F. He restate it
(NonSysId, 2024, arXiv:2411.16475, and the supplement of that package):

1. A forward regression over all candidates begins with each term of a set.
2. The best of these models is chosen, in the restatement by the BIC of its free run.
3. The terms of this model are the new set. Continue with 1 until no better model is found.

The first set consists of the terms of one long forward regression, as Guo et al. propose. The terms after a first term
depend only on it. So no regression begins with the same term twice, and the search ends when one has begun with each
term of the best model.

The restatement chooses the next term by PRESS, the sum of squared errors when each row is left out in turn (X. Hong,
P. M. Sharkey and K. Warwick, IEE Proceedings - Control Theory and Applications 150(3), 2003), and Guo et al. by ERR. A
path contains models of many lengths. Models are judged by the BIC of their free run over all samples, or by J. Three
parts of NonSysId are left out: its threshold for the fall of PRESS, which depends on the units of y; the linear model
that it begins with; and its test of stability with constant inputs, because the free run is judged anyway.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.forward_regression import enter, forward, nested
from narxbench._algorithms.training import Rows, WholeRecordJudge, estimated, products
from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled

ABOUT = About(
    reference="Guo, Guo, Billings and Wei, An iterative orthogonal forward regression algorithm, International Journal "
    "of Systems Science 46(5), 2015",
    deterministic=True,
    stops_early=True,
    minimises=False,
    options={"selection": ["err"], "max_terms": [3], "rows": ["estimation"]},
)


class Settings(BaseSettings):
    """Settings of iterative orthogonal forward regression."""

    selection: Literal["press", "err"] = Field(
        default="press", description="how the next term is chosen: by the lowest PRESS or by the largest ERR"
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

    ``gram`` and ``moments`` are the inner products of ``columns``, shape (rows, N_t), and ``y``, shape (rows,).
    ``press`` receives PRESS after each term.
    """
    n_rows, n_terms = columns.shape
    factor, is_free = np.empty((order.shape[0], n_terms)), np.ones(n_terms, np.bool_)
    pivots, projections = np.diag(gram).copy(), moments.copy()
    # The orthogonal columns, the residuals, and 1 minus the leverage of each row.
    w, residual, slack = columns.copy(), y.copy(), np.ones(n_rows)
    weight, inverse, share, sums = np.empty(n_terms), np.empty(n_terms), np.zeros(n_terms), np.empty(n_terms)
    entering = np.zeros(n_rows)
    for step in range(order.shape[0]):
        for j in range(n_terms):
            inverse[j] = 0.0
            if is_free[j] and pivots[j] > SINGULAR * gram[j, j]:
                inverse[j] = 1.0 / pivots[j]
            weight[j] = projections[j] * inverse[j]
        _press_with_each(w, share, entering, residual, slack, weight, inverse, sums)
        candidate = first if step == 0 else -1
        chosen = _lowest(sums, inverse, candidate)
        if chosen < 0:
            return step
        order[step], press[step], is_free[chosen] = chosen, sums[chosen], False
        for k in range(n_rows):
            entering[k] = w[k, chosen]
            residual[k] -= weight[chosen] * entering[k]
            slack[k] -= inverse[chosen] * entering[k] * entering[k]
        root = np.sqrt(inverse[chosen])
        enter(gram, step, chosen, factor, pivots, projections)
        for j in range(n_terms):
            share[j] = factor[step, j] * root
    return order.shape[0]


@compiled
def _press_with_each(w, share, entering, residual, slack, weight, inverse, press):
    # Make the columns orthogonal to the one that has just entered, and compute PRESS with each candidate added. The
    # candidates are processed side by side, and each sum runs over time in order.
    for j in range(w.shape[1]):
        press[j] = 0.0
    for k in range(w.shape[0]):
        for j in range(w.shape[1]):
            value = w[k, j] - share[j] * entering[k]
            w[k, j] = value
            error = (residual[k] - weight[j] * value) / (slack[k] - inverse[j] * value * value)
            press[j] += error * error


@compiled
def _lowest(press, inverse, candidate):
    # Return the candidate of lowest PRESS, or -1 if there is none. Unless ``candidate`` is -1, only that one may enter.
    chosen, least = -1, np.inf
    for j in range(press.shape[0]):
        if inverse[j] > 0.0 and press[j] < least and (candidate < 0 or j == candidate):
            chosen, least = j, press[j]
    return chosen


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search paths until one has begun with each term of the best model."""
    inner_products = products(problem, settings.rows)
    gram, moments = inner_products.gram, inner_products.moments
    judge: WholeRecordJudge | Objective
    if settings.rows == "all":
        judge = WholeRecordJudge(problem)
        columns, y = problem.training_regressors(), problem.training_outputs()
    else:
        judge = objective
        columns, y = problem.regressors(), problem.outputs()
    longest = min(settings.max_terms, objective.n_terms)
    order, values = np.empty(longest, np.int64), np.empty(longest)

    def judged_path(first: int) -> NDArray[np.int64]:
        """Judge the models of all lengths along a path; return its terms in order."""
        if settings.selection == "press":
            entered = forward_by_press(gram, moments, columns, y, first, order, values)
        else:
            entered = forward(gram, moments, first, order, values)
        judge.evaluate(nested(order[:entered], objective.n_terms))
        return order[:entered].copy()

    # All terms of the path begin further paths, whichever of its lengths is best.
    pending: list[int] = judged_path(-1).tolist()
    finished: set[int] = set()
    # If models are judged by J, the run ends when the budget is spent.
    while pending:
        for first in pending:
            judged_path(first)
        finished.update(pending)
        pending = [term for term in np.flatnonzero(judge.best_position).tolist() if term not in finished]
    if settings.rows == "all":
        return estimated(problem, judge.best_position)
    return Found(judge.best_position)
