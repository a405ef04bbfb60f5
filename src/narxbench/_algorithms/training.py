"""Estimation and selection on all samples of a problem, for algorithms that hold no samples out."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import Floats, Found, ProblemView
from narxbench._fitness.criteria.bic import CRITERION as BIC
from narxbench._fitness.kernel.problem_data import products_over
from narxbench._fitness.problem import StructureProblem

Rows = Literal["all", "estimation"]


def whole_record(view: ProblemView) -> StructureProblem:
    """Return the problem with the same candidate terms whose structures are estimated and simulated on all samples.

    The criterion is BIC, even if the view has another. Each of ``view.stretches`` is simulated from the measured
    outputs before it. Evaluations cost no budget.
    """
    return StructureProblem.of_records(
        view.training_u.reshape(len(view.training_y), -1),
        view.training_y,
        list(view.monomials),
        rows=view.training_rows,
        segments=[range(first, end) for first, end in view.stretches.tolist()],
        criterion=BIC.name,
    )


class Products(NamedTuple):
    """Inner products over the rows on which a method chooses terms."""

    gram: Floats
    """Inner products of the candidate columns, shape (N_t, N_t)."""
    moments: Floats
    """Inner products of the candidate columns with y, shape (N_t,)."""
    energy: float
    """y'y."""
    n_rows: int


def products(view: ProblemView, rows: Rows = "all") -> Products:
    """Return the inner products over all rows, or over the estimation rows only."""
    if rows == "estimation":
        return Products(view.gram, view.moments, view.output_energy, view.n_rows)
    matrix = products_over(view.training_u, view.training_y, list(view.monomials), view.training_rows)
    gram = np.ascontiguousarray(matrix[:-1, :-1])
    return Products(gram, matrix[-1, :-1].copy(), float(matrix[-1, -1]), len(view.training_rows))


def at_unit_length(inner_products: Products) -> tuple[Products, NDArray[np.float64]]:
    """Return the inner products of columns that are scaled to the length 1, and their lengths before.

    Columns of zeros stay as they are.
    """
    lengths = np.sqrt(np.diag(inner_products.gram))
    scale = np.where(lengths > 0, lengths, 1.0)
    with np.errstate(invalid="ignore"):  # products may overflow
        gram = inner_products.gram / np.outer(scale, scale)
    return inner_products._replace(gram=gram, moments=inner_products.moments / scale), lengths


def estimated(view: ProblemView, position: NDArray[np.uint8]) -> Found:
    """Return a structure with its least-squares weights over all rows."""
    if not position.any():
        return Found(position)
    weights = whole_record(view).evaluate_positions(position[None])[2][0, np.flatnonzero(position)]
    if not np.isfinite(weights).all() or not weights.any():
        return Found(position)
    return Found(position, weights)


def chosen(view: ProblemView, structures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the structure of lowest criterion, or the empty structure if there are none, shape (structures, N_t)."""
    if not len(structures):
        return np.zeros(len(view.terms), np.uint8)
    values = WholeRecordJudge(view).evaluate(structures)
    best: NDArray[np.uint8] = structures[int(np.argmin(values))]
    return best


class WholeRecordJudge:
    """Judges structures by the BIC of their free run over all samples, without evaluating J, and keeps the best."""

    def __init__(self, view: ProblemView) -> None:
        self._problem, self._best = whole_record(view), np.inf
        self.best_position = np.zeros(len(view.terms), np.uint8)

    def evaluate(self, positions: NDArray[np.uint8]) -> Floats:
        """Return the BIC of structures, shape (structures, N_t)."""
        fitness: Floats = self._problem.evaluate_positions(positions)[0]
        if len(fitness) and fitness.min() < self._best:
            best = int(fitness.argmin())
            self._best, self.best_position = float(fitness[best]), positions[best].copy()
        return fitness
