"""FROLS of the package SysIdentPy: error reduction ratios, and an information criterion for the number of terms.

Source: W. R. Lacerda Junior, L. P. C. da Andrade, S. C. P. Oliveira and S. A. M. Martins, SysIdentPy: a Python package
for system identification using NARMAX models, Journal of Open Source Software 5(54), 2020, 2384; its class ``FROLS``.

Terms enter in the same order as in :mod:`narxbench._algorithms.frols`. There are two differences: the package stops
where the criterion rises for the first time, whereas the other method takes its lowest value. And the package uses the
variance of the residuals about their mean, whereas the other method uses their mean square.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import Found, Objective, ProblemView
from narxbench._algorithms.sysidentpy_fit import ABOUT, fitted, load
from narxbench._io.settings import Settings as BaseSettings

__all__ = ["ABOUT", "Settings", "load", "run"]


class Settings(BaseSettings):
    """Settings of FROLS; the defaults are the package's."""

    criterion: Literal["aic", "aicc", "bic", "fpe", "lilc"] = Field(
        default="aic", description="criterion that chooses how many terms, info_criteria"
    )
    max_terms: int = Field(default=15, ge=1, le=1000, description="terms at most, n_info_values")


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Fit the package's FROLS."""
    return fitted(problem, "FROLS", info_criteria=settings.criterion, n_info_values=settings.max_terms)
