"""The names that a search algorithm needs, in narxbench or in another package.

A module with ``ABOUT``, ``Settings`` and ``run`` is an algorithm. :class:`About`, :class:`Found` and
:class:`ProblemView` describe their form.
"""

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._io.settings import Settings

__all__ = ["About", "Found", "Objective", "ProblemView", "Settings"]
