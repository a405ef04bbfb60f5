"""AOLS of the package SysIdentPy: accelerated orthogonal least squares.

Source: A. Hashemi and H. Vikalo, Accelerated orthogonal least-squares for large-scale sparse reconstruction, Digital
Signal Processing 82, 2018, pages 91-105; the package's class ``AOLS``.

In the package the user chooses the number of terms. Here every number up to a limit is fitted, and the best free run
decides, by BIC. If one term enters in each step, the terms are those of :mod:`narxbench._algorithms.aols`. If
several enter, those of largest weights stay: the package compares the weights of the unscaled columns, the other method
those of columns of the same length.
"""

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import Found, Objective, ProblemView
from narxbench._algorithms.sysidentpy_fit import ABOUT, fitted, load
from narxbench._algorithms.training import WholeRecordJudge
from narxbench._io.settings import Settings as BaseSettings

__all__ = ["ABOUT", "Settings", "load", "run"]


class Settings(BaseSettings):
    """Settings of AOLS."""

    at_once: int = Field(default=1, ge=1, le=1000, description="terms that enter in each step, L")
    max_terms: int = Field(default=30, ge=1, le=1000, description="terms at most: every k up to it is tried")


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Fit the package's AOLS for each number of terms, then choose one."""
    most = min(settings.max_terms, len(problem.terms))
    results = [fitted(problem, "AOLS", k=k, L=settings.at_once) for k in range(1, most + 1)]
    values = WholeRecordJudge(problem).evaluate(np.array([result.position for result in results], np.uint8))
    return results[int(np.argmin(values))]
