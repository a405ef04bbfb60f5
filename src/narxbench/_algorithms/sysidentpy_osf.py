"""Orthogonal floating search of the package SysIdentPy: OSF, OIF and O2S.

Source: F. Hafiz, A. Swain and E. Mendes, Orthogonal floating search algorithms: From the perspective of nonlinear
system identification, Neurocomputing 350, 2019, pages 221-236; the package's classes ``OSF``, ``OIF`` and ``O2S``.

The package searches once, for as many terms as are allowed, and an information criterion then takes the first terms of
the result; :mod:`narxbench._algorithms.osf` chooses between the best sets of each size.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import Found, Objective, ProblemView
from narxbench._algorithms.sysidentpy_fit import ABOUT, fitted, load
from narxbench._algorithms.sysidentpy_frols import Settings as FrolsSettings

__all__ = ["ABOUT", "Settings", "load", "run"]


class Settings(FrolsSettings):
    """Settings of the search; the defaults are the package's."""

    search: Literal["OSF", "OIF", "O2S"] = Field(
        default="OSF", description="terms enter and leave; are also exchanged; or the set swings in size"
    )


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Fit the package's search."""
    most = min(settings.max_terms, len(problem.terms))
    return fitted(problem, settings.search, info_criteria=settings.criterion, n_info_values=most)
