"""The names that a search algorithm needs, in narxbench or in a package of its own.

A module with ``ABOUT``, ``Settings`` and ``run`` is an algorithm; :class:`About`, :class:`Found` and
:class:`ProblemView` say of what form they are.
"""

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._io.settings import Settings

__all__ = ["About", "Found", "Objective", "ProblemView", "Settings"]
