"""The version of the package, below all that names it."""

__version__ = "0.2.0"
