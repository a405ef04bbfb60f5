"""MetaMSS of the package SysIdentPy: a swarm of structures that attract each other by gravity.

Source: W. R. Lacerda Junior, S. A. M. Martins and E. G. Nepomuceno, Meta-model structure selection: building
polynomial NARX models for regression and classification, 2021, arXiv:2109.09917; the package's class ``MetaMSS``.

The differences to :mod:`narxbench._algorithms.metamss` are:

- It minimises its own cost: the relative error of the free run over the last quarter of the record, with weights from
  the quarters before, times a penalty that grows with the number of terms.
- Its t-test takes the variance of the noise from the residuals of that free run.
- The mass of an agent of cost f is proportional to (f - 0.99 worst) / (best - worst), and so slightly negative for the
  worst agent, which repels. The other method uses worst - J.
- Forces fall with the square of the norm of order -2.
- It makes one search of ``iterations``, or fewer if the budget does not allow so many, and does not start again.
"""

from typing import Any
from unittest.mock import patch

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.sysidentpy_fit import fitted, load
from narxbench._io.settings import Settings as BaseSettings

__all__ = ["ABOUT", "Settings", "load", "run"]

ABOUT = About(
    reference="Lacerda Junior et al., SysIdentPy, Journal of Open Source Software 5(54), 2020",
    stops_early=True,
    needs_objective=False,
    minimises=False,
    requires=("sysidentpy",),
    options={"agents": [5], "iterations": [1], "significance": [1e-6]},
)


class Settings(BaseSettings):
    """Settings of MetaMSS; the defaults are the package's."""

    agents: int = Field(default=10, ge=2, le=1000, description="number of agents, n_agents")
    iterations: int = Field(default=30, ge=1, le=10_000, description="iterations, maxiter")
    significance: float = Field(default=0.05, gt=0, lt=1, description="p-value above which a term is dropped, p_value")


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Fit the package's MetaMSS."""

    def rand(*shape: int) -> Any:
        return rng.random(shape)

    with (
        # It draws the first agents from ``random_state``, and everything else from NumPy's global generator.
        patch("numpy.random.rand", rand),
        # It uses a function that NumPy had until version 2.3.
        patch("numpy.in1d", np.isin, create=True),
    ):
        return fitted(
            problem,
            "MetaMSS",
            n_agents=settings.agents,
            maxiter=max(1, min(settings.iterations, objective.budget // settings.agents)),
            p_value=settings.significance,
            random_state=rng,
        )
