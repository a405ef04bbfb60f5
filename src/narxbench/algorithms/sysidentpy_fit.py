"""What the methods of SysIdentPy share: the record that they are given, and what they find as terms of the problem."""

import math
import sys
import warnings
from typing import Any

import numpy as np

from narxbench.algorithms.contract import About, Found, ProblemView
from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import Monomial

# Of the methods that let terms enter one by one.
ABOUT = About(
    reference="Lacerda Junior et al., SysIdentPy, Journal of Open Source Software 5(54), 2020",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    requires=("sysidentpy",),
    options={"max_terms": [3]},
)


def load() -> None:
    """Import what the runs need."""
    import sysidentpy.model_structure_selection  # noqa: F401


def fitted(problem: ProblemView, method: str, **settings: Any) -> Found:
    """Return the terms and weights that a method of SysIdentPy finds in the whole record; none if its fit fails.

    ``method`` is a class of ``sysidentpy.model_structure_selection``, ``settings`` are its own but lags, degree and the
    estimator, which is least squares. Raises NarxbenchError for a record that is not one stretch with one input at
    most, and for candidates that are not all products of lags from 1 on.
    """
    from sysidentpy import model_structure_selection
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.parameter_estimation import LeastSquares

    u, y = _record(problem)
    model = getattr(model_structure_selection, method)(
        xlag=max(1, problem.n_u),
        ylag=max(1, problem.n_y),
        model_type="NAR" if not problem.n_u else "NARMAX" if problem.n_y else "NFIR",
        basis_function=Polynomial(degree=problem.degree),
        estimator=LeastSquares(),
        **settings,
    )
    position, weights = np.zeros(len(problem.terms), np.uint8), np.zeros(len(problem.terms))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model.fit(X=u, y=y)
    except Exception as error:  # of the package, on data that it cannot take
        print(f"SysIdentPy: {method}: {type(error).__name__}: {error}", file=sys.stderr)
        return Found(position)
    places = {_code(monomial, problem.degree): i for i, monomial in enumerate(problem.monomials)}
    chosen = [places[tuple(map(int, code))] for code in model.final_model]
    position[chosen], weights[chosen] = 1, np.ravel(model.theta)
    return Found(position, weights[position == 1])


def _code(monomial: Monomial, degree: int) -> tuple[int, ...]:
    """Return a term as SysIdentPy codes it: 1002 is y(k-2), 2001 is u(k-1)."""
    code = sorted((1000 * (1 + signal) + lag for signal, lag in monomial), reverse=True)
    return (*code, *[0] * (degree - len(code)))


def _record(problem: ProblemView) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the input, none if no term has it, and the output, as columns."""
    y = problem.training_y[:, None]
    u = problem.training_u.reshape(len(y), -1)
    stretches = problem.stretches.tolist()
    factors = {factor for monomial in problem.monomials for factor in monomial}
    number = math.comb(problem.n_u + problem.n_y + problem.degree, problem.degree)
    whole = len(problem.terms) == number and all(lag >= 1 for _, lag in factors)
    for what, found, allowed, holds in (
        ("inputs", u.shape[1], "one at most", u.shape[1] <= 1),
        ("stretches of samples", len(stretches), "one", len(stretches) == 1),
        ("candidate terms", len(problem.terms), "all products of lags from 1 on, up to a degree", whole),
    ):
        if not holds:
            raise NarxbenchError(f"SysIdentPy: {what}: found {found}; allowed: {allowed}")
    ((first, end),) = stretches
    rows = slice(first - max(problem.n_u, problem.n_y), end)
    return (u[rows].copy() if problem.n_u else None), y[rows].copy()
