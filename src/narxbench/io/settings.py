"""A former path of :mod:`narxbench.contract`."""

from narxbench.contract import Settings

__all__ = ["Settings"]
