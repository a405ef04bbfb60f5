"""All samples of a problem, for algorithms that hold nothing out: what several of them share."""

from narxbench.algorithms.contract import ProblemView
from narxbench.fitness.problem import StructureProblem


def whole_record(view: ProblemView, criterion: str = "bic") -> StructureProblem:
    """Return the problem whose structures are estimated and simulated over all samples.

    Parameters
    ----------
    view : ProblemView
        What an algorithm sees of a problem.
    criterion : str
        What its structures are judged by.

    Returns
    -------
    StructureProblem
        Same candidate terms. Weights are those of least squares over all rows; the error is that of the free run over
        each of ``view.stretches``, from the measured outputs before it. Evaluations of it cost no budget.
    """
    u = view.training_u
    return StructureProblem.of_records(
        u[:, None] if u.ndim == 1 else u,
        view.training_y,
        list(view.monomials),
        rows=view.training_rows,
        segments=[range(first, end) for first, end in view.stretches.tolist()],
        criterion=criterion,
    )
