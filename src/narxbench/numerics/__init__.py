"""Arithmetic that gives the same bytes on every machine: compilation, logarithm, random streams.

Here live the decorator of compiled functions, the natural logarithm and the generators derived from named axes.
May import ``io``.
Begin with :mod:`narxbench.numerics.random_streams`.
"""
