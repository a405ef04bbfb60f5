"""A former path of :mod:`narxbench.contract`."""

from narxbench.contract import About, Found, Objective, ProblemView

__all__ = ["About", "Found", "Objective", "ProblemView"]
