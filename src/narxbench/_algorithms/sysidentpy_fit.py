"""Fits of the methods of SysIdentPy: conversion of the record and of the terms that they find."""

import math
import sys
import warnings
from typing import Any

import numpy as np

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._io.errors import NarxbenchError
from narxbench._model.terms import Monomial

# The declaration of the methods that let terms enter one by one.
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
    """Import the packages that the runs need."""
    import sysidentpy.model_structure_selection  # noqa: F401


def fitted(problem: ProblemView, method: str, **settings: Any) -> Found:
    """Return the terms and weights that a method of SysIdentPy finds in the whole record, no terms if its fit fails.

    Parameters
    ----------
    problem : ProblemView
        The problem.
    method : str
        A class of ``sysidentpy.model_structure_selection``.
    **settings
        Arguments of the class other than lags, degree and estimator, which is least squares.

    Raises
    ------
    NarxbenchError
        If the record is not one stretch with at most one input, or the candidates are not all products of lags from 1
        on.
    """
    from sysidentpy import model_structure_selection
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.parameter_estimation import LeastSquares

    u, y = _record(problem)
    model_type = "NARMAX"
    if not problem.n_u:
        model_type = "NAR"
    elif not problem.n_y:
        model_type = "NFIR"
    model = getattr(model_structure_selection, method)(
        xlag=max(1, problem.n_u),
        ylag=max(1, problem.n_y),
        model_type=model_type,
        basis_function=Polynomial(degree=problem.degree),
        estimator=LeastSquares(),
        **settings,
    )
    position, weights = np.zeros(len(problem.terms), np.uint8), np.zeros(len(problem.terms))
    if not _squares_are_finite(u, y, problem.degree):
        # LAPACK may never end with infinite numbers.
        print(f"SysIdentPy: {method}: squares of the candidate terms overflow", file=sys.stderr)
        return Found(position)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model.fit(X=u, y=y)
    except Exception as error:  # of the package, on data that it cannot take
        print(f"SysIdentPy: {method}: {type(error).__name__}: {error}", file=sys.stderr)
        return Found(position)
    places = {_code(monomial, problem.degree): i for i, monomial in enumerate(problem.monomials)}
    chosen = [places[tuple(map(int, code))] for code in model.final_model]
    theta = np.ravel(model.theta)
    if not np.isfinite(theta).all():
        print(f"SysIdentPy: {method}: weights that are not finite", file=sys.stderr)
        return Found(position)
    position[chosen], weights[chosen] = 1, theta
    return Found(position, weights[position == 1])


def _squares_are_finite(u: np.ndarray | None, y: np.ndarray, degree: int) -> bool:
    """Return whether the sum of squares of every product of signals up to a degree is finite."""
    largest = max(float(np.abs(signal).max()) for signal in (u, y) if signal is not None)
    with np.errstate(over="ignore"):
        return bool(np.isfinite(len(y) * np.float64(largest) ** (2 * degree)))


def _code(monomial: Monomial, degree: int) -> tuple[int, ...]:
    """Return the code of a term in SysIdentPy: 1002 is y(k-2), 2001 is u(k-1)."""
    code = sorted((1000 * (1 + signal) + lag for signal, lag in monomial), reverse=True)
    return (*code, *[0] * (degree - len(code)))


def _record(problem: ProblemView) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the input, None if no term has it, and the output, as columns."""
    y = problem.training_y[:, None]
    u = problem.training_u.reshape(len(y), -1)
    stretches = problem.stretches.tolist()
    if u.shape[1] > 1:
        raise NarxbenchError(f"SysIdentPy: inputs: found {u.shape[1]}; allowed: one at most")
    if len(stretches) != 1:
        raise NarxbenchError(f"SysIdentPy: stretches of samples: found {len(stretches)}; allowed: one")
    if not _has_all_products(problem):
        allowed = "all products of lags from 1 on, up to a degree"
        raise NarxbenchError(f"SysIdentPy: candidate terms: found {len(problem.terms)}; allowed: {allowed}")
    ((first, end),) = stretches
    rows = slice(first - max(problem.n_u, problem.n_y), end)
    if not problem.n_u:
        return None, y[rows].copy()
    return u[rows].copy(), y[rows].copy()


def _has_all_products(problem: ProblemView) -> bool:
    """Return whether the candidates are all products of the lags from 1 on."""
    for monomial in problem.monomials:
        if any(lag < 1 for _, lag in monomial):
            return False
    return len(problem.terms) == math.comb(problem.n_u + problem.n_y + problem.degree, problem.degree)
